"""What real libraries wrote of one session is the same calls in all of it. `data/make_traces.py` made the files."""

import json
from pathlib import Path

import pytest

from envace_sdk.recordings import Recording
from envace_sdk.tools.recordings import Recorded

DATA = Path(__file__).parent / "data"

TENT = {"order_id": "A1", "item": "tent", "quantity": 2, "status": "open"}
STOVE = {"order_id": "A2", "item": "stove ‘S’", "quantity": 1, "status": "open"}
SESSION = [
    ("place_order", {"item": "tent", "quantity": 2}, TENT, False),
    ("place_order", {"item": "stove ‘S’", "quantity": 1}, STOVE, False),
    ("get_order", {"order_id": "A1"}, TENT, False),
    ("cancel_order", {"order_id": "A1"}, "Order A1 cancelled", False),
    ("cancel_order", {"order_id": "A1"}, "order A1 is cancelled already", True),
    ("list_orders", {}, [{**TENT, "status": "cancelled"}, STOVE], False),
]
SPANS, RUNS, MESSAGES = "OpenTelemetry spans", "LangSmith runs", "chat messages"


def observed(calls):
    return [(call.tool, call.arguments, parsed(call.result), call.is_error) for call in calls]


def parsed(result):
    """An MCP result that is a list has it as text only."""
    return json.loads(result) if isinstance(result, str) and result.startswith("[") else result


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("semconv.otlp.jsonl", SPANS),
        ("semconv_mcp.otlp.jsonl", SPANS),
        ("openinference.otlp.jsonl", SPANS),
        ("openllmetry.otlp.jsonl", SPANS),
        ("pydantic_ai_v2.console.jsonl", SPANS),
        ("langsmith_runs.jsonl", RUNS),
        ("langchain_run_tree.json", RUNS),
        ("langchain_messages.json", MESSAGES),
        ("langchain_messages_flat.json", MESSAGES),
        ("langchain_messages_lc.json", MESSAGES),
    ],
)
def test_a_traced_session_is_read_as_the_calls_that_were_made(name, form):
    recording = Recording.load(DATA / name, strict=True)
    [calls] = recording.episodes.values()
    assert observed(calls) == SESSION
    assert recording.files[0].form == form
    assert recording.findings == ()


def test_the_messages_of_openai_do_not_tell_errors_and_a_warning_says_so():
    recording = Recording.load(DATA / "openai_chat.jsonl")
    assert observed(recording) == [(*call[:3], False) for call in SESSION]
    assert any("does not tell errors" in finding.message for finding in recording.findings)
    assert {finding.severity for finding in recording.findings} == {"warning"}


def test_several_runs_of_one_conversation_are_one_episode():
    episodes = Recording.load(DATA / "pydantic_ai.otlp.jsonl", strict=True).episodes
    assert {name: observed(calls) for name, calls in episodes.items()} == {"first": SESSION, "second": SESSION}


def test_spans_that_were_printed_over_several_lines_each_are_read():
    recording = Recording.load(DATA / "pydantic_ai.console.json", strict=True)
    assert {name: observed(calls) for name, calls in recording.episodes.items()} == {"printed": SESSION[:3]}


def test_spans_without_content_are_left_out_and_the_findings_say_what_to_turn_on():
    recording = Recording.load(DATA / "mcp_sdk.otlp.jsonl")
    assert recording.calls == ()
    assert len(recording.findings) == len(SESSION)
    assert all("turn on the recording of content" in finding.message for finding in recording.findings)
    assert recording.findings[0].line == 2


def test_a_trace_can_be_served_as_it_is():
    recorded = Recorded.load([DATA / "langsmith_runs.jsonl"])
    assert [fixture.call.name for fixture in recorded.fixtures] == [tool for tool, *_ in SESSION]
    assert recorded.fixtures[0].result.structured == TENT
    assert recorded.fixtures[4].result.is_error


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json*")), ids=lambda path: path.name)
def test_what_was_imported_is_the_same_after_it_was_saved(path, tmp_path):
    recording = Recording.load(path)
    for form in ("plain", "native"):
        recording.save(tmp_path / form, form=form)
        assert Recording.load(tmp_path / form, strict=True).calls == recording.calls


@pytest.mark.parametrize("path", sorted(DATA.glob("*.otlp.jsonl")), ids=lambda path: path.name)
def test_the_order_of_the_file_is_not_that_of_the_calls(path, tmp_path):
    turned = tmp_path / path.name
    turned.write_text("\n".join(reversed(path.read_text().splitlines())))
    assert Recording.load(turned).episodes == Recording.load(path).episodes


def test_a_file_that_was_exported_twice_holds_its_calls_once(tmp_path):
    text = (DATA / "semconv.otlp.jsonl").read_text()
    twice = tmp_path / "twice.jsonl"
    twice.write_text(text + text)
    recording = Recording.load(twice)
    assert observed(recording) == SESSION
    assert any("more than once, and taken once" in finding.message for finding in recording.findings)
