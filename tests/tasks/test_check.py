import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notes_toolset import DYNAMICS, TOOLS, observed, open_session

from envace_sdk.tasks import Task, check

NOTES = {"notes": [{"note_id": "A", "title": "milk"}, {"note_id": "B", "title": "bread"}], "shelves": []}


def item(that, name="done", **more):
    return {"id": name, "says": "It is so.", "that": that, **more}


GOOD = {
    "id": "retitle",
    "instruction": "Call note A cheese.",
    "checklist": [
        item("world.notes['A'].title == 'cheese'", "title", weight=3),
        item("changed() == ['notes/A']", "nothing-else"),
        item("called('drop_note') == 0", "no-drop"),
        item("said('cheese')", "told"),
    ],
    "witness": [{"tool": "retitle_note", "arguments": {"note_id": "A", "title": "cheese"}}],
    "answer": "It is called Cheese now.",
}


def checked(*tasks, environment=None, **start):
    environment = environment or open_session(start={**NOTES, **start}).environment
    parsed = [Task.model_validate(task) for task in tasks]
    return asyncio.run(check(environment, parsed))


def problems(*tasks, **start):
    """Of the first task: severity, kind and item of each problem."""
    return [(p.severity, p.kind, p.item) for p in checked(*tasks, **start).tasks[0].problems]


def message(task, **start):
    (problem,) = checked(task, **start).tasks[0].problems
    return problem.message


def test_a_good_task_is_proved():
    report = checked(GOOD)
    assert report.ok
    (found,) = report.tasks
    assert found.problems == ()
    assert found.witness.reward == 1.0
    assert found.idle.reward == pytest.approx(1 / 6)
    json.dumps(report.as_json())


def test_a_witness_that_does_not_solve_is_an_error_with_the_reason():
    task = {**GOOD, "witness": [{"tool": "retitle_note", "arguments": {"note_id": "A", "title": "chess"}}]}
    report = checked(task)
    assert not report.ok
    assert [(p.kind, p.item) for p in report.tasks[0].problems] == [("not solved", "title")]
    assert '"chess"' in report.tasks[0].problems[0].message


def test_a_task_without_a_witness_is_an_error():
    assert problems({**GOOD, "witness": None}) == [("error", "no witness", None)]


def test_a_witness_may_do_nothing_and_say_no():
    task = {
        **GOOD,
        "checklist": [item("said('cannot')"), item("changed() == []", "still")],
        "witness": [],
        "answer": "I cannot.",
    }
    assert problems(task) == []


def test_a_task_that_nothing_solves_is_an_error():
    task = {**GOOD, "checklist": [item("changed() == []")], "witness": [], "answer": "No."}
    assert problems(task) == [("error", "solved by nothing", None)]


def test_much_reward_for_nothing_is_a_warning():
    task = {**GOOD, "checklist": [*GOOD["checklist"][:1], item("called('drop_note') == 0", "no-drop", weight=7)]}
    assert problems(task) == [("warning", "generous", None)]


def test_ids_given_twice_are_an_error_for_both():
    report = checked(GOOD, GOOD)
    assert [[p.kind for p in t.problems] for t in report.tasks] == [["duplicate id"], ["duplicate id"]]
    assert not report.ok


@pytest.mark.parametrize(
    ("that", "says"),
    [
        ("1 +", "`1 +`"),
        ("caled('x') == 1", "did you mean called"),
        ("false && wrold.notes['A'].title == 'x'", "wrold"),
        ("false && world.nots['A'].title == 'x'", "no collection 'nots'"),
        ("false && start['nots'] == {}", "no collection 'nots'"),
        ("false && count('nots') == 1", "no collection 'nots'"),
        ("false && get('nots', 'A') == null", "no collection 'nots'"),
        ("called('drop_nots') == 0", "no tool 'drop_nots'"),
        ("attempted('drop_nots', {}) == 0", "no tool 'drop_nots'"),
        ("false && calls.exists(c, d.tool == 'x')", "no 'd'"),
    ],
)
def test_a_condition_that_is_wrong_whatever_happens_is_found_without_luck(that, says):
    task = {**GOOD, "checklist": [*GOOD["checklist"], item(that, "wrong")]}
    found = [p for p in checked(task).tasks[0].problems if p.kind == "broken condition"]
    assert {(p.severity, p.item) for p in found} == {("error", "wrong")}
    assert says in found[0].message


def test_names_that_macros_bind_are_known():
    that = "calls.exists(c, c.tool == 'retitle_note') && calls.all(i, c, i >= 0) && world.notes.exists(k, k == 'A')"
    assert problems({**GOOD, "checklist": [item(that)]}) == []


