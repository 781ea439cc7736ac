"""Recordings that are wrong, torn, contradictory or meant to harm: learning says so, and is not misled."""

from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invented import invent, record
from invented.hostile import SPOILERS, odd_texts
from invented.learning import Lesson, text_of

from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.mine import learn

SURE = 0.9


@cache
def recorded(seed):
    environment = invent(seed)
    return environment, record(environment, episodes=8, calls=10)


def plays(lesson, *, calls=40):
    """Whether the learned world answers without breaking down."""
    return [str(one) for one in lesson.compared(episodes=calls // 10, calls=10) if one.trouble]


@pytest.mark.parametrize("spoiler", SPOILERS)
@pytest.mark.parametrize("seed", [0, pytest.param(7, marks=pytest.mark.slow)])
def test_a_spoiled_recording_is_learned_from_without_breaking_down(spoiler, seed):
    environment, good = recorded(seed)
    lesson = Lesson.of(environment, SPOILERS[spoiler](list(good), Random(seed)))
    lesson.environment().check()
    assert plays(lesson) == []


@pytest.mark.slow
@pytest.mark.parametrize("spoiler", ["shuffled", "contradicting", "torn", "mistyped", "failing", "odd"])
def test_nobody_is_sure_of_what_a_spoiled_recording_taught_wrongly(spoiler):
    environment = invent(4)
    good = record(environment, episodes=30, calls=15)
    lesson = Lesson.of(environment, SPOILERS[spoiler](list(good), Random(11)))
    sure = [one for one in lesson.compared(episodes=10, calls=12) if one.confidence >= SURE]
    wrong = [one for one in sure if not one.is_right]
    assert len(wrong) <= max(3, 0.1 * len(sure)), "\n".join(map(str, wrong[:5]))


@pytest.mark.slow
@given(st.lists(st.sampled_from(sorted(SPOILERS)), min_size=1, max_size=3), st.integers(0, 50), st.integers(0, 5))
@settings(max_examples=12, deadline=None)
def test_several_things_may_be_wrong_at_once(spoilers, chance, seed):
    environment, good = recorded(seed)
    bad = list(good)
    for name in spoilers:
        bad = SPOILERS[name](bad, Random(chance))
    lesson = Lesson.of(environment, bad[:300])
    lesson.environment().check()
    assert plays(lesson, calls=20) == []


def test_nothing_recorded_teaches_nothing():
    environment = invent(3)
    learned = learn(environment.toolset, [])
    assert all(rule.effect == "opaque" for rule in learned.dynamics.tools.values())
    assert learned.start == {} or not any(learned.start.values())


def test_what_has_no_tools_or_knows_none_of_them_teaches_nothing():
    environment, good = recorded(0)
    nothing = learn(Toolset.from_definitions([], name="none"), good)
    assert dict(nothing.dynamics.tools) == {}
    strangers = learn(environment.toolset, [Fixture(ToolCall("stranger", {"x": 1}), ToolResult.text("hello"))])
    assert "stranger" not in strangers.dynamics.tools


def test_texts_that_look_like_templates_are_repeated_and_not_computed():
    tools = [{"name": "say", "description": "Says it.", "inputSchema": {"type": "object", "properties": {}}}]
    toolset = Toolset.from_definitions(tools, name="say")
    for text in odd_texts():
        if "\ud800" in text:
            continue
        result = ToolResult.text(text)
        seen = [Fixture(ToolCall("say"), result, f"session {n}", 0) for n in range(6)]
        dynamics = learn(toolset, seen).dynamics
        assert type(dynamics).parse(dynamics.dump()) == dynamics


@pytest.mark.slow
def test_a_recording_that_a_person_tampered_with_gives_the_same_rules_twice():
    environment, good = recorded(5)
    for name, spoiler in SPOILERS.items():
        bad = spoiler(list(good), Random(3))[:200]
        one, two = learn(environment.toolset, bad), learn(environment.toolset, bad)
        assert text_of(one) == text_of(two), name
