import json
import sys

import pytest

from envace_sdk.cli.main import main
from envace_sdk.world.dynamics import Dynamics


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs `envace-sdk infer`; gives the exit code, standard output and standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["envace-sdk", "infer", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = leaving.code or 0
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def folder(tmp_path):
    def tool(name, *required, **properties):
        members = {key: {"type": kind} for key, kind in properties.items()}
        return {"name": name, "inputSchema": {"type": "object", "properties": members, "required": list(required)}}

    tools = [
        tool("create_note", "title", title="string"),
        tool("get_note", "note-id", **{"note-id": "string"}),
        tool("list_notes", title="string"),
        tool("frobnicate", x="string"),
    ]
    path = tmp_path / "notes"
    path.mkdir()
    (path / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    return path


def test_it_writes_the_file_beside_the_tools_and_prints_what_it_found(run, folder):
    code, out, err = run(folder)
    assert (code, err) == (0, "")
    dynamics = Dynamics.load(folder / "dynamics.yaml")
    assert dynamics.collections["notes"].key == "note-id"
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line}
    assert rows["get_note"][1:5] == ["read", "notes", "note-id", "0.90"]
    assert rows["frobnicate"][1:3] == ["opaque", "0.20"]
    assert "4 tools, 1 collections; 1 of them no rule speaks for" in out


def test_a_file_nobody_edited_is_written_anew(run, folder):
    run(folder)
    before = (folder / "dynamics.yaml").read_text(encoding="utf-8")
    assert run(folder)[0] == 0
    assert (folder / "dynamics.yaml").read_text(encoding="utf-8") == before


@pytest.mark.parametrize("edited", ["format: 1\n", None])
def test_a_file_edited_by_hand_is_kept_unless_forced(run, folder, edited):
    run(folder)
    file = folder / "dynamics.yaml"
    mine = edited or file.read_text(encoding="utf-8").replace("confidence: 0.9", "confidence: 1.0")
    file.write_text(mine, encoding="utf-8")
    code, _, err = run(folder)
    assert code == 3
    assert "edited by hand" in err
    assert file.read_text(encoding="utf-8") == mine
    assert run(folder, "--force")[0] == 0
    assert file.read_text(encoding="utf-8") != mine


def test_output_goes_where_it_is_told_to(run, folder, tmp_path):
    assert run(folder, "-o", tmp_path / "x.yaml")[0] == 0
    assert not (folder / "dynamics.yaml").exists()
    code, out, err = run(folder, "-o", "-")
    assert code == 0
    assert Dynamics.parse(out) == Dynamics.load(tmp_path / "x.yaml")
    assert "get_note" in err


def test_a_file_of_tools_has_its_dynamics_beside_it(run, folder):
    assert run(folder / "tools.json")[0] == 0
    assert (folder / "dynamics.yaml").exists()


def test_explain_says_what_becomes_of_the_arguments(run, folder):
    _, out, _ = run(folder, "--explain")
    assert "  takes  title" in out
    assert "  filters  title: title equals" in out


def test_a_place_that_cannot_be_written_is_an_input_error(run, folder, tmp_path):
    code, _, err = run(folder, "-o", tmp_path / "nowhere" / "x.yaml")
    assert code == 3
    assert "cannot be written" in err
