"""Layout: the form of texts of several lines, as fixed lines with repeated and free parts between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from .classes import LineClass
from .draft import Draft, Hole, Repeat, extended, literal_of, merged
from .tokens import BLANK, KNOWN, MARK, PAD, Line
from .unify import unify

__all__ = ["Chunk", "Layout"]

Chunk: TypeAlias = Sequence[Line]
"""Consecutive lines of a text."""

_DEEPEST: Final = 4
_FEW_MARKS: Final = 4


@dataclass(slots=True)
class Layout:
    """Finds the form of texts, given the classes of their lines."""

    classes: Mapping[Line, LineClass]
    rows: frozenset[int] = frozenset()
    """The classes (by `id`) of which one text has several lines."""

    def draft(self, chunks: Sequence[Chunk], depth: int = 0) -> Draft:
        """The form that all these texts have, which may be as good as none."""
        if all(len(chunk) == 1 for chunk in chunks):
            rows = {self._class(chunk[0]) for chunk in chunks} <= self.rows
            return (rows and self.listed(chunks)) or unify([chunk[0] for chunk in chunks])
        anchors = self._anchors(chunks) if depth < _DEEPEST else []
        if anchors:
            return self._struct(chunks, anchors, depth)
        begin, end = self._edges(chunks)
        inside = [chunk[begin : len(chunk) - end] for chunk in chunks]
        if (begin or end) and all(inside):
            return merged(["\n" * begin, *self.draft(inside, depth), "\n" * end])
        found = self.repeated(chunks, depth)
        if found is None and self.rows:
            found = Layout(self.classes).draft(chunks, depth)
        return found or _free(chunks)

    def framed(self, chunks: Sequence[Chunk], head: Sequence[int]) -> Draft:
        """The form of texts that begin with lines of these classes."""
        return self._struct(chunks, head, 0)

    def repeated(self, chunks: Sequence[Chunk], depth: int = 0) -> Draft | None:
        """The form of chunks that are a list of lines, or of blocks of lines; None where they are neither."""
        filled = [chunk for chunk in chunks if not _blank(chunk)]
        if not filled or depth >= _DEEPEST:
            return None
        headed, ruled = self._by_header(filled), _by_ruler(filled)
        return (
            (headed and self._blocks(headed, "\n", depth))
            or self.listed(filled)
            or (ruled and (self._blocks(*ruled, depth) or self._headed(*ruled)))
            or (headed and self._headed(headed, "\n"))
            or None
        )

    def listed(self, chunks: Sequence[Chunk]) -> Draft | None:
        """A list of lines of one form, if they are one."""
        lines = [line for chunk in chunks for line in chunk]
        alike = {self._class(line): self.classes[line].members for line in lines if self._class(line) in self.rows}
        if len(lines) == len(chunks) and not alike:
            return None
        item = unify([*lines, *(line for members in alike.values() for line in members)])
        if not any(isinstance(part, Hole) for part in item):
            return None
        bare = all(len(line.tokens) == 1 and line.kinds[0] not in (MARK, BLANK, PAD) for line in lines)
        marked = isinstance(item[0], Hole) and _marks(item[0]) and len(item) > 1 and isinstance(item[1], str)
        literal = literal_of(item)
        fits = bare or marked or literal.strip() or _indented(item) or _tabular(item)
        return [Repeat(item, "\n")] if fits else None

    def _class(self, line: Line) -> int:
        return id(self.classes[line])

    def _telling(self, found: LineClass) -> bool:
        """Whether a line of the class says something by which it is recognised: words, or always the same signs."""
        if found.words or all(KNOWN in line.kinds for line in found.members):
            return True
        return len(found.members) == 1 and MARK in found.form.kinds

    def _anchors(self, chunks: Sequence[Chunk]) -> list[int]:
        """The classes of which every chunk has exactly one line, always in the same order."""
        first = [self._class(line) for line in chunks[0]]
        counts = Counter(first)
        shared = [one for one in first if counts[one] == 1 and one not in self.rows]
        for chunk in chunks[1:]:
            ids = [self._class(line) for line in chunk]
            counts = Counter(ids)
            places = {one: place for place, one in enumerate(ids) if counts[one] == 1}
            shared = _ascending([one for one in shared if one in places], places)
            if not shared:
                return []
        telling = {self._class(line) for line in chunks[0] if self._telling(self.classes[line])}
        if telling.isdisjoint(shared):
            return []
        return [one for one in shared if one in telling or len(chunks) > 1]

    def _struct(self, chunks: Sequence[Chunk], anchors: Sequence[int], depth: int) -> Draft:
        """Fixed lines, and what is between them."""
        places = []
        for chunk in chunks:
            at = {self._class(line): place for place, line in enumerate(chunk)}
            places.append([-1, *(at[one] for one in anchors), len(chunk)])
        out = _Lines()
        for index in range(len(anchors) + 1):
            parts = [chunk[at[index] + 1 : at[index + 1]] for chunk, at in zip(chunks, places, strict=True)]
            begin, end = self._edges(parts)
            for _ in range(begin):
                out.add([])
            self._between(out, [part[begin : len(part) - end] for part in parts], depth)
            for _ in range(end):
                out.add([])
            if index < len(anchors):
                out.add(unify([chunk[at[index + 1]] for chunk, at in zip(chunks, places, strict=True)]))
        return merged(out.draft)

    def _between(self, out: _Lines, parts: Sequence[Chunk], depth: int) -> None:
        """Add what is between two fixed lines."""
        if not any(parts):
            return
        if all(parts):
            out.add(self.draft(parts, depth + 1))
            return
        inner = self.repeated([part for part in parts if part], depth + 1)
        rows = inner[0] if inner and len(inner) == 1 else None
        if isinstance(rows, Repeat) and rows.separator == "\n":
            out.add_rows(rows.item)
        else:
            out.add_loose([_text(part) if part else None for part in parts])

    def _edges(self, chunks: Sequence[Chunk]) -> tuple[int, int]:
        """How many blank lines all chunks begin and end with; those of a chunk that is blank are at its end.

        Where the chunks are blocks each of which ends with a blank line, the last such line is part of the last block.
        """
        end = min(_blanks_first(chunk[::-1]) for chunk in chunks)
        if end:
            blocks = self._by_header([chunk for chunk in chunks if not _blank(chunk)]) or []
            if any(len(found) > 1 for found in blocks) and all(not one[-1].text for found in blocks for one in found):
                end = 0
        return min(_blanks_first(chunk[: len(chunk) - end]) for chunk in chunks), end

    def _by_header(self, chunks: Sequence[Chunk]) -> list[list[Chunk]] | None:
        """Blocks that begin with a line of the same class."""
        heads = {self._class(chunk[0]) for chunk in chunks}
        if len(heads) != 1 or not heads <= self.rows or not self._telling(self.classes[chunks[0][0]]):
            return None
        split = []
        for chunk in chunks:
            starts = [place for place, line in enumerate(chunk) if self._class(line) in heads]
            split.append([chunk[begin:end] for begin, end in pairwise([*starts, len(chunk)])])
        return split if any(len(block) > 1 for blocks in split for block in blocks) else None

    def _blocks(self, split: Sequence[Sequence[Chunk]], separator: str, depth: int) -> Draft | None:
        """A list of blocks with at least two fixed lines each."""
        split, separator = _trimmed(split, separator)
        blocks = [block for blocks in split for block in blocks]
        inside = Layout(self.classes)
        if len(blocks) == len(split) or len(inside._anchors(blocks)) < 2:
            return None
        return [Repeat(inside.draft(blocks, depth + 1), separator)]

    def _headed(self, split: Sequence[Sequence[Chunk]], separator: str) -> Draft | None:
        """A list of blocks that begin alike, and go on as they like."""
        split, separator = _trimmed(split, separator)
        blocks = [block for blocks in split for block in blocks]
        if len(blocks) == len(split):
            return None
        head = unify([block[0] for block in blocks])
        if not literal_of(head).strip() or not any(isinstance(part, Hole) for part in head):
            return None
        rest = [f"\n{_text(block[1:])}" if len(block) > 1 else "" for block in blocks]
        return [Repeat(extended(head, rest), separator)]


class _Lines:
    """A draft that is made line by line."""

    def __init__(self) -> None:
        self.draft: Draft = []
        self._before = ""
        """The line break that is due before the next line."""

    def add(self, lines: Draft) -> None:
        """One line or more."""
        self.draft += [self._before, *lines]
        self._before = "\n"

    def add_rows(self, item: Draft) -> None:
        """Lines of one form, maybe none."""
        rows = merged([self._before, *item] if self._before else [*item, "\n"])
        self.draft.append(Repeat(rows, ""))

    def add_loose(self, texts: Sequence[str | None]) -> None:
        """Lines that some texts have; where there is a hole before, they are taken for a part of it."""
        if self._before:
            self.draft = extended(merged(self.draft), ["" if text is None else f"\n{text}" for text in texts])
        else:
            self.draft.append(Hole(["" if text is None else f"{text}\n" for text in texts]))


def _by_ruler(chunks: Sequence[Chunk]) -> tuple[list[list[Chunk]], str] | None:
    """Blocks with the same line of signs between them, and what is between them."""
    rulers = Counter(line.text for chunk in chunks for line in chunk if _ruler(line))
    for ruler, _ in rulers.most_common(1):
        split: list[list[Chunk]] = []
        for chunk in chunks:
            at = [-1, *(place for place, line in enumerate(chunk) if line.text == ruler), len(chunk)]
            split.append([chunk[begin + 1 : end] for begin, end in pairwise(at)])
        if all(block for blocks in split for block in blocks):
            return split, f"\n{ruler}\n"
    return None


def _ruler(line: Line) -> bool:
    return len(line.text) >= 3 and all(kind in (MARK, BLANK) for kind in line.kinds) and MARK in line.kinds


def _trimmed(split: Sequence[Sequence[Chunk]], separator: str) -> tuple[Sequence[Sequence[Chunk]], str]:
    """Blank lines and rulers at the end of all blocks but the last of a text belong to what is between blocks."""
    while any(len(blocks) > 1 for blocks in split):
        inner = [block for blocks in split for block in blocks[:-1]]
        ends = {block[-1].text for block in inner}
        if len(ends) > 1 or not all(len(block) > 1 and (not block[-1].text or _ruler(block[-1])) for block in inner):
            break
        if 2 * sum(blocks[-1][-1].text in ends for blocks in split) > len(split):
            break
        split = [[*(block[:-1] for block in blocks[:-1]), blocks[-1]] for blocks in split]
        separator = f"\n{ends.pop()}{separator}"
    return split, separator


def _blanks_first(chunk: Chunk) -> int:
    return next((place for place, line in enumerate(chunk) if line.text), len(chunk))


def _free(chunks: Sequence[Chunk]) -> Draft:
    return [Hole([_text(chunk) for chunk in chunks])]


def _text(chunk: Chunk) -> str:
    return "\n".join(line.text for line in chunk)


def _blank(chunk: Chunk) -> bool:
    return all(not line.text for line in chunk)


def _marks(hole: Hole) -> bool:
    """Whether a hole is one of a few signs, such as a star for the current one and a blank for the others."""
    values = set(hole.values)
    return 1 < len(values) <= _FEW_MARKS and not any(char.isalnum() for value in values for char in value)


def _indented(item: Draft) -> bool:
    """Whether lines have nothing in common but that they are indented."""
    first = item[0]
    return isinstance(first, str) and ("\t" in first or len(first) > 1)


def _tabular(item: Draft) -> bool:
    """Whether lines are columns, with blanks between them."""
    holes = [part for part in item if isinstance(part, Hole)]
    return any(hole.width or not "".join(hole.values).strip() for hole in holes) or "\t" in literal_of(item)


def _ascending(ids: Sequence[int], places: Mapping[int, int]) -> list[int]:
    """The longest subsequence whose places ascend."""
    best: list[tuple[int, int]] = []
    for index, one in enumerate(ids):
        earlier = [(best[i][0] + 1, -i) for i in range(index) if places[ids[i]] < places[one]]
        length, before = max(earlier, default=(1, 1))
        best.append((length, -before))
    at = max(range(len(best)), key=lambda i: (best[i][0], -i), default=-1)
    out = []
    while at >= 0:
        out.append(ids[at])
        at = best[at][1]
    return out[::-1]
