"""Rules of tools that change things: given fields, a status, a flag, a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import cel
from .answers import entity_answer
from .arguments import Argument
from .creates import changed_field, taken
from .decision import Case
from .fields import Field
from .groups import Member
from .keying import key_of
from .scene import Scene
from .states import state_of, status_value
from .terms import NEW
from .verbs import opposite
from .words import bag, base_verbs, plural, singular

__all__ = ["configure_rule", "increase_rule", "settings_rule", "state_rule", "update_rule"]

_PATCHES = bag(
    "patch patches change changes update updates fields field data attributes properties values input payload"
)
_FIELD_NAMES = bag("field field_name property attribute column key")
_VALUES = bag("value new_value val to")
_MAX_DYNAMIC = 40
_STEPS = bag("by amount delta step change adjustment increment count quantity qty value units")


def update_rule(case: Case) -> dict[str, Any]:
    """A tool that changes the fields it is given."""
    member, decision, scene = case.member, case.decision, case.scene
    reading = member.reading
    rule = _base(case)
    arguments = [a for a in scene.others(reading) if decision.lookup is None or a is not decision.lookup[0]]
    if (dynamic := _dynamic(arguments, rule, scene)) is not None:
        return {**rule, **dynamic}
    sets: dict[str, str] = {}
    takes: dict[str, str] = {}
    known = [argument for argument in arguments if scene.field(argument) is not None]
    for argument in arguments:
        if any("." in step for step in argument.path):
            continue
        if argument is scene.key.moves.get(id(reading)):
            takes[scene.key.own.field] = cel.dotted(argument.path)
            continue
        partial = _partial(argument, sets, scene)
        if partial is not None:
            sets.update(partial)
            continue
        if _is_patch(argument):
            more_takes, more_sets = _patched(argument, scene)
            takes.update(more_takes)
            sets.update(more_sets)
            continue
        field = scene.field(argument) if argument in known else None
        if field is None:
            field = _meant(argument, member, [a for a in arguments if a not in known], scene)
        field = field or scene.fields.add(argument, writable=True)
        takes[field.name] = cel.dotted(argument.path)
    rule["take"] = list(takes) if all(name == path for name, path in takes.items()) else takes
    if not arguments and (undone := _undone(member, scene)):
        return {**rule, "set": {**undone, **_changed(scene)}}
    if not arguments and status_value(reading.name.verb, reading, scene.fields) is None and not member.aspect:
        rule["set"] = {}
    elif not arguments:
        return {**rule, **_stated(member, scene, flags_first=False)}
    rule["set"] = {**sets, **_changed(scene)}
    return rule


def _undone(member: Member, scene: Scene) -> dict[str, str]:
    """`unassign_ticket` takes back what `assign_ticket(ticket_id, agent)` gives."""
    verb = opposite(member.reading.name.verb)
    doers = [m for m in scene.group.members if verb and m.reading.name.verb == verb and not m.listed]
    return {scene.field_name(a): "null" for m in doers for a in scene.others(m.reading)}


def state_rule(case: Case) -> dict[str, Any]:
    """A tool that takes a thing a step further in its life."""
    member, decision, scene = case.member, case.decision, case.scene
    rule = _base(case)
    if member.reading.name.verb == "toggle":
        flags = [field for field in scene.fields if field.is_flag]
        held = f"default({cel.member('entity', [flags[0].name])}, false)"
        return {**rule, "set": {flags[0].name: f"!{held}", **_changed(scene)}}
    others = scene.others(member.reading)
    status = scene.fields.status
    if len(others) == 1 and status is not None and scene.field(others[0]) is status and others[0].required:
        return update_rule(case)  # the call says which
    for argument in others:
        scene.fields.add(argument, writable=True, loose=True)
    rule["take"] = taken(others, scene)
    return {**rule, **_stated(member, scene, flags_first=decision.sense == "flag")}


def increase_rule(case: Case) -> dict[str, Any]:
    """A tool that adds to a number, or takes from it."""
    member, decision, scene = case.member, case.decision, case.scene
    reading = member.reading
    rule = _base(case)
    others = scene.others(reading)
    step = next((a for a in others if "_".join(a.words) in _STEPS), None) or next(
        (a for a in others if a.is_number or not a.types), None
    )
    field = scene.fields.find(member.aspect) if member.aspect else None
    if field is None and step is not None:
        words = tuple(w for w in scene.fields.bare(step) if w not in _STEPS - {"count", "quantity", "qty"})
        field = scene.fields.find(words) if words else None
    if field is None:
        numbers = [f for f in scene.fields if f.is_number and f.name not in _key_names(scene)]
        numbers = [f for f in numbers if f.made] or [f for f in numbers if f.writable]
        field = numbers[0] if len(numbers) == 1 else None
    if field is None:
        field = scene.fields.put(member.aspect or ("total",), scene.style, "number")
    amount = "1" if step is None else f"default({cel.argument(step)}, 1)"
    sign = "-" if decision.sense == "decrease" else "+"
    rule["take"] = taken([a for a in others if a is not step], scene)
    rule["set"] = {
        field.name: f"default({cel.member('entity', [field.name])}, 0) {sign} {amount}",
        **_changed(scene),
    }
    return rule


def settings_rule(case: Case) -> dict[str, Any]:
    """A tool that shows the only thing there is."""
    member, scene = case.member, case.scene
    return {
        "effect": "read",
        "collection": scene.collection,
        "key": cel.text(scene.collection),
        "returns": entity_answer(member, scene),
    }


def configure_rule(case: Case) -> dict[str, Any]:
    """A tool that changes the only thing there is."""
    member, scene = case.member, case.scene
    return {
        "effect": "update",
        "collection": scene.collection,
        "key": cel.text(scene.collection),
        "upsert": True,
        "take": taken(scene.others(member.reading), scene),
        "returns": entity_answer(member, scene),
    }


def _base(case: Case) -> dict[str, Any]:
    member, decision, scene = case.member, case.decision, case.scene
    return {
        "effect": "update",
        "collection": scene.collection,
        "key": key_of(member.reading, decision, scene),
        "returns": entity_answer(member, scene),
    }


def _changed(scene: Scene) -> dict[str, str]:
    changed = changed_field(scene)
    return {} if changed is None else {changed: "now"}


def _key_names(scene: Scene) -> set[str]:
    return {part.field for part in scene.key.parts}


def _stated(member: Member, scene: Scene, *, flags_first: bool) -> dict[str, Any]:
    values = state_of(member, scene, flags_first)
    scene.starts.update({name: False for name, value in values.items() if isinstance(value, bool)})
    for name, value in values.items():
        scene.steps.setdefault(name, []).append(value)
    return {"set": {**{name: cel.literal(value) for name, value in values.items()}, **_changed(scene)}}


def _is_patch(argument: Argument) -> bool:
    return (
        argument.is_object
        and not argument.schema.get("properties")
        and bool(argument.words)
        and argument.words[-1] in _PATCHES
    )


def _patched(argument: Argument, scene: Scene) -> tuple[dict[str, str], dict[str, str]]:
    """A free object: of the thing's fields, or of a field that is such an object itself."""
    own = scene.fields.find(scene.fields.bare(argument), exact=True)
    made = own is not None and any(scene.field(a) is own for a in scene.maker_arguments())
    if own is not None and made:
        held = f"default({cel.member('entity', [own.name])}, {{}})"
        given = f"default({cel.argument(argument)}, {{}})"
        return {}, {own.name: f"merge({held}, {given})"}
    path = cel.dotted(argument.path)
    keys = _key_names(scene)
    return {
        field.name: f"{path}.{field.name}" for field in scene.fields if field is not own and field.name not in keys
    }, {}


