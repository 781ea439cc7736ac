"""What the groups of a toolset are called, looked up by name rather than group by group: toolsets may be large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .groups import Group

__all__ = ["Groups", "Index", "Phrases"]

_revisions = count(1)


class Phrases(Counter[tuple[str, ...]]):
    """What a group's tools call it, with how many do. `revision` grows with each change to any."""

    revision = 0

    def __setitem__(self, phrase: tuple[str, ...], number: int) -> None:
        """Count a phrase anew."""
        super().__setitem__(phrase, number)
        Phrases.revision = next(_revisions)

    def __delitem__(self, phrase: object) -> None:
        """Forget a phrase."""
        super().__delitem__(phrase)
        Phrases.revision = next(_revisions)

    def update(self, *given: Any, **named: Any) -> None:
        """Count more phrases."""
        super().update(*given, **named)
        Phrases.revision = next(_revisions)


class Groups(list["Group"]):
    """All groups of a toolset, in order, with an index that is made anew when what they are called has changed."""

    _index: Index | None = None
    _state: tuple[int, int] = (-1, -1)

    @property
    def names(self) -> Index:
        """The index as of now."""
        state = (Phrases.revision, len(self))
        if self._index is None or self._state != state:
            self._index, self._state = Index(self), state
        return self._index


class Index:
    """Groups by their nouns. Of several groups that go by the same, the first comes first."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self._groups = list(groups)
        self._lasts = Counter(
            last for group in self._groups for last in {phrase[-1] for phrase in group.phrases if phrase}
        )
        self._nouns = {id(group): self._nouns_of(group) for group in self._groups}

    def _nouns_of(self, group: Group) -> frozenset[tuple[str, ...]]:
        """All phrases with their last words, and first words that no other group is called by."""
        own = {phrase[-1] for phrase in group.phrases if phrase}
        found = set(group.phrases) | {phrase[-1:] for phrase in group.phrases}
        found |= {
            phrase[:1] for phrase in group.phrases if len(phrase) == 2 and self._lasts[phrase[0]] <= (phrase[0] in own)
        }
        return frozenset(phrase for phrase in found if phrase)

    def of(self, group: Group) -> frozenset[tuple[str, ...]]:
        """All that a group is called, qualified or not."""
        found = self._nouns.get(id(group))
        return self._nouns_of(group) if found is None else found

    @cached_property
    def _by_noun(self) -> dict[tuple[str, ...], list[tuple[int, Group]]]:
        found: dict[tuple[str, ...], list[tuple[int, Group]]] = {}
        for place, group in enumerate(self._groups):
            for noun in self._nouns[id(group)]:
                found.setdefault(noun, []).append((place, group))
        return found

    @cached_property
    def _by_joined(self) -> dict[str, list[tuple[int, Group]]]:
        found: dict[str, list[tuple[int, Group]]] = {}
        for place, group in enumerate(self._groups):
            for joined in sorted({"".join(noun) for noun in self._nouns[id(group)]}):
                found.setdefault(joined, []).append((place, group))
        return found

    @cached_property
    def _by_head(self) -> dict[str, list[tuple[int, Group]]]:
        found: dict[str, list[tuple[int, Group]]] = {}
        for place, group in enumerate(self._groups):
            found.setdefault(group.head, []).append((place, group))
        return found

    def called(self, noun: tuple[str, ...], besides: Group | None) -> Group | None:
        """The first group that goes by a noun."""
        return _first(self._by_noun.get(noun, ()), besides)

    def joined(self, nouns: Iterable[str], besides: Group | None) -> Group | None:
        """The first group that goes by one of these nouns, written in one word."""
        return _first((found for noun in nouns for found in self._by_joined.get(noun, ())), besides)

    def headed(self, words: Iterable[str], besides: Group | None) -> Group | None:
        """The first group that is mostly called by one of these words."""
        return _first((found for word in words for found in self._by_head.get(word, ())), besides)

    @cached_property
    def common(self) -> frozenset[tuple[str, ...]]:
        """The names of the arguments that every tool asks for."""
        asked = [
            {argument.words for argument in member.reading.required}
            for group in self._groups
            for member in group.members
        ]
        return frozenset(set.intersection(*asked)) if asked else frozenset()


def _first(found: Iterable[tuple[int, Group]], besides: Group | None) -> Group | None:
    places = [(place, group) for place, group in found if group is not besides]
    return min(places, key=lambda pair: pair[0])[1] if places else None
