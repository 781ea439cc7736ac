"""Which alternative to try first: the one closest to what is known, else the one that reads best."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from envace_sdk.json import UNSET, Json, Unset

from ..values.concepts import concept, quantity
from ..values.names import words
from .dead_ends import DeadEndError
from .groups import Group, Nodes
from .keywords import ANY, ARRAY, BOOLEAN, NULL, NUMBER, OBJECT, STRING, kind_of
from .mend import mended
from .shape import Shape

if TYPE_CHECKING:
    from .search import Search
    from .spot import Spot

__all__ = ["kinds_in_order", "options_in_order"]

_NULL_SHARE: Final = 0.12
_LOOKED_AT: Final = 4


def options_in_order(search: Search, group: Group, spot: Spot, known: Json | Unset) -> list[int]:
    """The options of a choice, by index, the one to try first at the start."""
    count = len(group.options)
    if group.kind == "not":
        ways = list(range(1, count))
        search.random.shuffle(ways)
        return [0, *ways]
    first = list(range(count // 2 if group.kind == "one" and count > 1 else count))
    if known is not UNSET:
        if group.kind == "if":
            first = [0, 1] if search.accepts(group.options[0][:1], known) else [1, 0]
        elif group.kind == "presence":
            name = next(iter(group.options[1][0].keywords.required))
            first = [1, 0] if isinstance(known, dict) and name in known else [0, 1]
        else:
            scores = {index: _fit(search, group.options[index], known) for index in first}
            first.sort(key=lambda index: -scores[index])
    else:
        search.random.shuffle(first)
        first.sort(key=lambda index: _cost(search, group.options[index], spot))
    return [*first, *(index + count // 2 for index in first)] if len(first) < count else first


def _cost(search: Search, nodes: Nodes, spot: Spot) -> tuple[float, float]:
    """What speaks against an option: an endless loop, then being merely null."""
    loops = search.plan.loops
    height = max((loops.height(node) for node in nodes), default=0.0) if loops else 0.0
    if loops and search.looping(spot):
        return height + (1000 if any(map(loops.leads_into, nodes)) else 0), 0
    dull = _only_null(search, nodes) and search.random.random() > _NULL_SHARE
    return (math.inf if height == math.inf else 0), float(dull)


def _only_null(search: Search, nodes: Nodes) -> bool:
    try:
        return search.graph.shape(nodes).types == NULL
    except DeadEndError:
        return False


def _fit(search: Search, nodes: Nodes, known: Json, depth: int = 0) -> float:
    """How well some schemas go with what is known; the higher the better."""
    if search.accepts(nodes, known):
        return 1000.0
    try:
        shape = search.graph.shape(nodes)
    except DeadEndError:
        return -math.inf
    if not shape.types & kind_of(known):
        return -400.0 if any(search.accepts(nodes, close) for close in mended(shape, known)) else -800.0
    if depth > 3:
        return 0.0
    if isinstance(known, dict):
        return _object_fit(search, shape, known, depth) + _inner_fit(search, shape, known, depth)
    if isinstance(known, list):
        sample = known[:_LOOKED_AT]
        fits = [_part_fit(search, shape.of_item(index), item, depth) for index, item in enumerate(sample)]
        return sum(fits) / len(fits) if fits else 0.0
    return _inner_fit(search, shape, known, depth) - 50.0


def _inner_fit(search: Search, shape: Shape, known: Json, depth: int) -> float:
    """The best of the alternatives that an option leaves open itself."""
    return sum(
        max(min(_fit(search, option, known, depth + 1), 20.0) for option in group.options)
        for group in shape.groups
        if group.kind in {"any", "one"}
    )


def _object_fit(search: Search, shape: Shape, known: dict[str, Json], depth: int) -> float:
    declared = shape.declared()
    score = 0.0
    for name, value in known.items():
        nodes = shape.of_property(name)
        if nodes is None:
            score -= 3.0
        elif name in declared:
            score += 1.0 + _part_fit(search, nodes, value, depth)
    return score - 1.5 * sum(name not in known for name in shape.required)


def _part_fit(search: Search, nodes: Nodes | None, value: Json, depth: int) -> float:
    if nodes is None:
        return -3.0
    if search.accepts(nodes, value):
        return 2.0
    try:
        shape = search.graph.shape(nodes)
    except DeadEndError:
        return -8.0
    if shape.values is not None:  # a tag that tells alternatives apart
        return -60.0
    return max(-4.0, min(_fit(search, nodes, value, depth + 1) / 10, 2.0))


def kinds_in_order(search: Search, shape: Shape, spot: Spot, known: Json | Unset) -> list[int]:
    """The kinds of value a shape allows, the one to try first at the start."""
    kept = shape.memo.get("kinds")
    if kept is None:
        every = (OBJECT, ARRAY, STRING, NUMBER, BOOLEAN, NULL)
        kept = shape.memo["kinds"] = [kind for kind in every if shape.types & kind]
    found: list[int] = kept  # type: ignore[assignment]
    if len(found) < 2:
        return found
    found = list(found)
    if known is not UNSET:
        kind = kind_of(known)
        return sorted(found, key=lambda other: not other & kind)
    preferred = _speaking(shape) or _named(spot)
    if shape.types != ANY and not found[0] & preferred and search.random.random() < 0.5:
        search.random.shuffle(found)
    null_first = shape.types != ANY and search.random.random() < _NULL_SHARE
    rank = {NULL: -2 if null_first else 2}
    return sorted(found, key=lambda kind: rank.get(kind, -1 if kind & preferred else 0))


def _speaking(shape: Shape) -> int:
    """The kinds that the assertions are about."""
    found = 0
    if (
        shape.required
        or shape.min_properties
        or any(facet.said.properties or facet.said.patterns for facet in shape.facets)
    ):
        found |= OBJECT
    if shape.min_items or shape.contains or any(facet.said.items or facet.said.prefix for facet in shape.facets):
        found |= ARRAY
    if shape.patterns or shape.formats or shape.min_length or shape.max_length < math.inf:
        found |= STRING
    if shape.multiples or shape.low > -math.inf or shape.high < math.inf:
        found |= NUMBER
    return found


def _named(spot: Spot) -> int:
    """The kind that the name of the field suggests."""
    if not spot.depth:
        return OBJECT
    if words(spot.name)[:1] in (("is",), ("has",), ("can",)):
        return BOOLEAN
    if quantity(spot.name) and not concept(spot.name):
        return NUMBER
    return STRING
