"""Texts that match patterns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from random import Random
from threading import Lock
from typing import Final

from . import charset
from .build import Builder, refers_back, shortest
from .matching import matcher
from .nodes import Alternatives, Backreference, Chars, Group, Look, Node, Repeat, Sequence
from .syntax import PatternError, parse
from .walk import walk

__all__ = ["Language", "language"]

_ATTEMPTS: Final = 24
_TERMS: Final = 20_000
_LONGEST: Final = 20_000
"""Characters of the shortest text: beyond, repeats within repeats cost minutes and gigabytes."""


@lru_cache(maxsize=512)
def language(patterns: tuple[str, ...], avoid: tuple[str, ...] = ()) -> Language:
    """The texts that match all patterns and none of those to avoid.

    Raises:
        PatternError: a pattern is not one, cannot be matched in bounded time, or has only texts of enormous length.
    """
    return Language(patterns, avoid)


class Language:
    """The texts that match some patterns, and do not match others."""

    def __init__(self, patterns: tuple[str, ...], avoid: tuple[str, ...] = ()) -> None:
        self._trees = [_steerable(parse(pattern)) for pattern in patterns]
        if (least := max(map(shortest, self._trees), default=0)) > _LONGEST:
            raise PatternError(f"its shortest text would have {least} characters; at most {_LONGEST} are written")
        self._avoided = [parse(pattern) for pattern in avoid]
        self._wanted: list[Callable[[str], bool]] = [matcher(pattern) for pattern in patterns]
        self._unwanted = [matcher(pattern) for pattern in avoid]
        self._lock = Lock()
        self._references = any(map(refers_back, self._trees))
        self._build(self._trees)

    def _build(self, trees: list[Node]) -> None:
        builder = Builder()
        avoided = [builder.terms.excluded(builder.searched(tree)) for tree in self._avoided]
        anywhere = [builder.searched(tree) for tree in trees]
        self._terms = builder.terms
        self._anywhere = builder.terms.both([*anywhere, *avoided])
        # A pattern without anchors may match anywhere, but nothing around the match reads better.
        first = [builder.exact(trees[0])] if trees else []
        self._exact = builder.terms.both([*first, *anywhere[1:], *avoided])

    def matches(self, text: str) -> bool:
        """Whether a text is one of them."""
        return all(test(text) for test in self._wanted) and not any(test(text) for test in self._unwanted)

    def sample(self, random: Random, low: int = 0, high: float = math.inf) -> str | None:
        """A text of `low` to `high` characters; None if there is none, or none was found in bounded time."""
        with self._lock:
            for attempt in range(_ATTEMPTS):
                if self._references:
                    self._build([_instantiated(tree, random) for tree in self._trees])
                elif len(self._terms) > _TERMS:
                    self._build(self._trees)
                text = None
                if attempt < _ATTEMPTS // 2:
                    text = walk(self._terms, self._exact, random, low, high)
                if text is None:
                    text = walk(self._terms, self._anywhere, random, low, high)
                    if text is None and not self._references:
                        return None
                if text is not None and self.matches(text):
                    return text
        return None


def _steerable(tree: Node) -> Node:
    """The pattern without negative look-arounds that refer to groups: chance avoids those, and the engine judges."""
    match tree:
        case Look(negative=True) if refers_back(tree):
            return Sequence(())
        case Sequence():
            return Sequence(tuple(map(_steerable, tree.parts)))
        case Alternatives():
            return Alternatives(tuple(map(_steerable, tree.options)))
        case Repeat() | Look() | Group():
            return replace(tree, inner=_steerable(tree.inner))
    return tree


def _instantiated(tree: Node, random: Random) -> Node:
    """The pattern with each group that is referred to replaced by one text it matches, everywhere."""
    texts: dict[int, Node] = {}

    def visit(node: Node) -> Node:
        match node:
            case Sequence():
                return Sequence(tuple(map(visit, node.parts)))
            case Alternatives():
                return Alternatives(tuple(map(visit, node.options)))
            case Repeat() | Look():
                return replace(node, inner=visit(node.inner))
            case Backreference():
                return texts.get(node.index, Sequence(()))
            case Group():
                inner = visit(node.inner)
                builder = Builder()
                text = walk(builder.terms, builder.exact(inner), random, 0, math.inf)
                texts[node.index] = Sequence(tuple(Chars(charset.chars(char), "") for char in text or ""))
                return texts[node.index]
        return node

    return visit(tree)
