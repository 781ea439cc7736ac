"""The search for an instance: choose, make, judge, and go back where nothing fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

from envace_sdk.json import UNSET, Json, Unset

from ..equality import same
from ..values.names import normalised
from . import arrays, numbers, objects, strings
from .budget import Budget
from .choose import kinds_in_order, options_in_order
from .dead_ends import DeadEndError, OutOfBoundsError, TooLargeError
from .groups import Choices, Group, Key, Nodes
from .keywords import ARRAY, FRACTION, INTEGER, NULL, NUMBER, OBJECT, STRING
from .mend import closest, mended
from .shape import Shape

if TYPE_CHECKING:
    from ..values.scene import Fakes
    from .graph import Node
    from .judge import Judge
    from .plan import Plan
    from .spot import Spot

__all__ = ["Search"]

_DEPTH: Final = 100
_DEEP: Final = 12
_RETRIES: Final = 4
_NOT_NULL: Final = 0.85
_LOOPS: Final = 3
_LEARNED: Final = 100
_CHOICES_LOOKED_AT: Final = 20
_COMPARISONS: Final = 50_000_000


class Search:
    """One search, with its random numbers and its bounds.

    A lean search adds nothing that need not be there: less to read, and less to go wrong.
    """

    def __init__(self, plan: Plan, fakes: Fakes, hints: Mapping[str, Json], *, lean: bool = False) -> None:
        self.plan, self.graph = plan, plan.graph
        self.judge: Judge = plan.judge
        self.fakes, self.random = fakes, fakes.random
        self.hints = {normalised(name): value for name, value in hints.items()}
        self.budget = Budget()
        self._lean = lean
        self._hopeless: list[frozenset[Node]] = []
        """Schemas that no value was found for: whatever asks for them all is given up at once."""
        self.varied = False
        """Whether what is likely is to be avoided, because something else is looked for."""

    def sparing(self, spot: Spot) -> bool:
        """Whether only what must be there is still added."""
        return self._lean or self.budget.plenty or spot.depth > _DEEP

    def looping(self, spot: Spot) -> bool:
        """Whether recursion has gone far enough."""
        return spot.loops >= _LOOPS or self.sparing(spot)

    def accepts(self, nodes: Nodes, value: Json) -> bool:
        """Whether a value fits."""
        return not nodes or self.judge.accepts(nodes, value)

    def build(self, nodes: Nodes, spot: Spot, known: Json | Unset = UNSET) -> Json:
        """A value that fits the nodes, as close to what is known as they allow.

        Raises:
            DeadEndError: there is none.
        """
        if known is not UNSET and self.accepts(nodes, known):
            return known
        self.budget.make(from_known=isinstance(known, dict | list))
        if spot.depth > _DEPTH:
            raise TooLargeError("an instance would be too deep", spot.pointer)
        loops = self.plan.loops
        if loops is not None and any(map(loops.holds_itself, nodes)):
            spot = spot.looped()
        try:
            with self.budget.share() if spot.depth else nullcontext():
                return self._solved(nodes, spot, known)
        except TooLargeError:
            raise
        except DeadEndError as dead:
            if self.budget.is_spent and spot.depth:
                raise
            for guess in self.plan.guesses:
                if self.accepts(nodes, guess):
                    return guess
            if self.budget.is_spent:
                raise
            self._learn(nodes)
            raise DeadEndError(dead.reason, dead.pointer or spot.pointer) from None

    def _solved(self, nodes: Nodes, spot: Spot, known: Json | Unset) -> Json:
        if known is not UNSET:
            try:
                return self._solve(nodes, (), spot, known)
            except OutOfBoundsError:
                raise
            except DeadEndError:
                pass
        return self._solve(nodes, (), spot, UNSET)

    def _learn(self, nodes: Nodes) -> None:
        if len(self._hopeless) < _LEARNED and not any(node.keywords.excluded for node in nodes):
            self._hopeless.append(frozenset(nodes))

    def _foresee(self, shape: Shape) -> None:
        """Give up where a part that must be there was found to be hopeless before.

        Raises:
            DeadEndError: it was.
        """
        parts: list[Nodes] = []
        if shape.types == OBJECT:
            parts += [shape.of_property(name) or () for name in shape.required]
        elif shape.types == ARRAY:
            parts += [shape.of_item(index) or () for index in range(min(shape.min_items, shape.tuple_length + 1))]
        for nodes in parts:
            asked = set(nodes)
            if any(hopeless <= asked for hopeless in self._hopeless):
                raise DeadEndError("nothing fits a part of it that must be there", size=shape.size)

    def feasible(self, nodes: Nodes | None) -> bool:
        """Whether nodes do not contradict each other at first sight."""
        if nodes is None:
            return False
        try:
            shape = self.graph.shape(nodes)
        except DeadEndError:
            return False
        return shape.values is None or bool(self._fitting(shape, shape.values))

    def promising(self, nodes: Nodes | None) -> bool:
        """Whether nodes do not contradict each other at second sight: each choice they leave has a way."""
        if nodes is None or not self.feasible(nodes):
            return False
        groups = self.graph.shape(nodes).groups
        return all(any(self._opens(nodes, (), group.key, way) for way in range(len(group.options))) for group in groups)

    def _opens(self, nodes: Nodes, choices: Choices, key: Key, way: int) -> bool:
        """Whether an option leaves anything to choose."""
        try:
            shape = self.graph.shape(nodes, (*choices, (key, way)))
        except DeadEndError:
            return False
        return shape.values is None or bool(self._fitting(shape, shape.values))

    def _solve(self, nodes: Nodes, choices: Choices, spot: Spot, known: Json | Unset) -> Json:
        shape = self.graph.shape(nodes, choices)
        self.budget.tally += shape.size
        if self._hopeless:
            self._foresee(shape)
        if shape.values is not None:
            return self._one_of(shape, shape.values, spot, known)
        if not shape.groups:
            return self._fill(shape, spot, known)
        group, ways = self._next(shape, nodes, choices)
        dead: DeadEndError | None = None
        for index in options_in_order(self, group, spot, known):
            if ways is not None and index not in ways:
                continue
            since = self.budget.tally
            try:
                return self._solve(nodes, (*choices, (group.key, index)), spot, known)
            except OutOfBoundsError:
                raise
            except DeadEndError as found:
                dead = dead or found
                self.budget.tally += found.size
                self.budget.waste(since)
        raise dead or DeadEndError("none of its alternatives is possible", spot.pointer)

    def _next(self, shape: Shape, nodes: Nodes, choices: Choices) -> tuple[Group, list[int] | None]:
        """The choice to make next, and its options where it was found out which are left.

        It is the one with the fewest options, negations last. Only where much went wrong already is it worth the time
        to look which options each choice has left.
        """
        best = min(shape.groups, key=lambda group: (group.kind == "not", len(group.options)))
        if not self.budget.careful:
            return best, None
        left: list[int] | None = None
        for group in shape.groups[:_CHOICES_LOOKED_AT]:
            ways = [way for way in range(len(group.options)) if self._opens(nodes, choices, group.key, way)]
            self.budget.tally += shape.size // 4
            if left is None or len(ways) < len(left):
                best, left = group, ways
        return best, left

    def _fitting(self, shape: Shape, values: list[Json]) -> list[Json]:
        """The values of an enum that fit everything else."""
        found = shape.memo.get("values")
        if found is None:
            # A judge looks through the whole enum for each of its values.
            looked_at = values[: max(_CHOICES_LOOKED_AT, _COMPARISONS // max(len(values), 1))]
            found = shape.memo["values"] = [
                value for value in looked_at if self.accepts(shape.nodes, value) and _allowed(shape, value)
            ]
        return found  # type: ignore[return-value]

    def _one_of(self, shape: Shape, values: list[Json], spot: Spot, known: Json | Unset) -> Json:
        """One of the values of an enum."""
        options = self._fitting(shape, values)
        if not options:
            raise DeadEndError("no value of its enum fits all else that is asked", spot.pointer)
        for wanted in (known, self.hint(spot)):
            if wanted is not UNSET and (index := closest(options, wanted)) is not None:
                return options[index]
        if self.random.random() < _NOT_NULL:
            options = [option for option in options if option is not None] or options
        return self.random.choice(options)

    def hint(self, spot: Spot) -> Json | Unset:
        """What a field of that name is preferred to hold."""
        return self.hints.get(normalised(spot.name), UNSET) if self.hints and spot.name else UNSET

    def _fill(self, shape: Shape, spot: Spot, known: Json | Unset) -> Json:
        """A value of a shape in which no choice is left open; judged, where being made to measure does not prove it."""
        if not shape.checked:
            return self._make(shape, spot, known)
        varied = self.varied
        for attempt in _attempts(known, 30 if shape.excluded else _RETRIES):
            since = self.budget.tally
            value = self._make(shape, spot, attempt)
            if self.accepts(shape.nodes, value):
                self.varied = varied
                return value
            self.varied = varied or bool(shape.excluded)
            self.budget.waste(since)
        self.varied = varied
        raise DeadEndError("what its not, oneOf, if or contains rule out cannot be avoided", spot.pointer)

    def _make(self, shape: Shape, spot: Spot, known: Json | Unset) -> Json:
        if known is not UNSET:
            for close in mended(shape, known):
                if self.accepts(shape.nodes, close):
                    return close
        hint = self.hint(spot) if self.hints and shape.types & ~(ARRAY | OBJECT) else UNSET
        if hint is not UNSET and not isinstance(hint, dict | list) and not isinstance(known, dict | list):
            for close in (hint, *mended(shape, hint)):
                if self.accepts(shape.nodes, close):
                    return close
        dead: DeadEndError | None = None
        for kind in kinds_in_order(self, shape, spot, known):
            since = self.budget.tally
            try:
                return self._of_kind(kind, shape, spot, known)
            except OutOfBoundsError:
                raise
            except DeadEndError as found:
                dead = found
                self.budget.waste(since)
        raise dead or DeadEndError(shape.reason, spot.pointer)

    def _of_kind(self, kind: int, shape: Shape, spot: Spot, known: Json | Unset) -> Json:
        if kind == OBJECT:
            only = known[0] if isinstance(known, list) and len(known) == 1 else known
            return objects.make(self, shape, spot, only)
        if kind == ARRAY:
            alone = known is not UNSET and known is not None and not isinstance(known, list)
            return arrays.make(self, shape, spot, [known] if alone else known)
        if kind == STRING:
            return strings.make(self, shape, spot)
        if kind & NUMBER:
            return numbers.make(self, shape, spot, whole=not shape.types & FRACTION, broken=not shape.types & INTEGER)
        options = [None] if kind == NULL else numbers.flags(self, spot)
        for value in options:
            if _allowed(shape, value):
                return value
        raise DeadEndError("all its values are excluded", spot.pointer)


def _allowed(shape: Shape, value: Json) -> bool:
    return not any(same(value, other) for other in shape.excluded)


def _attempts(known: Json | Unset, retries: int) -> Iterator[Json | Unset]:
    """What to keep of what is known: all, then all but one property, then what is left by chance."""
    yield known
    if isinstance(known, dict) and len(known) < 60:
        for name in reversed(known):
            yield {key: value for key, value in known.items() if key != name}
    elif known is UNSET:
        yield from (UNSET for _ in range(retries - 1))
