"""How many worlds may be stored."""

from __future__ import annotations

import time
from typing import Final

from sqlalchemy import Connection, func, select

from envace_sdk.errors import WorldError

from .schema import worlds

__all__ = ["Room"]

_KNOWN_FOR: Final = 10.0
"""Seconds for which a large count is taken as known: counting a million rows takes a good part of a second."""
_LARGE: Final = 10_000
"""Limits up to this are held against a count made each time, in a few milliseconds at most."""


class Room:
    """A bound on the stored worlds of each toolset.

    What others make at the same time is not seen, nor, where the bound is large, what they made in the last seconds.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._counts: dict[str, tuple[float, int]] = {}

    def require(self, connection: Connection, toolset: str) -> None:
        """Make room for one more world. Raises: WorldError when there is none."""
        at, count = self._counts.get(toolset, (float("-inf"), 0))
        if self._limit <= _LARGE or time.monotonic() - at >= _KNOWN_FOR:
            at = time.monotonic()
            query = select(func.count()).select_from(worlds).where(worlds.c.toolset == toolset)
            count = connection.execute(query).scalar_one()
        if count >= self._limit:
            self._counts[toolset] = (at, count)
            raise WorldError(
                f"{count} worlds of {toolset!r} are stored, of at most {self._limit}: delete some, or serve with a "
                "larger --max-worlds"
            )
        self._counts[toolset] = (at, count + 1)
