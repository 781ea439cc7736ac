"""Reaching into values: `base.field`, `base[index]`, `x in y`."""

from __future__ import annotations

from typing import Any

from envace_sdk.json import UNSET

from .failure import FailedError
from .scope import CollectionView, Scope, WorldView
from .values import PLAIN, describe, equal, is_number, name_text

__all__ = ["contains", "element", "elements", "member", "same", "size"]


def member(base: Any, field: str, path: str) -> Any:
    """`base.field`, or `UNSET` when the object has none. Anything that has no fields at all is an error."""
    if isinstance(base, dict):
        return base.get(field, UNSET)
    if isinstance(base, WorldView):
        return base.member(field)
    if isinstance(base, CollectionView):
        found = base.get(field)
        return UNSET if found is None else found
    if base is None:
        return UNSET
    raise FailedError(f"{path}.{field}: {describe(base)} has no fields")


def element(base: Any, index: Any, path: str) -> Any:
    """`base[index]`, or `UNSET` when there is no such element."""
    if isinstance(base, list):
        if is_number(index) and index == int(index):
            return base[int(index)] if 0 <= index < len(base) else UNSET
        raise FailedError(f"{path}[…]: a list is indexed by whole numbers, not by {describe(index)}")
    if isinstance(base, CollectionView):
        found = base.get(index)
        return UNSET if found is None else found
    if isinstance(index, list | dict):
        raise FailedError(f"{path}[…]: {describe(index)} is not a name")
    if isinstance(base, dict | WorldView) or base is None:
        return member(base, name_text(index), path)
    raise FailedError(f"{path}[…]: {describe(base)} has no elements")


def size(value: Any) -> int:
    """How many characters, elements or members."""
    if isinstance(value, str | list | dict | CollectionView):
        return len(value)
    raise FailedError(f"{describe(value)} has no size")


def contains(item: Any, container: Any, scope: Scope) -> bool:
    """`item in container`: an element of a list, a name in an object, a key of a collection."""
    if isinstance(container, list):
        scope.spend(len(container))
        return any(same(item, other, scope) for other in container)
    if isinstance(container, dict):
        return not isinstance(item, list | dict) and name_text(item) in container
    if isinstance(container, CollectionView):
        return item in container
    raise FailedError(f"`in` needs a list, an object or a collection, not {describe(container)}")


def same(left: Any, right: Any, scope: Scope) -> bool:
    """`left == right`, paid for by size."""
    kind = type(left)
    if kind is type(right) and kind in PLAIN:
        return bool(left == right)
    if isinstance(left, list) and isinstance(right, list):
        scope.spend(len(left))
        return len(left) == len(right) and all(same(a, b, scope) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        scope.spend(len(left))
        return left.keys() == right.keys() and all(same(item, right[name], scope) for name, item in left.items())
    return equal(left, right)


def elements(value: Any, scope: Scope) -> list[tuple[Any, Any]]:
    """What a macro goes over: position and element of a list, name and value of an object or a collection."""
    if isinstance(value, list):
        scope.spend(len(value))
        return list(enumerate(value))
    if isinstance(value, dict | CollectionView):
        scope.spend(len(value))
        return list(value.items())
    raise FailedError(f"only lists, objects and collections have elements, not {describe(value)}")
