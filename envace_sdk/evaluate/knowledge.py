"""What can be known before a call is answered, and so which leaves of the answer are entailed.

This knows the recordings and nothing of any player. A leaf of a recorded answer is

*constant* if every recorded answer of the tool with that status, three at least, has this value at the key path: it
is part of the form of the answer;

*entailed* if one of these holds, where a value is *telling* as `Common` says, and equal means equal or one of the
transforms listed in `transforms`:

1. given: it equals a value in the call's own arguments (a value that is not telling: one of the same name, or the
   whole of a text argument);
2. met: it is telling and equals a value in the arguments or the answer of an earlier call of the episode;
3. known of the same thing: an object in the arguments or the answer of an earlier call of the episode, or in a fixture,
   has an equal value under the same name, and shares a telling value with the object the leaf stands in or with the
   arguments of the call; or the same tool with the same arguments has been answered with an equal value at this key
   path, in a fixture or earlier in the episode;
4. derived: all its parts are given, met, or fixed words, and one of the parts is telling; or it is a number that
   follows from others (one more than the largest of the same name; the last one of the same name changed by an
   argument; if it is telling, any one of the same name changed by an argument or by one, or the sum, difference or
   product of two arguments); or it is a length: of a list in the same answer, where that answer is not mostly free, or
   of a text or list in the arguments, or in an earlier call or a fixture whose arguments share a telling value with
   these;

*free* otherwise: minted keys, times, and what only the real environment's hidden state could tell.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from envace_sdk.json import Json
from envace_sdk.tools.model import ToolCall

from .common import Common
from .forms import bounded, text_of
from .outline import Leaf
from .transforms import follows, number_of, parts_of, pieces_of, sizes_of

__all__ = ["Facts", "Given", "Judge", "Kind", "call_key", "lengths"]

Kind = Literal["constant", "entailed", "free"]

_MOST_OBJECTS: Final = 64
_MOST_CONTEXT: Final = 12
_MOST_NUMBERS: Final = 40
_MOST_SIZES: Final = 300
_MOST_PIECES: Final = 200


def call_key(call: ToolCall) -> str:
    """The same text for equal calls."""
    text = text_of([call.name, bounded(dict(call.arguments))])
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


class Given:
    """The arguments of one call, and what they say."""

    def __init__(self, call: ToolCall, leaves: Sequence[Leaf], common: Common) -> None:
        self.key = call_key(call)
        self.leaves = leaves
        self.values = {leaf.text for leaf in leaves if isinstance(leaf.value, str) and leaf.text}
        self.named = {(leaf.name, leaf.text) for leaf in self.leaves}
        self.telling = [leaf.text for leaf in self.leaves if common.telling(leaf.text)]
        self.parts: set[str] = set(self.telling)
        for leaf in self.leaves:
            if isinstance(leaf.value, str):
                self.parts.update(part for part in parts_of(leaf.text) if common.telling(part))
        self.sizes = {str(size) for _, size in zip(range(_MOST_SIZES), sizes_of(call.arguments), strict=False)}
        self.numbers = [n for leaf in self.leaves if (n := number_of(leaf.text)) is not None]


class Facts:
    """What some calls have told of things: those of the fixtures, or those of an episode so far."""

    def __init__(self, common: Common) -> None:
        self._common = common
        self._about: dict[str, list[frozenset[tuple[str, str]]]] = {}
        self._answered: dict[str, set[tuple[str, str]]] = {}
        self._sizes: dict[str, set[str]] = {}

    def learn(self, given: Given, value: Json, leaves: Sequence[Leaf]) -> None:
        """Take in a call with its answer, and the leaves of that."""
        sizes = given.sizes.union(str(size) for _, size in zip(range(_MOST_SIZES), sizes_of(value), strict=False))
        for text in given.telling[:_MOST_CONTEXT]:
            self._sizes.setdefault(text, set()).update(sizes)
        answered = self._answered.setdefault(given.key, set())
        answered.update((leaf.key_path, leaf.text) for leaf in leaves)
        objects = {id(leaf.siblings): leaf.siblings for leaf in (*given.leaves, *leaves)}
        for siblings in objects.values():
            own = sorted(text for _, text in siblings if self._common.telling(text))
            said = frozenset(siblings)
            for text in dict.fromkeys([*own[:_MOST_CONTEXT], *given.telling[:_MOST_CONTEXT]]):
                known = self._about.setdefault(text, [])
                if len(known) < _MOST_OBJECTS and said not in known:
                    known.append(said)

    def answered_so(self, given: Given, leaf: Leaf) -> bool:
        """Whether an equal call was answered with this value at this key path."""
        return (leaf.key_path, leaf.text) in self._answered.get(given.key, ())

    def knows_of(self, context: Iterable[str], leaf: Leaf) -> bool:
        """Whether an object that has to do with one of these telling values has this value under this name."""
        said = (leaf.name, leaf.text)
        return any(said in siblings for text in context for siblings in self._about.get(text, ()))

    def sized(self, given: Given, text: str) -> bool:
        """Whether something that has to do with the arguments is of this length."""
        return any(text in self._sizes.get(told, ()) for told in given.telling[:_MOST_CONTEXT])


class Judge:
    """Says of leaves whether they are entailed, given the fixtures and what an episode has shown so far."""

    def __init__(self, common: Common, background: Facts) -> None:
        self._common = common
        self._episode = Facts(common)
        self._facts = (self._episode, background)
        self._met: set[str] = set()
        self._numbers: dict[str, list[float]] = {}

    def learn(self, given: Given, value: Json, leaves: Sequence[Leaf]) -> None:
        """Take in the next call of the episode, with its answer and the leaves of that."""
        self._episode.learn(given, value, leaves)
        self._met.update(given.parts)
        for leaf in (*given.leaves, *leaves):
            number = number_of(leaf.text)
            if number is not None:
                numbers = self._numbers.setdefault(leaf.name, [])
                numbers.append(number)
                del numbers[:-_MOST_NUMBERS]
            if self._common.telling(leaf.text) and leaf.text not in self._met:
                self._met.add(leaf.text)
                self._met.update(filter(self._common.telling, parts_of(leaf.text)))

    def is_entailed(self, given: Given, leaf: Leaf, fixed: frozenset[str]) -> bool:
        """Whether the leaf is entailed, lists of that length in the answer aside; `fixed` are the fixed words there."""
        text = leaf.text
        is_telling = self._common.telling(text)
        if (leaf.name, text) in given.named or text in given.values:
            return True
        if is_telling and (text in given.parts or text in self._met):
            return True
        context = [t for _, t in leaf.siblings if t != text and self._common.telling(t)][:_MOST_CONTEXT]
        context += given.telling[:_MOST_CONTEXT]
        if any(facts.answered_so(given, leaf) or facts.knows_of(context, leaf) for facts in self._facts):
            return True
        number = number_of(text)
        if number is None:
            return is_telling and isinstance(leaf.value, str) and self._is_composed(given, text, fixed)
        if text in given.sizes or any(facts.sized(given, text) for facts in self._facts):
            return True
        return follows(number, given.numbers, self._numbers.get(leaf.name, ()), is_telling=is_telling)

    def _is_composed(self, given: Given, text: str, fixed: frozenset[str]) -> bool:
        pieces = pieces_of(text)
        if not 1 < len(pieces) <= _MOST_PIECES:
            return False
        told = 0
        for piece in pieces:
            if self._common.telling(piece) and (piece in given.parts or piece in self._met):
                told += 1
            elif piece not in fixed and piece not in given.values:
                return False
        return told > 0


def lengths(value: Json, depth: int = 0) -> set[int]:
    """The lengths of the lists in an answer."""
    if depth > 40:
        return set()
    if isinstance(value, list):
        return {len(value)}.union(*(lengths(item, depth + 1) for item in value))
    if isinstance(value, dict):
        return set().union(*(lengths(part, depth + 1) for part in value.values()))
    return set()
