"""Which field a search argument asks about, whatever stands around its name: `by_status`, `status_filter`."""

from __future__ import annotations

from . import cel
from .arguments import Argument
from .fields import Field
from .scene import Scene
from .words import bag

__all__ = ["asked_field", "excluded", "is_exclusion"]

_NOT = bag("not exclude excluding except without non ne neq")
_BEFORE = bag("by with filter where for of in having has match matching search query find select only")
_AFTER = bag("filter eq equals equal is exact iexact in matches match query value selector any")


def asked_field(argument: Argument, scene: Scene) -> Field | None:
    """The field that an argument of a search asks about, if it is known."""
    found = scene.field(argument)
    if found is not None and found.writable:
        return found
    words = scene.fields.bare(argument)
    for start in range(3):
        if start and (len(words) <= start or words[start - 1] not in _BEFORE):
            break
        for end in range(len(words), start, -1):
            if end < len(words) and words[end] not in _AFTER:
                break
            field = scene.fields.find(words[start:end]) if end - start < len(words) else None
            if field is not None and (field.writable or field.name == scene.key.own.field):
                return field
    return found


def is_exclusion(argument: Argument) -> bool:
    """Whether an argument says what is not wanted: `exclude_status`, `not_status`, `status__ne`."""
    words = argument.words
    return len(words) > 1 and not argument.is_flag and bool({words[0], words[-1]} & _NOT)


def excluded(argument: Argument, scene: Scene) -> str | None:
    """The condition of an argument that says what is not wanted; None where its field is not known."""
    words = tuple(word for word in scene.fields.bare(argument) if word not in _NOT)
    field = scene.fields.find(words) if words else None
    if field is None:
        return None
    held, given = cel.or_null(cel.member("entity", [field.name])), cel.argument(argument)
    if argument.is_list:
        inside = f"default({held}, []).exists(x, x in {given})" if field.is_list else f"{held} in {given}"
    else:
        inside = f"{given} in default({held}, [])" if field.is_list else f"{held} == {given}"
    return f"{cel.or_null(given)} == null || !({inside})"
