"""Values as JSON has them."""

from __future__ import annotations

from envace_sdk.json import Json, Unset

__all__ = ["same"]


def same(one: Json | Unset, other: Json | Unset) -> bool:
    """Whether two values are the same JSON: 2 and 2.0 are, 1 and true are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
