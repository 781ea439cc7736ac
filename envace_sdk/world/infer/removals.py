"""Rules of tools that remove things, one or many, and of tools that work on a list of keys."""

from __future__ import annotations

from typing import Any

from . import cel
from .answers import confirmation, entity_answer, list_answer
from .arguments import Argument, fields_of
from .creates import changed_field
from .decision import Case
from .groups import Member
from .keying import key_of, key_shown
from .links import lists_beside, removed_with
from .phrasals import shows_too
from .scene import Scene
from .states import state_of
from .words import split

__all__ = ["clear_rule", "delete_many_rule", "delete_rule", "read_many_rule", "update_many_rule"]


def delete_rule(case: Case) -> dict[str, Any]:
    """A tool that removes one."""
    member, decision, scene = case.member, case.decision, case.scene
    key = key_of(member.reading, decision, scene)
    if decision.lookup is not None:
        shown = {decision.lookup[1].name: cel.value(decision.lookup[0])}
    else:
        shown = key_shown([cel.value(a) for a in scene.key.of(member.reading)], scene)
    seen = shows_too(split(member.reading.tool.name))
    answer = entity_answer(member, scene) if seen else confirmation(member, scene, shown, "deleted")
    return {
        "effect": "delete",
        "collection": scene.collection,
        "key": key,
        "also": removed_with(member, scene, f"[{key}]") if isinstance(key, str) else [],
        "returns": answer,
    }


def clear_rule(case: Case) -> dict[str, Any]:
    """A tool that removes all, or all that are as asked."""
    scene, reading = case.scene, case.member.reading
    found = f"find({cel.text(scene.collection)})"
    conditions = [
        f"({given} == null || default({cel.member('x', [scene.field_name(argument)])}, null) == {given})"
        for argument in (scene.others(reading) if reading.name.plural else ())
        if not argument.is_flag
        for given in [cel.or_null(cel.argument(argument))]
    ]
    if conditions:
        found = f"{found}.filter(x, {' && '.join(conditions)})"
    keys = [cel.member("item", [part.field]) for part in scene.key.parts]
    change = {
        "effect": "delete",
        "collection": scene.collection,
        "each": found,
        "key": keys[0] if len(keys) == 1 else keys,
    }
    return {
        "effect": "compute",
        "collection": scene.collection,
        "let": {"before": f"size({found})" if conditions else f"count({cel.text(scene.collection)})"},
        "also": [change],
        "returns": {"object": {"deleted": "before"}},
    }


def delete_many_rule(case: Case) -> dict[str, Any]:
    """A tool that removes those that a list names; keys that name nothing are passed over."""
    member, scene, batch = case.member, case.scene, case.batch
    key = _item_key(batch, member, scene)
    change = {
        "effect": "delete",
        "collection": scene.collection,
        "each": cel.argument(batch),
        "key": key,
        "when": f"exists({cel.text(scene.collection)}, {_joined(key)})",
    }
    removed = cel.argument(batch) if key == "item" else f"{cel.argument(batch)}.map(item, {key})"
    return {
        "effect": "compute",
        "collection": scene.collection,
        "also": [change, *(removed_with(member, scene, removed) if isinstance(key, str) else [])],
        "returns": confirmation(member, scene, {batch.name: cel.argument(batch)}, "deleted"),
    }


def read_many_rule(case: Case) -> dict[str, Any]:
    """A tool that shows those that a list names."""
    member, scene, batch = case.member, case.scene, case.batch
    answer = list_answer(member, scene, following=None)
    beside = lists_beside(member, scene, narrowed=True)
    if beside:
        answer["extra"] = beside
    return {
        "effect": "search",
        "collection": scene.collection,
        "filters": {cel.dotted(batch.path): {"field": scene.key.own.field, "op": "in"}},
        "returns": answer,
    }


def update_many_rule(case: Case) -> dict[str, Any]:
    """A tool that changes those that a list names, or holds."""
    member, scene, batch = case.member, case.scene, case.batch
    key = _item_key(batch, member, scene)
    change: dict[str, Any] = {
        "effect": "update",
        "collection": scene.collection,
        "each": cel.argument(batch),
        "key": key,
    }
    changed = changed_field(scene)
    if batch.item.get("properties"):
        change["take"] = "*"
    else:
        others = [a for a in scene.others(member.reading) if a is not batch]
        change["set"] = {
            field: f"default({cel.argument(a)}, {cel.or_null(cel.member('target', [field]))})"
            for a in others
            for field in [scene.field_name(a)]
        }
        if not others:
            values = state_of(member, scene, flags_first=case.decision.sense == "flag")
            change["set"] = {name: cel.literal(value) for name, value in values.items()}
    if changed is not None:
        change.setdefault("set", {})[changed] = "now"
    name = cel.text(scene.collection)
    shown = f"{cel.argument(batch)}.map(item, get({name}, {_joined(key)}))"
    return {
        "effect": "compute",
        "collection": scene.collection,
        "also": [change],
        "returns": {"object": {scene.list_name: shown}} if not scene.shown else {},
    }


def _item_key(batch: Argument, member: Member, scene: Scene) -> str | list[str]:
    """The key that an element of the list gives."""
    members = {scene.fields.bare(m): m for m in fields_of(batch.item, member.reading.tool.input_schema)}
    if not members:
        return "item"
    parts = []
    for part in scene.key.parts:
        found = members.get(part.words)
        parts.append(cel.member("item", [found.name]) if found else cel.or_null(cel.member("item", [part.field])))
    return parts if len(parts) > 1 else parts[0]


def _joined(key: str | list[str]) -> str:
    return key if isinstance(key, str) else "[" + ", ".join(key) + "]"
