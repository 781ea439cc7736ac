"""Which positions name the same things: what one call shows or takes, a later one refers to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from envace_sdk.json import Json
from envace_sdk.world.infer.words import singular, split

from .episodes import Episode
from .positions import Position, occurrences

__all__ = ["can_name", "domains", "is_idlike"]

_SHARE: Final = 0.2
"""Of what a position holds, at least this much has to have been seen at the other one before."""
_LINKS: Final = 4
"""So often it must have been seen there."""
_CONSTANT: Final = 0.93
"""A value that stands at so many of the positions' places is the only one there is."""
_OVERLAP: Final = 0.4
"""Of the words of one domain, so many must be words of the other if both are the same."""
_INSIDE: Final = 0.6
"""So many of the paths of one domain must lie below paths of the other if both are the same."""
_SOME: Final = 3
"""Different values that must link: fewer may agree by chance."""

_ID_WORDS: Final = frozenset({"id", "tag", "key", "number", "name", "path", "code", "token", "uuid", "slug", "handle"})
"""The last words of the names of what identifies something."""


def is_idlike(name: str) -> bool:
    """Whether a field is called like what identifies something."""
    words = split(name)
    return bool(words) and singular(words[-1]) in _ID_WORDS


def can_name(value: Json) -> bool:
    """Whether a value can identify anything."""
    if isinstance(value, str):
        return 0 < len(value) <= 300 and "\n" not in value
    return isinstance(value, int) and not isinstance(value, bool)


def domains(
    episodes: Sequence[Episode], fixed: Mapping[Position, bool], maps: Mapping[str, frozenset[str]]
) -> list[list[Position]]:
    """Groups of positions that name the same things, largest first.

    Args:
        episodes: the recorded calls.
        fixed: positions that hold one of a few words, and name nothing.
        maps: by tool, the paths in its answers of objects whose member names are values.
    """
    seen = _Seen()
    for episode in episodes:
        seen.add(
            [[(p, v) for p, v in occurrences(step, maps) if can_name(v) and not fixed.get(p)] for step in episode.steps]
        )
    union = _Union()
    for earlier, later in seen.links():
        union.join(earlier, later)
    _join_namesakes(union, seen.values)
    for position, values in seen.values.items():
        if position.side == "in" and any(isinstance(value, str) for value in values):
            union.find(position)
    _join_vocabularies(union, seen.values)
    _join_trees(union, seen.values)
    groups = [group for group in union.groups() if len(group) > 1 and not _is_constant(group, seen.values)]
    return sorted(groups, key=lambda group: (-sum(seen.takes[p] for p in group), group))


class _Seen:
    """What stands at the positions, and how often it stood at another one before."""

    def __init__(self) -> None:
        self.values: dict[Position, Counter[Json]] = {}
        self.takes: Counter[Position] = Counter()
        """How often a position that may refer to something held a value."""
        self._shared: Counter[tuple[Position, Position]] = Counter()
        self._linking: dict[tuple[Position, Position], set[Json]] = {}

    def add(self, steps: Sequence[Sequence[tuple[Position, Json]]]) -> None:
        """Note what the steps of an episode show."""
        before: dict[Json, dict[Position, None]] = {}
        for here in steps:
            for position, value in here:
                self.values.setdefault(position, Counter())[value] += 1
                if _names(position):
                    self.takes[position] += 1
                    for earlier in before.get(value, ()):
                        self._shared[earlier, position] += 1
                        self._linking.setdefault((earlier, position), set()).add(value)
            for position, value in here:
                before.setdefault(value, {})[position] = None

    def links(self) -> Iterator[tuple[Position, Position]]:
        """Pairs of positions of which the later one often repeats what stood at the earlier one."""
        for (earlier, later), count in self._shared.items():
            values = self._linking[earlier, later]
            often = count >= max(_LINKS, _SHARE * self.takes[later]) and len(values) >= _SOME
            if often and earlier != later and (_akin(earlier, later) or any(isinstance(v, str) for v in values)):
                yield earlier, later


