"""Functions on lists and objects."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from envace_sdk.json import UNSET

from ..keys import get_path
from .access import size
from .failure import FailedError
from .registry import Library, a_list, a_text, a_whole, register
from .scope import CollectionView, Scope
from .values import describe, hash_key, sort_key

__all__ = ["LISTS", "sorted_by"]

LISTS: Library = {}


@register(LISTS, "size", 1)
def _size(_: Scope, value: Any) -> int:
    return size(value)


@register(LISTS, "distinct", 1)
def _distinct(scope: Scope, items: Any) -> list[Any]:
    """Without repetitions; the first of equal elements stays."""
    seen: set[Hashable] = set()
    found = []
    elements = a_list(items, "distinct")
    scope.spend(len(elements))
    for item in elements:
        key = hash_key(item)
        if key not in seen:
            seen.add(key)
            found.append(item)
    return found


@register(LISTS, "sort", 1, 2)
def _sort(scope: Scope, items: Any, field: Any = "") -> list[Any]:
    """Ascending, null last; of objects by a dotted field, "-" before it for descending."""
    elements = a_list(items, "sort")
    scope.spend(4 * len(elements))
    return sorted_by(elements, [a_text(field, "sort")])


def sorted_by(items: list[Any], fields: list[str]) -> list[Any]:
    """By dotted fields, the first of which counts most; "-" before one for descending; absent and null come last."""
    for field in reversed(fields):
        path = field.removeprefix("-")
        keyed = [(get_path(item, path) if path else item, item) for item in items]
        there = [pair for pair in keyed if pair[0] is not None and pair[0] is not UNSET]
        there.sort(key=_key, reverse=field.startswith("-"))
        items = [item for _, item in there] + [item for value, item in keyed if value is None or value is UNSET]
    return items


def _key(pair: tuple[Any, Any]) -> Any:
    return sort_key(pair[0])


@register(LISTS, "reverse", 1)
def _reverse(scope: Scope, items: Any) -> Any:
    if isinstance(items, str):
        scope.spend_text(len(items))
        return items[::-1]
    elements = a_list(items, "reverse")
    scope.spend(len(elements))
    return elements[::-1]


@register(LISTS, "flatten", 1)
def _flatten(scope: Scope, items: Any) -> list[Any]:
    """One level: elements that are lists are replaced by what is in them."""
    found: list[Any] = []
    for item in a_list(items, "flatten"):
        scope.spend(len(item) + 1 if isinstance(item, list) else 1)
        found.extend(item if isinstance(item, list) else [item])
    return found


@register(LISTS, "keys", 1)
def _keys(scope: Scope, value: Any) -> list[str]:
    return [name for name, _ in _members(scope, value, "keys")]


@register(LISTS, "values", 1)
def _values(scope: Scope, value: Any) -> list[Any]:
    return [item for _, item in _members(scope, value, "values")]


def _members(scope: Scope, value: Any, name: str) -> list[tuple[str, Any]]:
    if not isinstance(value, dict | CollectionView):
        raise FailedError(f"{name}() needs an object or a collection, not {describe(value)}")
    scope.spend(len(value))
    return list(value.items())


@register(LISTS, "first", 1)
def _first(_: Scope, items: Any) -> Any:
    """The first element, or null."""
    elements = a_list(items, "first")
    return elements[0] if elements else None


@register(LISTS, "last", 1)
def _last(_: Scope, items: Any) -> Any:
    """The last element, or null."""
    elements = a_list(items, "last")
    return elements[-1] if elements else None


@register(LISTS, "merge", 2, None)
def _merge(scope: Scope, *objects: Any) -> dict[str, Any]:
    """One object with the members of all; later ones win."""
    made: dict[str, Any] = {}
    for value in objects:
        made.update(_members(scope, value, "merge"))
    return made


def _cut(scope: Scope, items: Any, begin: int | None, end: int | None, name: str) -> Any:
    whole = items if isinstance(items, str) else a_list(items, name)
    part = whole[begin:end]
    if isinstance(part, str):
        scope.spend_text(len(part))
    else:
        scope.spend(len(part))
    return part


@register(LISTS, "take", 2)
def _take(scope: Scope, items: Any, count: Any) -> Any:
    """The first elements (or characters of a text), as many as there are."""
    return _cut(scope, items, None, max(a_whole(count, "take"), 0), "take")


@register(LISTS, "takeLast", 2)
def _take_last(scope: Scope, items: Any, count: Any) -> Any:
    """The last elements (or characters of a text), as many as there are."""
    most = a_whole(count, "takeLast")
    return _cut(scope, items, -most, None, "takeLast") if most > 0 else _cut(scope, items, 0, 0, "takeLast")


@register(LISTS, "drop", 2)
def _drop(scope: Scope, items: Any, count: Any) -> Any:
    """Without the first elements (or characters of a text)."""
    return _cut(scope, items, max(a_whole(count, "drop"), 0), None, "drop")
