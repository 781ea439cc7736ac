"""Schemas that lead back to themselves: which they are, and how small their smallest instances can be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .keywords import ARRAY, OBJECT, Keywords

if TYPE_CHECKING:
    from .graph import Graph, Node

__all__ = ["Loops"]


class Loops:
    """What is known of a graph's recursion before anything is generated."""

    def __init__(self, graph: Graph) -> None:
        self._within = _reachable(graph.root)
        children = {serial: children for serial, (_, children) in self._within.items()}
        self._looped = {node.serial for group in _components(children) for node in group}
        # A schema that holds itself for the same value adds nothing to it.
        in_place = {serial: node.keywords.all_of for serial, (node, _) in self._within.items()}
        self._rounds = {node.serial: index for index, group in enumerate(_components(in_place)) for node in group}
        parents = self._parents()
        self._leading = self._leads(parents)
        self._heights = self._measured(parents)

    def holds_itself(self, node: Node) -> bool:
        """Whether a schema leads back to itself."""
        return node.serial in self._looped

    def leads_into(self, node: Node) -> bool:
        """Whether a schema leads to one that leads back to itself."""
        return node.serial in self._leading

    def height(self, node: Node) -> float:
        """A lower bound of the levels in an instance; infinite if there is no finite one."""
        return self._heights.get(node.serial, 0)

    def _parents(self) -> dict[int, list[int]]:
        parents: dict[int, list[int]] = {}
        for serial, (_, children) in self._within.items():
            for child in children:
                parents.setdefault(child.serial, []).append(serial)
        return parents

    def _leads(self, parents: Mapping[int, list[int]]) -> set[int]:
        found, queue = set(self._looped), list(self._looped)
        while queue:
            for parent in parents.get(queue.pop(), ()):
                if parent not in found:
                    found.add(parent)
                    queue.append(parent)
        return found

    def _measured(self, parents: Mapping[int, list[int]]) -> dict[int, float]:
        """The least heights: endless until something is found to end, which may end what leads to it."""
        heights: dict[int, float] = dict.fromkeys(self._within, math.inf)
        queue = list(self._within)
        waiting = set(queue)
        while queue:
            serial = queue.pop()
            waiting.discard(serial)
            node = self._within[serial][0]
            turn = self._rounds.get(serial)
            in_place = [part for part in node.keywords.all_of if turn is None or self._rounds.get(part.serial) != turn]
            height = _height(node.keywords, in_place, heights)
            if height < heights[serial]:
                heights[serial] = height
                for parent in parents.get(serial, ()):
                    if parent not in waiting:
                        waiting.add(parent)
                        queue.append(parent)
        return heights


def _children(said: Keywords) -> Iterator[Node]:
    yield from said.all_of
    for options in (*said.any_of, *said.one_of):
        yield from options
    yield from said.condition or ()
    yield from (node for _, node in said.dependent)
    yield from said.prefix
    yield from (said.properties or {}).values()
    yield from (node for _, node in said.patterns)
    for node in (said.items, said.contains, said.unevaluated_items, said.additional, said.unevaluated_properties):
        if node is not None:
            yield node


def _reachable(root: Node) -> dict[int, tuple[Node, tuple[Node, ...]]]:
    found: dict[int, tuple[Node, tuple[Node, ...]]] = {}
    queue = [root]
    while queue:
        node = queue.pop()
        if node.serial not in found:
            children = tuple(_children(node.keywords))
            found[node.serial] = (node, children)
            queue.extend(children)
    return found


def _components(children: Mapping[int, tuple[Node, ...]]) -> list[list[Node]]:
    """The groups of nodes that lead to each other, and nodes that lead to themselves (Tarjan, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    found: list[list[int]] = []
    for start in children:
        work = [] if start in order else [(start, iter(children[start]))]
        while work:
            serial, rest = work[-1]
            if serial not in order:
                order[serial] = low[serial] = len(order)
                path.append(serial)
            child = next(rest, None)
            if child is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[serial])
                if low[serial] == order[serial]:
                    found.append(path[path.index(serial) :])
                    del path[path.index(serial) :]
                    low.update(dict.fromkeys(found[-1], len(children)))
            elif child.serial not in order:
                work.append((child.serial, iter(children[child.serial])))
            else:
                low[serial] = min(low[serial], low[child.serial])
    nodes = {node.serial: node for inner in children.values() for node in inner}
    return [
        [nodes[serial] for serial in group]
        for group in found
        if len(group) > 1 or any(child.serial == group[0] for child in children[group[0]])
    ]


def _height(said: Keywords, in_place: Sequence[Node], heights: dict[int, float]) -> float:
    if said.values is not None:
        return 0 if said.values else math.inf

    def of(*nodes: Node | None) -> float:
        return max((heights.get(node.serial, 0) for node in nodes if node is not None), default=0)

    height = of(*in_place)
    for options in (*said.any_of, *said.one_of):
        height = max(height, min(heights.get(option.serial, 0) for option in options))
    if said.condition is not None:
        height = max(height, min(of(said.condition[1]), of(said.condition[2])))
    return max(height, _by_kind(said, of))


def _by_kind(said: Keywords, of: Callable[..., float]) -> float:
    if not said.types:
        return math.inf
    if said.types & ~(ARRAY | OBJECT):
        return 0
    heights = []
    if said.types & ARRAY:
        rest = said.items if said.min_items > len(said.prefix) else None
        wanted = said.contains if said.min_contains > 0 else None
        needed = (*said.prefix[: said.min_items], rest, wanted)
        heights.append(1 + of(*needed) if any(needed) else 0)
    if said.types & OBJECT:
        properties = said.properties or {}
        needed = tuple(properties.get(name, said.additional if not said.patterns else None) for name in said.required)
        heights.append(1 + of(*needed) if any(needed) else 0)
    return min(heights)
