"""`envace-sdk serve --model`: what the rules leave open, a model answers, and its answers say so."""

import json
import subprocess

import pytest
from frames_client import MODERN, FramesClient
from notes_toolset import DYNAMICS, TOOLS


@pytest.fixture
def toolset(tmp_path):
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    (tmp_path / "dynamics.yaml").write_text(DYNAMICS)
    said = '<response>{"result": {"temperature": 21, "wind_speed": 3}}</response>'
    (tmp_path / "model.jsonl").write_text(json.dumps(said) + "\n")
    return tmp_path


def test_what_no_rule_answers_the_model_does_over_mcp(toolset, command, runtime):
    words = [*command, "serve", "--tools", str(toolset), "--model", f"scripted:{toolset / 'model.jsonl'}"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        client = FramesClient(process, MODERN)
        answer = client.raw("tools/call", {**call("forecast", city="Graz"), "_meta": client._envelope()})["result"]
        assert json.loads(answer["content"][0]["text"]) == {"temperature": 21, "wind_speed": 3}
        evidence = answer["_meta"]["dev.envace/evidence"]
        assert (evidence["kind"], evidence["layer"], evidence["model"]) == (
            "rehearsed",
            "model",
            "scripted:model.jsonl",
        )
        note = client.raw("tools/call", {**call("add_note", title="tea"), "_meta": client._envelope()})["result"]
        assert note["_meta"]["dev.envace/evidence"]["layer"] == "dynamics"
        process.stdin.close()
        assert process.wait(30) == 0


def test_a_model_that_is_not_there_is_said_before_anything_is_served(toolset, cli):
    said = cli("serve", "--tools", toolset, "--model", "scripted:none.jsonl")
    assert said.code == 3
    assert "none.jsonl" in said.err


def call(name, **arguments):
    return {"name": name, "arguments": arguments}
