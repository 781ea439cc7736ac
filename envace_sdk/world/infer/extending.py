"""Tools that lengthen the text of a thing: `append_file(path, content)`."""

from __future__ import annotations

from typing import Any

from . import cel
from .answers import entity_answer
from .arguments import Argument
from .creates import changed_field
from .decision import Case
from .groups import Member
from .keying import minted_key
from .reading import Reading
from .scene import Scene
from .words import bag

__all__ = ["extend_rule", "extends", "is_before"]

_BEFORE = bag("prepend")


def is_before(reading: Reading) -> bool:
    """Whether it goes before what is there."""
    return reading.name.verb in _BEFORE


def extends(member: Member, scene: Scene) -> bool:
    """Whether the tool adds to a text that another tool writes whole."""
    reading = member.reading
    if reading.name.verb not in {"append", *_BEFORE} or member.listed or member.aspect or not scene.takes_key(reading):
        return False
    piece = _piece(reading, scene)
    return piece is not None and any(
        argument.is_text and scene.field(argument) is scene.field(piece)
        for other in scene.group.members
        if other is not member and other.reading.sense in {"create", "put", "update"}
        for argument in other.reading.arguments
    )


def _piece(reading: Reading, scene: Scene) -> Argument | None:
    """What is added: the only thing that is given besides the key."""
    given = [argument for argument in scene.others(reading) if argument.required]
    return given[0] if len(given) == 1 and given[0].is_text and scene.field(given[0]) is not None else None


def extend_rule(case: Case) -> dict[str, Any]:
    """A tool that adds to a text, which begins empty where the thing is not there yet."""
    reading, scene = case.member.reading, case.scene
    piece = _piece(reading, scene)
    if piece is None:
        return {"effect": "opaque"}
    name, given = scene.field_name(piece), cel.argument(piece)
    held = f"default({cel.member('entity', [name])}, '')"
    changed = changed_field(scene)
    return {
        "effect": "update",
        "collection": scene.collection,
        "key": minted_key(reading, scene, whole=True),
        "upsert": True,
        "set": {name: f"{given} + {held}" if is_before(reading) else f"{held} + {given}"}
        | ({changed: "now"} if changed else {}),
        "returns": entity_answer(case.member, scene),
    }
