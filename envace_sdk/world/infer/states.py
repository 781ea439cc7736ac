"""Steps in the life of a thing: which status or flag a verb sets, and what a new thing starts with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from envace_sdk.json import UNSET, Json

from .fields import Field, Fields
from .reading import Reading
from .soft import RESTORING, removed_flag
from .verbs import opposite, senses
from .words import bag, participles, split

if TYPE_CHECKING:
    from .groups import Member
    from .scene import Scene

__all__ = ["first_status", "flag_of", "forms", "state_of", "status_value"]

_LIKE: dict[str, str] = {
    "done": "completed complete finished closed resolved",
    "complete": "done finished closed resolved",
    "finish": "done completed complete ended closed",
    "end": "finished over closed completed inactive",
    "close": "done resolved completed inactive",
    "resolve": "solved closed done fixed",
    "solve": "resolved closed",
    "open": "opened active todo",
    "reopen": "reopened open active todo in_progress",
    "start": "in_progress started running active ongoing doing open",
    "begin": "in_progress begun running active ongoing doing",
    "launch": "running active live launched",
    "restart": "running active",
    "stop": "inactive ended paused halted idle off",
    "terminate": "ended inactive stopped",
    "pause": "on_hold suspended stopped",
    "hold": "on_hold paused pending",
    "resume": "running active in_progress open",
    "restore": "active open available",
    "unarchive": "active open",
    "activate": "enabled on live",
    "enable": "active on",
    "deactivate": "disabled off suspended",
    "disable": "inactive off",
    "approve": "accepted confirmed",
    "accept": "approved confirmed",
    "reject": "declined denied refused",
    "decline": "rejected denied refused",
    "publish": "live public",
    "unpublish": "draft private hidden",
    "ship": "in_transit sent dispatched",
    "deliver": "received complete completed",
    "return": "available in",
    "checkin": "checked_in available returned present in",
    "checkout": "checked_out borrowed out on_loan loaned lent",
    "borrow": "on_loan checked_out loaned lent out",
    "lend": "on_loan checked_out loaned borrowed out",
    "retire": "inactive decommissioned",
    "revoke": "inactive",
    "expire": "inactive",
    "submit": "pending in_review",
    "confirm": "approved",
    "acknowledge": "acked ack",
    "ack": "acknowledged",
    "verify": "checked",
    "pay": "settled",
    "fulfill": "complete completed done",
    "unassign": "open",
    "read": "seen",
    "finalize": "final",
}
"""Other words for what a verb leads to, likeliest first."""


def forms(word: str) -> tuple[tuple[str, ...], ...]:
    """What a status may be called once a verb was done, or that an adjective means, likeliest first; each in words."""
    found = [*participles(word), *_LIKE.get(word, "").split()]
    for verb in senses_of(word):
        found += [*participles(verb), *_LIKE.get(verb, "").split()]
    return tuple(dict.fromkeys(split(form) for form in found))


def senses_of(word: str) -> list[str]:
    """The verbs of which a word is the participle: completed → complete."""
    bases = {word.removesuffix("d"), word.removesuffix("ed"), word.removesuffix("led"), word.removesuffix("ted")}
    return sorted(base for base in bases if base != word and word in participles(base) and senses(base))


def match(values: Iterable[Json], words: Sequence[str]) -> Json | None:
    """The value that one of these words leads to."""
    spelled = {split(value): value for value in values if isinstance(value, str)}
    for word in words:
        for form in forms(word):
            if form in spelled:
                return spelled[form]
    return None


def status_value(verb: str, reading: Reading, fields: Fields) -> tuple[Field, Json] | None:
    """The status field with the value that the tool gives it, where a schema lists the values."""
    status = fields.status
    if status is None or not status.enum:
        return None
    aims = [word for _, words in reading.name.aims for word in words]
    found = match(status.enum, [*aims, *reading.name.noun[-1:], verb] if verb in _SETTING else [verb])
    if found is None:
        found = _told(status.enum, reading.telling.text)
    return None if found is None else (status, found)


_SETTING = bag("mark set move change update put make flag turn switch")


def _told(values: Sequence[Json], text: str) -> Json | None:
    """The one value that a description names."""
    named = [value for value in values if isinstance(value, str) and _mentions(text, value)]
    return named[0] if len(named) == 1 else None


def _mentions(text: str, value: str) -> bool:
    spaced = re.escape(" ".join(split(value)) or value)
    return re.search(rf"(?<![\w-])(?:{re.escape(value.lower())}|{spaced})(?![\w-])", text) is not None


def state_of(member: Member, scene: Scene, flags_first: bool) -> dict[str, Json]:
    """The fields that a step sets."""
    reading = member.reading
    verb = reading.name.verb or reading.telling.verb
    if id(reading) in scene.soft:
        return {removed_flag(scene): True}
    if verb in RESTORING and scene.soft:
        return {removed_flag(scene): False}
    found = status_value(verb, reading, scene.fields)
    if found is not None:
        return {found[0].name: found[1]}
    named = [*member.aspect, *(word for _, words in reading.name.aims for word in words)]
    for word in [*named, verb] if verb in _SETTING or not verb else [verb]:
        flag = flag_of(word, scene.fields)
        if flag is not None:
            return {flag.name: True}
        undone = opposite(word)
        flag = flag_of(undone, scene.fields) if undone else None
        if flag is not None:
            return {flag.name: False}
    word = named[-1] if named and (verb in _SETTING or not verb) else verb
    status = scene.fields.status
    if status is not None and not status.is_flag and not flags_first and (not status.enum):
        return {status.name: participles(word)[0]}
    if flags_first or verb in _SETTING or "flag" in senses(verb):
        undone = opposite(word)
        done = participles(undone or word)[0]
        return {scene.fields.put(split(done), scene.style, "boolean").name: undone is None}
    return {scene.fields.put(("status",), scene.style).name: participles(word)[0]}


def flag_of(word: str, fields: Fields) -> Field | None:
    """The yes-no field that a verb or adjective sets."""
    for form in forms(word):
        found = fields.find(form)
        if found is not None and found.is_flag:
            return found
    return None


def first_status(status: Field) -> Json | None:
    """The status of a new thing: as described, else by its schema's default, else the first that is listed."""
    for view in status.views:
        told = re.search(
            r"\bdefault(?:s|ing)?(?:\s+(?:to|is|value|of|status))*[\s:=]+[\"'`]?([\w-]+)",
            view.description,
            re.IGNORECASE,
        )
        if told:
            if not status.enum:
                return told.group(1)
            value = next((v for v in status.enum if isinstance(v, str) and v.lower() == told.group(1).lower()), None)
            if value is not None:
                return value
    if status.default is not UNSET and not isinstance(status.default, list | dict):
        return status.default
    values = [value for value in status.enum if isinstance(value, str) and value.lower() not in {"all", "any", "", "*"}]
    return values[0] if values else None
