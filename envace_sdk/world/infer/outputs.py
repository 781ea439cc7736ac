"""The shape of an answer that a tool's output schema declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from envace_sdk.json import Json
from envace_sdk.tools.model import Tool

from .arguments import Argument, fields_of, resolve
from .ids import STRONG
from .words import bag

if TYPE_CHECKING:
    from .groups import Group

__all__ = ["Shape", "entity_fields", "shape_of"]

_COUNTS = bag("total count size found matches hits")
_CURSOR = bag("next cursor continuation pagination page")
_PAGING = _COUNTS | _CURSOR | bag("has more offset limit page pages per previous prev num number of")


@dataclass(frozen=True)
class Shape:
    """Where an answer holds the entity or the list, and what else it has."""

    fields: tuple[Argument, ...]
    """Members of the entity, or of each item of the list; empty when the schema does not say."""
    many: bool = False
    wrap: str | None = None
    count: str | None = None
    next: str | None = None
    beside: tuple[Argument, ...] = ()
    """What stands beside the wrapped entity or list."""


def shape_of(tool: Tool) -> Shape | None:
    """The declared shape of a tool's answer, or None when it declares none that says anything."""
    schema = tool.output_schema
    return _shape(_Key(schema)) if isinstance(schema, Mapping) and schema else None


@dataclass(frozen=True, eq=False)
class _Key:
    """A schema by identity, so that it can be a cache key."""

    schema: Mapping[str, Json]

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.schema is self.schema


@lru_cache(maxsize=512)
def _shape(key: _Key) -> Shape | None:
    root = key.schema
    resolved = resolve(root, root)
    argument = Argument(("",), resolved, True)
    if argument.is_list:
        return Shape(fields_of(argument.item, root), many=True)
    members = fields_of(resolved, root)
    if not members:
        return None
    scalars = [m for m in members if not m.is_list and not m.is_object]
    telling = [m for m in scalars if not (set(m.words) <= _PAGING)]
    identified = any(m.words and m.words[-1] in STRONG and not set(m.words) & _CURSOR for m in scalars)
    lists = [m for m in members if m.is_list]
    objects = [m for m in members if m.is_object and fields_of(m.schema, root)]
    if lists and not identified and (len(telling) == 0 or len(lists) == len(members) == 1):
        held = next((m for m in lists if fields_of(m.item, root)), lists[0])
        return _wrapped(held, members, fields_of(held.item, root), many=True)
    if len(objects) == 1 and not identified and not lists:
        return _wrapped(objects[0], members, fields_of(objects[0].schema, root), many=False)
    return Shape(members)


def _wrapped(held: Argument, members: Sequence[Argument], fields: tuple[Argument, ...], *, many: bool) -> Shape:
    others = [member for member in members if member is not held]
    count = next((m for m in others if m.is_number and set(m.words) & _COUNTS), None) if many else None
    following = next((m for m in others if not m.is_flag and set(m.words) & {"next", "cursor"}), None) if many else None
    beside = tuple(m for m in others if m is not count and m is not following)
    return Shape(fields, many, held.name, count.name if count else None, following.name if following else None, beside)


def entity_fields(group: Group) -> tuple[Argument, ...]:
    """The members of a group's things as its tools' output schemas show them: the fullest view."""
    views: list[tuple[Argument, ...]] = []
    for member in group.members:
        if member.aspect or member.listed or member.reading.sense in {"count", "exists", "compute", "delete", "remove"}:
            continue
        shape = shape_of(member.reading.tool)
        if shape is not None and shape.fields:
            views.append(shape.fields)
    return max(views, key=len, default=())
