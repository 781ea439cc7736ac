import asyncio
import json
from collections import Counter

import pytest
from envace_sdk.training.tasks import (
    MakeOptions,
    TaskSet,
    make_task_sets,
    make_tasks,
    paraphrased,
    read_task_sets,
    split_by_template,
    toolset_sources,
    write_task_sets,
)
from notes_toolset import DYNAMICS, TOOLS, open_session, tool

from envace_sdk.errors import TaskError
from envace_sdk.models import Completion, ScriptedModel
from envace_sdk.rehearse import Environment
from envace_sdk.tasks import Attempt, Task, check, judge, load_tasks
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.shipped import shipped
from envace_sdk.tools.toolset import Toolset

TEXT = {"type": "string"}
TICKETS = [
    tool("create_ticket", {"title": TEXT, "priority": {"enum": ["low", "high"]}}, ["title"], description="Create."),
    tool("get_ticket", {"ticket_id": TEXT}, ["ticket_id"], description="Get a ticket."),
    tool("update_ticket", {"ticket_id": TEXT, "title": TEXT, "priority": {"enum": ["low", "high"]}}, ["ticket_id"]),
    tool("list_tickets", {"priority": {"enum": ["low", "high"]}, "title": TEXT}, description="List tickets."),
    tool("delete_ticket", {"ticket_id": TEXT}, ["ticket_id"], description="Delete a ticket."),
    tool("forecast", {"city": TEXT}, ["city"], description="Weather."),
]


def tickets():
    return Environment(Toolset.from_definitions(TICKETS, name="tickets"))


def made(environment, count=40, **options):
    return asyncio.run(make_tasks(environment, MakeOptions(count=count, **options)))


@pytest.fixture(scope="module")
def retail():
    return Environment.load("retail")


@pytest.fixture(scope="module")
def retail_tasks(retail):
    return made(retail, 120, tools_per_task=5).tasks


def test_as_many_as_asked_for_of_many_kinds_and_templates(retail_tasks):
    assert len(retail_tasks) == 120
    kinds = Counter(task.tags[0] for task in retail_tasks)
    assert kinds.keys() == {
        "read", "search", "compute", "change", "refused", "unavailable", "conditional", "pair", "conversation",
    }  # fmt: skip
    assert len({task.template for task in retail_tasks}) > 60
    assert len({(task.instruction, *task.follow_ups, *task.tools) for task in retail_tasks}) == 120
    assert len({task.id for task in retail_tasks}) == 120


def test_each_is_solved_by_its_witness_and_not_by_doing_nothing(retail, retail_tasks):
    report = asyncio.run(check(retail, retail_tasks))
    assert [(t.task.id, t.problems) for t in report.tasks if t.problems] == []


def test_the_same_seed_gives_the_same_tasks_and_another_others(retail):
    assert made(retail, 20, seed=5).tasks == made(retail, 20, seed=5).tasks
    assert made(retail, 20, seed=5).tasks != made(retail, 20, seed=6).tasks


def test_more_tasks_of_the_same_seed_begin_with_the_same(retail):
    few, many = made(retail, 10).tasks, made(retail, 30).tasks
    assert [task.instruction for task in few] == [task.instruction for task in many[:10]]


def parts_of_pairs(tasks):
    templates = [task.template for task in tasks if task.tags[0] in {"pair", "conversation"}]
    return {part.partition("/")[0] for template in templates for part in template.partition("(")[2].split(",")}


def test_two_wishes_are_of_kinds_that_are_wanted_alone_too(retail):
    assert parts_of_pairs(made(retail, 30, mix={"change": 0.1, "pair": 0.5, "conversation": 0.4}).tasks) == {"change"}
    assert parts_of_pairs(made(retail, 40, mix={"pair": 1.0}).tasks) == {"read", "search", "change", "refused"}


def test_no_template_crowds_out_the_others_where_its_tasks_are_limited(retail):
    options = {"count": 40, "mix": {"change": 0.8, "pair": 0.2}}
    free, limited = (
        Counter(task.template for task in made(retail, **options, per_template=most).tasks) for most in (None, 2)
    )
    assert max(free.values()) > 2
    assert max(limited.values()) == 2
    assert limited.total() == free.total() == 40


