"""The ways in which a value can fail a schema, each as a schema of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING, Any

from ..regex import PatternError, language
from .keywords import ANY, ARRAY, NUMBER, OBJECT, STRING, Keywords

if TYPE_CHECKING:
    from .graph import Node

__all__ = ["negated", "negations"]


def negated(node: Node) -> Node:
    """The node that holds wherever `node` does not."""
    if node.is_true or node.is_false:
        return node.graph.false if node.is_true else node.graph.true
    found = node.memo.get("negated")
    if found is None:
        said = Keywords(negated=node, silent=True)
        found = node.memo["negated"] = node.graph.made({"not": node.judged}, said, node.pointer)
    return found  # type: ignore[return-value]


def negations(node: Node) -> tuple[Node, ...]:
    """Alternatives to a node: a value that meets one of them does not meet the node. None if nothing fails it."""
    if node.is_true:
        return ()
    if node.is_false:
        return (node.graph.true,)
    found = node.memo.get("negations")
    if found is None:
        made = node.graph.made
        found = node.memo["negations"] = tuple(
            made({"not": node.judged}, said, node.pointer) for said in _ways(node.keywords, node)
        )
    return found  # type: ignore[return-value]


def _say(**keywords: Any) -> Keywords:
    return Keywords(silent=True, **keywords)


def _ways(said: Keywords, node: Node) -> Iterator[Keywords]:
    if said.types != ANY:
        yield _say(types=ANY & ~said.types)
    if said.values is not None:
        yield _say(excluded=tuple(said.values))
    if said.excluded:
        yield _say(values=list(said.excluded))
    yield from _combined(said)
    yield from _numbers(said)
    yield from _strings(said)
    yield from _arrays(said, node)
    yield from _objects(said, node)


def _combined(said: Keywords) -> Iterator[Keywords]:
    for part in said.all_of:
        yield _say(all_of=(negated(part),))
    for options in said.any_of:
        yield _say(all_of=tuple(map(negated, options)))
    for options in said.one_of:
        yield _say(all_of=tuple(map(negated, options)))
        for index, one in enumerate(options):
            for other in options[index + 1 :]:
                yield _say(all_of=(one, other))
    if said.negated is not None:
        yield _say(all_of=(said.negated,))
    if said.condition is not None:
        condition, then, otherwise = said.condition
        if not then.is_true:
            yield _say(all_of=(condition, negated(then)))
        if not otherwise.is_true:
            yield _say(all_of=(negated(condition), negated(otherwise)))
    for name, dependent in said.dependent:
        yield _say(types=OBJECT, required=(name,), all_of=(negated(dependent),))


def _numbers(said: Keywords) -> Iterator[Keywords]:
    for bound, opposite in (("minimum", "below"), ("above", "maximum"), ("maximum", "above"), ("below", "minimum")):
        limit = getattr(said, bound)
        if limit is not None:
            yield _say(types=NUMBER, **{opposite: limit})
    if said.multiple_of is not None:
        yield _say(types=NUMBER, not_multiple_of=said.multiple_of)
    if said.not_multiple_of is not None:
        yield _say(types=NUMBER, multiple_of=said.not_multiple_of)


def _strings(said: Keywords) -> Iterator[Keywords]:
    if said.min_length > 0:
        yield _say(types=STRING, max_length=said.min_length - 1)
    if said.max_length is not None:
        yield _say(types=STRING, min_length=said.max_length + 1)
    if said.pattern is not None:
        yield _say(types=STRING, avoided=(said.pattern,))
    for pattern in said.avoided:
        yield _say(types=STRING, pattern=pattern)


def _arrays(said: Keywords, node: Node) -> Iterator[Keywords]:
    graph = node.graph
    if said.min_items > 0:
        yield _say(types=ARRAY, max_items=said.min_items - 1)
    if said.max_items is not None:
        yield _say(types=ARRAY, min_items=said.max_items + 1)
    for index, part in enumerate(said.prefix):
        if not part.is_true:
            prefix = (*(graph.true for _ in range(index)), negated(part))
            yield _say(types=ARRAY, prefix=prefix, min_items=index + 1)
    if said.items is not None and not said.items.is_true:
        prefix = (*(graph.true for _ in said.prefix), negated(said.items))
        yield _say(types=ARRAY, prefix=prefix, min_items=len(prefix))
    if said.unique:
        yield _say(types=ARRAY, min_items=2, repeated=True)
    if said.contains is not None and said.min_contains > 0:
        if said.min_contains > 1:
            yield _say(types=ARRAY, contains=said.contains, min_contains=0, max_contains=said.min_contains - 1)
        yield _say(types=ARRAY, items=negated(said.contains))
    if said.contains is not None and said.max_contains is not None:
        yield _say(types=ARRAY, contains=said.contains, min_contains=said.max_contains + 1)
    if said.unevaluated_items is not None:
        yield _say(types=ARRAY, min_items=1, contains=negated(said.unevaluated_items))


def _objects(said: Keywords, node: Node) -> Iterator[Keywords]:
    graph = node.graph
    for name in said.required:
        yield _say(types=OBJECT, properties={name: graph.false})
    for name, part in (said.properties or {}).items():
        if not part.is_true:
            yield _say(types=OBJECT, required=(name,), properties={name: negated(part)})
    if said.min_properties > 0:
        yield _say(types=OBJECT, max_properties=said.min_properties - 1)
    if said.max_properties is not None:
        yield _say(types=OBJECT, min_properties=said.max_properties + 1)
    yield from _names_of_any_kind(said)
    if said.names is not None and not said.names.is_true:
        yield _say(types=OBJECT, min_properties=1, names=negated(said.names))
    for name, required in (said.requires or {}).items():
        for other in required:
            yield _say(types=OBJECT, required=(name,), properties={other: graph.false})


def _names_of_any_kind(said: Keywords) -> Iterator[Keywords]:
    for pattern, part in said.patterns:
        name = None if part.is_true else _some_name((pattern,), ())
        if name is not None:
            yield _say(types=OBJECT, required=(name,), properties={name: negated(part)})
    others = said.additional or said.unevaluated_properties
    if others is not None and not others.is_true:
        taken = (
            *(f"^{re.escape(name)}$" for name in said.properties or {}),
            *(pattern for pattern, _ in said.patterns),
        )
        name = _some_name((), taken)
        if name is not None:
            yield _say(types=OBJECT, required=(name,), properties={name: negated(others)})


def _some_name(patterns: tuple[str, ...], avoid: tuple[str, ...]) -> str | None:
    """A name for a property, always the same one."""
    try:
        return language(patterns, avoid).sample(Random(0), 1 if avoid else 0, 40)
    except PatternError:
        return None
