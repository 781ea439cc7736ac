"""Mistakes in a condition that can be seen without running it: names of nothing, tools and collections of no one."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from envace_sdk.world.expressions.macros import MACROS
from envace_sdk.world.expressions.nodes import Call, Index, Literal, Name, Node, Select, children

from .checklist import NAMES

__all__ = ["mistakes"]

_CALLING = frozenset({"called", "attempted"})
_ASKING = frozenset({"get", "exists", "find", "count"})


def mistakes(node: Node, tools: Collection[str], collections: Collection[str]) -> list[str]:
    """What is wrong with a condition, whatever happens in an episode. Sentences, in the order of the source."""
    return list(dict.fromkeys(_mistakes(node, tools, collections, NAMES)))


def _mistakes(node: Node, tools: Collection[str], collections: Collection[str], names: frozenset[str]) -> Iterator[str]:
    match node:
        case Name(name) if name not in names:
            yield f"there is no {name!r} (there are: {', '.join(sorted(names))})"
        case Select(Name("world" | "start"), collection) | Index(Name("world" | "start"), Literal(str(collection))):
            if collection not in collections:
                yield f"there is no collection {collection!r}"
        case Call(function, None, (Literal(str(tool)), *_)) if function in _CALLING and tool not in tools:
            yield f"the toolset has no tool {tool!r}"
        case Call(function, None, (Literal(str(collection)), *_)) if function in _ASKING:
            if collection not in collections:
                yield f"there is no collection {collection!r}"
    if isinstance(node, Call) and node.target is not None and node.name in MACROS:
        # The names that a macro binds come first, its expressions after them.
        bound = frozenset(lead.name for lead in node.arguments[:-1] if isinstance(lead, Name))
        yield from _mistakes(node.target, tools, collections, names)
        for argument in node.arguments:
            yield from _mistakes(argument, tools, collections, names | bound)
        return
    for child in children(node):
        yield from _mistakes(child, tools, collections, names)
