"""Arrays: how many items, which of them stand for `contains`, then their values."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

from envace_sdk.json import UNSET, Json, Unset

from ..equality import identity
from .dead_ends import DeadEndError, OutOfBoundsError
from .facets import Contains
from .groups import Nodes
from .keywords import Keywords
from .negate import negated
from .shape import Shape

if TYPE_CHECKING:
    from .search import Search
    from .spot import Spot

__all__ = ["make"]

_NATURAL: Final = 3
_AGAIN: Final = 3
_ROUNDS: Final = 8


def make(search: Search, shape: Shape, spot: Spot, known: Json | Unset) -> list[Json]:
    """An array of the shape.

    Known items stay in order wherever they may; only as many are added as there must be.

    Raises:
        DeadEndError: there is none.
    """
    return _Items(search, shape, spot, known).made()


class _Items:
    """The items an array is to have, and what is known of each."""

    def __init__(self, search: Search, shape: Shape, spot: Spot, known: Json | Unset) -> None:
        self.search, self.shape, self.spot = search, shape, spot
        self.known: list[Json] = list(known) if isinstance(known, list) else []
        self.is_fresh = not isinstance(known, list)
        self.stands_for: dict[int, tuple[Contains, ...]] = {}
        self._spare: dict[Contains, float] = {}
        """How many items more may fit each `contains` than are meant to."""

    def made(self) -> list[Json]:
        """The items."""
        if not self.is_fresh:
            self._mend_known()
        dead: DeadEndError | None = None
        for turn in range(_ROUNDS if self.shape.contains else 1):
            since = self.search.budget.tally
            try:
                return self._placed(turn)
            except OutOfBoundsError:
                raise
            except DeadEndError as found:
                dead = dead or found
                self.search.budget.waste(since)
        raise dead or DeadEndError("there are no such items", self.spot.pointer)

    def _placed(self, turn: int) -> list[Json]:
        """The items, once it is settled which are to fit which `contains`: those are made first.

        The first turn takes what reads best, later ones what chance gives, the last ones as few as may be, or enough to
        have one of which no schema speaks in particular.
        """
        self.stands_for = {}
        count = self._place_contains(self._count(turn), shuffled=turn > 0)
        self._spare = {
            wanted: wanted.high - sum(wanted in standing for standing in self.stands_for.values())
            for wanted in self.shape.contains
            if wanted.high is not None
        }
        items: dict[int, Json] = {}
        seen: dict[Hashable, Json] = {}
        for index in sorted(range(count), key=lambda index: index not in self.stands_for):
            if index >= count:
                break
            known = self.known[index] if index < len(self.known) else UNSET
            try:
                items[index] = self._item(index, count, known, seen)
            except OutOfBoundsError:
                raise
            except DeadEndError:
                if index in self.stands_for or count <= self.shape.min_items:
                    raise
                if index < self.shape.tuple_length:  # all that follows would move, so it must go as well
                    if index < self.shape.min_items or any(place > index for place in items):
                        raise
                    count = index
                continue
            if self.shape.unique or isinstance(items[index], str):
                seen[identity(items[index])] = items[index]
        made = [items[index] for index in sorted(items)]
        if len(made) < self.shape.min_items:
            raise DeadEndError("there are not enough different items", self.spot.pointer)
        if self.shape.repeated and len(made) > 1:
            made[-1] = made[0]
        return made

    def _mend_known(self) -> None:
        """Leave out what cannot be mended, what is there twice, and what is too many."""
        shape, kept, seen = self.shape, list[Json](), set[Hashable]()
        for item in self.known:
            if len(kept) >= shape.max_items:
                break
            nodes = shape.of_item(len(kept), self._fitting(item))
            if nodes is None or not self.search.feasible(nodes):
                continue
            if shape.unique and (key := identity(item)) in seen:
                continue
            if shape.unique:
                seen.add(key)
            kept.append(item)
        for wanted in shape.contains:
            if wanted.high is not None:
                surplus = [item for item in kept if self.search.accepts((wanted.node,), item)][wanted.high :]
                kept = [item for item in kept if not any(item is other for other in surplus)]
        self.known = kept

    def _fitting(self, item: Json) -> tuple[Contains, ...]:
        return tuple(wanted for wanted in self.shape.contains if self.search.accepts((wanted.node,), item))

    def _count(self, turn: int) -> int:
        """How many items to make."""
        shape, search = self.shape, self.search
        wanted = sum(contained.low for contained in shape.contains)
        least = self._least()
        if turn >= _ROUNDS // 2:
            return int(min(max(least, shape.tuple_length + 1), shape.max_items)) if turn % 2 else least
        if not self.is_fresh:
            missing = sum(
                max(0, contained.low - sum(search.accepts((contained.node,), item) for item in self.known))
                for contained in shape.contains
            )
            return int(min(max(least, len(self.known) + missing), shape.max_items))
        length = shape.tuple_length
        if not self._goes_on():
            return int(min(max(least, min(wanted, length)), shape.max_items))
        natural = search.random.randint(1, _NATURAL - (self.spot.loops > 0)) if self._is_list(length) else 0
        return int(min(max(least, wanted, length + natural, 1 if not length else 0), shape.max_items))

    def _least(self) -> int:
        """How many items there must be, as far as counts tell."""
        return max(self.shape.min_items, max((contained.low for contained in self.shape.contains), default=0))

    def _goes_on(self) -> bool:
        """Whether items that need not be there lead to an end from here."""
        search, loops = self.search, self.search.plan.loops
        if search.sparing(self.spot):
            return False
        if loops is None:
            return True
        nodes = [node for index in (0, self.shape.tuple_length) for node in self.shape.of_item(index) or ()]
        if any(loops.height(node) == float("inf") for node in nodes):
            return False
        if not any(map(loops.leads_into, nodes)):
            return True
        return not search.looping(self.spot) and (self.spot.loops < 2 or search.random.random() < 0.6)

    def _is_list(self, length: int) -> bool:
        """Whether a schema speaks of any number of items."""
        said = [facet.said.items for facet in self.shape.facets if facet.said.items is not None and not facet.silent]
        return any(not node.is_true for node in said) or (not length and not self.shape.contains)

    def _place_contains(self, count: int, *, shuffled: bool) -> int:
        """Decide which items are to fit which `contains`, and how many there are then."""
        search, shape = self.search, self.shape
        for wanted in shape.contains:
            have = [index for index, item in enumerate(self.known[:count]) if search.accepts((wanted.node,), item)]
            missing = wanted.low - len(have)
            free = [index for index in reversed(range(count)) if index not in have]
            if shuffled:
                free += [count] if count < shape.max_items else []
                search.random.shuffle(free)
            else:
                taken = self.stands_for
                free.sort(key=lambda index: (index in taken, index < len(self.known), index < shape.tuple_length))
            for index in free:
                if missing > 0 and self._may_stand(index, wanted):
                    missing -= 1
                    count = max(count, index + 1)
            while missing > 0 and count < shape.max_items and self._may_stand(count, wanted):
                missing -= 1
                count += 1
            if missing > 0:
                raise DeadEndError("contains asks for more items than there can be", self.spot.pointer)
        return count

    def _may_stand(self, index: int, wanted: Contains) -> bool:
        """Let an item stand for a `contains`, if it may."""
        standing = (*self.stands_for.get(index, ()), wanted)
        if not self.search.promising(self.shape.of_item(index, standing)):
            return False
        self.stands_for[index] = standing
        return True

    def _item(self, index: int, count: int, known: Json | Unset, seen: dict[Hashable, Json]) -> Json:
        standing = self.stands_for.get(index, ())
        if not standing and known is not UNSET:
            standing = self._fitting(known)
        nodes = self.shape.of_item(index, standing)
        if nodes is None and self.shape.contains and not standing:  # only what `contains` speaks of may be there
            for wanted in self.shape.contains:
                if wanted.high is None and (nodes := self.shape.of_item(index, (wanted,))) is not None:
                    standing = (wanted,)
                    break
        if nodes is None:
            raise DeadEndError(f"item {index} is forbidden", self.spot.pointer)
        spot = self.spot.item(index)
        scarce = [
            wanted
            for wanted, spare in self._spare.items()
            if wanted not in standing and spare < self._left(index, count, wanted)
        ]
        if not scarce:
            item = self._new(nodes, spot, known, seen)
        else:
            # Some of the items left must not fit: the first ones, as long as they can do otherwise.
            ruled_out = tuple(negated(wanted.node) for wanted in scarce)
            try:
                return self._new((*nodes, *ruled_out), spot, known, seen)
            except OutOfBoundsError:
                raise
            except DeadEndError:
                if not all(self._spare[wanted] > 0 for wanted in scarce):
                    raise
            item = self._new(nodes, spot, known, seen)
        for wanted in self._spare:
            if wanted not in standing and self.search.accepts((wanted.node,), item):
                self._spare[wanted] -= 1
        return item

    def _left(self, index: int, count: int, wanted: Contains) -> int:
        """How many items, from one on, are not meant to fit a `contains`."""
        return sum(wanted not in self.stands_for.get(place, ()) for place in range(index, count))

    def _new(self, nodes: Nodes, spot: Spot, known: Json | Unset, seen: dict[Hashable, Json]) -> Json:
        """An item; where they must differ, one unlike those before: by chance, else by ruling those out."""
        if not self.shape.unique:
            item = self.search.build(nodes, spot, known)
            if known is UNSET and isinstance(item, str) and item in seen:  # lists rarely repeat themselves
                return self.search.build(nodes, spot)
            return item
        for _ in range(_AGAIN):
            item = self.search.build(nodes, spot, known)
            if identity(item) not in seen:
                return item
            known = UNSET
        taken = list(seen.values())
        said = Keywords(excluded=tuple(taken), silent=True)
        other = self.search.graph.made({"not": {"enum": taken}}, said, lasting=False)
        item = self.search.build((*nodes, other), spot)
        if identity(item) in seen:
            raise DeadEndError("there are not enough different items", self.spot.pointer)
        return item
