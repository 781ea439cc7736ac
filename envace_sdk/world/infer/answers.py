"""What an inferred rule answers: as an output schema declares, as the description says, else the plain shape."""

from __future__ import annotations

import re
from typing import Any

from . import cel
from .groups import Member
from .outputs import Shape, shape_of
from .scene import Scene
from .words import bag, plural

__all__ = ["confirmation", "entity_answer", "list_answer"]

_ONLY_ID = re.compile(
    r"\breturns?\s+(?:only\s+|just\s+)?(?:the\s+|its\s+|an?\s+)?"
    r"(?:(?:newly|new|created|generated|assigned|unique|resulting)[ -]+)*(?:[\w-]+(?:'s)?\s+){0,2}"
    r"(?:id|identifier|uuid|key|number|code|reference|handle|token)"
    r"(?:\s+(?:of|for)\s+(?:the\s+)?(?:(?:newly|new|created)\s+)*[\w-]+(?:\s+[\w-]+)?)?\s*(?:[.;,]|$)"
)
_ARRAY = re.compile(r"\breturns?\s+(?:an?|the)\s+(?:json\s+|bare\s+|plain\s+)?array\b")
_WRAPPED = re.compile(r"\breturns?\b[^.]{0,40}[\"'`](\w{1,40})[\"'`]\s*:\s*\[", re.IGNORECASE)
_MESSAGES = bag("message msg detail details note confirmation")
_TRUE = bag("success ok deleted removed done succeeded successful created updated cancelled canceled")


def entity_answer(member: Member, scene: Scene) -> dict[str, Any]:
    """The answer of a tool that shows one thing."""
    shape = shape_of(member.reading.tool)
    if shape is None:
        if member.reading.sense in {"create", "add", "copy"} and _ONLY_ID.search(member.reading.telling.text):
            return {"fields": [part.field for part in scene.key.parts]}
        return {}
    if shape.many:
        return {}
    answer = _projection(shape, scene)
    if shape.wrap is not None:
        answer["wrap"] = shape.wrap
    flags = {m.name: "true" for m in shape.beside if m.is_flag and set(m.words) & _TRUE}
    if flags:
        answer["extra"] = flags
    return answer


def list_answer(member: Member, scene: Scene, *, following: str | None) -> dict[str, Any]:
    """The answer of a tool that lists things; `following` is how the next page's cursor is called, if there is one."""
    shape = shape_of(member.reading.tool)
    if shape is None or not shape.many:
        text = member.reading.tool.description
        if shape is None and _ARRAY.search(member.reading.telling.text):
            return {}
        wrapped = _WRAPPED.search(text[:2000])
        answer: dict[str, Any] = {"wrap": wrapped.group(1) if wrapped else scene.list_name, "count": "total"}
        if answer["wrap"] == "total":
            answer["count"] = "count"
        if following:
            answer["next"] = following
        return answer
    answer = _projection(shape, scene)
    for name, value in (("wrap", shape.wrap), ("count", shape.count), ("next", shape.next)):
        if value is not None:
            answer[name] = value
    if shape.wrap is None:
        answer.pop("count", None)
    return answer


def confirmation(member: Member, scene: Scene, key: dict[str, str], done: str) -> dict[str, Any]:
    """The answer of a tool that leaves nothing to show: the key, and that it is done."""
    shape = shape_of(member.reading.tool)
    if shape is None:
        return {"object": {**key, done: "true"}}
    known = [field for shown in shape.fields if (field := scene.fields.find(scene.fields.bare(shown))) is not None]
    entity = [field for field in known if field.writable]
    if shape.wrap is not None or shape.many or len(entity) > 1:
        return entity_answer(member, scene)
    shown: dict[str, str] = {}
    for view in shape.fields:
        part = next((p for p in scene.key.parts if p.words == scene.fields.bare(view)), None)
        if part is not None and part.field in key:
            shown[view.name] = key[part.field]
        elif view.is_flag:
            shown[view.name] = "true"
        elif view.words[-1] in _MESSAGES and view.is_text:
            shown[view.name] = cel.text(f"{_done_to(member, scene)} {done}")
        elif view.enum:
            shown[view.name] = cel.literal(view.enum[0])
    return {"object": shown} if shown else {}


def _done_to(member: Member, scene: Scene) -> str:
    """What a confirmation says it was done to: `delete_observations` speaks of observations."""
    words = [*member.aspect] if member.listed and member.aspect else scene.noun.split(" ")
    if member.reading.name.plural:
        words[-1] = plural(words[-1])
    return " ".join(words).capitalize()


def _projection(shape: Shape, scene: Scene) -> dict[str, Any]:
    """The fields that an answer shows, where its schema names them and things may have more."""
    shown = [field.name for field in shape.fields]
    known = {field.name for field in scene.fields}
    return {"fields": shown} if shown and not known <= set(shown) else {}
