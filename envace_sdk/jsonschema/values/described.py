"""What a description gives away: examples, the values there are, the form of a date."""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random
from typing import Final

__all__ = ["alike", "described_form", "described_values"]

_MARK: Final = re.compile(
    r"(?:\be\.g\.?|\bfor example|\bexamples?|\bsuch as|\blike|\bone of|\bcan be|\beither)[,:]?\s+", re.IGNORECASE
)
_QUOTED: Final = re.compile(r"""["'`“‘]([^"'`“”‘’\n]{1,60})["'`”’]""")
_BARE: Final = re.compile(r"[A-Za-z0-9][\w\-./:@#+]{0,40}\w|\w")
_GAP: Final = re.compile(r"\s*(?:,|\||/|or|and|,\s*or|,\s*and)\s*")
_DATE: Final = re.compile(r"\b(yyyy-mm-dd)\b", re.IGNORECASE)
_INSTANT: Final = re.compile(r"\biso[ -]?8601\b|\brfc[ -]?3339\b|yyyy-mm-ddthh", re.IGNORECASE)
_TEMPLATE: Final = re.compile(r"^[A-Za-z#]{0,10}[-_#]?[A-Za-z_-]*[0-9][A-Za-z0-9_-]*$")
_DATE_LIKE: Final = re.compile(r"\d{4}-\d\d-\d\d|^v?\d+$")


@lru_cache(maxsize=2048)
def described_values(description: str) -> tuple[str, ...]:
    """The values that a description names, such as in "e.g. 'ORD-1001'" or "one of: open, closed"."""
    text = description[:1000]
    found: dict[str, None] = {}
    for mark in _MARK.finditer(text):
        at = mark.end()
        one = (
            _QUOTED if _QUOTED.match(text, at) else _BARE if mark[0].lower()[0] in "eo" and mark[0][-2] != "s" else None
        )
        while one is not None and (match := one.match(text, at)) is not None and len(found) < 20:
            found[match[1] if one is _QUOTED else match[0]] = None
            gap = _GAP.match(text, match.end())
            if gap is None or gap.end() == match.end():
                break
            at = gap.end()
    return tuple(found)


@lru_cache(maxsize=2048)
def described_form(description: str) -> str:
    """`date` or `date-time` where a description says how a date is written; else ""."""
    if _INSTANT.search(description):
        return (
            "date"
            if re.search(r"\bdate\b(?!.{0,3}time)", description, re.IGNORECASE) and "time" not in description.lower()
            else "date-time"
        )
    return "date" if _DATE.search(description) else ""


def alike(example: str, random: Random) -> str:
    """Another text of an example's kind: `ORD-1001` becomes `ORD-7382`; a plain word stays itself."""
    if not _TEMPLATE.match(example) or _DATE_LIKE.search(example):
        return example
    return re.sub(r"[0-9]", lambda digit: str(random.randint(1 if digit.start() == 0 else 0, 9)), example)