def test_few_tools_are_shown_and_always_those_that_are_needed(retail_tasks):
    for task in retail_tasks:
        assert len(task.tools) <= 5
        assert {call.tool for call in task.witness} <= set(task.tools)
    assert any(len(task.tools) > len({call.tool for call in task.witness}) for task in retail_tasks)


def test_without_a_limit_all_tools_are_shown(retail):
    assert {task.tools is None for task in made(retail, 20).tasks} == {True}


def test_no_witness_is_longer_than_allowed(retail):
    assert max(len(task.witness) for task in made(retail, 30, max_calls=1).tasks) == 1


def test_no_tool_answers_more_than_a_small_model_can_read(retail):
    for task in made(retail, 20, largest_answer=400).tasks:
        attempt = Attempt(retail, task)
        for call in task.witness:
            asyncio.run(attempt.call(ToolCall(call.tool, call.arguments)))
        assert max((len(json.dumps(c.result, ensure_ascii=False)) for c in attempt.calls), default=0) <= 400


def test_what_the_user_says_holds_what_the_witness_needs(retail, retail_tasks):
    """Every key that is passed on was told, or stands in what an earlier call gave."""
    for task in retail_tasks:
        known = " ".join([task.instruction, *task.follow_ups])
        attempt = Attempt(retail, task)
        for call in task.witness:
            for value in call.arguments.values():
                if isinstance(value, str):
                    assert value in known or json.dumps(value, ensure_ascii=False)[1:-1] in known, task.id
            asyncio.run(attempt.call(ToolCall(call.tool, call.arguments)))
            known += json.dumps(attempt.calls[-1].result, ensure_ascii=False)


def test_facts_that_have_to_be_said_are_not_given_away(retail, retail_tasks):
    """Repeating the request says nothing that is asked for."""
    for task in retail_tasks:
        if task.tags[0] in {"read", "compute", "search"}:
            start = Attempt(retail, task).episode(" ".join([task.instruction, *task.follow_ups]))
            assert judge(task, start).reward < 0.4, task.id


def test_what_cannot_be_done_ends_with_a_refusal_that_is_not_earned_by_claiming_success(retail, retail_tasks):
    refused = [task for task in retail_tasks if task.tags[0] in {"refused", "unavailable"}]
    assert len(refused) > 10
    for task in refused:
        claimed = Attempt(retail, task)
        for call in task.witness:
            asyncio.run(claimed.call(ToolCall(call.tool, call.arguments)))
        assert not judge(task, claimed.episode("Done, as you asked.")).solved
        assert judge(task, claimed.episode(task.answer)).solved


def test_what_was_done_is_not_solved_by_telling_the_user_that_it_cannot_be_done(retail, retail_tasks):
    done = [task for task in retail_tasks if task.tags[0] == "change"]
    assert len(done) > 10
    for task in done:
        denied = Attempt(retail, task)
        for call in task.witness:
            asyncio.run(denied.call(ToolCall(call.tool, call.arguments)))
        assert not judge(task, denied.episode("I am sorry, I cannot do that.")).solved, task.id
        assert judge(task, denied.episode(task.answer)).solved, task.id


def test_what_is_not_available_really_is_not(retail, retail_tasks):
    for task in retail_tasks:
        if task.tags == ["unavailable"]:
            wanted = task.template.removeprefix("unavailable/")
            assert wanted not in task.tools


def test_a_toolset_of_which_only_the_schemas_are_known_gives_tasks_too():
    environment = tickets()
    found = made(environment, 60)
    assert len(found.tasks) == 60
    assert {task.tags[0] for task in found.tasks} >= {"read", "search", "change", "refused", "pair"}
    assert all(task.world.put["tickets"] for task in found.tasks)
    assert asyncio.run(check(environment, found.tasks)).ok
    assert not any("forecast" in {call.tool for call in task.witness} for task in found.tasks)


def test_a_toolset_of_which_nothing_can_be_told_gives_none():
    nothing = Environment(Toolset.from_definitions([tool("ping", description="Ping.")], name="ping"))
    assert made(nothing, 5).tasks == []


