"""Matching a text against a template, in time linear in the text.

A template becomes a short program. A search over its places and those of the text tries the shortest text for each
slot first, and never looks at a pair of places twice. So no text makes it run away, whatever the template.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from envace_sdk.json import Json

from .embedded import json_end
from .slot import INTEGER, NUMBER, Kind, Slot

__all__ = ["Program", "compile_program", "match"]

_MAX_STEPS: Final = 500_000
_SHORTER: Final = 20
"""How many digits of a long number may belong to what follows it."""
_LINE: Final = re.compile(r"[^\n]*")
_WITHIN: Final = {"word": re.compile(r"\S*"), "space": re.compile(r"[^\S\n]*")}
_Follow: TypeAlias = tuple[str | None, ...] | None
"""The texts one of which comes next, None among them for the end; None instead where that is not known."""


class _Repeated(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def item(self) -> Any: ...
    @property
    def separator(self) -> str: ...


_Part: TypeAlias = str | Slot | _Repeated


@dataclass(slots=True)
class _Text:
    """The text goes on with this."""

    text: str


@dataclass(slots=True)
class _Slot:
    """A slot, and what follows it."""

    slot: Slot
    follow: _Follow


@dataclass(slots=True)
class _Begin:
    """Rows begin. Where an item may be empty, no rows at all are tried first, else last."""

    name: str
    empty_item: bool
    end: int = 0


@dataclass(slots=True)
class _Again:
    """An item is over: there is a separator and another one, or the rows end."""

    separator: str
    item: int


@dataclass(slots=True)
class _Finish:
    """Rows are over."""


_Op: TypeAlias = _Text | _Slot | _Begin | _Again | _Finish
Program: TypeAlias = list[_Op]
"""A compiled template."""


def compile_program(parts: Sequence[_Part]) -> Program:
    """The program of a template's parts."""
    ops: Program = []
    _compile(ops, parts, (None,))
    return ops


def _compile(ops: Program, parts: Sequence[_Part], after: _Follow) -> None:
    for index, part in enumerate(parts):
        follow = _first(parts[index + 1 :], after)
        if isinstance(part, str):
            ops.append(_Text(part))
        elif isinstance(part, Slot):
            ops.append(_Slot(part, follow))
        else:
            inner = part.item.parts
            begin = _Begin(part.name, _may_be_empty(inner))
            ops.append(begin)
            item = len(ops)
            another: _Follow = (part.separator,) if part.separator else _first(inner, None)
            _compile(ops, inner, _either(another, follow))
            ops.append(_Again(part.separator, item))
            begin.end = len(ops)
            ops.append(_Finish())


def _first(parts: Sequence[_Part], after: _Follow) -> _Follow:
    for index, part in enumerate(parts):
        if isinstance(part, Slot):
            return None
        if not isinstance(part, str):
            return _either(_first(part.item.parts, None), _first(parts[index + 1 :], after))
        if part:
            return (part,)
    return after


def _either(left: _Follow, right: _Follow) -> _Follow:
    return None if left is None or right is None else tuple(dict.fromkeys((*left, *right)))


def _may_be_empty(parts: Sequence[_Part]) -> bool:
    return all(part.may_be_empty if isinstance(part, Slot) else not isinstance(part, str) or not part for part in parts)


_Trail: TypeAlias = Any
"""What has been matched so far: the trail before, the place in the program, begin and end in the text; else None."""
_State: TypeAlias = tuple[int, int, _Trail, int]
"""Where the search is in the program and in the text, how it came there, and the next end to try for a slot."""


def match(program: Program, text: str) -> dict[str, Json] | None:
    """The values in a text of the program's form, or None."""
    search = _Search(program, text)
    return _values(program, search.trail, text) if search.run() else None


