"""Things that name other things: what is shown beside them, and what is removed with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import cel
from .arguments import Argument, fields_of
from .groups import Member
from .ids import STRONG, WEAK, bare
from .outputs import shape_of
from .scene import Scene
from .views import shown_group
from .words import bag, plural, singular, split

__all__ = ["lists_beside", "removed_with"]

_WITH = bag(
    "all any every its their his her associated related linked attached dependent along together including cascade "
    "cascades cascading too also"
)
_NOT = bag(
    "not cannot can't won't doesn't fail fails unless without only must if when while until before first kept keep "
    "keeps remain remains stay stays no refuse refused error orphan orphans orphaned unassign unlink"
)
_SENTENCE = re.compile(r"[.;!?\n]+")


def refers(argument: Argument, scene: Scene) -> bool:
    """Whether a field names one of the scene's things: by its name, or as described ("the name of the entity")."""
    if not argument.is_scalar or argument.is_flag or argument.enum:
        return False
    nouns, key = scene.group.nouns, scene.key.own.words
    short = bare(argument.words, nouns)
    if short != argument.words and short[-1] in STRONG | WEAK:
        return True
    if tuple(singular(word) for word in argument.words) in nouns:
        return True
    told = [singular(word) for word in split(argument.description[:500])]
    return any(
        told[place : place + 3] == [key[-1], "of", article] and told[place + 3 : place + 4] == [scene.group.head]
        for place in range(len(told))
        for article in ("the", "an", "a")
    )


def _referring(other: Scene, scene: Scene) -> list[str]:
    """The fields by which the other scene's things name the scene's."""
    if len(scene.key.parts) > 1:
        return []
    views = ((field, view) for field in other.fields for view in field.views)
    found = [field.name for field, view in views if field.words != other.key.own.words or len(other.key.parts) > 1
             if refers(view, scene)]  # fmt: skip
    return list(dict.fromkeys(found))[:4]


def lists_beside(member: Member, scene: Scene, *, narrowed: bool) -> dict[str, str]:
    """What a list answer holds beside its list: other things, of a narrowed list those that name one of its own."""
    shape = shape_of(member.reading.tool)
    found: dict[str, str] = {}
    if shape is None or not shape.many:
        return found
    for beside in shape.beside:
        fields = fields_of(beside.item, member.reading.tool.output_schema) if beside.is_list else ()
        group = shown_group(beside.name, fields, (other.group for other in scene.scenes if other is not scene))
        other = next((other for other in scene.scenes if other.group is group), None)
        if other is None:
            continue
        name, own = cel.text(other.collection), cel.member("i", [scene.key.own.field])
        linked = [f"find({name}, {{{cel.text(field)}: {own}}})" for field in _referring(other, scene)]
        found[beside.name] = f"find({name})"
        if narrowed and linked:
            found[beside.name] = f"distinct(flatten(items.map(i, {' + '.join(linked)})))"
    return found


def removed_with(member: Member, scene: Scene, keys: str) -> list[dict[str, Any]]:
    """The changes by which things that name a removed one go with it, where the description says so. `keys` is the
    expression of the list of removed keys.
    """
    return [_removal(other, fields, keys) for other, fields in _going(member, scene)]


def _going(member: Member, scene: Scene) -> Iterator[tuple[Scene, list[str]]]:
    for sentence in _SENTENCE.split(member.reading.telling.text):
        words = set(split(sentence)) | set(sentence.split())
        if not words & _WITH or words & _NOT:
            continue
        for other in scene.scenes:
            named = other.group.head in words or plural(other.group.head) in words
            if other is not scene and named and other.makers and (fields := _referring(other, scene)):
                yield other, fields


def _removal(other: Scene, fields: list[str], keys: str) -> dict[str, Any]:
    name = cel.text(other.collection)
    linked = [f"find({name}, {{{cel.text(field)}: k}})" for field in fields]
    own = [cel.member("item", [part.field]) for part in other.key.parts]
    joined = own[0] if len(own) == 1 else "[" + ", ".join(own) + "]"
    return {
        "effect": "delete",
        "collection": other.collection,
        "each": f"flatten({keys}.map(k, {' + '.join(linked)}))",
        "key": own[0] if len(own) == 1 else own,
        "when": f"exists({name}, {joined})",
    }
