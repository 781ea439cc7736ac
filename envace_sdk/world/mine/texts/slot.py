"""Slots: the parts of a text that differ from case to case, and when such a part stands for a number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from envace_sdk.json import Json

from ...expressions import to_text
from ...keys import number_text
from .embedded import Style, decoded, written

__all__ = ["INTEGER", "NUMBER", "Kind", "Slot", "value_of"]

Kind: TypeAlias = Literal["word", "text", "integer", "number", "lines", "space", "choice", "json"]
"""What the text of a slot looks like:

- word: at least one character, none of them blank;
- text: anything within one line, or nothing;
- lines: anything;
- integer, number: digits with a sign, and a fraction or an exponent;
- space: blanks within one line, or nothing;
- choice: one of a few texts;
- json: a JSON object or list.
"""

INTEGER: Final = re.compile(r"-?[0-9]+")
NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PATTERNS: Final = {"integer": INTEGER, "number": NUMBER, "word": re.compile(r"\S+")}
_COLUMNS: Final = frozenset({"word", "text", "integer", "number"})
_MOST_DIGITS: Final = 20
_LONGEST: Final = 30
_INT64: Final = 2**63


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of a text that differs from case to case.

    Raises:
        ValueError: it has a width, but is of a kind that has none.
    """

    name: str
    kind: Kind = "text"
    options: tuple[str, ...] = ()
    """The texts that a slot of the kind "choice" can be."""
    width: int = 0
    """The value is filled up with blanks to so many characters: after it, or before it if this is negative."""

    style: Style = None
    """How a slot of the kind "json" is written: by how many blanks it is indented; 0 for no blanks at all."""

    def __post_init__(self) -> None:
        if self.width and self.kind not in _COLUMNS:
            raise ValueError(f"a slot of the kind {self.kind!r} is not filled up with blanks")

    def written(self, value: Json) -> str:
        """The text of a value in this slot."""
        return self.padded(written(value, self.style) if isinstance(value, dict | list) else to_text(value))

    def padded(self, text: str) -> str:
        """The value's text as wide as the slot."""
        return text.ljust(self.width) if self.width > 0 else text.rjust(-self.width)

    def bare(self, text: str) -> str | None:
        """The text without its padding; None where the padding is not what it should be, or the rest no number."""
        if not self.width:
            return text
        bare = text.rstrip(" ") if self.width > 0 else text.lstrip(" ")
        pattern = _PATTERNS.get(self.kind)
        fits = self.padded(bare) == text and (pattern is None or pattern.fullmatch(bare))
        return bare if fits else None

    def value(self, text: str) -> Json:
        """What a slot with this text holds."""
        if self.kind == "json":
            return decoded(text, self.style)
        bare = self.bare(text)
        return value_of(text if bare is None else bare, self.kind)

    @property
    def may_be_empty(self) -> bool:
        """Whether nothing at all is a text of this kind."""
        return self.kind in ("text", "lines", "space") or "" in self.options


def value_of(text: str, kind: Kind) -> Json:
    """What a slot of this kind holds: a number where it prints as exactly this text, else the text."""
    if kind not in ("integer", "number"):
        return text
    if len(text) <= _MOST_DIGITS and INTEGER.fullmatch(text):
        whole = int(text)
        return whole if str(whole) == text and -_INT64 <= whole < _INT64 else text
    if kind == "number" and len(text) <= _LONGEST and NUMBER.fullmatch(text):
        fraction = float(text)
        return fraction if number_text(fraction) == text else text
    return text
