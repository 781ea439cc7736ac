"""Regular languages as terms that can be derived: what may still follow, after a character.

Brzozowski's derivatives, with intersection and complement, which is what makes look-aheads, several patterns at once
and patterns to be avoided one and the same thing. Terms are interned, so that equal ones are one object, and the moves
out of a term are worked out when it is first visited: only the part of the automaton that sampling walks is built.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from . import charset
from .charset import Charset

__all__ = ["Move", "Term", "Terms"]

_Kind: TypeAlias = Literal["nothing", "empty", "chars", "sequence", "either", "both", "not", "repeat"]
Move: TypeAlias = "tuple[Charset, Term]"


class Term:
    """A language: the texts that may follow.

    `least` and `most` bound their length, exactly but for both and not; `pull` counts all that is still to be met, in
    all parts together, and so tells which way leads on where `least` does not.
    """

    __slots__ = ("bounds", "kind", "least", "members", "most", "moves", "nullable", "parts", "pull", "serial", "steps")

    def __init__(
        self, kind: _Kind, parts: tuple[Term, ...], members: Charset, bounds: tuple[int, float], serial: int
    ) -> None:
        self.kind: Final = kind
        self.parts: Final = parts
        self.members: Final = members
        self.bounds: Final = bounds
        self.serial: Final = serial
        self.nullable = _nullable(self)
        self.least, self.most = _lengths(self)
        self.pull = _pull(self)
        self.moves: tuple[Move, ...] | None = None
        self.steps: object = None
        """Room for what the sampler derives from the moves."""


def _nullable(term: Term) -> bool:
    match term.kind:
        case "empty":
            return True
        case "sequence" | "both":
            return all(part.nullable for part in term.parts)
        case "either":
            return any(part.nullable for part in term.parts)
        case "not":
            return not term.parts[0].nullable
        case "repeat":
            return term.bounds[0] == 0 or term.parts[0].nullable
    return False


def _lengths(term: Term) -> tuple[float, float]:
    least, most = [part.least for part in term.parts], [part.most for part in term.parts]
    match term.kind:
        case "nothing":
            return math.inf, -math.inf
        case "empty":
            return 0, 0
        case "chars":
            return 1, 1
        case "sequence":
            return sum(least), sum(most)
        case "either":
            return min(least), max(most)
        case "both":
            return max(least), min(most)
        case "not":
            return (0 if term.nullable else 1), math.inf
        case "repeat":
            low, high = term.bounds
            return least[0] * low, (most[0] * high if most[0] and high else 0)


def _pull(term: Term) -> float:
    pulls = [part.pull for part in term.parts]
    match term.kind:
        case "sequence" | "both":
            return sum(pulls)
        case "either":
            return min(pulls)
        case "repeat":
            return pulls[0] * term.bounds[0]
    return term.least


class Terms:
    """Makes terms, and knows all it made."""

    def __init__(self) -> None:
        self._made: dict[object, Term] = {}
        self.nothing = self._make("nothing")
        self.empty = self._make("empty")
        self.anything = self.repeat(self.chars(charset.ANY), 0, math.inf)

    def __len__(self) -> int:
        return len(self._made)

    def _make(
        self, kind: _Kind, parts: tuple[Term, ...] = (), members: Charset = (), bounds: tuple[int, float] = (0, 0)
    ) -> Term:
        key = (kind, tuple(part.serial for part in parts), members, bounds)
        term = self._made.get(key)
        if term is None:
            term = self._made[key] = Term(kind, parts, members, bounds, len(self._made))
        return term

    def chars(self, members: Charset) -> Term:
        """One character of the set."""
        return self._make("chars", (), members) if members else self.nothing

    def sequence(self, first: Term, then: Term) -> Term:
        """`first`, followed by `then`."""
        if self.nothing in (first, then):
            return self.nothing
        if first is self.empty:
            return then
        if then is self.empty:
            return first
        if first.kind == "sequence":
            return self.sequence(first.parts[0], self.sequence(first.parts[1], then))
        return self._make("sequence", (first, then))

    def repeat(self, inner: Term, low: int, high: float) -> Term:
        """`inner`, from `low` to `high` times."""
        if high == 0 or inner is self.empty:
            return self.empty
        if inner is self.nothing:
            return self.empty if low == 0 else self.nothing
        if (low, high) == (1, 1):
            return inner
        return self._make("repeat", (inner,), (), (0 if inner.nullable else low, high))

    def either(self, options: Iterable[Term]) -> Term:
        """Any of them."""
        found = self._flat("either", options, drop=self.nothing)
        if self.anything in found:
            return self.anything
        if not found:
            return self.nothing
        return found[0] if len(found) == 1 else self._make("either", found)

    def both(self, parts: Iterable[Term]) -> Term:
        """All of them at once."""
        found = self._flat("both", parts, drop=self.anything)
        if self.nothing in found:
            return self.nothing
        if self.empty in found:
            return self.empty if all(part.nullable for part in found) else self.nothing
        if not found:
            return self.anything
        if max(part.least for part in found) > min(part.most for part in found):
            return self.nothing
        return found[0] if len(found) == 1 else self._make("both", found)

    def excluded(self, inner: Term) -> Term:
        """Everything else."""
        if inner is self.nothing:
            return self.anything
        if inner is self.anything:
            return self.nothing
        return inner.parts[0] if inner.kind == "not" else self._make("not", (inner,))

    def _flat(self, kind: _Kind, parts: Iterable[Term], drop: Term) -> tuple[Term, ...]:
        found: dict[int, Term] = {}
        for part in parts:
            for item in part.parts if part.kind == kind else (part,):
                if item is not drop:
                    found[item.serial] = item
        return tuple(found[serial] for serial in sorted(found))

    def moves(self, term: Term) -> tuple[Move, ...]:
        """What may come next: disjoint sets of characters, and what may follow each; in order of characters.

        The order does not depend on which terms were made before, or a seed would not always mean the same text.
        """
        if term.moves is None:
            merged: dict[int, tuple[list[tuple[int, int]], Term]] = {}
            for members, after in self._derived(term):
                if after is not self.nothing:
                    merged.setdefault(after.serial, ([], after))[0].extend(members)
            term.moves = tuple(sorted(((charset.of(ranges), after) for ranges, after in merged.values()), key=_first))
        return term.moves

    def _derived(self, term: Term) -> list[Move]:
        match term.kind:
            case "chars":
                return [(term.members, self.empty)]
            case "sequence":
                first, then = term.parts
                moves = [(members, self.sequence(after, then)) for members, after in self.moves(first)]
                return self._overlaid(moves, self.moves(then)) if first.nullable else moves
            case "repeat":
                inner, (low, high) = term.parts[0], term.bounds
                again = self.repeat(inner, max(low - 1, 0), high - 1)
                return [(members, self.sequence(after, again)) for members, after in self.moves(inner)]
            case "either":
                moves = []
                for part in term.parts:
                    moves = self._overlaid(moves, self.moves(part))
                return moves
            case "both":
                moves = list(self.moves(term.parts[0]))
                for part in term.parts[1:]:
                    moves = [
                        (shared, self.both((one, two)))
                        for members, one in moves
                        for others, two in self.moves(part)
                        if (shared := charset.intersect(members, others))
                    ]
                return moves
            case "not":
                moves = [(members, self.excluded(after)) for members, after in self.moves(term.parts[0])]
                rest = _without(charset.ANY, (members for members, _ in self.moves(term.parts[0])))
                return [*moves, (rest, self.anything)] if rest else moves
        return []

    def _overlaid(self, one: Iterable[Move], two: Iterable[Move]) -> list[Move]:
        one, two = list(one), list(two)
        moves = [
            (shared, self.either((first, second)))
            for members, first in one
            for others, second in two
            if (shared := charset.intersect(members, others))
        ]
        for mine, theirs in ((one, two), (two, one)):
            for members, after in mine:
                if rest := _without(members, (others for others, _ in theirs)):
                    moves.append((rest, after))
        return moves


def _without(members: Charset, taken: Iterable[Charset]) -> Charset:
    for others in taken:
        members = charset.intersect(members, charset.complement(others))
    return members


def _first(move: Move) -> int:
    return move[0][0][0]
