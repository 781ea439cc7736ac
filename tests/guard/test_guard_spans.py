"""What a guard tells OpenTelemetry, by its SDK."""

import json

import pytest
from guarded_desk import action, desk

from envace_sdk.errors import ApprovalRequired
from envace_sdk.ledger.spans import Spans
from envace_sdk.tools.model import ToolResult

trace = pytest.importorskip("opentelemetry.sdk.trace")
export = pytest.importorskip("opentelemetry.sdk.trace.export")
memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")


@pytest.fixture
def told():
    exporter = memory.InMemorySpanExporter()
    provider = trace.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    return provider.get_tracer("test"), exporter.get_finished_spans


def executed(spans):
    return [s for s in spans if s.attributes.get("gen_ai.operation.name") == "execute_tool"]


def test_a_refused_call_is_rehearsed_and_no_execution(tmp_path, told):
    tracer, spans = told
    shop = desk(tmp_path, spans=Spans(tracer))
    with pytest.raises(ApprovalRequired):
        shop.run(action())
    assert [s.name for s in spans()] == ["envace.rehearse refund_order", "envace.decide refund_order"]
    assert spans()[1].attributes["envace.verdict"] == "ask"


@pytest.mark.parametrize("content", [False, True])
def test_an_execution_tells_its_result_only_where_content_is_wanted(tmp_path, told, content):
    tracer, spans = told
    shop = desk(tmp_path, spans=Spans(tracer, content=content))
    shop.run(action("get_order", {"order_id": "O-1"}))
    [one] = executed(spans())
    result = one.attributes.get("gen_ai.tool.call.result")
    assert (result is not None and json.loads(result)["order_id"] == "O-1") is content
    assert "error.type" not in one.attributes
    assert [s.attributes["gen_ai.evaluation.score.value"] for s in spans() if s.name == "envace.score get_order"] == [1]


def test_an_execution_that_ends_in_an_error_says_so(tmp_path, told):
    tracer, spans = told
    shop = desk(tmp_path, spans=Spans(tracer))
    shop.answer = ToolResult.text("no", is_error=True)
    shop.run(action("get_order", {"order_id": "O-1"}))
    shop.fails = ValueError("broken")
    with pytest.raises(ValueError, match="broken"):
        shop.run(action("get_order", {"order_id": "O-2"}))
    assert [one.attributes["error.type"] for one in executed(spans())] == ["tool_error", "ValueError"]
