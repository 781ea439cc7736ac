"""Contradictions that show before anything is made."""

from __future__ import annotations

from typing import Final

from ..regex import PatternError, matcher
from .dead_ends import DeadEndError
from .groups import Nodes
from .keywords import ARRAY, FRACTION, INTEGER, NUMBER, OBJECT, STRING
from .shape import Shape

__all__ = ["LARGEST", "settle"]

LARGEST: Final = 12_000
"""The most values an instance may be made of: a schema that needs more is out of bounds."""
_LONGEST: Final = 1_000_000


def settle(shape: Shape) -> None:
    """Strike the kinds of which no value can be.

    Raises:
        DeadEndError: none is left.
    """
    for kind, problem in ((NUMBER, _number_problem), (STRING, _string_problem), (ARRAY, _array_problem),
                          (OBJECT, _object_problem)):  # fmt: skip
        if shape.types & kind and (reason := problem(shape)):
            shape.types &= ~kind
            shape.reason = reason
    if shape.types & FRACTION and shape.multiples and all(isinstance(step, int) for step in shape.multiples):
        shape.types &= ~FRACTION | INTEGER
    if shape.values is not None and not shape.values:
        raise DeadEndError("no value is left of its enum and const")
    if not shape.types:
        raise DeadEndError(shape.reason)


def _contradiction(shape: Shape, nodes: Nodes) -> str:
    """Why nothing can meet what is asked of a part that must be there, as far as that shows at first sight."""
    try:
        shape.graph.shape(nodes)
    except DeadEndError as dead:
        return dead.reason
    return ""


def _number_problem(shape: Shape) -> str:
    if shape.low > shape.high or (shape.low == shape.high and (shape.above or shape.below)):
        return f"no number lies between {shape.low} and {shape.high}"
    return ""


def _string_problem(shape: Shape) -> str:
    if shape.min_length > shape.max_length:
        return f"minLength {shape.min_length} is above maxLength {shape.max_length}"
    if shape.min_length > _LONGEST:
        return f"minLength {shape.min_length} is out of bounds"
    try:
        for pattern in (*shape.patterns, *shape.avoided):
            matcher(pattern)
    except PatternError as error:
        return f"pattern: {error}"
    return ""


def _array_problem(shape: Shape) -> str:
    if max(shape.min_items, *(wanted.low for wanted in shape.contains), 0) > LARGEST:
        return f"an array of more than {LARGEST} items is out of bounds"
    for index in range(shape.tuple_length + 1):
        if index >= shape.max_items:
            break
        if not shape.contains and shape.of_item(index) is None:
            shape.max_items = index
    for index in range(min(shape.min_items, shape.tuple_length + 1)):
        if reason := _contradiction(shape, shape.of_item(index) or ()):
            return f"item {index}: {reason}"
    if shape.min_items > shape.max_items:
        return f"at least {shape.min_items} items are asked for, and at most {shape.max_items} allowed"
    for wanted in shape.contains:
        if wanted.low > shape.max_items or (wanted.high is not None and wanted.high < wanted.low):
            return f"{wanted.low} items must fit contains, which is more than there may be"
        if wanted.low > 0 and wanted.node.is_false:
            return "contains allows no item"
    return ""


def _object_problem(shape: Shape) -> str:
    for name in shape.required:
        nodes = shape.of_property(name)
        if nodes is None:
            return f"property {name!r} is required and forbidden"
        if reason := _contradiction(shape, nodes):
            return f"property {name!r}: {reason}"
        if any(node.is_false for node in shape.names):
            return f"property {name!r} is required, and propertyNames forbids all names"
    if len(shape.required) > shape.max_properties:
        return f"{len(shape.required)} properties are required, and at most {shape.max_properties} allowed"
    if shape.min_properties > LARGEST:
        return f"minProperties {shape.min_properties} is out of bounds"
    if shape.min_properties > shape.max_properties:
        return f"minProperties {shape.min_properties} is above maxProperties {shape.max_properties}"
    return ""
