import json
import sys

import pytest

from envace_sdk.cli.main import main
from envace_sdk.tools.shipped import shipped

CALLS = [
    ("a", "add_note", {"title": "Tea"}, {"note_id": "N-1", "title": "Tea"}),
    ("a", "get_note", {"note_id": "N-1"}, {"note_id": "N-1", "title": "Tea"}),
    ("b", "get_note", {"note_id": "N-9"}, "There is no note N-9."),
]
DYNAMICS = """
collections:
  notes: {key: note_id, noun: note, mint: "N-{n}"}
tools:
  add_note: {effect: create, collection: notes, take: [title]}
  get_note: {effect: read, collection: notes, key: args.note_id}
"""


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs `envace-sdk eval fidelity`; gives the exit code, standard output and standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["envace-sdk", "eval", "fidelity", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = leaving.code or 0
        return code, *capsys.readouterr()

    return run


def write_calls(path, calls=CALLS):
    lines = [
        {"episode": name, "tool": tool, "arguments": arguments, "result": result, "is_error": isinstance(result, str)}
        for name, tool, arguments, result in calls
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def twin(tmp_path):
    def tool(name, *properties):
        members = {name: {"type": "string"} for name in properties}
        return {"name": name, "inputSchema": {"type": "object", "properties": members, "required": list(properties)}}

    folder = tmp_path / "twin"
    folder.mkdir()
    tools = [tool("add_note", "title"), tool("get_note", "note_id")]
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    (folder / "dynamics.yaml").write_text(DYNAMICS, encoding="utf-8")
    return folder


@pytest.fixture
def held_out(tmp_path):
    return write_calls(tmp_path / "heldout.jsonl")


def test_the_tables_show_the_twin_beside_the_replays(run, twin, held_out):
    code, out, err = run("--tools", twin, "--recordings", held_out)
    assert (code, err) == (0, "")
    assert "twin: 2 held-out episodes, 3 calls" in out
    assert "closed loop" in out
    for shown in ("exact replay", "ceiling", "balanced status", "read after write", "get_note", "dynamics"):
        assert shown in out


def test_json_holds_every_player_and_loop(run, twin, held_out):
    code, out, _ = run("--tools", twin, "--recordings", held_out, "--json", "--loop", "both")
    document = json.loads(out)
    assert code == 0
    assert (document["episodes"], document["calls"]) == (2, 3)
    assert list(document["loops"]) == ["closed", "open"]
    for reports in document["loops"].values():
        assert [report["player"] for report in reports][:2] == ["envace", "exact replay"]
        assert reports[0]["overall"]["status"] == 1.0
        assert reports[1]["overall"]["missed"] == 3
        assert set(reports[0]["tools"]) == {"add_note", "get_note"}


def test_the_gate_lets_a_good_twin_pass_and_stops_a_bad_one(run, twin, held_out, tmp_path):
    code, _, err = run("--tools", twin, "--recordings", held_out, "--gate", "0.8")
    assert (code, "not below the gate of 0.8" in err) == (0, True)
    wrong = write_calls(
        tmp_path / "wrong.jsonl", [("a", "get_note", {"note_id": "N-1"}, {"note_id": "N-1", "title": "Tea"})]
    )
    code, out, err = run("--tools", twin, "--recordings", wrong, "--gate", "0.8", "--json")
    assert (code, ": below the gate of 0.8" in err) == (1, True)
    assert json.loads(out)["gate"] == {"least": 0.8, "fidelity": 0.0, "passed": False}


def test_a_page_is_written(run, twin, held_out, tmp_path):
    code, _, _ = run("--tools", twin, "--recordings", held_out, "--html", tmp_path / "report.html")
    assert code == 0
    assert "Fidelity of twin" in (tmp_path / "report.html").read_text(encoding="utf-8")
    code, _, err = run("--tools", twin, "--recordings", held_out, "--html", tmp_path / "no" / "report.html")
    assert (code, "cannot be written" in err) == (3, True)


def test_episodes_and_tools_can_be_chosen(run, twin, held_out):
    _, out, _ = run("--tools", twin, "--recordings", held_out, "--json", "--episodes", 1)
    assert json.loads(out)["calls"] == 2
    _, out, _ = run("--tools", twin, "--recordings", held_out, "--json", "--tool", "add_note")
    assert list(json.loads(out)["loops"]["closed"][0]["tools"]) == ["add_note"]


def test_a_tool_that_is_never_called_is_an_input_error(run, twin, held_out):
    code, _, err = run("--tools", twin, "--recordings", held_out, "--tool", "fly")
    assert code == 3
    assert "no call of 'fly' is recorded" in err


@pytest.mark.parametrize("content", ["", "not json\n", '{"tool": "get_note"}\n'])
def test_recordings_that_hold_no_calls_are_an_input_error(run, twin, tmp_path, content):
    file = tmp_path / "bad.jsonl"
    file.write_text(content, encoding="utf-8")
    code, _, err = run("--tools", twin, "--recordings", file)
    assert code == 3
    assert "bad.jsonl" in err


def test_recordings_that_the_twin_has_seen_are_said_to_be_no_test(run):
    folder = shipped()["retail"]
    code, out, err = run("--tools", "retail", "--recordings", folder / "fixtures.jsonl", "--json")
    assert code == 0
    assert "are among the toolset's own recordings" in err
    assert json.loads(out)["loops"]["closed"][0]["overall"]["right"] == 1.0
