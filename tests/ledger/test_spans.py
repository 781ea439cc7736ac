import subprocess
import sys
from contextlib import contextmanager

import pytest

from envace_sdk.ledger.spans import Spans

trace = pytest.importorskip("opentelemetry.trace")


class Span(trace.NonRecordingSpan):
    def __init__(self, name, attributes):
        super().__init__(trace.INVALID_SPAN_CONTEXT)
        self.name, self.attributes = name, dict(attributes or {})

    def set_attribute(self, key, value):
        self.attributes[key] = value


class Tracer(trace.NoOpTracer):
    """Keeps what was started, through the API's own methods."""

    def __init__(self):
        self.spans = []

    @contextmanager
    def start_as_current_span(self, name, context=None, kind=None, attributes=None, **rest):
        self.spans.append(Span(name, attributes))
        with trace.use_span(self.spans[-1]) as span:
            yield span


def everything(spans):
    with spans.decision("refund", action="a1", conversation="t") as mark:
        mark.set_attribute("envace.verdict", "commit")
        with spans.rehearsal("refund", layer="dynamics", samples=3, conversation="t"):
            pass
    with spans.execution("refund", call_id="c1", arguments={"amount": 5}, agent="bot", conversation="t") as mark:
        spans.result(mark, {"ok": True})
    with spans.score("refund", name="envace.status", value=1.0, label="right"):
        pass


def test_only_what_was_carried_out_is_an_execute_tool_span():
    tracer = Tracer()
    everything(Spans(tracer))
    executed = [s for s in tracer.spans if s.attributes.get("gen_ai.operation.name") == "execute_tool"]
    assert [s.name for s in executed] == ["execute_tool refund"]
    assert [s.name for s in tracer.spans] == [
        "envace.decide refund",
        "envace.rehearse refund",
        "execute_tool refund",
        "envace.score refund",
    ]
    rehearsal = tracer.spans[1]
    assert not [name for name in rehearsal.attributes if name.startswith(("gen_ai.tool", "gen_ai.operation"))]
    assert rehearsal.attributes["envace.evidence"] == "rehearsed"


def test_an_execution_has_the_attributes_of_the_conventions():
    tracer = Tracer()
    everything(Spans(tracer))
    assert tracer.spans[2].attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "refund",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.agent.name": "bot",
        "gen_ai.conversation.id": "t",
        "envace.evidence": "observed",
    }
    assert tracer.spans[0].attributes["envace.verdict"] == "commit"
    assert tracer.spans[3].attributes["gen_ai.evaluation.score.value"] == 1.0


def test_arguments_and_results_are_in_spans_only_on_demand():
    tracer = Tracer()
    everything(Spans(tracer, content=True))
    assert tracer.spans[2].attributes["gen_ai.tool.call.arguments"] == '{"amount": 5}'
    assert tracer.spans[2].attributes["gen_ai.tool.call.result"] == '{"ok": true}'


def test_without_an_sdk_nothing_happens():
    everything(Spans())


def test_without_the_api_nothing_happens_and_the_ledger_imports_none_of_it():
    program = (
        "import sys; sys.modules['opentelemetry'] = sys.modules['opentelemetry.trace'] = None\n"
        "import envace_sdk.ledger\n"
        "from envace_sdk.ledger.spans import Spans\n"
        "with Spans().execution('x') as mark: mark.set_attribute('a', 1)\n"
        "with Spans().rehearsal('x') as mark: mark.set_attribute('a', 1)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_an_error_passes_through():
    with pytest.raises(KeyError), Spans(Tracer()).execution("x"):
        raise KeyError("x")
