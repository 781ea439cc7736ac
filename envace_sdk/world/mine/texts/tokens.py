"""Words of texts: how a text is cut into pieces that belong together, and which of them were known beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from envace_sdk.json import Json

from ...expressions import to_text
from .embedded import json_spans
from .inline import bare_lists, list_spans

__all__ = [
    "BLANK",
    "KNOWN",
    "LIST",
    "MARK",
    "NUMBER",
    "PAD",
    "TIME",
    "VALUE",
    "WORD",
    "Line",
    "known_texts",
    "lines_of",
    "words_of",
]

_JOIN: Final = r"[./\\@+~-]"
_DAY: Final = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTH: Final = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK: Final = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
_ZONE: Final = r"(?:Z|\ ?(?:GMT|UTC)?[+-]\d\d:?\d\d|\ (?:GMT|UTC))"
_TOKEN: Final = re.compile(
    rf"""
    (?P<time> (?:
        \d{{4}}-\d\d-\d\d (?: [T\ ]{_CLOCK} {_ZONE}? )?
      | (?:{_DAY},?\ )? {_MONTH}\ {{1,2}}\d{{1,2}},?\ (?: \d{{4}}\ {_CLOCK} | {_CLOCK}\ \d{{4}} ) {_ZONE}?
        (?:\ \([A-Z][\w\ ]{{1,40}}\))?
      | {_DAY},\ \d{{1,2}}\ {_MONTH}\ \d{{4}}\ {_CLOCK} {_ZONE}?
      | {_CLOCK} {_ZONE}?
      ) (?! [\w:] | {_JOIN}\w ) )
  | (?P<number> -?\d+(?:\.\d+)? (?! [\w:] | {_JOIN}\w ))
  | (?P<word>
        (?:[A-Za-z][A-Za-z0-9+.-]{{0,20}}://)?         # the scheme of an address
        {_JOIN}{{0,4}} \w+
        (?: {_JOIN}{{1,4}} \w+
          | (?<=\d):(?=\d) \w+                         # the time of day
          | (?<=\b[A-Za-z]):(?=[/\\]) {_JOIN} \w+      # a drive
          | '(?:[st]|ll|re|ve|d)\b                     # it's
        )*
        (?: /(?=[\s'"]|$) )?
    )
  | (?P<pad> (?<!\n)(?<!^)[^\S\n]{{2,}} )
  | (?P<blank> \s)
  | (?P<mark> (?P<sign>[^\w\s]) (?: (?<=["'()\[\]{{}}]) | (?P=sign)* ) )
    """,
    re.VERBOSE,
)
_PLAIN: Final = re.compile(r"[^\W\d]+(?:'[a-z]+)?")
_EDGE: Final = re.compile(r"[\w/\\@~]")

WORD, VALUE, NUMBER, TIME, KNOWN, MARK, BLANK, PAD, LIST = range(9)
"""Kinds of tokens: a word of language; something with digits or joined parts; a number; a date or a time of day; equal
to a known value; a sign or several of the same; a blank character; several blanks that are no indentation;
a list in brackets, or other JSON."""

_KINDS: Final = {"number": NUMBER, "time": TIME, "blank": BLANK, "pad": PAD, "mark": MARK, "sign": MARK}
_FEW: Final = 64
_LONGEST_UNIT: Final = 3
_LONGEST_KNOWN: Final = 10_000


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a text, cut into tokens."""

    tokens: tuple[str, ...]
    kinds: tuple[int, ...]
    text: str = field(compare=False)
    words: int = field(compare=False)
    """How many words of language it has."""

    @property
    def plain(self) -> bool:
        """Whether it is made of words of language and signs only."""
        return all(kind in (WORD, MARK, BLANK, PAD) for kind in self.kinds)

    @classmethod
    def of(cls, tokens: Sequence[str], kinds: Sequence[int]) -> Line:
        """A line of these tokens."""
        return cls(tuple(tokens), tuple(kinds), "".join(tokens), kinds.count(WORD))


def known_texts(known: Mapping[str, Json]) -> tuple[str, ...]:
    """The texts of what is known, the longest first; what is true, false or null is no trace of anything."""
    texts = {
        to_text(value)
        for value in known.values()
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    }
    usable = [text for text in texts if len(text) <= _LONGEST_KNOWN and any(map(str.isalnum, text))]
    return tuple(sorted(usable, key=lambda text: (-len(text), text))[:_FEW])


def words_of(texts: Sequence[str]) -> set[str]:
    """The words and values in these texts, other than very short ones."""
    found = (one for text in texts for one in _TOKEN.finditer(text))
    return {one.group() for one in found if one.lastgroup == "word" and len(one.group()) > _LONGEST_UNIT}


def lines_of(text: str, known: Sequence[str]) -> list[Line]:
    """The lines of a text. A known text that stands by itself is one token, even where it spans lines."""
    lines: list[Line] = []
    tokens: list[str] = []
    kinds: list[int] = []
    for part, kind in _tokens(text, known):
        if part == "\n" and kind == BLANK:
            lines.append(Line.of(tokens, kinds))
            tokens, kinds = [], []
        else:
            tokens.append(part)
            kinds.append(kind)
    lines.append(Line.of(tokens, kinds))
    return lines


def _tokens(text: str, known: Sequence[str]) -> Iterator[tuple[str, int]]:
    place = 0
    for begin, end, kind in _spans(text, known):
        yield from _plain_tokens(text, place, begin)
        yield text[begin:end], kind
        place = end
    yield from _plain_tokens(text, place, len(text))


def _spans(text: str, known: Sequence[str]) -> list[tuple[int, int, int]]:
    """Where known texts and lists are, with their kinds; what was known within a list is a part of the list."""
    spans: list[tuple[int, int, int]] = []
    places = _known_places(text, known)
    found = list(json_spans(text))
    found += [(begin, end) for begin, end in (*list_spans(text), *bare_lists(text)) if not _overlaps(found, begin, end)]
    for begin, end in sorted(found):
        covered = any(first <= begin and end <= last for first, last in places)
        if not covered and (not spans or spans[-1][1] <= begin):
            spans.append((begin, end, LIST))
    for begin, end in places:
        if all(end <= first or last <= begin for first, last, _ in spans):
            spans.append((begin, end, KNOWN))
    return sorted(spans)


def _overlaps(spans: Sequence[tuple[int, int]], begin: int, end: int) -> bool:
    return any(begin < last and first < end for first, last in spans)


def _plain_tokens(text: str, begin: int, end: int) -> Iterator[tuple[str, int]]:
    counted = 0
    for found in _TOKEN.finditer(text, begin, end):
        token, group = found.group(), found.lastgroup
        counted = 2 if group == "number" else counted - 1
        if group == "word":
            unit = counted >= 0 and len(token) <= _LONGEST_UNIT
            yield token, WORD if _PLAIN.fullmatch(token) and not unit else VALUE
        else:
            yield token, _KINDS[group or ""]


def _known_places(text: str, known: Sequence[str]) -> list[tuple[int, int]]:
    """Where known texts stand by themselves, longer ones before shorter ones; in order."""
    taken: list[tuple[int, int]] = []
    for one in known:
        place = text.find(one)
        while place >= 0:
            end = place + len(one)
            if _alone(text, place, end) and all(end <= begin or place >= last for begin, last in taken):
                taken.append((place, end))
            if len(taken) > _FEW:
                break
            place = text.find(one, end)
    return sorted(taken)


def _alone(text: str, begin: int, end: int) -> bool:
    """Whether a part of a text is no part of a longer word, path or the like."""
    before, after = text[begin - 1 : begin], text[end : end + 2]
    if before and _EDGE.match(before) and _EDGE.match(text[begin]):
        return False
    if before and before in ".-" and begin >= 2 and text[begin - 2].isalnum():
        return False
    if not after or not _EDGE.match(text[end - 1]):
        return True
    if after[0] in ".-":
        return len(after) < 2 or not (after[1].isalnum())
    return not _EDGE.match(after)
