"""Sets of characters: sorted, disjoint ranges of code points."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

__all__ = [
    "ANY",
    "DIGITS",
    "DOT",
    "NONE",
    "SPACES",
    "WORD",
    "Charset",
    "case_folded",
    "chars",
    "complement",
    "intersect",
    "nth",
    "of",
    "property_set",
    "size",
]

Charset = tuple[tuple[int, int], ...]
_TOP: Final = 0x10FFFF


def of(ranges: Iterable[tuple[int, int]]) -> Charset:
    """The set that covers the ranges, which may overlap and lie in any order."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def chars(text: str) -> Charset:
    """The set of a text's characters."""
    return of((ord(char), ord(char)) for char in text)


@lru_cache(maxsize=4096)
def complement(given: Charset) -> Charset:
    """Every other character."""
    result, start = [], 0
    for low, high in given:
        if low > start:
            result.append((start, low - 1))
        start = high + 1
    if start <= _TOP:
        result.append((start, _TOP))
    return tuple(result)


@lru_cache(maxsize=16384)
def intersect(one: Charset, two: Charset) -> Charset:
    """What both have."""
    result, i, j = [], 0, 0
    while i < len(one) and j < len(two):
        low, high = max(one[i][0], two[j][0]), min(one[i][1], two[j][1])
        if low <= high:
            result.append((low, high))
        if one[i][1] < two[j][1]:
            i += 1
        else:
            j += 1
    return tuple(result)


def union(one: Charset, two: Charset) -> Charset:
    """What either has."""
    return of((*one, *two))


def size(given: Charset) -> int:
    """How many characters."""
    return sum(high - low + 1 for low, high in given)


def nth(given: Charset, index: int) -> str:
    """The character at a position, in order of code points."""
    for low, high in given:
        if index <= high - low:
            return chr(low + index)
        index -= high - low + 1
    raise IndexError(index)


def case_folded(given: Charset) -> Charset:
    """The set with the other case of its letters added (exact for ASCII and small sets)."""
    result = list(given)
    for low, high in given:
        if high - low > 512:
            continue
        for point in range(low, high + 1):
            others = (chr(point).lower(), chr(point).upper())
            result.extend((ord(other), ord(other)) for other in others if len(other) == 1)
    return of(result)


NONE: Final[Charset] = ()
# Surrogates are no characters, and no JSON text can carry them.
ANY: Final[Charset] = ((0, 0xD7FF), (0xE000, _TOP))
DOT: Final[Charset] = intersect(ANY, complement(chars("\n\r\u2028\u2029")))
DIGITS: Final[Charset] = ((0x30, 0x39),)
WORD: Final[Charset] = of([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
SPACES: Final[Charset] = chars("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff")

# Enough of Unicode to find a member: a set here only steers sampling, engines decide what matches.
_SURVEYED: Final = 0x3100
_SCRIPTS: Final[dict[str, Charset]] = {
    "arabic": ((0x0621, 0x063A),),
    "cyrillic": ((0x0410, 0x044F),),
    "devanagari": ((0x0905, 0x0939),),
    "greek": ((0x0391, 0x03A1), (0x03A3, 0x03A9), (0x03B1, 0x03C9)),
    "han": ((0x4E00, 0x9FA5),),
    "hangul": ((0xAC00, 0xD7A3),),
    "hebrew": ((0x05D0, 0x05EA),),
    "hiragana": ((0x3041, 0x3096),),
    "katakana": ((0x30A1, 0x30FA),),
    "latin": ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0xFF)),
    "thai": ((0x0E01, 0x0E2E),),
}
_NAMES: Final = {
    "letter": "L", "lowercase_letter": "Ll", "uppercase_letter": "Lu", "titlecase_letter": "Lt",
    "modifier_letter": "Lm", "other_letter": "Lo", "mark": "M", "nonspacing_mark": "Mn", "number": "N",
    "decimal_number": "Nd", "punctuation": "P", "symbol": "S", "separator": "Z", "space_separator": "Zs",
    "control": "Cc", "math_symbol": "Sm", "currency_symbol": "Sc",
}  # fmt: skip


@lru_cache(maxsize=128)
def property_set(name: str) -> Charset | None:
    r"""The set of `\p{name}`, or None if the property is not known."""
    key, _, value = name.partition("=")
    if value:
        if key in {"Script", "sc", "Script_Extensions", "scx"}:
            return _SCRIPTS.get(value.lower())
        if key not in {"General_Category", "gc"}:
            return None
        key = value
    found = _BINARY.get(key) or _SCRIPTS.get(key.lower())
    if found is not None:
        return found
    prefix = _NAMES.get(key.lower(), key)
    members = [point for point in range(_SURVEYED) if unicodedata.category(chr(point)).startswith(prefix)]
    return of((point, point) for point in members) or None


_BINARY: Final[dict[str, Charset]] = {
    "ASCII": ((0, 0x7F),),
    "Alphabetic": _SCRIPTS["latin"],
    "Any": ANY,
    "Emoji": ((0x1F600, 0x1F64F),),
    "Emoji_Presentation": ((0x1F600, 0x1F64F),),
    "Extended_Pictographic": ((0x1F600, 0x1F64F),),
    "Lowercase": ((0x61, 0x7A),),
    "Uppercase": ((0x41, 0x5A),),
    "White_Space": SPACES,
}
