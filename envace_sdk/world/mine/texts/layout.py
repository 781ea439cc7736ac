"""Layout: the form of texts of several lines, as fixed lines with repeated and free parts between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from .classes import LineClass
from .draft import Draft, Hole, Repeat, merged
from .tokens import BLANK, KNOWN, MARK, PAD, Line
from .unify import unify

__all__ = ["Chunk", "Layout"]

Chunk: TypeAlias = Sequence[Line]
"""Consecutive lines of a text."""

_DEEPEST: Final = 4


@dataclass(slots=True)
class Layout:
    """Finds the form of texts, given the classes of their lines."""

    classes: Mapping[Line, LineClass]
    rows: frozenset[int]
    """The classes (by `id`) of which one text has several lines."""

    def draft(self, chunks: Sequence[Chunk], depth: int = 0) -> Draft | None:
        """The form that all these texts have; None where they have none in common."""
        if all(len(chunk) == 1 for chunk in chunks):
            return unify([chunk[0] for chunk in chunks])
        if depth > _DEEPEST:
            return self._free(chunks)
        anchors = self._anchors(chunks)
        if anchors:
            return self._struct(chunks, anchors, depth)
        edges = _edges(chunks)
        if edges != (0, 0):
            return self._inside(chunks, *edges, depth)
        return self._repeated(chunks, depth) or self._free(chunks)

    def _inside(self, chunks: Sequence[Chunk], begin: int, end: int, depth: int) -> Draft | None:
        """The form of chunks that all begin and end with so many blank lines."""
        inner = self.draft([chunk[begin : len(chunk) - end] for chunk in chunks], depth + 1)
        return None if inner is None else merged(["\n" * begin, *inner, "\n" * end])

    def _class(self, line: Line) -> int:
        return id(self.classes[line])

    def _anchors(self, chunks: Sequence[Chunk]) -> list[int]:
        """The classes of which every chunk has exactly one line, always in the same order."""
        shared: list[int] | None = None
        for chunk in chunks:
            ids = [self._class(line) for line in chunk]
            counts = Counter(ids)
            if shared is None:
                shared = [one for one in ids if counts[one] == 1 and one not in self.rows]
            else:
                places = {one: place for place, one in enumerate(ids) if counts[one] == 1}
                shared = _ascending([one for one in shared if one in places], places)
            if not shared:
                return []
        worded = {id(found) for found in self.classes.values() if found.words or self._sign_line(found)}
        if not any(one in worded for one in shared or ()):
            return []
        return [one for one in shared or () if one in worded or len(chunks) > 1]

    def _sign_line(self, found: LineClass) -> bool:
        """Whether the line is always the same signs, such as a ruler or a fence."""
        return len(found.members) == 1 and KNOWN not in found.form.kinds and MARK in found.form.kinds

    def _struct(self, chunks: Sequence[Chunk], anchors: Sequence[int], depth: int) -> Draft | None:
        """Fixed lines, and what is between them."""
        places = [[self._places(chunk)[one] for one in anchors] for chunk in chunks]
        out: Draft = []
        started = False
        for index in range(len(anchors) + 1):
            parts = []
            for chunk, at in zip(chunks, places, strict=True):
                begin = at[index - 1] + 1 if index else 0
                parts.append(chunk[begin : at[index] if index < len(anchors) else len(chunk)])
            between = self._between(parts, out, started, index == len(anchors), depth)
            if between is None:
                return None
            out += between
            started = started or any(parts)
            if index < len(anchors):
                if started and not (out and isinstance(out[-1], Repeat) and _closes(out[-1])):
                    out.append("\n")
                out += unify([chunk[at[index]] for chunk, at in zip(chunks, places, strict=True)])
                started = True
        return merged(out)

    def _places(self, chunk: Chunk) -> dict[int, int]:
        return {self._class(line): place for place, line in enumerate(chunk)}

    def _between(self, parts: Sequence[Chunk], out: Draft, started: bool, last: bool, depth: int) -> Draft | None:
        """The form of what is between two fixed lines, with the line break before it."""
        if not any(parts):
            return []
        if all(parts):
            inner = self.draft(parts, depth + 1)
            return None if inner is None else [*(["\n"] if started else []), *inner]
        filled = [part for part in parts if part]
        inner = self._repeated(filled, depth + 1)
        if inner and len(inner) == 1 and isinstance(inner[0], Repeat) and inner[0].separator == "\n":
            item = inner[0].item
            if started:
                return [Repeat(merged(["\n", *item]), "")]
            return None if last else [Repeat(merged([*item, "\n"]), "")]
        if inner is None and out and isinstance(out[-1], Hole):
            hole = out[-1]
            hole.values = [
                "\n".join([value, *(line.text for line in part)])
                for value, part in zip(hole.values, parts, strict=True)
            ]
            hole.known = False
            return []
        return None

    def _repeated(self, chunks: Sequence[Chunk], depth: int) -> Draft | None:
        """The form of chunks that are a list of lines, or of blocks of lines."""
        filled = [chunk for chunk in chunks if not _blank(chunk)]
        if not filled:
            return None
        for split in (self._by_header, self._by_ruler):
            blocks = split(filled)
            found = self._blocks(blocks, depth) if blocks else None
            if found:
                return found
        return self._single_lines(filled)

    def _by_header(self, chunks: Sequence[Chunk]) -> list[list[Chunk]] | None:
        """Blocks that begin with a line of the same class."""
        heads = {self._class(chunk[0]) for chunk in chunks}
        if len(heads) > 1 or not heads <= self.rows:
            return None
        head = next(iter(heads))
        split = []
        for chunk in chunks:
            starts = [place for place, line in enumerate(chunk) if self._class(line) == head]
            split.append([chunk[begin:end] for begin, end in zip(starts, [*starts[1:], len(chunk)], strict=True)])
        return split if any(len(block) > 1 for blocks in split for block in blocks) else None

    def _by_ruler(self, chunks: Sequence[Chunk]) -> list[list[Chunk]] | None:
        """Blocks with the same line of signs between them."""
        rulers = Counter(line.text for chunk in chunks for line in chunk if _ruler(line))
        for ruler, _ in rulers.most_common(1):
            split = []
            for chunk in chunks:
                at = [-1, *(place for place, line in enumerate(chunk) if line.text == ruler), len(chunk)]
                split.append([chunk[begin + 1 : end] for begin, end in pairwise(at)])
            if all(all(blocks) for blocks in split):
                return [[[*block[:-1], block[-1]] for block in blocks] for blocks in split] if ruler else None
        return None

    def _blocks(self, split: list[list[Chunk]], depth: int) -> Draft | None:
        blocks = [block for blocks in split for block in blocks]
        between = 0
        while len(split) < len(blocks):
            inner = [block for found in split for block in found[:-1]]
            last = [found[-1] for found in split]
            if not all(len(block) > 1 and not block[-1].text for block in inner):
                break
            if any(not block[-1].text for block in last):
                break
            between += 1
            split = [[*(block[:-1] for block in found[:-1]), found[-1]] for found in split]
        blocks = [block for found in split for block in found]
        if len(self._anchors_in_blocks(blocks)) < 2:
            return None
        item = Layout(self.classes, frozenset()).draft(blocks, depth + 1)
        return None if item is None else [Repeat(item, "\n" * (between + 1))]

    def _anchors_in_blocks(self, blocks: Sequence[Chunk]) -> list[int]:
        return Layout(self.classes, frozenset())._anchors(blocks)

    def _single_lines(self, chunks: Sequence[Chunk]) -> Draft | None:
        """A list of lines of one form."""
        lines = [line for chunk in chunks for line in chunk]
        if all(len(chunk) == 1 for chunk in chunks):
            return None
        item = unify(lines)
        literal = "".join(part for part in item if isinstance(part, str)).strip()
        bare = all(len(line.tokens) == 1 and line.kinds[0] not in (MARK, BLANK, PAD) for line in lines)
        if not (literal or bare) or not any(isinstance(part, Hole) for part in item):
            return None
        if not bare and len({tuple(line.kinds[:1]) for line in lines}) > 2:
            return None
        return [Repeat(item, "\n")]

    def _free(self, chunks: Sequence[Chunk]) -> Draft | None:
        if not all(chunks):
            return None
        return [Hole(["\n".join(line.text for line in chunk) for chunk in chunks])]


def _ascending(ids: Sequence[int], places: Mapping[int, int]) -> list[int]:
    """The longest subsequence whose places ascend."""
    best: list[tuple[int, int]] = []
    for index, one in enumerate(ids):
        length, before = max(
            ((best[i][0] + 1, i) for i in range(index) if places[ids[i]] < places[one]),
            default=(1, -1),
            key=lambda x: x[0],
        )
        best.append((length, before))
    at = max(range(len(best)), key=lambda i: best[i][0], default=-1)
    out = []
    while at >= 0:
        out.append(ids[at])
        at = best[at][1]
    return out[::-1]


def _blank(chunk: Chunk) -> bool:
    return all(not line.text for line in chunk)


def _edges(chunks: Sequence[Chunk]) -> tuple[int, int]:
    """How many blank lines all chunks begin and end with, where they have others too."""
    if any(_blank(chunk) for chunk in chunks):
        return 0, 0
    begin = min(next(place for place, line in enumerate(chunk) if line.text) for chunk in chunks)
    end = min(next(place for place, line in enumerate(reversed(chunk)) if line.text) for chunk in chunks)
    return begin, end


def _ruler(line: Line) -> bool:
    return bool(line.tokens) and all(kind in (MARK, BLANK) for kind in line.kinds) and len(line.text) >= 3


def _closes(part: Repeat) -> bool:
    """Whether the rows end with a line break of their own."""
    last = part.item[-1] if part.item else None
    return part.separator == "" and isinstance(last, str) and last.endswith("\n")
