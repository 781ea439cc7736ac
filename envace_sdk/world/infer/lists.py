"""Rules of tools that put something into a list inside a thing, or take it out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import cel
from .answers import entity_answer
from .arguments import Argument
from .creates import changed_field
from .decision import Case
from .fields import Field
from .groups import Member
from .ids import bare, is_id
from .keying import key_of
from .scene import Scene
from .words import plural, singular

__all__ = ["append_rule", "list_of", "take_rule"]


def append_rule(case: Case) -> dict[str, Any]:
    """A tool that puts something into a list."""
    member, scene = case.member, case.scene
    field = list_of(member, scene)
    values = scene.others(member.reading)
    held = f"default({cel.member('entity', [field.name])}, [])"
    element = _element(member, values)
    changed = changed_field(scene)
    rule = _base(case)
    if _alone(member, values) and values[0].is_list:
        rule["set"] = {field.name: f"distinct({held} + {cel.argument(values[0])})"}
    elif _alone(member, values):
        rule["set"] = {field.name: f"{element} in {held} ? {held} : {held} + [{element}]"}
    else:
        rule["append"] = {field.name: element}
    if changed is not None:
        rule.setdefault("set", {})[changed] = "now"
    return rule


def take_rule(case: Case) -> dict[str, Any]:
    """A tool that takes something out of a list."""
    member, scene = case.member, case.scene
    field = list_of(member, scene)
    values = scene.others(member.reading)
    held = f"default({cel.member('entity', [field.name])}, [])"
    changed = changed_field(scene)
    rule = _base(case)
    kept = _kept(member, values, scene)
    rule["set"] = {field.name: f"{held}.filter(x, {kept})" if kept else "[]"}
    if changed is not None:
        rule["set"][changed] = "now"
    return rule


def _base(case: Case) -> dict[str, Any]:
    member, decision, scene = case.member, case.decision, case.scene
    return {
        "effect": "update",
        "collection": scene.collection,
        "key": key_of(member.reading, decision, scene),
        "returns": entity_answer(member, scene),
    }


def list_of(member: Member, scene: Scene) -> Field:
    """The list that the tool's noun names: `add_label` works on `labels`."""
    noun = member.aspect[-1:] or ("item",)
    named = (plural(noun[0]),)
    found = scene.fields.find(named) or scene.fields.find(member.aspect)
    return found if found is not None and found.is_list else scene.fields.put(named, scene.style, "array")


def _alone(member: Member, values: Sequence[Argument]) -> bool:
    """Whether the element is the one value given, rather than an object of all of them."""
    if len(values) != 1:
        return False
    words = values[0].words
    noun = member.aspect[-1:]
    short = bare(words, frozenset([noun, member.aspect]))
    names = short != words or {singular(w) for w in words} & set(noun) or is_id(words) or words[-1] in {"name", "value"}
    return bool(names) and not values[0].is_object


def _element(member: Member, values: Sequence[Argument]) -> str:
    if _alone(member, values):
        return cel.value(values[0])
    if len(values) == 1 and values[0].is_object:
        return cel.value(values[0])
    fixed = [a for a in values if a.required]
    optional = [a for a in values if not a.required]
    parts = [f"{cel.text(a.name)}: {cel.argument(a)}" for a in fixed]
    parts += [f"{cel.text(a.name)}: {cel.or_null(cel.argument(a))}" for a in optional[:20]]
    return "{" + ", ".join(parts) + "}"


def _kept(member: Member, values: Sequence[Argument], scene: Scene) -> str:
    """The condition under which an element `x` stays in the list."""
    required = [a for a in values if a.required] or list(values[:1])
    if not required:
        return ""
    if len(required) == 1 and required[0].is_number and required[0].words[-1:] in {("index",), ("position",)}:
        return "true"
    adders = [m for m in scene.group.members if m.listed and m.aspect == member.aspect and m.reading.sense == "add"]
    plain = any(_alone(m, scene.others(m.reading)) for m in adders) or not adders
    conditions = []
    for argument in required:
        given = cel.argument(argument)
        matches = f"x in {given}" if argument.is_list else f"x == {given}"
        if plain and len(required) == 1:
            conditions.append(matches)
        else:
            conditions.append(f"default(x[{cel.text(argument.name)}], null) == {given}")
    return f"!({' && '.join(conditions)})"
