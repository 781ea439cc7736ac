"""Whatever a recording holds, learning from it ends in files that can be served, or in an error that says why not."""

import json
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from invented import invent, record
from invented.hostile import SPOILERS
from invented.recording import as_lines

from envace_sdk.errors import EnvaceError
from envace_sdk.recordings import Recording
from envace_sdk.rehearse import Environment
from envace_sdk.tools import Toolset
from envace_sdk.world.mine.folder import learn_into
from envace_sdk.world.rulefile import RuleFile

SLOW = {"giant", "repeated"}


@cache
def recorded():
    environment = invent(3)
    return environment, record(environment, episodes=6, calls=8)


def learned(data):
    """What is learned from the bytes of a recording, served once and learned a second time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tools = {"tools": list(recorded()[0].tools)}
        (folder / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
        (folder / "rec.data").write_bytes(data)
        toolset = Toolset.load(folder)
        lesson = learn_into(folder / "dynamics.yaml", toolset, Recording.load(folder / "rec.data").files)
        lesson.write()
        Environment.load(folder).check()
        again = learn_into(folder / "dynamics.yaml", toolset, [])
        assert again.write() == []
        assert RuleFile(lesson.filing.text).dynamics == lesson.dynamics
        for tool in toolset:
            assert lesson.explained(tool.name)
        return lesson


@pytest.mark.parametrize(
    "spoiler", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in SPOILERS]
)
def test_a_spoiled_recording_gives_files_that_can_be_served(spoiler):
    lines = as_lines(SPOILERS[spoiler](list(recorded()[1]), Random(5)))
    escaped = "".join(json.dumps(json.loads(line)) + "\n" for line in lines.split("\n") if line)
    assert learned(escaped.encode()).dynamics.tools


@given(st.data())
@settings(max_examples=8, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_a_damaged_file_gives_rules_or_an_error_that_says_why_not(data):
    damaged = bytearray(as_lines(recorded()[1]).encode())
    for _ in range(data.draw(st.integers(1, 30))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place : place + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=8))
    with suppress(EnvaceError):
        learned(bytes(damaged))
