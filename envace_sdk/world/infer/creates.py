"""Rules of tools that make things."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from envace_sdk.json import UNSET, Json

from . import cel
from .answers import confirmation, entity_answer
from .arguments import Argument, fields_of
from .decision import Case
from .ids import STRONG, WEAK
from .keying import minted_key
from .outputs import shape_of
from .reading import Reading
from .scene import Scene
from .states import first_status

__all__ = ["changed_field", "copy_rule", "create_many_rule", "create_rule", "matched", "taken", "upsert_rule"]

_MADE = (("created", "at"), ("created", "on"), ("created", "date"), ("creation", "date"), ("date", "created"),
         ("created",), ("create", "time"), ("create", "date"), ("creation", "time"), ("inserted", "at"))  # fmt: skip
_CHANGED = (("updated", "at"), ("updated", "on"), ("modified", "at"), ("updated",), ("modified",), ("last", "updated"),
            ("last", "modified"), ("update", "time"), ("last", "updated", "at"), ("date", "modified"))  # fmt: skip


def create_rule(case: Case) -> dict[str, Any]:
    """A tool that makes one."""
    member, scene = case.member, case.scene
    reading = member.reading
    arguments = scene.others(reading)
    rule: dict[str, Any] = {"effect": "create", "collection": scene.collection}
    key = minted_key(reading, scene)
    if key is not None:
        rule["key"] = key
    rule["take"] = taken(arguments, scene)
    given = {scene.field_name(argument): argument for argument in arguments}
    rule["set"] = {**_argument_defaults(arguments, scene), **_server_fields(scene, given)}
    rule["returns"] = entity_answer(member, scene)
    return rule


def upsert_rule(case: Case) -> dict[str, Any]:
    """A tool that writes one, whether or not it is there. What is only ensured to be there stays as it is."""
    member, scene = case.member, case.scene
    reading = member.reading
    arguments = scene.others(reading)
    changed = changed_field(scene)
    rule: dict[str, Any] = {
        "effect": "update",
        "collection": scene.collection,
        "key": minted_key(reading, scene, whole=True),
        "upsert": True,
        "returns": entity_answer(member, scene),
    }
    by = matched(reading, scene) if not scene.key.of(reading) else []
    if by:
        known = ", ".join(f"{cel.text(scene.field_name(argument))}: {cel.argument(argument)}" for argument in by)
        found = f"first(find({cel.text(scene.collection)}, {{{known}}}))"
        rule["key"] = f"default({cel.member(found, [scene.key.own.field])}, null)"
    given = {scene.field_name(argument): argument for argument in arguments}
    firsts = _server_fields(scene, given) if by else {}
    if reading.name.verb == "ensure":
        firsts = {**{name: cel.value(argument) for name, argument in given.items()}, **firsts}
    else:
        rule["take"] = taken(arguments, scene)
        firsts.pop(changed or "", None)
    rule["set"] = {name: f"default({cel.member('entity', [name])}, {value})" for name, value in firsts.items()}
    if changed is not None and reading.name.verb != "ensure":
        rule["set"][changed] = "now"
    return rule


_SURE = STRONG | {"email", "login", "username", "url", "path", "slug"}


def matched(reading: Reading, scene: Scene) -> list[Argument]:
    """What a tool that takes no key knows a thing by, which it finds or makes: its email, its name, else all of it."""
    if reading.name.verb not in {"ensure", "upsert"} or len(scene.key.parts) > 1:
        return []
    asked = [a for a in scene.others(reading) if a.required and a.is_scalar and not a.is_list and not a.is_flag]
    for names in (_SURE, WEAK):
        found = [argument for argument in asked if argument.words[-1] in names]
        if found:
            return found
    return asked if reading.name.verb == "ensure" else []


def copy_rule(case: Case) -> dict[str, Any]:
    """A tool that makes one from one that is there."""
    member, scene = case.member, case.scene
    reading = member.reading
    own = cel.argument(scene.key.of(reading)[-1])
    keys = {part.field for part in scene.key.parts}
    arguments = {scene.field_name(argument): argument for argument in scene.others(reading)}
    values: dict[str, str] = {}
    for field in scene.fields:
        if field.writable and field.name not in keys:
            held = cel.or_null(cel.member("source", [field.name]))
            given = arguments.get(field.name)
            values[field.name] = held if given is None else f"default({cel.argument(given)}, {held})"
    return {
        "effect": "create",
        "collection": scene.collection,
        "let": {"source": f"get({cel.text(scene.collection)}, {own})"},
        "requires": [
            {
                "that": "source != null",
                "error": f"{cel.template(scene.title)} '{{{own}}}' not found",
                "status": "not_found",
            }
        ],
        "take": taken([a for name, a in arguments.items() if name not in values], scene),
        "set": {**values, **_server_fields(scene, dict.fromkeys(values))},
        "returns": entity_answer(member, scene),
    }


def create_many_rule(case: Case) -> dict[str, Any]:
    """A tool that makes one for each element of a list."""
    member, scene, batch = case.member, case.scene, case.batch
    name = cel.text(scene.collection)
    members = {scene.fields.bare(m): m for m in fields_of(batch.item, member.reading.tool.input_schema)}
    key = [_item_part(members.get(part.words)) for part in scene.key.parts]
    fields = {scene.field_name(m): m for m in members.values()}
    change: dict[str, Any] = {
        "effect": "create",
        "collection": scene.collection,
        "each": cel.argument(batch),
        "take": "*",
        "set": _server_fields(scene, fields, of="item"),
    }
    given = [part for part in key if part is not None]
    if given and len(given) == len(key):
        change["key"] = given[0] if len(key) == 1 else given
        joined = given[0] if len(key) == 1 else "[" + ", ".join(given) + "]"
        made = f"{cel.argument(batch)}.map(item, get({name}, {joined}))"
    else:
        stamp = next((field for field, value in change["set"].items() if value == "now"), None)
        made = cel.argument(batch) if stamp is None else f"find({name}, {{{cel.text(stamp)}: now}})"
    shape = shape_of(member.reading.tool)
    returns: dict[str, Any] = {"object": {scene.list_name: made}}
    if shape is not None and shape.many:
        returns = {"object": {shape.wrap: made}} if shape.wrap else {"value": made}
    elif shape is not None:
        returns = confirmation(member, scene, {}, "created")
    return {"effect": "compute", "collection": scene.collection, "also": [change], "returns": returns}


def _item_part(argument: Argument | None) -> str | None:
    return None if argument is None else cel.value(argument, "item")


def taken(arguments: Iterable[Argument], scene: Scene) -> Json:
    """The `take` of a rule: a list of names where fields are called like arguments, else where each comes from."""
    pairs = {scene.field_name(a): cel.dotted(a.path) for a in arguments if not any("." in step for step in a.path)}
    return list(pairs) if all(field == path for field, path in pairs.items()) else pairs


def _argument_defaults(arguments: Iterable[Argument], scene: Scene) -> dict[str, str]:
    return {
        scene.field_name(a): f"default({cel.argument(a)}, {cel.literal(a.default)})"
        for a in arguments
        if a.default is not UNSET and a.default is not None and not a.required
    }


def _server_fields(scene: Scene, given: Mapping[str, Argument | None], of: str = "args") -> dict[str, str]:
    """What the server fills in when it makes one; `given` are the fields that the call may give."""
    found: dict[str, str] = {}
    status = scene.fields.status
    if status is not None:
        first = first_status(status)
        argument = given.get(status.name)
        if first is not None and status.name not in given:
            found[status.name] = cel.literal(first)
        elif first is not None and argument is not None and not argument.required and argument.default is UNSET:
            found[status.name] = f"default({cel.argument(argument, of)}, {cel.literal(first)})"
    found.update({name: cel.literal(value) for name, value in scene.starts.items() if name not in given})
    for name in (_known(scene, _MADE), changed_field(scene)):
        if name is not None and name not in given:
            found[name] = "now"
    return found


def _known(scene: Scene, names: tuple[tuple[str, ...], ...]) -> str | None:
    found = next((f for words in names if (f := scene.fields.find(words, exact=True)) is not None), None)
    if found is not None:
        return None if found.writable else found.name
    return None if scene.shown else scene.fields.put(names[0], scene.style).name


def changed_field(scene: Scene) -> str | None:
    """The field that keeps the time of the last change; None where things do not have one."""
    return _known(scene, _CHANGED) if scene.changes else None
