"""What a tool answers, written as the member of its rule."""

from __future__ import annotations

from typing import Any

from envace_sdk.world.infer.cel import member

from .answering import Answer, Part
from .learned import Learned
from .phrasing import FORM, Phrases
from .roles import ENTITY
from .sources import free_source, object_source, template_source

__all__ = ["returns"]


def returns(learned: Learned, phrases: Phrases, *, effect: str) -> dict[str, Any]:
    """The answer as the simplest member that says it; empty where too little of it is explained."""
    answer = learned.answer
    if answer is None:
        return {}
    only = answer.cases[0][1] if len(answer.cases) == 1 else None
    if only is not None and learned.listing is not None and not _has_form(only):
        return learned.listing.returns(only)
    if only is not None and effect in {"read", "create", "update"}:
        fields = _projection(only)
        if fields is not None:
            return fields
    if not any(_tells(part) for _, part in answer.cases):
        return {}
    writer = _Writer(learned, phrases)
    if all(moment.step.is_text for moment in learned.moments if moment.step.ok):
        return {"text": "{" + writer.whole(answer) + "}"}
    if only is not None and only.is_object and only.members:
        return {"object": {name: writer.source(inner) for name, inner in only.members.items()}}
    return {"value": writer.whole(answer)}


class _Writer:
    """Writes parts of an answer as expressions."""

    def __init__(self, learned: Learned, phrases: Phrases) -> None:
        self._learned = learned
        self._phrases = phrases

    def whole(self, answer: Answer) -> str:
        """All cases as one expression."""
        *choices, (_, last) = answer.cases
        text = self.source(last)
        for condition, part in reversed(choices):
            text = f"{condition} ? {self.source(part)} : {text}"
        return text

    def source(self, part: Part) -> str:
        """One part as an expression."""
        if part.listing is not None and self._learned.listing is not None:
            return self._learned.listing.listed()
        if FORM in part.members:
            return self._text(part)
        if part.is_object:
            return object_source({name: self.source(inner) for name, inner in part.members.items()})
        return part.source or free_source(part.samples)

    def _text(self, part: Part) -> str:
        """A text that was taken apart, put together again."""
        form = part.members[FORM]
        number = form.samples[0] if form.samples else form.source or 0
        template = self._phrases[self._learned.tool, int(str(number))]
        return template_source(template, lambda name: self.source(part.members[name]))


def _has_form(part: Part) -> bool:
    return FORM in part.members or any(map(_has_form, part.members.values()))


def _tells(part: Part) -> bool:
    """Whether at least half of a part is explained."""
    if part.listing is not None:
        return True
    if part.is_object:
        inner = [inner for name, inner in part.members.items() if name != FORM]
        return not inner or sum(map(_tells, inner)) * 2 >= len(inner)
    return bool(part.source)


def _projection(part: Part) -> dict[str, Any] | None:
    """The answer as the thing itself, or some of its fields; None where it is not that."""
    found: dict[str, Any] = {}
    if len(part.members) == 1:
        ((name, only),) = part.members.items()
        if only.is_object:
            part, found = only, {"wrap": name}
    if not part.members or any(inner.source != member(ENTITY, (name,)) for name, inner in part.members.items()):
        return None
    return {"fields": list(part.members), **found}
