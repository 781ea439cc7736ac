"""What a session is like when it begins, where nothing has shown it yet: told from the calls made first.

Recorded sessions may begin alike but for what they hold unseen: one logged in, another not. Whoever makes the calls
that some of them began with, or names what is named as seldom as there, is most likely in the same situation. How far
first calls tell is learned from the recordings, in the manner of naive Bayes; where they do not, a session begins as
most did.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from envace_sdk.tools.model import ToolCall
from envace_sdk.world.keys import Document

from .beginnings import Begun
from .precedents import call_key, is_distinctive, leaves

__all__ = ["Openings"]

_SELDOM: Final = 0.08
"""A text is seldom named by a tool if in at most this share of sessions, or in so many:"""
_FEW: Final = 2
_LEAN: Final = 2.0
"""How many sessions' worth of weight all have in what is told of those that began in one way."""
_WEIGHT: Final = 0.5
"""Of a call that only some sessions made."""


class Openings:
    """Learns from recorded sessions; is asked about others.

    Args:
        sessions: by name, how each began.
    """

    def __init__(self, sessions: Mapping[str, Begun]) -> None:
        self._size = len(sessions)
        self._named: dict[str, set[str]] = {}
        self._called: dict[str, set[str]] = {}
        for name, begun in sessions.items():
            for call in begun.calls:
                for text in _texts(call):
                    self._named.setdefault(text, set()).add(name)
                    self._called.setdefault(call_key(call.name, call.arguments), set()).add(name)
        self._ways: dict[str, str] = {}
        """By session, how it began, where that is known; as JSON."""
        self._held: dict[str, Document] = {}
        signs: dict[str, Counter[str]] = {}
        for name, begun in sessions.items():
            if begun.session is not None:
                way = json.dumps(begun.session, sort_keys=True)
                self._ways[name] = way
                self._held[way] = begun.session
                signs.setdefault(way, Counter()).update({s for c in begun.opening for s in self._signs(c, name)})
        self._sizes = Counter(self._ways.values())
        self._counts = signs
        self._usual: Counter[str] = Counter()
        for counts in signs.values():
            self._usual.update(counts)

    @property
    def differ(self) -> bool:
        """Whether sessions were seen to begin otherwise than is taken for granted."""
        return any(self._held.values())

    @property
    def fields(self) -> frozenset[str]:
        """What sessions that began in different ways held."""
        return frozenset(name for held in self._held.values() for name in held)

    def marks(self, call: ToolCall) -> list[str]:
        """What a call tells, in few words."""
        key, others = call_key(call.name, call.arguments), self._others(call, "")
        return [*self._signs(call, ""), *([key] if key in self._called and others and self._is_seldom(others) else [])]

    def likeliest(self, marks: Iterable[str]) -> Document:
        """What a session most likely began with, in which such calls were made."""
        marks = list(dict.fromkeys(marks))
        near: dict[str, float] = {}
        for mark in marks:
            holders = self._called.get(mark, ())
            for name in holders:
                near[name] = near.get(name, 0.0) + _WEIGHT * math.log(self._size / len(holders))
        scores: dict[str, float] = {}
        for name, way in self._ways.items():
            scores[way] = scores.get(way, 0.0) + math.exp(near.get(name, 0.0))
        total = len(self._ways)
        best: tuple[float, int, str] | None = None
        for way, score in scores.items():
            told = math.log(score)
            for mark in marks:
                if mark in self._usual:
                    usual = (self._usual[mark] + 0.5) / (total + 1)
                    told += math.log((self._counts[way][mark] + _LEAN * usual) / (self._sizes[way] + _LEAN) / usual)
            rank = (told, self._sizes[way], way)
            if best is None or rank > best:
                best = rank
        return {} if best is None else self._held[best[2]]

    def _signs(self, call: ToolCall, session: str) -> list[str]:
        """Whether a call names what is seldom named, or only what often is, but for what its own session names."""
        others = self._others(call, session)
        return [f"{call.name} {'seldom' if self._is_seldom(others) else 'often'}"] if others else []

    def _others(self, call: ToolCall, session: str) -> list[int]:
        """By text that a call names, how many other sessions than its own name it."""
        return [len(self._named.get(text, set()) - {session}) for text in _texts(call)]

    def _is_seldom(self, others: Sequence[int]) -> bool:
        return min(others) <= max(_FEW, _SELDOM * self._size)


def _texts(call: ToolCall) -> list[str]:
    """The texts that a call names, each with the place where it stands."""
    return [
        f"{call.name}{place}={text}"
        for place, text, value in leaves(call.arguments)
        if isinstance(value, str) and is_distinctive(value)
    ]
