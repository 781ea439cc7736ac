import json

import pytest
from click.testing import CliRunner
from notes_toolset import DYNAMICS, TOOLS

from envace_sdk.cli.tasks_commands import tasks
from envace_sdk.errors import ToolsetError
from envace_sdk.tasks import load_tasks


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "notes"
    place.mkdir()
    (place / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    (place / "dynamics.yaml").write_text(DYNAMICS)
    return place


def run(*arguments):
    return CliRunner().invoke(tasks, ["make", *map(str, arguments)])


def test_tasks_are_made_and_pass_the_check(folder, tmp_path):
    result = run("--tools", folder, "-n", 20, "--tools-per-task", 3, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "20 tasks in" in result.stdout
    files = sorted((tmp_path / "out" / "notes").glob("*.jsonl"))
    assert sum(len(load_tasks(file)) for file in files) == 20
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["options"]["tools_per_task"] == 3
    for file in files:
        checked = CliRunner().invoke(tasks, ["check", str(folder), "--tasks", str(file)])
        assert checked.exit_code == 0, checked.output


def test_the_same_seed_writes_the_same_bytes(folder, tmp_path):
    for name in ("one", "two"):
        assert run("--tools", folder, "-n", 15, "--seed", 4, "-o", tmp_path / name).exit_code == 0
    for file in (tmp_path / "one").rglob("*.jsonl"):
        assert file.read_bytes() == (tmp_path / "two" / file.relative_to(tmp_path / "one")).read_bytes()


def test_splits_and_toolsets_held_back(folder, tmp_path):
    result = run("--tools", folder, "-n", 12, "--split", "1,0,0", "-o", tmp_path / "all")
    assert result.exit_code == 0
    assert [file.name for file in (tmp_path / "all" / "notes").iterdir()] == ["train.jsonl"]
    result = run("--tools", folder.parent, "-n", 12, "--hold-back", "notes", "-o", tmp_path / "held")
    assert result.exit_code == 0
    assert [file.name for file in (tmp_path / "held" / "notes").iterdir()] == ["test.jsonl"]


def test_fewer_than_asked_for_are_written_and_said(folder, tmp_path):
    (folder / "tools.json").write_text(json.dumps({"tools": [TOOLS[1]]}))
    (folder / "world.json").write_text(json.dumps({"collections": {"notes": [{"note_id": "Abc", "title": "milk"}]}}))
    result = run("--tools", folder, "-n", 30, "--max-calls", 1, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "fewer than 30" in result.stderr
    assert "said before" in result.stderr
    assert (tmp_path / "out" / "manifest.json").exists()


def test_a_model_paraphrases(folder, tmp_path):
    script = tmp_path / "model.jsonl"
    script.write_text("".join(json.dumps(f"Say nothing of use, number {n}.") + "\n" for n in range(50)))
    result = run("--tools", folder, "-n", 10, "--model", f"scripted:{script}", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    made = [task for file in (tmp_path / "out" / "notes").glob("*.jsonl") for task in load_tasks(file)]
    assert len(made) == 10


@pytest.mark.parametrize("shares", ["1,2", "a,b,c", "1,2,3,4"])
def test_shares_are_three_numbers(folder, tmp_path, shares):
    result = run("--tools", folder, "--split", shares, "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "three numbers" in result.output


def test_what_is_there_is_not_written_over(folder, tmp_path):
    assert run("--tools", folder, "-n", 3, "-o", tmp_path / "out").exit_code == 0
    again = run("--tools", folder, "-n", 3, "-o", tmp_path / "out")
    assert again.exit_code == 2
    assert "holds task sets already" in again.output


def test_a_toolset_that_is_not_there_is_an_error(tmp_path):
    assert isinstance(run("--tools", tmp_path / "none", "-o", tmp_path / "out").exception, ToolsetError)
