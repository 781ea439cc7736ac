"""Which of the forms a document has, and what recordings it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from envace_sdk.json import UNSET, Json

from ..documents import Document
from ..findings import FieldError, Findings
from ..format import Exchange
from ..migrations import migrate_call
from . import langsmith, otel
from .merging import episodes
from .messages import history, tells_of_calls
from .seen import Place, Seen, Span, canonical
from .values import text_of

__all__ = ["Foreign", "recognised"]

_CONVERSATION: Final = ("conversation_id", "thread_id", "session_id")
_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function", "model"})
_TYPES: Final = frozenset({"human", "ai", "AIMessageChunk", "system", "tool", "function"})
_MOST_CONTINUED: Final = 10

_UNRECORDED: Final = "neither arguments nor result were recorded: turn on the recording of content where it was traced"
_UNANSWERED: Final = "not recorded: the call had not ended, or the recording of content is off"
_UNSAID: Final = "not recorded: it failed, and what the error said is not told"
_NO_ERRORS: Final = "this form does not tell errors from successes: every answer is taken for a success"


@dataclass(frozen=True, slots=True)
class Foreign:
    """A form that others record in."""

    name: str
    recognises: Callable[[Json], bool]
    spans: Callable[[Sequence[Document]], list[Span]]

    def read(self, documents: Sequence[Document], findings: Findings) -> list[tuple[Exchange, int]]:
        """The calls in these documents, each with its line; what cannot be one is told of.

        Raises:
            FixtureError: something is wrong, and the findings are strict.
        """
        for document in documents:
            if not any(map(self.recognises, _items(document.value))) and not self.recognises(document.value):
                findings.warning(document.line, "", f"expected {self.name}, as in the lines before; it is left out")
        found: list[tuple[Exchange, int]] = []
        untold: Place | None = None
        for episode, calls in episodes(self.spans(documents), findings).items():
            position = 0
            for call in calls:
                exchange = _exchange(call, episode, findings)
                if exchange is not None:
                    found.append((replace(exchange, position=position), call.place.line))
                    position += 1
                    untold = untold or (None if call.tells_errors or call.is_error else call.place)
        if untold is not None:
            findings.warning(untold.line, untold.field, _NO_ERRORS)
        return found


def recognised(value: Json) -> Foreign | None:
    """The form that a document has, if it is one of these."""
    return next((form for form in _FORMS if form.recognises(value) or any(map(form.recognises, _items(value)))), None)


def _items(value: Json) -> list[Json]:
    """The first of a list's items: enough to see what it is a list of."""
    return value[:20] if isinstance(value, list) else []


def _exchange(call: Seen, episode: str, findings: Findings) -> Exchange | None:
    line, field = call.place.line, call.place.field
    if not call.tool:
        findings.error(line, field, call.wrong_arguments or "a call without the name of its tool")
    elif call.wrong_arguments:
        findings.error(line, field, f"{call.tool}: arguments: {call.wrong_arguments}")
    elif call.result is UNSET:
        missing = _UNRECORDED if call.arguments is UNSET else f"result: {_UNSAID if call.is_error else _UNANSWERED}"
        findings.error(line, field, f"{call.tool}: {missing}")
    else:
        arguments = {} if call.arguments is UNSET else dict(call.arguments)
        if call.code is not None:
            error = {"code": call.code, "message": _message(call.result)}
            return Exchange(episode, "tools/call", {"name": call.tool, "arguments": arguments}, error=error)
        told = {"tool": call.tool, "arguments": arguments, "result": call.result, "is_error": call.is_error}
        try:
            return Exchange.from_json(migrate_call({**told, "episode": episode}))
        except FieldError as error:
            findings.error(line, field, str(error))
    return None


def _message(result: Json) -> str:
    content = result.get("content") if isinstance(result, dict) else result
    return text_of(content) or canonical(result)


def _traced(documents: Sequence[Document]) -> list[Span]:
    return [span for value, place in _values(documents) for span in otel.spans(value, place)]


def _ran(documents: Sequence[Document]) -> list[Span]:
    return langsmith.spans([run for value, place in _values(documents) for run in langsmith.runs(value, place)])


def _values(documents: Iterable[Document]) -> Iterable[tuple[Json, Place]]:
    """The documents, and the items of those that are lists."""
    for document in documents:
        if isinstance(document.value, list):
            yield from ((item, Place(document.line, f"[{n}]")) for n, item in enumerate(document.value))
        else:
            yield document.value, Place(document.line)


def _conversations(documents: Sequence[Document]) -> list[Span]:
    """Each document a conversation, or all of them together one, where each is a message."""
    if len(documents) > 1 and all(_is_message(document.value) for document in documents):
        calls = history((document.value, Place(document.line)) for document in documents)
        return [Span(Place(documents[0].line), "", "conversation", at=1, history=calls)]
    spans: list[Span] = []
    begun: dict[str, list[Span]] = {}
    for n, document in enumerate(documents):
        place = Place(document.line)
        calls = history([(document.value, place)])
        name = _conversation(document.value)
        span = Span(place, "", f"conversation {n + 1}", conversation=name, at=n + 1, history=calls)
        if calls and calls[0].call_id and not name:
            # Whoever logs every request to a model logs each conversation again and again, longer each time.
            same = begun.setdefault(f"{calls[0].call_id} {calls[0].tool}", [])
            earlier = next((other for other in same[-_MOST_CONTINUED:] if _continues(span, other)), None)
            span.trace = span.trace if earlier is None else earlier.trace
            same.append(span)
        spans.append(span)
    return spans


def _continues(later: Span, earlier: Span) -> bool:
    """Whether one of the two conversations begins as all of the other goes."""
    pairs = zip(later.history, earlier.history, strict=False)
    return all(
        one.call_id == other.call_id
        and one.may_be(other)
        and (UNSET in (one.result, other.result) or one.result == other.result)
        for one, other in pairs
    )


def _conversation(value: Json) -> str:
    if not isinstance(value, dict):
        return ""
    names = [value[name] for name in _CONVERSATION if isinstance(value.get(name), str)]
    return names[0] if names else ""


def _is_message(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    role, kind = value.get("role"), value.get("type")
    if isinstance(role, str) and role in _ROLES:
        return True
    return isinstance(kind, str) and kind in _TYPES and ("content" in value or "data" in value)


_FORMS: Final = (
    Foreign("OpenTelemetry spans", otel.is_trace, _traced),
    Foreign("LangSmith runs", langsmith.is_run, _ran),
    Foreign("chat messages", lambda value: _is_message(value) or tells_of_calls(value), _conversations),
)
