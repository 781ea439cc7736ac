"""Batches that reach into things: each element names a thing and holds what goes into, or out of, a list of it."""

from __future__ import annotations

from collections.abc import Collection as Some
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import cel
from .answers import confirmation
from .arguments import Argument, fields_of
from .decision import Case
from .fields import Field
from .groups import Group, Member, Phrase
from .ids import bare
from .keys import given_to
from .lists import list_of
from .outputs import Shape, shape_of
from .reading import Reading
from .scene import Scene
from .verbs import Sense
from .words import plural, singular

__all__ = ["Inlay", "append_many_rule", "fold_inlays", "inlay_of", "take_many_rule"]

_WORKS: frozenset[Sense | None] = frozenset({"create", "add", "put", "update", "delete", "remove", "end"})


@dataclass(frozen=True)
class Inlay:
    """A batch, and what each of its elements holds."""

    batch: Argument
    reference: Argument
    """The member that names the thing."""
    value: Argument
    """The member that goes into the list, or out of it: one, or a list of such."""


def inlay_of(reading: Reading, nouns: Some[Phrase]) -> Inlay | None:
    """The batch by which a tool reaches into things called by one of the nouns."""
    if len(reading.arguments) != 1 or not reading.arguments[0].is_list or reading.sense not in _WORKS:
        return None
    batch = reading.arguments[0]
    members = fields_of(batch.item, reading.tool.input_schema)
    references = [member for member in members if member.required and _refers(member, nouns)]
    others = [member for member in members if member not in references]
    values = [member for member in others if member.required] or others
    if len(references) != 1 or len(values) != 1 or len(others) > 1:
        return None
    return Inlay(batch, references[0], values[0])


def _refers(argument: Argument, nouns: Some[Phrase]) -> bool:
    named = bare(argument.words, nouns) != argument.words
    return argument.is_scalar and (named or tuple(singular(word) for word in argument.words) in nouns)


def fold_inlays(groups: Sequence[Group]) -> None:
    """Give tools named after what is kept in a list of a thing to that thing."""
    for found in groups:
        if any(member.reading.sense in {"read", "search"} for member in found.members):
            continue
        for member in list(found.members):
            target = next((other for other in groups if other is not found and _is_kept(member, found, other)), None)
            if target is not None:
                found.members.remove(member)
                target.members.append(Member(member.reading, found.noun, listed=True))


def _is_kept(member: Member, found: Group, target: Group) -> bool:
    if inlay_of(member.reading, target.nouns) is None:
        return False
    lists = {bare(a.words, target.nouns) for m in target.makers for a in given_to(m.reading) if a.is_list}
    return bool(found.noun) and (plural(found.head),) in lists


def append_many_rule(case: Case) -> dict[str, Any]:
    """A tool that puts something into a list of each thing it is given."""
    member, scene, inlay, field = _parts(case)
    held = _held("target", field)
    given = cel.value(inlay.value, "item")
    whole = f"distinct({held} + {given})"
    one = f"{given} in {held} ? {held} : {held} + [{given}]"
    rule = _rule(inlay, scene, {field.name: whole if inlay.value.is_list else one})
    shape = shape_of(member.reading.tool)
    if shape is not None and shape.many:
        before = f"get({cel.text(scene.collection)}, {cel.argument(inlay.reference, 'item')})"
        old = _held(before, field)
        values = given if inlay.value.is_list else f"[{given}]"
        return {**rule, **_told(shape, inlay, field, f"{values}.filter(x, !(x in {old}))", scene)}
    return {**rule, "returns": _changed(inlay, member, scene, "updated")}


def take_many_rule(case: Case) -> dict[str, Any]:
    """A tool that takes something out of a list of each thing it is given; what is not there is passed over."""
    member, scene, inlay, field = _parts(case)
    held = _held("target", field)
    given = cel.value(inlay.value, "item")
    kept = f"!(x in {given})" if inlay.value.is_list else f"x != {given}"
    rule = _rule(inlay, scene, {field.name: f"{held}.filter(x, {kept})"})
    rule["also"][0]["when"] = f"exists({cel.text(scene.collection)}, {cel.argument(inlay.reference, 'item')})"
    shape = shape_of(member.reading.tool)
    if shape is not None and shape.many:
        values = given if inlay.value.is_list else f"[{given}]"
        return {**rule, **_told(shape, inlay, field, values, scene)}
    return {**rule, "returns": _changed(inlay, member, scene, "deleted")}


def _parts(case: Case) -> tuple[Member, Scene, Inlay, Field]:
    inlay = inlay_of(case.member.reading, case.scene.group.nouns)
    if inlay is None:
        raise AssertionError("only a tool that reaches into things is decided so")
    return case.member, case.scene, inlay, list_of(case.member, case.scene)


def _held(of: str, field: Field) -> str:
    return f"default({cel.member(of, [field.name])}, [])"


def _rule(inlay: Inlay, scene: Scene, sets: dict[str, str]) -> dict[str, Any]:
    change = {
        "effect": "update",
        "collection": scene.collection,
        "each": cel.value(inlay.batch) if inlay.batch.required else f"default({cel.argument(inlay.batch)}, [])",
        "key": cel.argument(inlay.reference, "item"),
        "set": sets,
    }
    return {"effect": "compute", "collection": scene.collection, "also": [change]}


def _changed(inlay: Inlay, member: Member, scene: Scene, done: str) -> dict[str, Any]:
    """The things as they are after the change."""
    if shape_of(member.reading.tool) is not None:
        return confirmation(member, scene, {}, done)
    found = f"get({cel.text(scene.collection)}, {cel.argument(inlay.reference, 'item')})"
    return {"object": {scene.list_name: f"{_each(inlay)}.map(item, {found}).filter(x, x != null)"}}


def _each(inlay: Inlay) -> str:
    return cel.argument(inlay.batch) if inlay.batch.required else f"default({cel.argument(inlay.batch)}, [])"


def _told(shape: Shape, inlay: Inlay, field: Field, values: str, scene: Scene) -> dict[str, Any]:
    """For each element what was done, as the output schema shows it. Reckoned before the change."""
    parts: list[str] = []
    for view in shape.fields:
        if view.words == inlay.reference.words or scene.fields.bare(view) == scene.key.own.words:
            parts.append(f"{cel.text(view.name)}: {cel.argument(inlay.reference, 'item')}")
        elif view.is_list and ({view.words[-1:], view.words} & {field.words[-1:], inlay.value.words}):
            parts.append(f"{cel.text(view.name)}: {values}")
        elif view.is_number:
            parts.append(f"{cel.text(view.name)}: size({values})")
    told = f"{_each(inlay)}.map(item, {{{', '.join(parts)}}})"
    returns = {"object": {shape.wrap: "told"}} if shape.wrap else {"value": "told"}
    return {"let": {"told": told}, "returns": returns}
