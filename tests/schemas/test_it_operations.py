"""The policies of the IT operations toolset: what its tools refuse, and what they change."""

import asyncio
import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.shipped import shipped
from envace_sdk.world.diff import diff

_REFUSALS = Path(__file__).parent.parent / "data" / "it_operations_refusals.jsonl"
REFUSALS = [json.loads(line) for line in _REFUSALS.read_text(encoding="utf-8").splitlines()]
WHOLE = Environment.load(shipped()["it_operations"])
# Without the recordings, so that every answer here comes from the rules.
DESK = Environment(WHOLE.toolset, dynamics=WHOLE.dynamics, start=WHOLE.start)
NOW = DESK.start.clock


def call(world, tool, arguments):
    return asyncio.run(DESK.call(world, ToolCall(tool, arguments)))


def done(world, tool, **arguments):
    rehearsal = call(world, tool, arguments)
    assert not rehearsal.result.is_error, rehearsal.result.first_text
    return rehearsal.result.structured


def changed(world):
    return sorted(f"{change.collection}/{change.key}" for change in diff(DESK.start, world.state))


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: f"{case['tool']}: {case['says'][:50]}")
def test_a_call_against_the_rules_is_refused_and_changes_nothing(case):
    world = DESK.world(clock=datetime.fromisoformat(case["clock"]) if "clock" in case else None)
    for step in case.get("after", []):
        done(world, step["tool"], **step["arguments"])
    before = world.state
    refused = call(world, case["tool"], case["arguments"])
    assert refused.result.is_error
    assert case["says"] in refused.result.first_text
    assert (refused.layer, refused.outcome) == ("dynamics", case["status"])
    assert diff(before, world.state) == []


def test_every_precondition_of_every_tool_is_among_the_refusals():
    for name, rule in DESK.dynamics.tools.items():
        said = [case["says"] for case in REFUSALS if case["tool"] == name]
        for requirement in rule.requires:
            literal = [re.escape(part) for part in re.split(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", requirement.error)]
            pattern = re.compile(".*".join(literal))
            # The refusals quote a part of the text: enough of it to tell it from the tool's others.
            assert any(pattern.search(text) or _begins(requirement.error, text) for text in said), requirement.error
