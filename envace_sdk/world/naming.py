"""Names of worlds and of snapshots: they stand in paths, in headers and on the command line."""

from __future__ import annotations

import re
from typing import Final, Literal

from envace_sdk.errors import WorldError

__all__ = ["NAME_LIMIT", "checked_name", "is_name"]

NAME_LIMIT: Final = 100
"""Most characters of a name."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def is_name(text: str) -> bool:
    """Whether a text can name a world or a snapshot."""
    return _NAME.fullmatch(text) is not None


def checked_name(text: str, kind: Literal["world", "snapshot"] = "world") -> str:
    """The text, if it can be such a name. Raises: WorldError."""
    if not is_name(text):
        raise WorldError(
            f"{text[:120]!r} is no {kind} name: use 1 to {NAME_LIMIT} of A-Z a-z 0-9 . _ -, not . _ - first"
        )
    return text
