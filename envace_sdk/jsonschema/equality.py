"""When two JSON values are the same: 1 and 1.0 are, 1 and true are not, and the order of keys is nothing."""

from __future__ import annotations

from collections.abc import Hashable

from envace_sdk.json import Json

__all__ = ["identity", "same"]


def identity(value: Json) -> Hashable:
    """A hashable stand-in: equal exactly when the JSON values are."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list | tuple):
        return ("array", *map(identity, value))
    if isinstance(value, dict):
        return ("object", frozenset((key, identity(item)) for key, item in value.items()))
    hashable: Hashable = value
    return hashable


def same(one: Json, two: Json) -> bool:
    """Whether two JSON values are equal."""
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, list | tuple):
        return isinstance(two, list | tuple) and len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, dict):
        if not isinstance(two, dict) or one.keys() != two.keys():
            return False
        return all(same(item, two[key]) for key, item in one.items())
    return bool(one == two)
