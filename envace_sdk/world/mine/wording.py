"""Texts of the real server as templates of the rule language."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from envace_sdk.json import Json
from envace_sdk.world.dynamics import Status

from .explain import Example
from .failures import Failure, error_text
from .reasons import reason_for
from .texts import Slot, Template
from .tracking import Moment

__all__ = ["error_template", "explained_slots", "status_of"]

_DENIED: Final = (
    "permission",
    "denied",
    "not authenticated",
    "unauthor",
    "forbidden",
    "not allowed",
    "log in",
    "logged in",
)
_MISSING: Final = ("not found", "no such", "doesn't exist", "not exist", "unknown", "no item", "could not find")
_CONFLICT: Final = ("already", "exists", "conflict", "duplicate", "in use", "taken", "insufficient", "not empty")
_STATUS: Final[tuple[tuple[Status, tuple[str, ...]], ...]] = (
    ("permission_error", _DENIED),
    ("rate_limited", ("rate limit", "too many")),
    ("not_found", _MISSING),
    ("conflict", _CONFLICT),
)
"""What errors of a kind say; what fits several is of the first."""
_MOST: Final = 80
"""Examples of a slot that are looked at."""


def status_of(text: str) -> Status:
    """The kind of error that a text is likely to tell of."""
    low = text.lower()
    return next((status for status, words in _STATUS if any(word in low for word in words)), "validation_error")


def explained_slots(template: Template, texts: Sequence[str], scopes: Sequence[Mapping[str, Json]]) -> dict[str, str]:
    """By slot of a template the expression of what stands there; a text that is said most where nothing explains it."""
    found: dict[str, str] = {}
    parsed = [
        (values, scope)
        for text, scope in zip(texts, scopes, strict=True)
        if (values := template.parse(text)) is not None
    ]
    for part in template.parts:
        if not isinstance(part, Slot):
            continue
        examples = [Example(scope, values[part.name]) for values, scope in parsed if part.name in values][:_MOST]
        explained = reason_for(examples, least=1)
        if explained is not None:
            found[part.name] = explained.source
        elif examples:
            said = [str(example.target) for example in examples]
            found[part.name] = json.dumps(max(said, key=said.count), ensure_ascii=False)
    return found


def error_template(failure: Failure, moments: Sequence[Moment]) -> str:
    """The text of a kind of error as a template, within what frames it."""
    said = [error_text(moment.step) for moment in moments]
    encode: Callable[[str], str] = _in_json if failure.frame else str
    if failure.template is None or not all(isinstance(part, str | Slot) for part in failure.template.parts):
        body = _plain(encode(max(said, key=said.count) if said else failure.text))
    else:
        sources = explained_slots(failure.template, said, [moment.scope for moment in moments])
        body = "".join(
            _plain(encode(part)) if isinstance(part, str) else "{" + sources.get(part.name, "''") + "}"
            for part in failure.template.parts
            if isinstance(part, str | Slot)
        )
    if not failure.frame:
        return body
    before, _, after = failure.frame.partition('"*"')
    return _plain(before) + '"' + body + '"' + _plain(after)


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _plain(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
