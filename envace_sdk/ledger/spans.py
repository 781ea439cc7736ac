"""What happened, and what was only rehearsed, as OpenTelemetry spans.

By `opentelemetry-api` alone, and without it, or without an SDK that collects them, nothing at all. The names are those
of the semantic conventions for generative AI. A rehearsal is never an `execute_tool` span: whoever counts those counts
what was carried out.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Protocol

from envace_sdk.json import Json

__all__ = ["Mark", "Spans"]

_SCOPE: Final = "envace_sdk"


class Mark(Protocol):
    """A span, as far as one may write on it."""

    def set_attribute(self, key: str, value: Any) -> None:
        """Say one thing more of it."""
        ...


class _NoMark:
    def set_attribute(self, key: str, value: Any) -> None:
        """Nobody listens."""


class Spans:
    """Starts spans of one tracer.

    Args:
        tracer: an `opentelemetry.trace.Tracer`; default: that of the global provider, where the API is installed.
        content: whether arguments and results go into the spans; they may hold what should not leave.
    """

    def __init__(self, tracer: Any = None, *, content: bool = False) -> None:
        self._tracer = _tracer() if tracer is None else tracer
        self._content = content

    @contextmanager
    def rehearsal(self, tool: str, *, layer: str = "", samples: int = 1, conversation: str = "") -> Iterator[Mark]:
        """While a call is rehearsed: `envace.rehearse {tool}`. The predictor's own chat spans are its children."""
        attributes = {
            "envace.evidence": "rehearsed",
            "envace.rehearsal.tool": tool,
            "envace.rehearsal.samples": samples,
            **_given("envace.rehearsal.layer", layer),
            **_given("gen_ai.conversation.id", conversation),
        }
        with self._span(f"envace.rehearse {tool}", attributes) as mark:
            yield mark

    @contextmanager
    def decision(self, tool: str, *, action: str = "", conversation: str = "") -> Iterator[Mark]:
        """While a verdict is found: `envace.decide {tool}`; set `envace.verdict` when it is."""
        attributes = {
            "envace.decision.tool": tool,
            **_given("envace.action", action),
            **_given("gen_ai.conversation.id", conversation),
        }
        with self._span(f"envace.decide {tool}", attributes) as mark:
            yield mark

    @contextmanager
    def execution(
        self,
        tool: str,
        *,
        call_id: str = "",
        arguments: Mapping[str, Json] | None = None,
        description: str = "",
        agent: str = "",
        conversation: str = "",
    ) -> Iterator[Mark]:
        """While a committed call is carried out, and only then: `execute_tool {tool}`. Set `error.type` if it fails."""
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.type": "function",
            "envace.evidence": "observed",
            **_given("gen_ai.tool.call.id", call_id),
            **_given("gen_ai.tool.description", description),
            **_given("gen_ai.agent.name", agent),
            **_given("gen_ai.conversation.id", conversation),
        }
        if self._content and arguments is not None:
            attributes["gen_ai.tool.call.arguments"] = json.dumps(dict(arguments), ensure_ascii=False, default=str)
        with self._span(f"execute_tool {tool}", attributes) as mark:
            yield mark

    def result(self, mark: Mark, result: Json) -> None:
        """Put what came of a call on its span, where content is wanted."""
        if self._content:
            mark.set_attribute("gen_ai.tool.call.result", json.dumps(result, ensure_ascii=False, default=str))

    @contextmanager
    def score(self, tool: str, *, name: str, value: float, label: str = "", why: str = "") -> Iterator[Mark]:
        """A prediction was compared with what was observed: `envace.score {tool}`."""
        attributes = {
            "gen_ai.evaluation.name": name,
            "gen_ai.evaluation.score.value": value,
            "envace.rehearsal.tool": tool,
            **_given("gen_ai.evaluation.score.label", label),
            **_given("gen_ai.evaluation.explanation", why),
        }
        with self._span(f"envace.score {tool}", attributes) as mark:
            yield mark

    @contextmanager
    def _span(self, name: str, attributes: Mapping[str, Any]) -> Iterator[Mark]:
        if self._tracer is None:
            yield _NoMark()
            return
        with self._tracer.start_as_current_span(name, attributes=dict(attributes)) as span:
            yield span


def _given(name: str, value: str) -> dict[str, Any]:
    return {name: value} if value else {}


def _tracer() -> Any:
    try:
        trace = importlib.import_module("opentelemetry.trace")
    except ImportError:
        return None
    return trace.get_tracer(_SCOPE)