def _names(position: Position) -> bool:
    """Whether what stands there may refer to something."""
    return is_idlike(position.name) or position.side == "in"


def _akin(one: Position, other: Position) -> bool:
    """Whether two positions that hold numbers are also called alike: `id` of a ticket, `ticket_id`."""
    first, second = _words(one.name), _words(other.name)
    if not first or not second or not (is_idlike(one.name) and is_idlike(other.name)):
        return False
    if first == second:
        return True
    short, long, owner = (first, second, one) if len(first) < len(second) else (second, first, other)
    if long[-len(short) :] != short:
        return False
    return set(long[: -len(short)]) <= set(_words(owner.tool)) | set(_words(owner.path.replace(".", "_")))


def _words(name: str) -> tuple[str, ...]:
    return tuple(singular(word) for word in split(name))


def _join_namesakes(union: _Union, shown: Iterable[Position]) -> None:
    """What has the same id-like name (`order_id`) names the same, linked or not."""
    by_name: dict[tuple[str, ...], list[Position]] = {}
    for position in sorted(shown):
        words = _words(position.name)
        if len(words) > 1 and is_idlike(position.name):
            by_name.setdefault(words, []).append(position)
    for group in by_name.values():
        for position in group[1:]:
            union.join(group[0], position)


def _is_constant(group: Sequence[Position], held: Mapping[Position, Counter[Json]]) -> bool:
    """Whether nearly all calls name the same thing: then there is but one, which all is about."""
    total: Counter[Json] = Counter()
    for position in group:
        total.update(held.get(position, Counter()))
    return bool(total) and max(total.values()) >= _CONSTANT * sum(total.values())


def _join_vocabularies(union: _Union, held: Mapping[Position, Collection[Json]]) -> None:
    """Domains of which one holds much of what the other does, name the same things."""
    words: list[tuple[Position, set[str]]] = []
    for group in union.groups():
        if any(position.side == "in" for position in group):
            values = {value for position in group for value in held.get(position, ()) if isinstance(value, str)}
            words.append((group[0], values))
    words.sort(key=lambda item: (len(item[1]), item[0]))
    sizes = {union.find(group[0]): len(group) for group in union.groups()}
    for place, (one, values) in enumerate(words):
        for other, others in words[place + 1 :]:
            if not is_idlike(one.name) and sizes.get(union.find(other), 1) < _SOME:
                continue
            if len(values & others) >= max(_LINKS, _OVERLAP * len(values)):
                union.join(one, other)
                break


def _join_trees(union: _Union, held: Mapping[Position, Collection[Json]]) -> None:
    """Paths that lie below paths of another domain name the same things as these."""
    trees: list[tuple[Position, set[str]]] = []
    for group in union.groups():
        values = [value for position in group for value in held.get(position, ()) if isinstance(value, str)]
        paths = {value.rstrip("/") for value in values if value.startswith("/")}
        if any(position.side == "in" for position in group) and 2 * len(paths) > len(set(values)):
            trees.append((group[0], paths))
    trees.sort(key=lambda tree: (len(tree[1]), tree[0]))
    for place, (one, paths) in enumerate(trees):
        for other, others in reversed(trees[place + 1 :]):
            if sum(_lies_below(path, others) for path in paths) > _INSIDE * len(paths):
                union.join(one, other)
                break


def _lies_below(path: str, others: Collection[str]) -> bool:
    while path := path.rpartition("/")[0]:
        if path in others:
            return True
    return False


class _Union:
    def __init__(self) -> None:
        self._parent: dict[Position, Position] = {}

    def find(self, position: Position) -> Position:
        self._parent.setdefault(position, position)
        while self._parent[position] != position:
            self._parent[position] = self._parent[self._parent[position]]
            position = self._parent[position]
        return position

    def join(self, one: Position, other: Position) -> None:
        first, second = sorted((self.find(one), self.find(other)))
        self._parent[second] = first

    def groups(self) -> list[list[Position]]:
        found: dict[Position, list[Position]] = {}
        for position in sorted(self._parent):
            found.setdefault(self.find(position), []).append(position)
        return list(found.values())
