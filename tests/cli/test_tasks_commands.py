import json

import pytest
from click.testing import CliRunner
from notes_toolset import DYNAMICS, TOOLS

from envace_sdk.cli.tasks_commands import tasks
from envace_sdk.errors import TaskError

GOOD = {
    "id": "add-tea",
    "instruction": "Add tea.",
    "checklist": [{"id": "there", "says": "Tea is there.", "that": "count('notes', {'title': 'tea'}) == 1"}],
    "witness": [{"tool": "add_note", "arguments": {"title": "tea"}}],
}
BAD = {**GOOD, "id": "bad[red]", "witness": []}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    (tmp_path / "dynamics.yaml").write_text(DYNAMICS)
    (tmp_path / "tasks.jsonl").write_text(f"{json.dumps(GOOD)}\n{json.dumps(BAD)}\n")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(tasks, ["check", *map(str, arguments)], catch_exceptions=True)


def test_a_failed_task_ends_with_exit_code_1_and_its_reason(folder):
    result = run(folder)
    assert result.exit_code == 1
    assert "add-tea" in result.stdout
    assert "bad[red]" in result.stdout
    assert "not solved" in result.stdout
    assert "2 tasks, 1 failed task, 0 warnings" in result.stdout
    assert result.stderr == ""


def test_one_task_is_checked_by_its_id(folder):
    result = run(folder, "--task", "add-tea")
    assert result.exit_code == 0
    assert "bad" not in result.stdout


def test_json_says_the_same(folder):
    result = run(folder, "--format", "json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert [(task["id"], task["ok"]) for task in report["tasks"]] == [("add-tea", True), ("bad[red]", False)]
    assert report["tasks"][1]["problems"][0]["item"] == "there"
    assert not report["ok"]


def test_another_task_file_can_be_given(folder, tmp_path):
    (tmp_path / "more.jsonl").write_text(json.dumps(GOOD))
    assert run(folder, "--tasks", tmp_path / "more.jsonl").exit_code == 0


def test_an_unknown_task_is_an_input_error(folder):
    result = run(folder, "--task", "nope")
    assert isinstance(result.exception, TaskError)
    assert "'nope'" in str(result.exception)


def test_a_toolset_without_tasks_is_an_input_error(folder):
    (folder / "tasks.jsonl").unlink()
    result = run(folder)
    assert isinstance(result.exception, TaskError)
    assert "--tasks" in str(result.exception)
