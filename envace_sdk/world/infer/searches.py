"""Rules of tools that list, search and count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envace_sdk.json import Json

from . import cel
from .answers import list_answer
from .arguments import Argument
from .asking import asked_field, excluded, is_exclusion
from .decision import Case
from .fields import Field, is_control
from .groups import Member
from .links import lists_beside
from .outputs import shape_of
from .paging import paging_of, sort_of
from .ranges import bound_of
from .scene import Scene
from .soft import removed_flag
from .terms import PAGING, TEXTS
from .words import bag

__all__ = ["count_rule", "narrowing", "search_rule"]

_PARTS = bag("contains like matches substring includes containing query search partial prefix")
_ONLY = frozenset(["only", "just"])
_ANY = ("all", "any", "*", "")


def search_rule(case: Case) -> dict[str, Any]:
    """A tool that lists many."""
    member, scene = case.member, case.scene
    reading = member.reading
    paging = paging_of(reading.arguments, scene)
    rest = [argument for argument in reading.arguments if id(argument) not in paging.used]
    sort, used = sort_of(rest, scene)
    rest = [argument for argument in rest if id(argument) not in used]
    rule: dict[str, Any] = {"effect": "search", "collection": scene.collection, **narrowing(member, rest, scene)}
    if sort is not None:
        rule["sort"] = sort
    for name in ("limit", "offset", "cursor"):
        expression = getattr(paging, name)
        if expression is not None:
            rule[name] = expression
    rule["returns"] = list_answer(member, scene, following=paging.following)
    beside = lists_beside(member, scene, narrowed="filters" in rule or "where" in rule)
    if beside:
        rule["returns"]["extra"] = beside
    return rule


def count_rule(case: Case) -> dict[str, Any]:
    """A tool that counts what a search would find."""
    member, scene = case.member, case.scene
    rest = [a for a in member.reading.arguments if not is_control(a, looking=True)]
    rule: dict[str, Any] = {"effect": "search", "collection": scene.collection, **narrowing(member, rest, scene)}
    shape = shape_of(member.reading.tool)
    numbers = [field.name for field in shape.fields if field.is_number] if shape is not None else []
    name = numbers[0] if numbers else "count"
    rule["returns"] = {"count": name, "object": {name: "total"}}
    return rule


def narrowing(member: Member, arguments: Sequence[Argument], scene: Scene) -> dict[str, Any]:
    """The `filters` and `where` that the arguments of a search amount to; as `ignored`, the arguments of which nothing
    says what they narrow: held against what things do not have, they would leave nothing.
    """
    filters: dict[str, Any] = {}
    conditions: list[str] = []
    ignored: list[str] = []
    for argument in arguments:
        path = cel.dotted(argument.path)
        if is_control(argument, looking=True) and not _known(argument, scene):
            condition = _included(argument, scene)
            if condition:
                conditions.append(condition)
            continue
        found = _filter(member, argument, arguments, scene)
        if isinstance(found, str):
            conditions.append(found)
        elif found is not None and not any("." in step for step in argument.path):
            filters[path] = found
        elif found is None and not _is_part_of_paging(argument):
            ignored.append(argument.name)
    if scene.soft and not any("deleted" in argument.words for argument in arguments):
        conditions.append(f"default({cel.member('entity', [removed_flag(scene)])}, false) != true")
    out: dict[str, Any] = {"ignored": ignored} if ignored else {}
    if filters:
        out["filters"] = filters
    if conditions:
        out["where"] = conditions[0] if len(conditions) == 1 else " && ".join(f"({c})" for c in conditions)
    return out


def _is_part_of_paging(argument: Argument) -> bool:
    return "_".join(argument.words) in PAGING


def _known(argument: Argument, scene: Scene) -> bool:
    found = scene.fields.find(scene.fields.bare(argument), exact=True)
    return found is not None and found.writable


def _filter(
    member: Member, argument: Argument, siblings: Sequence[Argument], scene: Scene
) -> dict[str, Any] | str | None:
    """What one argument narrows: a filter, a condition, or nothing that is known."""
    if is_exclusion(argument) and not _known(argument, scene):
        return excluded(argument, scene)
    field = asked_field(argument, scene)
    if field is not None and not scene.has(field):
        field = None
    if "_".join(argument.words) in TEXTS and argument.is_text and (field is None or not field.writable):
        return _free_text(scene)
    if (part := _part_of_text(argument, scene)) is not None:
        return part
    bound = bound_of(argument, scene.fields, siblings)
    if bound is not None:
        if not scene.has(bound[0]):
            return None
        return {"field": bound[0].name, "op": bound[1]}
    if argument.is_flag:
        return _flag(argument, field, scene)
    if argument.is_object:
        return _object(argument, field, scene)
    if field is None:
        named = argument.is_scalar and not argument.is_list and not (scene.makers or scene.shown)
        return {"field": argument.name} if named else None
    return _equal(member, argument, field, scene)


def _part_of_text(argument: Argument, scene: Scene) -> dict[str, Any] | None:
    """`title_contains`, `name_prefix`, and `prefix` alone: of the key."""
    words = scene.fields.bare(argument)
    if words in {("prefix",), ("starts", "with"), ("begins", "with"), ("startswith",)}:
        return {"field": scene.key.own.field, "op": "prefix"}
    if len(words) < 2 or words[-1] not in _PARTS:
        return None
    field = scene.fields.find(words[:-1])
    return {"field": field.name, "op": "prefix" if words[-1] == "prefix" else "contains"} if field else None


def _equal(member: Member, argument: Argument, field: Field, scene: Scene) -> dict[str, Any] | str:
    """The argument gives what the field is, holds, or may be."""
    if field.words == ("path",) and argument.required:
        return {"field": field.name, "op": "prefix"}  # where to look, rather than what for
    if field.is_list and argument.is_list:
        given, held = cel.argument(argument), f"default({cel.member('entity', [field.name])}, [])"
        return f"default({given}, []).all(x, x in {held})"
    if field.is_list:
        return {"field": field.name, "op": "has"}
    if argument.is_list:
        return {"field": field.name, "op": "in"}
    if argument.enum and any(value in _ANY for value in argument.enum if isinstance(value, str)):
        return _unless_any(argument, field)
    return {"field": field.name, **({"op": "contains"} if _is_partial(member, argument, field, scene) else {})}


def _free_text(scene: Scene) -> dict[str, Any] | None:
    """A search in all text that a thing has."""
    names = [f.name for f in scene.fields if f.writable and (f.is_text or (f.is_list and not _holds_objects(f)))]
    names = list(dict.fromkeys(names))
    if not scene.key.minted:
        names = [*(n for n in [scene.key.own.field] if n not in names), *names]
    if not names:
        names = [field.name for field in scene.fields if field.is_text] or [scene.key.own.field]
    first, *others = names
    return {"field": first, "op": "contains", **({"any_of": others} if others else {})}


def _holds_objects(field: Field) -> bool:
    return any(view.item.get("type") == "object" or "properties" in view.item for view in field.views)


def _flag(argument: Argument, field: Field | None, scene: Scene) -> dict[str, Any] | str | None:
    """A yes-no argument: of the field of its name, or "only such"."""
    words = tuple(word for word in scene.fields.bare(argument) if word not in _ONLY)
    if words == scene.fields.bare(argument) and field is not None and field.is_flag:
        return {"field": field.name}
    target = field if field is not None and field.is_flag else scene.fields.find(words)
    if target is not None and not scene.has(target):
        target = None
    given = f"default({cel.argument(argument)}, false)"
    if target is not None and target.is_flag:
        return f"!{given} || default({cel.member('entity', [target.name])}, false) == true"
    found = _status_of(words[-1:], scene)
    if found is not None:
        return f"!{given} || default({cel.member('entity', [found[0]])}, null) == {cel.literal(found[1])}"
    return _included(argument, scene) or None


def _included(argument: Argument, scene: Scene) -> str | None:
    """`include_archived`: such are left out unless it is true."""
    if (
        argument.words[:1] not in {("include",), ("with",), ("show",)}
        or len(argument.words) < 2
        or not argument.is_flag
    ):
        return None
    from .states import flag_of

    flag = flag_of(argument.words[-1], scene.fields)
    given = f"default({cel.argument(argument)}, {'true' if argument.default is True else 'false'})"
    if flag is not None:
        return f"{given} || default({cel.member('entity', [flag.name])}, false) != true"
    found = _status_of(argument.words[-1:], scene)
    if found is not None:
        return f"{given} || default({cel.member('entity', [found[0]])}, null) != {cel.literal(found[1])}"
    return None


def _status_of(words: Sequence[str], scene: Scene) -> tuple[str, Json] | None:
    """The status that an adjective means, with its field: one that is listed, or that a step sets."""
    from .states import match

    status = scene.fields.status
    if status is None or not words:
        return None
    value = match(status.enum or scene.steps.get(status.name, []), words)
    return None if value is None else (status.name, value)


def _object(argument: Argument, field: Field | None, scene: Scene) -> str | None:
    """A free object of fields and values, each of which must be equal."""
    if argument.schema.get("properties"):
        return None
    given = f"default({cel.argument(argument)}, {{}})"
    inside = [field] if field is not None and field.writable else [f for f in scene.fields if f.writable and f.is_free]
    value = "null" if field is not None and field.writable else "default(entity[k], null)"
    for held in inside[:3]:
        value = f"default({cel.member('entity', [held.name])}[k], {value})"
    return f"keys({given}).all(k, {value} == {given}[k])"


def _unless_any(argument: Argument, field: Field) -> str:
    every = cel.literal([value for value in argument.enum if value in _ANY])
    given = cel.or_null(cel.argument(argument))
    return f"{given} == null || {given} in {every} || default({cel.member('entity', [field.name])}, null) == {given}"


def _is_partial(member: Member, argument: Argument, field: Field, scene: Scene) -> bool:
    """Whether part of the text is enough: names and titles in a search, or as described."""
    if not argument.is_text or not field.is_text or field is scene.fields.find(scene.key.own.words, exact=True):
        return False
    told = argument.description.lower()
    if any(word in told for word in ("exact", "equal")):
        return False
    if any(word in told for word in ("contain", "partial", "substring", "fuzzy", "part of", "matches any")):
        return True
    return member.reading.name.verb in {"search", "find", "query", "lookup"} and field.words[-1] in {
        "name", "title", "subject", "description", "summary", "content", "body", "text", "notes",
    }  # fmt: skip