def _partial(argument: Argument, sets: dict[str, str], scene: Scene) -> dict[str, str] | None:
    """`add_tags` and `remove_tags` change a list that is there."""
    words = argument.words
    if len(words) < 2 or words[0] not in {"add", "remove", "append"}:
        return None
    field = scene.fields.find(words[1:]) or scene.fields.find((*words[1:-1], plural(words[-1])))
    if field is None or not field.is_list:
        return None
    held = sets.get(field.name, f"default({cel.member('entity', [field.name])}, [])")
    given = f"default({cel.argument(argument)}, [])"
    if not argument.is_list:
        given = f"({cel.given(argument)} ? [{cel.argument(argument)}] : [])"
    if words[0] == "remove":
        return {field.name: f"{held}.filter(x, !(x in {given}))"}
    return {field.name: f"distinct({held} + {given})"}


def _meant(argument: Argument, member: Member, unknown: Sequence[Argument], scene: Scene) -> Field | None:
    """The field that an argument of another name changes: by the tool's name, its verb, or its description."""
    words = tuple(word for word in scene.fields.bare(argument) if word not in NEW)
    if len(unknown) > 1 and not words:
        return None
    alone = len(unknown) == 1
    if alone and member.aspect and not scene.fields.find(words, exact=True):
        return scene.fields.find(member.aspect) or scene.fields.put(member.aspect, scene.style)
    if alone and member.reading.name.verb in {"rename", "retitle", "relabel"}:
        for word in ("name", "title", "label", "subject"):
            found = scene.fields.find((word,))
            if found is not None:
                return found
    verb = member.reading.name.verb
    if alone and verb:
        stems = [f for f in scene.fields if any(verb in base_verbs(w) or w.startswith(verb) for w in f.words)]
        if len(stems) == 1:
            return stems[0]
    if not alone:
        return None
    keys = _key_names(scene)
    if set(words) & {"date", "time", "datetime", "day", "at", "start", "when"}:
        dates = [f for f in scene.fields if f.is_date and f.writable and f.name not in keys]
        if len(dates) == 1:
            return dates[0]
    told = member.reading.telling.words | {singular(w) for w in argument.description.lower().split()}
    named = [f for f in scene.fields if f.writable and f.name not in keys and set(f.words) - {"id"} <= told]
    if len(named) == 1 and named[0].is_list == argument.is_list:
        return named[0]
    aims = [w for _, found in member.reading.name.aims for w in found]
    return scene.fields.find(tuple(aims)) if aims else None


def _dynamic(arguments: Sequence[Argument], rule: dict[str, Any], scene: Scene) -> dict[str, Any] | None:
    """`update_x(id, field, value)`: the call names the field."""
    name = next((a for a in arguments if "_".join(a.words) in _FIELD_NAMES and a.is_scalar), None)
    value = next((a for a in arguments if "_".join(a.words) in _VALUES), None)
    if name is None or value is None or scene.field(value) not in {None, scene.fields.find(value.words, exact=True)}:
        return None
    keys = _key_names(scene)
    changes = [
        {
            "effect": "update",
            "collection": scene.collection,
            "key": rule["key"],
            "when": f"{cel.argument(name)} == {cel.text(field.name)}",
            "set": {field.name: cel.argument(value)},
        }
        for field in scene.fields
        if field.name not in keys
    ]
    return {"also": changes[:_MAX_DYNAMIC], "set": _changed(scene)} if changes else None
