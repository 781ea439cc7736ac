"""Rules of tools that look without changing: one thing, whether it is there, sums; and of tools nothing is known of."""

from __future__ import annotations

from typing import Any

from . import cel
from .answers import entity_answer
from .decision import Case
from .keying import key_of
from .outputs import shape_of
from .words import spell

__all__ = ["exists_rule", "opaque_rule", "read_rule", "stats_rule", "unchanging_rule"]


def read_rule(case: Case) -> dict[str, Any]:
    """A tool that shows one."""
    member, decision, scene = case.member, case.decision, case.scene
    returns = entity_answer(member, scene)
    part = scene.fields.find(member.aspect) if member.aspect else None
    if part is not None and shape_of(member.reading.tool) is None and scene.readers():
        returns = {"fields": [*(own.field for own in scene.key.parts), part.name]}
    return {
        "effect": "read",
        "collection": scene.collection,
        "key": key_of(member.reading, decision, scene),
        "returns": returns,
    }


def exists_rule(case: Case) -> dict[str, Any]:
    """A tool that says whether one is there."""
    member, scene = case.member, case.scene
    key = [cel.value(argument) for argument in scene.key.of(member.reading)]
    joined = key[0] if len(key) == 1 else "[" + ", ".join(key) + "]"
    shape = shape_of(member.reading.tool)
    flag = next((field.name for field in shape.fields if field.is_flag), None) if shape is not None else "exists"
    if flag is None:
        return {"effect": "compute"}
    return {
        "effect": "compute",
        "returns": {"object": {flag: f"exists({cel.text(scene.collection)}, {joined})"}},
    }


def stats_rule(case: Case) -> dict[str, Any]:
    """A tool that sums up."""
    member, scene = case.member, case.scene
    if shape_of(member.reading.tool) is not None:
        return {"effect": "compute"}
    name = cel.text(scene.collection)
    shown = {"total": f"count({name})"}
    status = scene.fields.status
    if status is not None and status.enum:
        counts = ", ".join(
            f"{cel.literal(value)}: count({name}, {{{cel.text(status.name)}: {cel.literal(value)}}})"
            for value in status.enum[:30]
            if isinstance(value, str)
        )
        shown[spell(("by", *status.words), scene.style)] = f"{{{counts}}}"
    return {"effect": "compute", "returns": {"object": shown}}


def unchanging_rule(_: Case) -> dict[str, Any]:
    """A tool that changes nothing, of whose answer nothing is known."""
    return {"effect": "compute"}


def opaque_rule(_: Case) -> dict[str, Any]:
    """A tool that no rule speaks for: a later layer answers it."""
    return {"effect": "opaque"}
