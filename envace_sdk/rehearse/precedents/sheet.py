"""Texts that show things line by line, each in its section: read as who stands where, and written again from that.

A line is an *item* if, but for one word, it is said with several different ones: that word is the thing, the rest how
it is shown. All other lines are fixed: the last one before an item is the head of its section.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from .frames import Frame, Frames

__all__ = ["Place", "Sheet", "Shown", "sheet_of"]

_LEAST: Final = 3
"""Different words with which a line must be said."""
_MOST_TEXTS: Final = 400
_MOST_LINES: Final = 200
_LONGEST: Final = 300
_MOST_WORDS: Final = 16
_READ: Final = 0.9
"""The share of the texts that must be understood."""
_EDGES: Final = "'\"`,;:()[]{}<>"
_WORD: Final = re.compile(r"\S+")

Order = Literal["names", "lines", "given"]


class Place(NamedTuple):
    """Where a thing stands in a text: the head of its section, and what its line says around it."""

    section: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as read: who stands where, in order, and what stands around the sections."""

    items: Mapping[str, Place]
    frame: Frame


class Sheet:
    """How one tool's texts show things.

    Args:
        lines: by what stands around a word of an item's line, how many different words were seen there.
        texts: what was recorded.
    """

    def __init__(self, lines: Mapping[tuple[str, str], int], texts: Iterable[str]) -> None:
        self._lines = lines
        self._known: dict[str, tuple[str, str, str] | None] = {}
        texts = list(texts)
        often = Counter(line for text in texts for line in set(text.split("\n")))
        self._fixed = frozenset(line for line, count in often.items() if count > 1)
        frames: Counter[Frame] = Counter()
        by_name, by_line, pairs = 0, 0, 0
        shown = [one for text in texts if (one := self.read(text)) is not None]
        for one in shown:
            frames[one.frame] += 1
            for (name, place), (next_name, next_place) in pairwise(one.items.items()):
                if place.section == next_place.section:
                    pairs += 1
                    by_name += name < next_name
                    by_line += _line(name, place) < _line(next_name, next_place)
        self._frames = Frames(frames)
        self._order: Order = "names" if by_name == pairs else "lines" if by_line == pairs else "given"

    def read(self, text: str) -> Shown | None:
        """What a text shows; None where it shows a thing, or a section, twice, or nothing in words of its own."""
        items: dict[str, Place] = {}
        frame: list[str | None] = []
        held: set[str] = set()
        section = ""
        lines = text.split("\n")
        if len(lines) > _MOST_LINES:
            return None
        for line in lines:
            found = self._item(line)
            if found is None:
                frame.append(line)
                section = line if line.strip() else section
                continue
            name, before, after = found
            if name in items:
                return None
            items[name] = Place(section, before, after)
            if not frame or frame[-1] is not None:
                if section in held:
                    return None
                held.add(section)
                frame.append(None)
        return Shown(items, tuple(frame)) if items or self._fixed.issuperset(lines) else None

    def write(self, items: Mapping[str, Place]) -> str | None:
        """The text that shows these things; None where it is not known what stands around them."""
        frame = self._frames.of(frozenset(place.section for place in items.values()))
        if frame is None:
            return None
        lines: list[str] = []
        section = ""
        for part in frame:
            if part is not None:
                lines.append(part)
                section = part if part.strip() else section
            else:
                lines += self._written(section, items)
        return "\n".join(lines)

    def _written(self, section: str, items: Mapping[str, Place]) -> list[str]:
        here = [(name, place) for name, place in items.items() if place.section == section]
        if self._order == "names":
            here.sort(key=lambda item: item[0])
        lines = [_line(name, place) for name, place in here]
        return sorted(lines) if self._order == "lines" else lines

    def _item(self, line: str) -> tuple[str, str, str] | None:
        """The thing that a line shows, and what stands before and after it."""
        if line not in self._known:
            best: tuple[int, str, str, str] | None = None
            for name, before, after in _splits(line):
                seen = self._lines.get((before, after), 0)
                if seen and (best is None or seen > best[0]):
                    best = seen, name, before, after
            self._known[line] = None if best is None else best[1:]
        return self._known[line]


def sheet_of(texts: Sequence[str]) -> Sheet | None:
    """How these texts show things; None where they do not show them line by line."""
    texts = texts[:: max(1, -(-len(texts) // _MOST_TEXTS))]
    words: dict[tuple[str, str], set[str]] = {}
    for line in dict.fromkeys(line for text in texts for line in text.split("\n")[:_MOST_LINES]):
        for name, before, after in _splits(line):
            words.setdefault((before, after), set()).add(name)
    lines = {around: len(found) for around, found in words.items() if len(found) >= _LEAST}
    if not lines:
        return None
    sheet = Sheet(lines, texts)
    right = sum((shown := sheet.read(text)) is not None and sheet.write(shown.items) == text for text in texts)
    return sheet if right >= _READ * len(texts) else None


def _splits(line: str) -> Iterable[tuple[str, str, str]]:
    """Each word of a line, with what stands before and after it; none of what introduces others."""
    if len(line) > _LONGEST or line.rstrip().endswith(":"):
        return
    for number, match in enumerate(_WORD.finditer(line)):
        if number >= _MOST_WORDS:
            return
        word = match.group()
        name = word.strip(_EDGES)
        if name:
            begin = match.start() + word.index(name)
            yield name, line[:begin], line[begin + len(name) :]


def _line(name: str, place: Place) -> str:
    return f"{place.before}{name}{place.after}"
