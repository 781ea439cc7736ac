import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import TaskError
from envace_sdk.tasks import Task, load_tasks

ITEM = {"id": "done", "says": "It is done.", "that": "called('x') == 1"}
TASK = {
    "id": "cancel",
    "instruction": "Cancel it.\u2028Please.",
    "tags": ["orders"],
    "world": {
        "seed": 7,
        "clock": "2026-03-01T10:00:00+02:00",
        "put": {"orders": [{"order_id": "1"}]},
        "remove": {"orders": ["2", 3, ["a", 1]]},
    },
    "checklist": [ITEM, {**ITEM, "id": "said", "weight": 2}],
    "witness": [{"tool": "x", "arguments": {"a": {"$cel": "results[0].b"}}, "expect": "not_found"}, {"tool": "y"}],
    "answer": "Done.",
}


def write(path, *lines):
    path.write_text(
        "\n".join(json.dumps(line, ensure_ascii=False) if isinstance(line, dict) else line for line in lines)
    )
    return path


def load_one(tmp_path, task):
    return load_tasks(write(tmp_path / "tasks.jsonl", task))[0]


def test_a_task_is_read_as_it_is_written(tmp_path):
    task = load_one(tmp_path, TASK)
    assert task.world.clock == datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
    assert [item.weight for item in task.checklist] == [1, 2]
    assert task.model_dump(mode="json", exclude_defaults=True) == {
        **TASK,
        "world": {**TASK["world"], "clock": "2026-03-01T08:00:00Z"},
        "checklist": [ITEM, {**ITEM, "id": "said", "weight": 2}],
        "witness": [TASK["witness"][0], {"tool": "y"}],
    }


def test_what_may_be_left_out_has_its_default(tmp_path):
    task = load_one(tmp_path, {"id": "t", "instruction": "Do.", "checklist": [ITEM]})
    assert (task.tags, task.answer, task.witness, task.world.seed, task.world.clock) == ([], "", None, 0, None)


def test_a_folder_stands_for_its_task_file_and_blank_lines_are_skipped(tmp_path):
    write(tmp_path / "tasks.jsonl", "\ufeff" + json.dumps(TASK), "", "  ", TASK, "")
    assert [task.id for task in load_tasks(tmp_path)] == ["cancel", "cancel"]
    assert load_tasks(str(tmp_path / "tasks.jsonl"))[1] == load_tasks(tmp_path)[0]


def changed(**fields):
    return {**TASK, **fields}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "expected a JSON object"),
        ('{"id": NaN}', "NaN is not a JSON number"),
        ('{"id": "a", "id": "b"}', "the member 'id' is given twice"),
        ({}, "id: Field required"),
        (changed(id=""), "task '': id: String should have at least 1 character"),
        (changed(id=3), r":1: id: Input should be a valid string"),
        (changed(witnes=[]), "task 'cancel': witnes: unknown field"),
        (changed(checklist=[]), "task 'cancel': checklist: .*at least 1 item"),
        (changed(checklist=[{**ITEM, "weigth": 2}]), r"checklist\.0\.weigth: unknown field"),
        (changed(checklist=[{**ITEM, "weight": 0}]), r"checklist\.0\.weight: .*greater than 0"),
        (changed(checklist=[{**ITEM, "weight": "1"}]), r"checklist\.0\.weight: .*valid number"),
        (changed(checklist=[{**ITEM, "weight": True}]), r"checklist\.0\.weight"),
        (changed(checklist=[ITEM, ITEM]), "two checklist items have the id 'done'"),
        (changed(world={"clock": "yesterday"}), r"world\.clock: expected a time like 2026"),
        (changed(world={"clock": 3}), r"world\.clock"),
        (changed(world={"seed": "3"}), r"world\.seed"),
        (changed(world={"put": {"orders": {}}}), r"world\.put\.orders"),
        (changed(world={"put": {"orders": [3]}}), r"world\.put\.orders\.0"),
        (changed(world={"remove": {"orders": [None]}}), r"world\.remove\.orders\.0"),
        (changed(witness=[{"tool": "x", "args": {}}]), r"witness\.0\.args: unknown field"),
        (changed(witness=[{"tool": "x", "expect": "maybe"}]), r"witness\.0\.expect"),
        (changed(answer=None), "answer: Input should be a valid string"),
    ],
)
def test_a_mistake_is_named_with_file_line_task_and_field(tmp_path, line, says):
    path = write(tmp_path / "tasks.jsonl", line)
    with pytest.raises(TaskError, match=says) as caught:
        load_tasks(path)
    assert str(caught.value).startswith(f"{path}:1: ")


def test_all_mistakes_are_named_at_once(tmp_path):
    path = write(tmp_path / "tasks.jsonl", {}, TASK, "x", changed(answer=1, tags=1))
    with pytest.raises(TaskError) as caught:
        load_tasks(path)
    lines = str(caught.value).splitlines()
    assert [line.removeprefix(f"{path}:")[:2] for line in lines] == ["1:", "3:", "4:"]
    assert "tags: " in lines[2]
    assert "answer: " in lines[2]


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, content):
    if content is not None:
        (tmp_path / "tasks.jsonl").write_bytes(content)
    with pytest.raises(TaskError, match=r"tasks\.jsonl: cannot be read"):
        load_tasks(tmp_path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*TASK, *ITEM, "put", "remove", "tool", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from(sorted(TASK)))
def test_any_line_is_a_task_or_a_task_error(tmp_path_factory, value, field):
    path = tmp_path_factory.mktemp("any") / "tasks.jsonl"
    for data in (value, {**TASK, field: value}):
        path.write_text(json.dumps(data))
        try:
            found = load_tasks(path)
        except TaskError as error:
            says = str(error)
        else:
            says = f"{path}:1: " if isinstance(found[0], Task) else ""
        assert says.startswith(f"{path}:1: ")
