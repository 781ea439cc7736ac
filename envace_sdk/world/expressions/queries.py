"""Functions that ask the world, and the one that makes keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from envace_sdk.json import UNSET

from ..index import Entry
from ..keys import get_path
from .failure import FailedError
from .registry import Library, a_text, a_whole, register
from .scope import CollectionView, Scope
from .values import describe, equal, name_text, to_json_like

__all__ = ["QUERIES"]

QUERIES: Library = {}


def _name(value: Any, function: str) -> str:
    return value.name if isinstance(value, CollectionView) else a_text(value, function)


def _source(scope: Scope, value: Any, function: str) -> tuple[Scope, str]:
    """Where to look, and for which collection: `start.orders` is asked of the state that `start` is a view of."""
    return (value.scope if isinstance(value, CollectionView) else scope), _name(value, function)


@register(QUERIES, "get", 2)
def _get(scope: Scope, collection: Any, key: Any) -> Any:
    """The entity of a key, or null."""
    scope, name = _source(scope, collection, "get")
    return scope.get(name, name_text(key))


@register(QUERIES, "exists", 2)
def _exists(scope: Scope, collection: Any, key: Any) -> bool:
    scope, name = _source(scope, collection, "exists")
    return scope.get(name, name_text(key)) is not None


@register(QUERIES, "find", 1, 2)
def _find(scope: Scope, collection: Any, fields: Any = None) -> list[Any]:
    """The entities whose fields (dotted paths) have the given values, in the order of creation."""
    scope, name = _source(scope, collection, "find")
    found = []
    for entry in _matches(scope, name, fields, "find"):
        scope.seen[id(entry.document)] = (name, entry.key, entry.document)
        found.append(entry.document)
    return found


@register(QUERIES, "count", 1, 2)
def _count(scope: Scope, collection: Any, fields: Any = None) -> int:
    """How many entities `find` would give."""
    scope, name = _source(scope, collection, "count")
    wanted = _wanted(fields, "count")
    if len(wanted) > 1:
        return sum(1 for _ in _matches(scope, name, fields, "count"))
    scope.reads.add((name, None))
    held = scope.collection(name)
    return held.count(*wanted[0]) if wanted else len(held)


def _wanted(fields: Any, function: str) -> list[tuple[str, Any]]:
    if fields is None:
        return []
    if isinstance(fields, dict):
        return [(path, to_json_like(value)) for path, value in fields.items()]
    raise FailedError(f"{function}() needs an object of fields and values, not {describe(fields)}")


def _matches(scope: Scope, name: str, fields: Any, function: str) -> Iterator[Entry]:
    held = scope.collection(name)
    wanted = _wanted(fields, function)
    scope.reads.add((name, None))
    if not wanted:
        candidates: Iterator[Entry] = held.entries()
    else:
        # The most selective field by index; the others by looking.
        first = min(wanted, key=lambda pair: held.count(*pair)) if len(wanted) > 1 else wanted[0]
        candidates = held.find_entries(*first)
        wanted = [pair for pair in wanted if pair is not first]
    for entry in candidates:
        scope.spend(1)
        if all(_has(entry.document, path, value) for path, value in wanted):
            yield entry


def _has(document: Any, path: str, value: Any) -> bool:
    found = get_path(document, path)
    return equal(None if found is UNSET else found, value)


@register(QUERIES, "mint", 1)
def _mint(scope: Scope, collection: Any) -> Any:
    """A key that no entity of the collection has or had."""
    return scope.mint(_name(collection, "mint"))


@register(QUERIES, "pattern", 1)
def _pattern(scope: Scope, pattern: Any) -> str:
    """A text that the regular expression matches, made by chance."""
    # Imported here, since few dynamics need a generator of texts, and it is large.
    from envace_sdk.jsonschema import generate

    schema = {"type": "string", "pattern": f"^(?:{a_text(pattern, 'pattern')})$"}
    text = generate(schema, random=scope.random, clock=scope.state.clock)
    scope.spend_text(len(text))
    return str(text)


@register(QUERIES, "random", 2)
def _random(scope: Scope, low: Any, high: Any) -> int:
    """A whole number by chance, both ends included."""
    first, last = a_whole(low, "random"), a_whole(high, "random")
    if first > last:
        raise FailedError(f"random({first}, {last}): the first is above the last")
    return scope.random.randint(first, last)
