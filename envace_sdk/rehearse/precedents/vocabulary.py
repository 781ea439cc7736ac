"""In how many recorded episodes a value was met: whether it is a usual one, or one episode's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import cached_property

from .cases import Case
from .features import Features
from .scene import Scene
from .wording import same_sentences

__all__ = ["Vocabulary"]

_OFTEN = 0.3
_MOST_ERRORS = 2_000


class Vocabulary:
    """The values and words of successful calls and their answers, with the episodes they were met in."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._episodes: dict[str, set[str]] = {}
        everyone = set()
        for case in cases:
            everyone.add(case.episode)
            event = case.event
            if not event.is_error:
                for texts in (event.shown_texts, event.given_texts):
                    for text in texts:
                        self._episodes.setdefault(text, set()).add(case.episode)
        self._size = len(everyone)
        self._cases = [case for case in cases if case.event.is_error][:_MOST_ERRORS]

    @cached_property
    def _sentences(self) -> Mapping[str, str]:
        return same_sentences(case.form.name for case in self._cases)

    def called(self, error: str) -> str:
        """What the form of an error is called, whatever value it names."""
        return self._sentences.get(error, error)

    def is_private(self, text: str) -> bool:
        """Whether at most one episode has it."""
        return len(self._episodes.get(text, ())) <= 1

    def usual(self, scene: Scene, episode: str = "") -> Features:
        """How usual the arguments of a call are, but for the episode that it is from."""
        found: Features = {}
        for place, text, value in scene.given:
            if isinstance(value, str) and text:
                level = self._level(text, episode)
                base = text.rstrip("/").rpartition("/")[2]
                if level == "never" and base != text:
                    level = f"part {self._level(base, episode)}"
                found.setdefault(f"usual:{place}", level)
        return found

    def _level(self, text: str, episode: str) -> str:
        met: Set[str] = self._episodes.get(text, frozenset())
        others = len(met) - (episode in met)
        if not others:
            return "never"
        return "often" if others >= max(2, _OFTEN * (self._size - 1)) else "sometimes"
