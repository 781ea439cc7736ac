"""The environments that learning is tested on: they load, are played sensibly, and hold what there is to learn."""

from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invented import FEATURES, Invented, as_lines, invent, record

from envace_sdk.tools.recordings import load_fixtures

SEEDS = range(50)
PLAYED = range(16)
HAND_WRITTEN = sorted((Path(__file__).parent / "data").glob("*.yaml"))


@cache
def played(seed):
    environment = invent(seed)
    return environment, record(environment, episodes=10, calls=15)


@pytest.mark.parametrize("path", HAND_WRITTEN, ids=lambda path: path.stem)
def test_environments_written_by_hand_load_without_a_finding_and_all_their_tools_succeed_and_most_fail(path):
    environment = Invented.load(path)
    environment.environment.check()
    assert environment.toolset.findings == ()
    assert set(environment.features) == {tool.name for tool in environment.toolset} == set(environment.dynamics.tools)
    assert {said["tool"] for said in environment.expect} <= set(environment.dynamics.tools)
    recorded = record(environment, episodes=30, calls=20)
    succeeded = {fixture.call.name for fixture in recorded if not fixture.result.is_error}
    failed = {fixture.call.name for fixture in recorded if fixture.result.is_error}
    assert succeeded == set(environment.dynamics.tools)
    assert len(failed) >= len(succeeded) // 2
    assert not any(fixture.result.first_text.startswith("Invalid arguments") for fixture in recorded)


@pytest.mark.parametrize("seed", PLAYED)
def test_random_environments_are_sound_and_their_sessions_have_successes_and_errors(seed):
    environment, recorded = played(seed)
    environment.environment.check()
    assert environment.toolset.findings == ()
    assert len(recorded) == 150
    errors = sum(fixture.result.is_error for fixture in recorded)
    assert 0.04 < errors / len(recorded) < 0.6
    refused = [f for f in recorded if f.result.is_error and f.result.first_text.startswith("Invalid arguments")]
    assert refused == []  # callers keep to the schemas: what is refused is refused by a rule


def test_every_class_of_rules_comes_about_often_and_in_many_environments():
    tools, environments = Counter(), Counter()
    for seed in SEEDS:
        features = invent(seed).features
        tools.update(name for marked in features.values() for name in marked)
        environments.update(set().union(*features.values()))
    assert set(tools) == FEATURES
    assert {name for name in FEATURES if tools[name] < 10 or environments[name] < 8} == set()


def test_nearly_all_tools_succeed_sometimes_and_writes_are_read_back():
    never, all_tools, looked_after_write, writes = 0, 0, 0, 0
    for seed in PLAYED:
        environment, recorded = played(seed)
        succeeded = {fixture.call.name for fixture in recorded if not fixture.result.is_error}
        all_tools += len(environment.tools)
        never += sum(tool["name"] not in succeeded for tool in environment.tools)
        for one, following in pairwise(recorded):
            if environment.dynamics.tools[one.call.name].effect in ("create", "update") and not one.result.is_error:
                writes += 1
                looked_after_write += environment.dynamics.tools[following.call.name].effect in ("read", "search")
    assert never / all_tools < 0.15
    assert looked_after_write / writes > 0.3


def test_names_say_what_they_mean_in_some_environments_and_not_in_others():
    verbs = {"get", "fetch", "show", "read", "list", "find", "search", "create", "add", "register", "update", "delete"}
    telling = Counter()
    for seed in SEEDS:
        names = [tool["name"].replace("-", "_").split("_")[0] for tool in invent(seed).tools]
        share = sum(name in verbs for name in names) / len(names)
        telling["plain" if share > 0.3 else "odd" if share == 0 else "mixed"] += 1
    assert telling["plain"] >= 10
    assert telling["odd"] >= 5


def test_the_same_seed_gives_the_same_environment_and_the_same_sessions():
    for seed in (3, 17):
        one, two = invent(seed), invent(seed)
        assert one.dynamics.dump() == two.dynamics.dump()
        assert one.tools == two.tools
        assert as_lines(record(one, episodes=3, calls=10)) == as_lines(record(two, episodes=3, calls=10))
        assert as_lines(record(one, episodes=3, calls=10, seed=1)) != as_lines(record(two, episodes=3, calls=10))


def test_recordings_written_as_lines_are_read_as_what_was_seen(tmp_path):
    for seed in (1, 2, 8):
        recorded = played(seed)[1]
        path = tmp_path / f"{seed}.jsonl"
        path.write_text(as_lines(recorded), encoding="utf-8")
        read = load_fixtures(path)
        assert [fixture.call for fixture in read] == [fixture.call for fixture in recorded]
        assert [fixture.episode for fixture in read] == [fixture.episode for fixture in recorded]
        assert [fixture.position for fixture in read] == [fixture.position for fixture in recorded]
        assert [fixture.result.value() for fixture in read] == [fixture.result.value() for fixture in recorded]
        assert [fixture.result.is_error for fixture in read] == [fixture.result.is_error for fixture in recorded]


@pytest.mark.parametrize("tools", [1, 7, 50])
def test_an_environment_has_exactly_as_many_tools_as_asked_for(tools):
    environment = invent(5, tools=tools)
    assert len(environment.tools) == tools
    assert set(environment.dynamics.tools) == {tool["name"] for tool in environment.tools}
    assert len(record(environment, episodes=2, calls=10)) == 20


@given(st.integers(min_value=50, max_value=2**32))
@settings(max_examples=12, deadline=None)
def test_any_seed_gives_an_environment_that_plays(seed):
    environment = invent(seed)
    environment.environment.check()
    assert len(record(environment, episodes=2, calls=12)) == 24
