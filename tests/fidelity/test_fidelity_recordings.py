"""The development environments: their split, and that each is recorded in a form that loads."""

import json
import sys
from pathlib import Path
from random import Random

import pytest

from envace_sdk.evaluate import load_episodes
from envace_sdk.jsonschema import compile_schema
from envace_sdk.tools import Toolset

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.fidelity.play import Answer, Call, again, play, split_of
from benchmarks.fidelity.record import ENVIRONMENTS, SEED, record
from benchmarks.fidelity.run import table

NODE = {"filesystem", "memory"}
EPISODES = 4
SPLIT = "rhhrrhhrhhrrhhhrrhrhrrhhhhhhrhrhhrrhrrhrhhhhrrrrhrrhrrrhrrrh"
REAL = [pytest.param(name, marks=[pytest.mark.node] if name in NODE else []) for name in ENVIRONMENTS]


def test_the_split_halves_the_episodes_and_depends_on_the_seed_alone():
    names = [f"e-{n:03}" for n in range(101)]
    sides = split_of(names, SEED)
    assert list(sides) == names
    assert sides == split_of(names[::-1], SEED)
    assert sides != split_of(names, SEED + 1)
    counts = [list(sides.values()).count(side) for side in ("recorded", "heldout")]
    assert sorted(counts) == [50, 51]


def test_the_committed_seed_splits_as_it_always_did():
    sides = split_of([f"memory-{n:03}" for n in range(60)], SEED)
    assert "".join(side[0] for side in sides.values()) == SPLIT


def test_a_script_is_played_up_to_the_number_of_calls_and_hears_each_answer():
    heard = []

    def script():
        while True:
            heard.append((yield Call("echo", {"text": "x"})))

    class Counting:
        count = 0

        def call(self, call):
            self.count += 1
            return Answer(self.count, is_error=False)

    tools = [{"name": "echo", "inputSchema": {"type": "object", "required": ["text"]}}]
    played = list(play(script(), Counting(), 3, tools))
    assert [answer.value for _, answer in played] == [1, 2, 3]
    assert [answer.value for answer in heard] == [1, 2, 3]


def test_a_call_that_the_schema_forbids_is_refused():
    tools = [{"name": "echo", "inputSchema": {"type": "object", "required": ["text"]}}]

    def script():
        yield Call("echo", {})

    with pytest.raises(ValueError, match="echo"):
        list(play(script(), None, 3, tools))


def test_repeated_reads_are_reads_and_leave_the_script_its_answers():
    def script():
        for n in range(200):
            answer = yield Call("write" if n % 2 else "read", {"n": n})
            assert answer.value == n

    mixed, answer, calls = again(Random(3), script(), frozenset({"read"})), None, []
    while True:
        try:
            call = next(mixed) if answer is None else mixed.send(answer)
        except StopIteration:
            break
        calls.append(call)
        answer = Answer(call.arguments["n"], is_error=False)
    repeated = [call for place, call in enumerate(calls) if call in calls[:place]]
    assert repeated
    assert {call.tool for call in repeated} == {"read"}


def test_the_table_marks_what_is_below_a_replay():
    def reports(ours, replay):
        axes = dict.fromkeys(("structure", "entailed", "free", "repeated_reads", "read_after_write", "created"))
        rest = {**axes, "gone": None, "valid": None, "right": None}
        sure = {"calibration": {"sure": {"calls": 3, "right": 1.0}}}
        return [
            {"player": "envace", "overall": {"balanced_status": ours, **rest}, **sure},
            {"player": "replay", "overall": {"balanced_status": replay, **rest}, **sure},
        ]

    lines = table({"one": reports(0.5, 0.75), "sqlite": reports(1.0, 0.25)}).splitlines()
    assert lines[0] == "| axis | player | one | mean | sqlite |"
    assert lines[2] == "| balanced status | envace | 0.50 ↓ | 0.50 ↓ | 1.00 |"
    assert lines[3] == "| balanced status | replay | 0.75 | 0.75 | 0.25 |"


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_a_few_episodes_are_recorded_split_and_load(name, tmp_path):
    record(name, tmp_path, episodes=EPISODES)
    folder = tmp_path / name
    tools = Toolset.load(folder / "tools.json")
    split = json.loads((folder / "split.json").read_text())
    assert split["seed"] == SEED
    assert len(split["episodes"]) == EPISODES
    loaded = {side: load_episodes([folder / f"{side}.jsonl"]) for side in set(split["episodes"].values())}
    for side, episodes in loaded.items():
        assert {one.name for one in episodes} == {one for one, where in split["episodes"].items() if where == side}
        for episode in episodes:
            assert 8 <= len(episode.calls) <= 25
            for fixture in episode.calls:
                schema = tools[fixture.call.name].input_schema
                assert compile_schema(schema).is_valid(dict(fixture.call.arguments))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["GorillaFileSystem", "TicketAPI", "git"])
def test_recording_twice_gives_the_same_calls_and_answers(name, tmp_path):
    observed = []
    for run in ("first", "second"):
        record(name, tmp_path / run, episodes=EPISODES)
        files = [tmp_path / run / name / f"{side}.jsonl" for side in ("recorded", "heldout")]
        episodes = load_episodes([file for file in files if file.stat().st_size])
        observed.append([(e.name, f.call, f.result.content, f.result.is_error) for e in episodes for f in e.calls])
    assert observed[0] == observed[1]