def test_time_stamps_and_drawn_numbers_are_never_demanded():
    environment = open_session(start={"notes": [{"note_id": "A", "title": "milk"}], "shelves": []}).environment
    found = made(environment, 30, mix={"change": 1.0})
    conditions = " ".join(item.that for task in found.tasks for item in task.checklist)
    assert "created_at" not in conditions
    assert "N-1" not in conditions
    assert "add_note" in conditions


def test_progress_is_told(retail):
    told = []
    asyncio.run(make_tasks(retail, MakeOptions(count=70), progress=told.append))
    assert told[-1] >= 70
    assert told == sorted(told)


def test_fewer_come_with_the_reasons_when_there_are_no_more():
    small = [TOOLS[1]]
    environment = open_session(tools=small, dynamics=DYNAMICS, start={"notes": [{"note_id": "Abc", "title": "milk"}]})
    found = made(environment.environment, 50, mix={"read": 1.0})
    assert 0 < len(found.tasks) < 50
    assert found.dropped["read: said before"] > 10


def test_no_template_is_in_two_splits_and_shares_are_kept(retail_tasks):
    split = split_by_template(retail_tasks, (0.6, 0.2, 0.2), seed=1)
    templates = {name: {task.template for task in tasks} for name, tasks in split.items()}
    assert not templates["train"] & templates["validation"]
    assert not templates["train"] & templates["test"]
    assert not templates["validation"] & templates["test"]
    assert sum(map(len, split.values())) == len(retail_tasks)
    assert 0.5 < len(templates["train"]) / len({task.template for task in retail_tasks}) < 0.7
    assert {task.tags[0] for task in split["test"]} >= {"read", "change", "refused"}
    assert split == split_by_template(reversed(retail_tasks), (0.6, 0.2, 0.2), seed=1)
    assert split != split_by_template(retail_tasks, (0.6, 0.2, 0.2), seed=2)


def test_a_share_of_nothing_gets_nothing(retail_tasks):
    split = split_by_template(retail_tasks, (1, 0, 0))
    assert (len(split["train"]), split["validation"], split["test"]) == (len(retail_tasks), [], [])
    for shares in ((-1, 1, 1), (0, 0, 0)):
        with pytest.raises(TaskError, match="shares"):
            split_by_template(retail_tasks, shares)


def test_task_sets_are_written_and_read_back(tmp_path, retail_tasks):
    options = MakeOptions(count=120, tools_per_task=5)
    one = TaskSet("retail", "retail", split_by_template(retail_tasks, (0.8, 0.1, 0.1)))
    write_task_sets(tmp_path / "t", [one], options)
    assert read_task_sets(tmp_path / "t") == [one]
    assert load_tasks(tmp_path / "t" / "retail" / "train.jsonl") == one.splits["train"]
    manifest = json.loads((tmp_path / "t" / "manifest.json").read_text())
    assert manifest["toolsets"]["retail"]["tasks"]["train"] == len(one.splits["train"])
    with pytest.raises(TaskError, match="already"):
        write_task_sets(tmp_path / "t", [one], options)
    with pytest.raises(TaskError, match="no manifest"):
        read_task_sets(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "acme/shop", "../../x", "/proc/x", "..", ".", "", ".hidden", "a\\b", "a\0b", "100%", "a%2Fb", "tools: new",
        "manifest.json", "\udcff", "x" * 300, "店" * 100,
    ],
)  # fmt: skip
def test_a_toolset_of_any_name_is_written_in_the_folder_and_read_back(tmp_path, retail_tasks, name):
    sets = [
        TaskSet(one, "retail", {"train": retail_tasks[:count], "validation": [], "test": []})
        for count, one in enumerate(["a", name, "x" * 301], 1)
    ]
    write_task_sets(tmp_path / "in" / "a" / "run" / "t", sets, MakeOptions())
    assert read_task_sets(tmp_path / "in" / "a" / "run" / "t") == sets
    assert len(list((tmp_path / "in" / "a" / "run" / "t").glob("*/train.jsonl"))) == 3
    outside = {path for path in tmp_path.rglob("*") if not path.is_relative_to(tmp_path / "in" / "a" / "run")}
    assert outside == {tmp_path / "in", tmp_path / "in" / "a"}


