"""Trees of patterns as terms."""

from __future__ import annotations

import math
from typing import Final, Literal, TypeAlias

from . import charset
from .nodes import Alternatives, Anchor, Backreference, Chars, Group, Look, Node, Repeat, Sequence
from .terms import Term, Terms

__all__ = ["Builder", "children", "refers_back", "shortest"]

_UNROLLED: Final = 8
_MOST_UNROLLED: Final = 200

_Previous: TypeAlias = Literal["start", "word", "other", "unknown"]
"""What lies before a place: nothing, a letter of a word, another character, or who knows."""


class Builder:
    """Turns trees into terms. A part is built in front of what follows it, so that a look-ahead can meet it."""

    def __init__(self) -> None:
        self.terms = Terms()

    def exact(self, tree: Node) -> Term:
        """The texts that the pattern matches from end to end."""
        return self._before(tree, self.terms.empty, "start")

    def searched(self, tree: Node) -> Term:
        """The texts in which the pattern matches somewhere."""
        terms = self.terms
        if not (_has_edges(tree) or _looks_behind(tree)):
            skipped = terms.repeat(terms.chars(charset.ANY), 1, math.inf)
            later = [terms.sequence(skipped, self._before(tree, terms.anything, "unknown"))]
        else:
            behind, tree = self._behind(tree)
            others = charset.intersect(charset.ANY, charset.complement(charset.WORD))
            kinds: tuple[tuple[_Previous, charset.Charset], ...] = (("word", charset.WORD), ("other", others))
            later = [
                terms.sequence(
                    terms.both((behind, terms.sequence(terms.anything, terms.chars(members)))),
                    self._before(tree, terms.anything, previous),
                )
                for previous, members in kinds
            ]
            if not behind.nullable:
                return terms.either(later)
        return terms.either((self._before(tree, terms.anything, "start"), *later))

    def _behind(self, tree: Node) -> tuple[Term, Node]:
        """What must lie before the pattern by the look-behinds it begins with, and the rest of it."""
        behind = self.terms.anything
        parts = list(tree.parts) if isinstance(tree, Sequence) else [tree]
        while parts and isinstance(look := parts[0], Look) and not look.ahead:
            seen = self.terms.sequence(self.terms.anything, self._before(look.inner, self.terms.empty, "unknown"))
            behind = self.terms.both((behind, self.terms.excluded(seen) if look.negative else seen))
            del parts[0]
        return behind, Sequence(tuple(parts))

    def _before(self, node: Node, rest: Term, previous: _Previous) -> Term:
        terms = self.terms
        match node:
            case Chars():
                return terms.sequence(terms.chars(node.members), rest)
            case Sequence():
                return self._in_order(node.parts, rest, previous)
            case Alternatives():
                return terms.either([self._before(option, rest, previous) for option in node.options])
            case Repeat():
                return self._repeated(node, rest, previous)
            case Group():
                return self._before(node.inner, rest, previous)
            case Look() if node.ahead:
                seen = self._before(node.inner, terms.anything, previous)
                return terms.both((terms.excluded(seen) if node.negative else seen, rest))
            case Anchor():
                return self._at(node, rest, previous)
        # A look-behind in the middle does not steer the walk: the engine has the last word on its result.
        return rest

    def _in_order(self, parts: tuple[Node, ...], rest: Term, previous: _Previous) -> Term:
        before = [previous]
        for part in parts[:-1]:
            before.append(_after(part, before[-1]))
        for part, place in zip(reversed(parts), reversed(before), strict=False):
            rest = self._before(part, rest, place)
        return rest

    def _at(self, anchor: Anchor, rest: Term, previous: _Previous) -> Term:
        terms = self.terms
        if anchor.kind == "start":
            return rest if previous == "start" else terms.nothing
        if anchor.kind == "end":
            return terms.empty if rest.nullable else terms.nothing
        if previous == "unknown":
            return rest
        word = terms.sequence(terms.chars(charset.WORD), terms.anything)
        word_follows = (previous == "word") != (anchor.kind == "edge")
        return terms.both((word if word_follows else terms.excluded(word), rest))

    def _repeated(self, node: Repeat, rest: Term, previous: _Previous) -> Term:
        terms, high = self.terms, math.inf if node.high is None else node.high
        if not _has_places(node.inner):
            return terms.sequence(terms.repeat(self._before(node.inner, terms.empty, "unknown"), node.low, high), rest)
        # Looks see past the end of a turn, so turns are written out; a few of those that may be left out will do.
        again = _after(node.inner, "unknown")
        term = rest
        for _ in range(int(min(_UNROLLED, high - node.low))):
            term = terms.either((rest, self._before(node.inner, term, again if node.low else "unknown")))
        for turn in range(min(node.low, _MOST_UNROLLED)):
            term = self._before(node.inner, term, previous if turn == node.low - 1 else again)
        if node.low == 0 and high > 0:
            term = terms.either((rest, self._before(node.inner, term, previous)))
        return term


def shortest(node: Node) -> int:
    """The length of the shortest text that the pattern can match, reckoned without writing any repeat out.

    A reference back counts nothing, so there it is a lower bound.
    """
    match node:
        case Chars():
            return 1
        case Sequence():
            return sum(map(shortest, node.parts))
        case Alternatives():
            return min(map(shortest, node.options))
        case Repeat():
            return node.low * shortest(node.inner)
        case Group():
            return shortest(node.inner)
    return 0


def _after(node: Node, previous: _Previous) -> _Previous:
    """What lies before the place behind a part."""
    match node:
        case Chars():
            inside = charset.intersect(node.members, charset.WORD)
            return "word" if inside == node.members else "unknown" if inside else "other"
        case Anchor() | Look():
            return previous
        case Sequence():
            for part in node.parts:
                previous = _after(part, previous)
            return previous
        case Group():
            return _after(node.inner, previous)
        case Repeat() if node.low > 0:
            return _after(node.inner, previous)
        case Alternatives():
            found = {_after(option, previous) for option in node.options}
            return found.pop() if len(found) == 1 else "unknown"
    return "unknown"


def children(node: Node) -> tuple[Node, ...]:
    """The parts of a tree."""
    match node:
        case Sequence():
            return node.parts
        case Alternatives():
            return node.options
        case Group() | Look() | Repeat():
            return (node.inner,)
    return ()


def refers_back(node: Node) -> bool:
    """Whether a group is referred to."""
    return isinstance(node, Backreference) or any(map(refers_back, children(node)))


def _has_places(node: Node) -> bool:
    return isinstance(node, Anchor | Look) or any(map(_has_places, children(node)))


def _has_edges(node: Node) -> bool:
    return (isinstance(node, Anchor) and "edge" in node.kind) or any(map(_has_edges, children(node)))


def _looks_behind(node: Node) -> bool:
    return (isinstance(node, Look) and not node.ahead) or any(map(_looks_behind, children(node)))
