"""Which values tell something when they are met again, and which are met again by chance."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from envace_sdk.json import Json

from .outline import Leaf

__all__ = ["Common"]

_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_PLAIN: Final = frozenset({"true", "false", "null", "none", "{}", "[]"})
_FEW: Final = 8
_OFTEN: Final = 4
_ENOUGH: Final = 10


class Common:
    """Values that are like those of an enumeration.

    A value is common when a tool's definition lists it in an `enum` or as a `const`, or when it stands under a key
    that has at most eight values in all recordings, each in four different objects on average.
    """

    def __init__(self, definitions: Iterable[Mapping[str, Json]] = ()) -> None:
        self._listed: set[str] = set()
        for definition in definitions:
            _list_constants(definition, self._listed, 0)
        self._values: dict[str, dict[str, set[int]]] = {}
        self._found: set[str] | None = None

    def learn(self, leaves: Iterable[Leaf]) -> None:
        """Take note of the leaves of a recorded answer, or of recorded arguments."""
        self._found = None
        for leaf in leaves:
            values = self._values.setdefault(leaf.name, {})
            if len(values) <= _FEW:
                objects = values.setdefault(leaf.text, set())
                objects.add(hash(tuple(leaf.siblings[:20])))

    def telling(self, text: str) -> bool:
        """Whether meeting this value again is hardly chance.

        It is not for booleans, null, empty things, texts of one or two characters, numbers of one or two digits
        (trailing zeros do not count), and common values.
        """
        if len(text) < 3 or text in _PLAIN or text in self._common():
            return False
        if _NUMBER.fullmatch(text):
            digits = text.lstrip("-").replace(".", "").strip("0")
            return len(digits) >= 3
        return True

    def _common(self) -> set[str]:
        if self._found is None:
            found = set(self._listed)
            for values in self._values.values():
                objects = sum(map(len, values.values()))
                if len(values) <= _FEW and objects >= max(_ENOUGH, _OFTEN * len(values)):
                    found.update(values)
            self._found = found
        return self._found


def _list_constants(schema: Json, found: set[str], depth: int) -> None:
    if depth > 40:
        return
    if isinstance(schema, Mapping):
        listed = schema.get("enum")
        for value in [*(listed if isinstance(listed, list) else ()), schema.get("const")]:
            if isinstance(value, str):
                found.add(value.strip().casefold())
        for part in schema.values():
            _list_constants(part, found, depth + 1)
    elif isinstance(schema, list):
        for part in schema:
            _list_constants(part, found, depth + 1)