def test_a_condition_that_breaks_after_the_witness_is_an_error():
    task = {**GOOD, "checklist": [*GOOD["checklist"], item("world.notes['Z'].title == 'x'", "z")]}
    assert problems(task) == [("error", "broken condition", "z")]


def test_a_condition_that_breaks_only_when_nothing_is_done_is_a_warning():
    task = {**GOOD, "checklist": [*GOOD["checklist"], item("calls[0].tool == 'retitle_note'", "first")]}
    report = checked(task)
    assert report.ok
    assert problems(task) == [("warning", "broken condition", "first")]


def test_a_condition_that_is_neither_true_nor_false_is_broken():
    assert ("error", "broken condition", "n") in problems(
        {**GOOD, "checklist": [*GOOD["checklist"], item("called('retitle_note')", "n")]}
    )


@pytest.mark.parametrize("that", ["true", "size(calls) >= 0", "said('x') || !said('x')", "changed() == changed()"])
def test_an_item_that_always_holds_tells_nothing(that):
    task = {**GOOD, "checklist": [*GOOD["checklist"], item(that, "idle")]}
    assert problems(task) == [("warning", "tells nothing", "idle")]


@pytest.mark.parametrize(
    "that",
    [
        "changed().all(c, c == 'notes/A')",
        "called('drop_note') == 0",
        "!said('milk')",
        "world.notes['B'] == start.notes['B']",
        "size(world.notes) == 2",
        "find('notes', {'title': 'tea'}) == []",
        "count(world.notes, {'title': start.notes['A'].title + '!'}) == 0",
        "find('notes', {'title': 'butter'}).all(n, n.note_id == 'A')",
        "!('Z' in world.notes)",
        "get('notes', 'Z') == null",
        "calls.all(c, !c.is_error) && size(calls) < 5",
    ],
)
def test_an_item_that_guards_tells_something(that):
    assert problems({**GOOD, "checklist": [*GOOD["checklist"], item(that, "guard")]}) == []


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ({"tool": "retitel_note"}, r"witness call 1 (retitel_note): the toolset has no such tool"),
        ({"tool": "retitle_note", "arguments": {"note_id": "A"}}, "witness call 1 (retitle_note): Invalid arguments"),
        ({"tool": "read_note", "arguments": {"note_id": {"$cel": "results[0].x"}}}, "`results[0].x`"),
        ({"tool": "read_note", "arguments": {"note_id": {"$cel": "1 +"}}}, "`1 +`"),
        ({"tool": "read_note", "arguments": {"note_id": {"$cel": "answer"}}}, "answer"),
    ],
)
def test_a_witness_call_that_cannot_be_made_is_an_error(call, says):
    found = checked({**GOOD, "witness": [call]}).tasks[0].problems
    assert [(p.severity, p.kind) for p in found] == [("error", "invalid witness")]
    assert says in found[0].message


@pytest.mark.parametrize("expect", ["success", "conflict"])
def test_a_witness_call_that_comes_to_something_unexpected_is_a_warning(expect):
    stray = {"tool": "read_note", "arguments": {"note_id": "Z"}, "expect": expect}
    task = {**GOOD, "witness": [stray, *GOOD["witness"]]}
    report = checked(task)
    assert report.ok
    assert problems(task) == [("warning", "unexpected outcome", None)]
    assert "witness call 1 (read_note)" in report.tasks[0].problems[0].message


def test_a_witness_call_that_should_fail_and_does_not_is_a_warning():
    task = {**GOOD, "witness": [{**GOOD["witness"][0], "expect": "error"}]}
    assert problems(task) == [("warning", "unexpected outcome", None)]


@pytest.mark.parametrize("expect", ["error", "not_found"])
def test_a_witness_may_expect_an_error(expect):
    stray = {"tool": "read_note", "arguments": {"note_id": "Z"}, "expect": expect}
    assert problems({**GOOD, "witness": [stray, *GOOD["witness"]]}) == []


def test_a_witness_uses_what_earlier_calls_answered():
    task = {
        "id": "add",
        "instruction": "Add tea, then call it green tea.",
        "checklist": [item("world.notes.exists(k, n, n.title == 'green tea' && !(k in start.notes))")],
        "witness": [
            {"tool": "add_note", "arguments": {"title": "tea"}},
            {
                "tool": "retitle_note",
                "arguments": {
                    "note_id": {"$cel": "results[0].note_id"},
                    "title": {"$cel": "'green ' + results[0].title"},
                },
            },
        ],
    }
    assert problems(task) == []


