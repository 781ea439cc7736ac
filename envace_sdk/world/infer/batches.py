"""Arguments that are lists of things, or of their keys, and arguments that name a thing by another field."""

from __future__ import annotations

from .arguments import Argument
from .fields import Field
from .groups import Member
from .ids import names_thing
from .scene import Scene
from .words import bag

__all__ = ["batch_of", "lookup_of"]


def lookup_of(member: Member, scene: Scene) -> tuple[Argument, Field] | None:
    """The argument that names a thing by another field than its key: `find_customer_by_email(email)`."""
    reading = member.reading
    found = scene.key.lookups.get(id(reading))
    if found is not None:
        field = scene.fields.find(scene.fields.bare(found))
        if field is not None:
            return found, field
    return None


def batch_of(member: Member, scene: Scene, *, objects: bool) -> Argument | None:
    """The list on which a tool works one by one: of objects (to make), or of keys."""
    reading = member.reading
    if scene.takes_key(reading):
        return None
    lists = [argument for argument in reading.required if argument.is_list]
    if len(lists) != 1:
        optional = [argument for argument in reading.arguments if argument.is_list and not reading.required]
        if len(reading.arguments) != 1 or len(optional) != 1:
            return None
        lists = optional
    found = lists[0]
    scalars = [a for a in reading.required if a is not found and a.is_scalar]
    item = Argument((*found.path, "item"), found.item, True)
    named = _holds_them(found, scene)
    if objects:
        whole = item.is_object and isinstance(found.item.get("properties"), dict)
        alone = len(reading.arguments) == 1 and reading.sense in {"create", "add", "put"}
        return found if whole and not scalars and (named or alone) else None
    return found if item.is_scalar and not item.is_object and not item.is_list and named else None


def _holds_them(found: Argument, scene: Scene) -> bool:
    """Whether a list's name says that it holds such things, or their keys."""
    stand_in = Argument((*found.path[:-1], found.name), {"type": "string"}, found.required)
    generic = set(found.words) <= bag("items records entries objects elements rows batch list data")
    return (
        generic
        or names_thing(stand_in, scene.group.nouns) >= 0.6
        or scene.fields.bare(found)[-1:] == (f"{scene.key.own.words[-1]}s",)
    )
