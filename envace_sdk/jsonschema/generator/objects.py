"""Objects: which properties, then their values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from envace_sdk.json import UNSET, Json, Unset

from ..values.names import normalised, singular, words
from .dead_ends import DeadEndError
from .groups import Nodes
from .invent import invented_names
from .shape import Shape

if TYPE_CHECKING:
    from .search import Search
    from .spot import Spot

__all__ = ["make"]

_SHARE: Final = 0.85
"""How often a property that may be left out is there."""
_LOOP_SHARE: Final = 0.6


def make(search: Search, shape: Shape, spot: Spot, known: Json | Unset) -> dict[str, Json]:
    """An object of the shape.

    What is known stays wherever it may, and only what must be there is added to it. Where nothing is known, most of
    what may be there is made up.

    Raises:
        DeadEndError: there is none.
    """
    plan = _Properties(search, shape, spot)
    if isinstance(known, dict):
        plan.keep(known)
    plan.require()
    if not isinstance(known, dict):
        plan.add_natural()
    plan.close()
    plan.reach_minimum()
    plan.keep_to_maximum()
    return _filled(search, shape, spot, plan)


class _Properties:
    """The properties an object is to have, and what is known of each."""

    def __init__(self, search: Search, shape: Shape, spot: Spot) -> None:
        self.search, self.shape, self.spot = search, shape, spot
        self.present: dict[str, Json | Unset] = {}
        self.given: frozenset[str] = frozenset()
        self._unplaced: dict[str, Json] = {}

    def nodes(self, name: str) -> Nodes | None:
        """What is asked of a property; None if it must not be there."""
        return self.shape.of_property(name)

    def allowed(self, name: str) -> bool:
        """Whether a property may be there."""
        return self.nodes(name) is not None and self.may_be_called(name)

    def may_be_called(self, name: str) -> bool:
        """Whether the name is one that properties may have."""
        names = self.shape.names
        if not names:
            return True
        key = ("name", name)
        if key not in self.shape.memo:
            self.shape.memo[key] = self.search.accepts(tuple(names), name)
        return bool(self.shape.memo[key])

    def keep(self, known: dict[str, Json]) -> None:
        """Take over what is known and allowed. The rest, and what no schema speaks of, may serve under another name."""
        declared = self.shape.declared()
        for name, value in known.items():
            if self.allowed(name):
                self.present[name] = value
            if name not in declared or name not in self.present:
                self._unplaced.setdefault(normalised(name), value)
        self.given = frozenset(self.present)

    def require(self) -> None:
        """Add what must be there."""
        for name in self.shape.required:
            if name in self.present:
                continue
            if not self.allowed(name):
                raise DeadEndError(f"property {name!r} is required and forbidden", self.spot.pointer)
            self.present[name] = self._unplaced_value(name)

    def _unplaced_value(self, name: str) -> Json | Unset:
        """What is known under another spelling, or as the `id` of an `order` where its `order_id` is asked for."""
        key, parts = normalised(name), words(name)
        if key in self._unplaced:
            return self._unplaced[key]
        if key == "id":
            ids = [other for other in self._unplaced if other.endswith("id")]
            return self._unplaced[ids[0]] if len(ids) == 1 else UNSET
        if parts[-1:] != ("id",) or "id" not in self._unplaced:
            return UNSET
        owners = [words(singular(owner))[-1:] for owner in (self.spot.name, self.shape.title)]
        alone = [other for other in self.shape.declared() if words(other)[-1:] == ("id",)] == [name]
        return self._unplaced["id"] if alone or parts[-2:-1] in owners else UNSET

    def add_natural(self) -> None:
        """Add most of what may be there too, as long as that leads to an end."""
        search, shape = self.search, self.shape
        room = shape.max_properties - len(self.present)
        optional = [name for name in shape.declared() if name not in self.present]
        for name in optional:
            if room <= 0:
                break
            if search.random.random() < _SHARE and self.allowed(name) and self._ends(name):
                self.present[name] = UNSET
                room -= 1
        if not shape.declared() and room > 0 and self._is_map() and not search.looping(self.spot):
            for _ in range(min(int(min(room, 3)), search.random.randint(1, 3))):
                invented = self._invented()
                if invented is not None and self._ends(invented):
                    self.present[invented] = UNSET

    def _is_map(self) -> bool:
        """Whether it is meant to have properties of any name: a schema speaks of them all."""
        return any(facet.said.patterns or (facet.said.additional and not facet.said.additional.is_true)
                   for facet in self.shape.facets if not facet.silent)  # fmt: skip

    def _ends(self, name: str) -> bool:
        """Whether an optional property leads to an end from here."""
        search, nodes = self.search, self.nodes(name) or ()
        if search.sparing(self.spot):
            return False
        if not search.feasible(nodes):
            return False
        loops = search.plan.loops
        if loops is None:
            return True
        if any(math.isinf(loops.height(node)) for node in nodes):
            return False
        if not any(map(loops.leads_into, nodes)):
            return True
        return not search.looping(self.spot) and search.random.random() < _LOOP_SHARE

    def close(self) -> None:
        """Add what the presence of others requires; leave out what then cannot be there."""
        changed = True
        while changed:
            changed = False
            for name, needed in self.shape.requires.items():
                if name not in self.present:
                    continue
                for other in needed:
                    if other in self.present:
                        continue
                    if self.allowed(other):
                        self.present[other] = self._unplaced_value(other)
                    elif name in self.shape.required:
                        raise DeadEndError(f"{name!r} requires {other!r}, which is forbidden", self.spot.pointer)
                    else:
                        del self.present[name]
                        changed = True
                        break
                    changed = True

    def reach_minimum(self) -> None:
        """Add properties until there are enough."""
        missing = self.shape.min_properties - len(self.present)
        if missing <= 0:
            return
        for name in self.shape.declared():
            if len(self.present) >= self.shape.min_properties:
                return
            if name not in self.present and self.allowed(name) and self.search.feasible(self.nodes(name)):
                self.present[name] = UNSET
        while len(self.present) < self.shape.min_properties:
            invented = self._invented()
            if invented is None:
                reason = f"{self.shape.min_properties} properties are asked for, and {len(self.present)} can be had"
                raise DeadEndError(reason, self.spot.pointer)
            self.present[invented] = UNSET
        self.close()

    def keep_to_maximum(self) -> None:
        """Take properties away until there are few enough: what was made up first, then what no schema speaks of."""
        declared, required = self.shape.declared(), self.shape.required
        latest_first = list(reversed(self.present))
        order = sorted(latest_first, key=lambda name: (name in self.given, name in declared))
        for name in order:
            if len(self.present) <= self.shape.max_properties:
                return
            needed = any(name in self.shape.requires.get(other, ()) for other in self.present)
            if name not in required and not needed:
                del self.present[name]
        if len(self.present) > self.shape.max_properties:
            reason = f"{len(self.present)} properties are needed, and at most {self.shape.max_properties} allowed"
            raise DeadEndError(reason, self.spot.pointer)

    def _invented(self) -> str | None:
        """A name that is not there yet, for a property that may be."""
        for name in invented_names(self.search, self.shape, self.spot):
            if name not in self.present and self.allowed(name) and self.search.feasible(self.nodes(name)):
                return name
        return None


def _filled(search: Search, shape: Shape, spot: Spot, plan: _Properties) -> dict[str, Json]:
    """The values. What is fixed or known is settled first, so that the rest can go with it."""
    made: dict[str, Json] = {name: value for name, value in plan.present.items() if _is_scalar(value)}
    scene = spot.scene.inner(spot.name, made, plan.present)
    values: dict[str, Json] = {}
    for name in sorted(plan.present, key=lambda name: not _is_settled(search, shape, name)):
        nodes = plan.nodes(name)
        if nodes is None:
            continue
        since = search.budget.tally
        try:
            value = search.build(nodes, spot.property(name, scene), plan.present[name])
        except DeadEndError:
            needed = any(name in shape.requires.get(other, ()) for other in plan.present)
            if name in shape.required or needed or len(plan.present) - 1 < shape.min_properties:
                raise
            search.budget.waste(since)
            made.pop(name, None)
            plan.present = {other: value for other, value in plan.present.items() if other != name}
            continue
        values[name] = value
        if _is_scalar(value):
            made[name] = value
        else:
            made.pop(name, None)
    return {name: values[name] for name in _in_order(shape, plan) if name in values}


def _is_scalar(value: Json | Unset) -> bool:
    return value is not UNSET and not isinstance(value, dict | list)


def _is_settled(search: Search, shape: Shape, name: str) -> bool:
    """Whether a property has one of a few given values."""
    key = ("settled", name)
    if key not in shape.memo:
        try:
            nodes = shape.of_property(name)
            shape.memo[key] = nodes is not None and search.graph.shape(nodes).values is not None
        except DeadEndError:
            shape.memo[key] = False
    return bool(shape.memo[key])


def _in_order(shape: Shape, plan: _Properties) -> list[str]:
    """What is known in its own order; the rest as the schema declares it."""
    declared = shape.declared()
    if not plan.given:
        return [*filter(plan.present.__contains__, declared), *(name for name in plan.present if name not in declared)]
    others = [name for name in plan.present if name not in plan.given]
    return [
        *(name for name in plan.present if name in plan.given),
        *(name for name in declared if name in others),
        *(name for name in others if name not in declared),
    ]