class _Search:
    __slots__ = ("_done", "_found", "_length", "_limits", "_ops", "_seen", "_stack", "_text", "trail")

    def __init__(self, ops: Program, text: str) -> None:
        self._ops = ops
        self._text = text
        self._length = len(text)
        self._stack: list[_State] = [(0, 0, None, -1)]
        self._seen: set[int] = set()
        self._done: dict[tuple[int, int], int] = {}
        """By slot and the latest end of its text: from where on all ends have been tried."""
        self._limits: dict[Kind, tuple[int, int]] = {}
        """By kind of slot: a begin, and the latest end, of a text that was asked for last."""
        self._found: dict[tuple[int, str], tuple[int, int]] = {}
        """By slot and what follows it: from where it was looked for last, and where it was (-1: nowhere)."""
        self.trail: _Trail = None

    def run(self) -> bool:
        """Whether the text matches; then `trail` says how."""
        ops, text, stack = self._ops, self._text, self._stack
        for _ in range(_MAX_STEPS):
            if not stack:
                return False
            at, place, trail, tried = stack.pop()
            if at == len(ops):
                if place == self._length:
                    self.trail = trail
                    return True
                continue
            op = ops[at]
            if isinstance(op, _Text):
                if text.startswith(op.text, place):
                    stack.append((at + 1, place + len(op.text), trail, -1))
                continue
            if tried < 0:
                pair = place * len(ops) + at
                if pair in self._seen:
                    continue
                self._seen.add(pair)
            if isinstance(op, _Slot):
                self._slot(op, (at, place, trail, tried))
                continue
            passed = (trail, at, place, place)
            if isinstance(op, _Begin):
                ways = [(op.end, place, passed, -1), (at + 1, place, passed, -1)]
                stack += reversed(ways) if op.empty_item else ways
            else:
                stack.append((at + 1, place, passed, -1))
                if isinstance(op, _Again) and text.startswith(op.separator, place):
                    stack.append((op.item, place + len(op.separator), passed, -1))
        return False

    def _slot(self, op: _Slot, state: _State) -> None:
        """Try the next end of a slot's text; the state is kept, for the ends after it."""
        at, place, trail, tried = state
        kind = op.slot.kind
        if kind == "json" or (kind in ("integer", "number", "choice") and not op.slot.width):
            self._stack += [(at + 1, end, (trail, at, place, end), -1) for end in self._typed_ends(op.slot, place)]
            return
        first = place + max(kind == "word", abs(op.slot.width))
        latest = self._latest("text" if op.slot.width else kind, place)
        done = self._done.get((at, latest), self._length + 1)
        begin = max(tried, first)
        end = self._next_end(op, at, begin, latest) if begin < done else -1
        if end < 0:
            if not op.slot.width:  # whether a padded text may end somewhere depends on where it begins
                self._done[at, latest] = min(done, first)
            return
        self._stack.append((at, place, trail, end + 1))
        if not op.slot.width or op.slot.bare(self._text[place:end]) is not None:
            self._stack.append((at + 1, end, (trail, at, place, end), -1))

    def _typed_ends(self, slot: Slot, place: int) -> list[int]:
        """Where a number, a choice or JSON may end, the longest last."""
        if slot.kind == "json":
            end = json_end(self._text, place)
            return [end] if end >= 0 else []
        if slot.kind == "choice":
            return sorted({place + len(one) for one in slot.options if self._text.startswith(one, place)})
        pattern = INTEGER if slot.kind == "integer" else NUMBER
        found = pattern.match(self._text, place)
        if found is None:
            return []
        last = found.end()
        shorter = range(max(place + 1, last - _SHORTER), last)
        return [*(end for end in shorter if pattern.fullmatch(self._text, place, end)), last]

    def _latest(self, kind: Kind, place: int) -> int:
        if kind == "lines":
            return self._length
        begin, end = self._limits.get(kind, (0, -1))
        if not begin <= place <= end:
            found = _WITHIN.get(kind, _LINE).match(self._text, place)
            end = place if found is None else found.end()
            self._limits[kind] = place, end
        return end

    def _next_end(self, op: _Slot, at: int, begin: int, latest: int) -> int:
        """The first end from `begin` on that what follows allows; -1 where there is none."""
        if begin > latest:
            return -1
        if op.follow is None:
            return begin
        ends = (self._length if follow is None else self._find(follow, at, begin) for follow in op.follow)
        return min((end for end in ends if 0 <= end <= latest), default=-1)

    def _find(self, part: str, at: int, begin: int) -> int:
        """Where a part is next; what was found last is used again, so that a text is gone through once."""
        since, place = self._found.get((at, part), (self._length + 1, -1))
        if since <= begin and (place < 0 or place >= begin):
            return place
        place = self._text.find(part, begin)
        self._found[at, part] = begin, place
        return place


def _values(ops: Program, trail: _Trail, text: str) -> dict[str, Json]:
    steps = []
    while trail is not None:
        trail, *step = trail
        steps.append(step)
    values: dict[str, Json] = {}
    outer: list[tuple[dict[str, Json], list[Json]]] = []
    for at, begin, end in reversed(steps):
        op = ops[at]
        if isinstance(op, _Slot):
            values[op.slot.name] = op.slot.value(text[begin:end])
        elif isinstance(op, _Begin):
            rows: list[Json] = []
            values[op.name] = rows
            outer.append((values, rows))
            values = {}
        elif isinstance(op, _Again):
            outer[-1][1].append(values)
            values = {}
        elif isinstance(op, _Finish):
            values, _ = outer.pop()
    return values
