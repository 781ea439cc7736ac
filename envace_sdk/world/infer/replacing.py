"""Rules of tools that put one text in the place of another, inside a field: `edit_file(path, old_text, new_text)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import cel
from .answers import entity_answer
from .creates import changed_field
from .decision import Case
from .keying import key_of
from .pairs import replaced_text
from .words import bag

if TYPE_CHECKING:
    from .fields import Field
    from .scene import Scene

__all__ = ["replace_rule", "replaced_field"]

_HOLDING = bag("content contents text body source code data value markdown html note")
_EVERYWHERE = bag("replace_all all global everywhere replace_every")


def replaced_field(scene: Scene) -> Field | None:
    """The one text of a thing in which it can be; None where no tool writes such a text, or several do."""
    texts = [field for field in scene.fields if field.writable and field.is_text]
    held = [field for field in texts if field.words[-1] in _HOLDING]
    return held[0] if len(held) == 1 else None


def replace_rule(case: Case) -> dict[str, Any]:
    """A tool that puts one text in the place of another, inside a field."""
    member, decision, scene = case.member, case.decision, case.scene
    reading = member.reading
    pair, field = replaced_text(reading), replaced_field(scene)
    if pair is None or field is None:
        return {"effect": "opaque"}
    old, new = (cel.argument(argument) for argument in pair)
    held = f"default({cel.member('entity', [field.name])}, '')"
    every = next((a for a in reading.arguments if a.is_flag and "_".join(a.words) in _EVERYWHERE), None)
    times = "1" if every is None else f"default({cel.argument(every)}, false) ? -1 : 1"
    changed = changed_field(scene)
    return {
        "effect": "update",
        "collection": scene.collection,
        "key": key_of(reading, decision, scene),
        "requires": [
            {
                "that": f"{old} != '' && {held}.contains({old})",
                "error": f"'{{{old}}}' is not in the {field.name} of this {cel.template(scene.noun)}",
            }
        ],
        "set": {field.name: f"replace({held}, {old}, {new}, {times})"} | ({changed: "now"} if changed else {}),
        "returns": entity_answer(member, scene),
    }
