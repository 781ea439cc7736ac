"""A persistent sorted sequence of slots: cheap to derive, in order, and small."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import TypeAlias

__all__ = ["EMPTY", "Ordered", "Slot"]

Slot: TypeAlias = tuple[int, str]
"""An entity's place in the order of creation, and its key."""

_CHUNK = 128
"""Two levels of at most this many slots: deriving copies one chunk and the list of chunks, microseconds up to
hundreds of thousands of slots, with none of the per-node cost of a tree in Python."""


def _first(chunk: tuple[Slot, ...]) -> Slot:
    return chunk[0]


class Ordered:
    """An immutable sorted sequence of slots."""

    __slots__ = ("_chunks", "_size")

    def __init__(self, chunks: tuple[tuple[Slot, ...], ...] = (), size: int = 0) -> None:
        self._chunks = chunks
        self._size = size

    @classmethod
    def of(cls, slots: Sequence[Slot]) -> Ordered:
        """From slots that are sorted already."""
        chunks = tuple(tuple(slots[at : at + _CHUNK]) for at in range(0, len(slots), _CHUNK))
        return cls(chunks, len(slots))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Slot]:
        for chunk in self._chunks:
            yield from chunk

    def after(self, sequence: int) -> Iterator[Slot]:
        """The slots whose sequence number is above the given one."""
        wanted = (sequence + 1, "")
        at = max(bisect_right(self._chunks, wanted, key=_first) - 1, 0)
        for chunk in self._chunks[at : at + 1]:
            yield from chunk[bisect_left(chunk, wanted) :]
        for chunk in self._chunks[at + 1 :]:
            yield from chunk

    def add(self, slot: Slot) -> Ordered:
        """With the slot, at its place. It must not be there yet."""
        chunks = self._chunks
        if not chunks:
            return Ordered(((slot,),), 1)
        at = len(chunks) - 1
        if slot < chunks[at][0]:
            at = max(bisect_right(chunks, slot, key=_first) - 1, 0)
        chunk = chunks[at]
        place = bisect_left(chunk, slot)
        if len(chunk) < _CHUNK:
            fresh: tuple[tuple[Slot, ...], ...] = ((*chunk[:place], slot, *chunk[place:]),)
        elif place == len(chunk):
            fresh = (chunk, (slot,))
        else:
            wider = (*chunk[:place], slot, *chunk[place:])
            fresh = (wider[: _CHUNK // 2], wider[_CHUNK // 2 :])
        return Ordered((*chunks[:at], *fresh, *chunks[at + 1 :]), self._size + 1)

    def discard(self, slot: Slot) -> Ordered:
        """Without the slot; itself when it is not there."""
        at = bisect_right(self._chunks, slot, key=_first) - 1
        if at < 0:
            return self
        chunk = self._chunks[at]
        place = bisect_left(chunk, slot)
        if place == len(chunk) or chunk[place] != slot:
            return self
        rest = (*chunk[:place], *chunk[place + 1 :])
        return Ordered((*self._chunks[:at], *((rest,) if rest else ()), *self._chunks[at + 1 :]), self._size - 1)


EMPTY = Ordered()
"""No slots."""
