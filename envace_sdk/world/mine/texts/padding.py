"""Padding: values that are filled up with blanks to the width of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from .draft import Draft, Hole

__all__ = ["padded"]

_SEVERAL: Final = 2
"""How many different widths of values make a column."""


def padded(draft: Draft) -> Draft:
    """The draft with the blanks between two values made a part of the one that they fill up."""
    out: Draft = []
    for part in draft:
        space = out[-1] if out else None
        value = out[-2] if len(out) > 1 else None
        if isinstance(part, Hole) and isinstance(space, Hole) and _blank(space):
            right = _width(space.values, part.values)
            left = _left(value, space, part) if isinstance(value, Hole) else 0
            if left and isinstance(value, Hole):
                gap = [(one + blanks)[left:] for one, blanks in zip(value.values, space.values, strict=True)]
                rest = [blanks + one for blanks, one in zip(gap, part.values, strict=True)]
                out[-2:] = [replace(value, width=left), Hole(rest)]
                continue
            if right and "" not in part.values:
                out[-1] = replace(part, width=-right)
                continue
        out.append(part)
    return out


def _blank(hole: Hole) -> bool:
    return all(value and not value.strip(" ") for value in hole.values)


def _width(left: Sequence[str], right: Sequence[str]) -> int:
    """How wide both are together, if that is always the same though they are not; else 0."""
    if len(left) != len(right):
        return 0
    widths = {len(one) + len(other) for one, other in zip(left, right, strict=True)}
    return widths.pop() if len(widths) == 1 and len(set(map(len, right))) >= _SEVERAL else 0


def _left(value: Hole, space: Hole, after: Hole) -> int:
    """The width of the column of a value, told from those lines that have nothing after it."""
    if not len(value.values) == len(space.values) == len(after.values):
        return 0
    if "" not in after.values:
        return _width(space.values, value.values)
    ends = [index for index, text in enumerate(after.values) if not text]
    width = _width([space.values[index] for index in ends], [value.values[index] for index in ends])
    fits = all(len(one) + len(blanks) >= width for one, blanks in zip(value.values, space.values, strict=True))
    return width if fits and all(len(one) < width for one in value.values) else 0