def test_a_task_begins_in_its_own_world():
    task = {
        **GOOD,
        "world": {
            "clock": "2030-01-01T00:00:00Z",
            "put": {"notes": [{"note_id": "A", "title": "tea"}, {"note_id": "C", "title": "new"}]},
            "remove": {"notes": ["B"]},
        },
        "checklist": [
            item(
                "start.notes['A'].title == 'tea' && start.notes['C'].title == 'new' && !('B' in start.notes)"
                " && changed() == ['notes/A']",
                "start",
            ),
            item("now > timestamp('2030-01-01T00:00:00Z')", "clock"),
            item("called('read_note', {'note_id': 'B'}) == 0 && attempted('read_note') == 1", "gone"),
        ],
        "witness": [{"tool": "read_note", "arguments": {"note_id": "B"}, "expect": "not_found"}, *GOOD["witness"]],
    }
    assert problems(task) == []


@pytest.mark.parametrize(
    ("world", "says"),
    [
        ({"put": {"nots": [{"note_id": "1"}]}}, "world.put: there is no collection 'nots'"),
        ({"put": {"notes": [{"title": "x"}]}}, "world.put.notes.0: it has no 'note_id'"),
        ({"put": {"notes": [json.loads('{"a":' * 200 + "1" + "}" * 200)]}}, "world.put.notes.0.a.a"),
        ({"remove": {"notes": ["Z"]}}, "world.remove: there is no notes/Z"),
        ({"remove": {"nots": ["Z"]}}, "world.remove: there is no nots/Z"),
    ],
)
def test_a_world_that_does_not_fit_is_an_error(world, says):
    report = checked({**GOOD, "world": world})
    assert message({**GOOD, "world": world}).startswith(says)
    assert report.tasks[0].witness is None
    assert not report.ok


def test_recordings_of_what_a_task_changes_are_not_answered():
    recorded = [observed("read_note", {"note_id": "A"}, {"note_id": "A", "title": "milk"})]
    environment = open_session(start=NOTES, fixtures=recorded).environment
    task = {
        **GOOD,
        "world": {"put": {"notes": [{"note_id": "A", "title": "tea"}]}},
        "checklist": [item("size(calls) > 0 && calls[0].result.title == 'tea'")],
        "witness": [{"tool": "read_note", "arguments": {"note_id": "A"}}],
    }
    assert checked(task, environment=environment).tasks[0].problems == ()


CONDITIONS = st.recursive(
    st.sampled_from(
        [
            "find('notes', {'a': 1, 'a.b': 2, 'c': calls[0]}) == []",
            "find(start.notes, {world: world}) == []",
            "find('nots', {'a': 1}) == []",
            "count(answer, {1: 2}) == 0",
            "find('notes', {'a': x, 'b': mint('notes')}) == []",
            "world.notes.all(k, n, n.title != k)",
            "world.notes.filter(k, k)",
            "calls.map(c, c.result)[0]",
            "called(answer, calls) == 0",
            "said(start)",
            "changed()[0] == 'notes/A'",
            "now",
            "a.b.c",
            "1 / 0 == size(world)",
        ]
    )
    | st.text(max_size=8),
    lambda inner: (
        st.builds("({}) && ({})".format, inner, inner)
        | st.builds("({}) || ({})".format, inner, inner)
        | st.builds("!({})".format, inner)
        | st.builds("calls.all(c, {})".format, inner)
        | st.builds("({}) ? ({}) : ({})".format, inner, inner, inner)
    ),
    max_leaves=4,
)


@given(st.lists(CONDITIONS.filter(bool), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_whatever_the_conditions_checking_reports_and_does_not_raise(conditions):
    task = {**GOOD, "checklist": [item(that, f"i{n}") for n, that in enumerate(conditions)]}
    (found,) = checked(task).tasks
    assert found.ok == (
        found.witness.solved and not found.idle.solved and not any(p.severity == "error" for p in found.problems)
    )
    assert found.witness.solved or not found.ok
    json.dumps(found.as_json())


def test_checking_twice_gives_the_same_report():
    assert checked(GOOD, {**GOOD, "id": "b", "witness": None}) == checked(GOOD, {**GOOD, "id": "b", "witness": None})


def test_a_rule_that_fails_is_reported_and_the_other_tasks_are_checked():
    broken = DYNAMICS + "  fail: {effect: compute, returns: {value: args.x.y.z}}\n"
    tools = [*TOOLS, {"name": "fail", "inputSchema": {"type": "object"}}]
    environment = open_session(start=NOTES, tools=tools, dynamics=broken).environment
    report = checked({**GOOD, "id": "bad", "witness": [{"tool": "fail"}]}, GOOD, environment=environment)
    assert [p.kind for p in report.tasks[0].problems] == ["environment"]
    assert report.tasks[1].ok


def test_progress_is_told_task_by_task():
    seen = []
    environment = open_session(start=NOTES).environment
    asyncio.run(check(environment, [Task.model_validate(GOOD)], progress=lambda task: seen.append(task.id)))
    assert seen == ["retitle"]
