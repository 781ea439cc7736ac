"""Key expressions: which entity a call is about, and how a new one is keyed."""

from __future__ import annotations

from . import cel
from .arguments import Argument
from .decision import Decision
from .ids import STRONG, WEAK
from .reading import Reading
from .scene import Scene

__all__ = ["key_of", "key_shown", "minted_key"]


def key_of(reading: Reading, decision: Decision, scene: Scene) -> str | list[str]:
    """The key of the entity that a call names."""
    if decision.lookup is not None:
        argument, field = decision.lookup
        return _looked_up(cel.value(argument), [field.name], scene)
    parts = [cel.value(argument) for argument in scene.key.of(reading)]
    if len(parts) > 1:
        return parts
    return _either(scene.key.of(reading)[0], scene) or _any_of(reading, parts[0], scene)


def _looked_up(value: str, fields: list[str], scene: Scene) -> str:
    """The key of the entity that has the value in a field; else the value itself, for the error to name."""
    own = scene.key.own.field
    expression = value
    for field in reversed(fields):
        found = f"first(find({cel.text(scene.collection)}, {{{cel.text(field)}: {value}}}))"
        expression = f"default({cel.member(found, [own])}, {expression})"
    return expression


def _either(argument: Argument, scene: Scene) -> str | None:
    """For `id_or_name`: what is not a key may be another field's value."""
    words = scene.fields.bare(argument)
    if "or" not in words or len(scene.key.parts) > 1:
        return None
    others = [f for word in words if word != "or" and (f := scene.fields.find((word,))) is not None]
    names = [field.name for field in others if field.name != scene.key.own.field]
    value = cel.value(argument)
    if not names:
        return None
    return f"exists({cel.text(scene.collection)}, {value}) ? {value} : {_looked_up(value, names, scene)}"


def _any_of(reading: Reading, value: str, scene: Scene) -> str:
    """Where the key may be left out, another field that names things can stand in for it."""
    own = scene.key.of(reading)[0]
    if own.required or reading.required:
        return value
    for argument in scene.others(reading):
        field = scene.fields.find(scene.fields.bare(argument))
        if field is not None and field.writable and field.words[-1] in STRONG | WEAK and not argument.is_list:
            stand_in = _looked_up(cel.or_null(cel.argument(argument)), [field.name], scene)
            return f"default({cel.argument(own)}, {stand_in})"
    return value


def minted_key(reading: Reading, scene: Scene, *, whole: bool = False) -> str | list[str] | None:
    """The key of an entity that a call makes, as far as the call gives it; what is missing is minted.

    With `whole`, parts that the call cannot give are null rather than left out.
    """
    given = {scene.fields.bare(argument): argument for argument in reading.arguments if argument.is_scalar}
    chosen = scene.key.of(reading)
    parts: list[str] = []
    for number, part in enumerate(scene.key.parts):
        argument = chosen[number] if chosen else None if part is scene.key.own else given.get(part.words)
        if argument is not None:
            parts.append(cel.value(argument))
        elif whole:
            parts.append("null")
        else:
            break
    if not parts:
        return None
    return parts if len(scene.key.parts) > 1 else parts[0]


def key_shown(key: str | list[str], scene: Scene) -> dict[str, str]:
    """The key's fields with their values, for answers that have no entity to show."""
    values = [key] if isinstance(key, str) else key
    return {part.field: value for part, value in zip(scene.key.parts, values, strict=True)}
