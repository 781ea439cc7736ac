"""Two texts side by side, with the lines that differ marked."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

__all__ = ["Line", "side_by_side"]


class Line(NamedTuple):
    """One line of a side."""

    text: str
    differs: bool


def side_by_side(one: Sequence[str], other: Sequence[str]) -> tuple[list[Line], list[Line]]:
    """Both sides, line by line. The time grows as the product of their lengths, so cut them first."""
    left: list[Line] = []
    right: list[Line] = []
    for tag, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        left += [Line(text, tag != "equal") for text in one[a:b]]
        right += [Line(text, tag != "equal") for text in other[c:d]]
    return left, right