@pytest.mark.parametrize("name", ["retail", "file_workspace", "My tools (v1.2)", "Läden", "x@acme-3"])
def test_the_folder_of_a_toolset_of_an_ordinary_name_is_its_name(tmp_path, retail_tasks, name):
    write_task_sets(tmp_path, [TaskSet(name, "retail", {"train": retail_tasks[:2]})], MakeOptions())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "manifest.json"])
    assert "folder" not in json.loads((tmp_path / "manifest.json").read_text())["toolsets"][name]


def test_a_manifest_that_names_no_folder_means_the_one_of_the_toolsets_name(tmp_path, retail_tasks):
    one = TaskSet("new: 100%", "retail", {"train": retail_tasks[:2], "validation": [], "test": []})
    write_task_sets(tmp_path, [one], MakeOptions())
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / manifest["toolsets"][one.toolset].pop("folder")).rename(tmp_path / one.toolset)
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert read_task_sets(tmp_path) == [one]


def test_a_toolset_that_is_held_back_is_all_test(tmp_path):
    for name in ("left", "right"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tools.json").write_text(json.dumps(TICKETS))
    sources = toolset_sources([str(tmp_path)])
    making = asyncio.run(make_task_sets(sources, MakeOptions(count=20), held_back=["right"]))
    left, right = making.sets
    assert (left.toolset, right.toolset) == ("left", "right")
    assert len(right.splits["test"]) == 20
    assert len(left.splits["train"]) > 10
    with pytest.raises(TaskError, match="no toolset 'up'"):
        asyncio.run(make_task_sets(sources, MakeOptions(count=1), held_back=["up"]))
    with pytest.raises(TaskError, match="named 'left'"):
        asyncio.run(make_task_sets([sources[0], sources[0]], MakeOptions(count=1)))


def test_a_folder_of_no_toolsets_is_an_error(tmp_path):
    with pytest.raises(TaskError, match=r"tools\.json"):
        toolset_sources([str(tmp_path)])


def paraphrase(task, says):
    model = ScriptedModel(says)
    return asyncio.run(paraphrased([task], model, seed=1))[0], model


TASK = Task.model_validate(
    {
        "id": "t",
        "instruction": 'Update a ticket. The ticket id is T-17, the amount is 1250.5 and the title is "Oil the gate".',
        "follow_ups": ["Thank you. Delete ticket T-18."],
        "checklist": [{"id": "a", "says": "-", "that": "called('update_ticket') == 1"}],
        "witness": [
            {"tool": "update_ticket", "arguments": {"ticket_id": "T-17", "amount": 1250.5, "title": "Oil the gate"}},
            {"tool": "delete_ticket", "arguments": {"ticket_id": "T-18"}},
        ],
    }
)


def test_a_paraphrase_that_keeps_what_must_be_said_is_taken():
    told = ['Could T-17 be renamed to "Oil the gate", at 1,250.50?', "Great, and get rid of T-18."]
    task, model = paraphrase(TASK, told)
    assert [task.instruction, *task.follow_ups] == told
    assert len(model.requests) == 2
    assert task.checklist == TASK.checklist


@pytest.mark.parametrize(
    "told",
    [
        'Could T-71 be renamed to "Oil the gate", at 1,250.50?',
        'Could T-17 be renamed to "Oil the door", at 1,250.50?',
        'Could T-17 be renamed to "Oil the gate"?',
        "",
        'T-17 "Oil the gate" 1250.5' + " and so on" * 100,
        Completion('Could T-17 be renamed to "Oil the gate", at 1,250.50', finish_reason="length"),
    ],
)
def test_any_other_is_not(told):
    task, _ = paraphrase(TASK, [told, "Remove T-18."])
    assert task.instruction == TASK.instruction
    assert task.follow_ups == ["Remove T-18."]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(shipped()))
@pytest.mark.parametrize("rules", ["own", "inferred"])
def test_every_shipped_toolset_gives_tasks_with_its_rules_and_without(name, rules):
    environment = Environment.load(name)
    if rules == "inferred":
        environment = Environment(environment.toolset)
    found = made(environment, 50, tools_per_task=5)
    assert len(found.tasks) == 50
    assert asyncio.run(check(environment, found.tasks)).ok
    assert len({task.template for task in found.tasks}) > 20
