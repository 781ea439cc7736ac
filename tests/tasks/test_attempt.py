import asyncio

from notes_toolset import open_session

from envace_sdk.tasks import Attempt, Task, judge
from envace_sdk.tools.model import ToolCall

TASK = Task.model_validate(
    {
        "id": "t",
        "instruction": "Add tea.",
        "world": {"seed": 5},
        "checklist": [{"id": "added", "says": "Tea is there.", "that": "count('notes', {'title': 'tea'}) == 1"}],
    }
)


def attempt(*calls, **options):
    made = Attempt(open_session().environment, TASK, **options)
    results = [asyncio.run(made.call(call)) for call in calls]
    return made, results


def test_an_attempt_records_each_call_and_what_it_came_to():
    made, results = attempt(
        ToolCall("add_note", {"title": "tea"}),
        ToolCall("add_note", {"title": 3}),
        ToolCall("read_note", {"note_id": "none"}),
    )
    episode = made.episode("Done.")
    assert [(c.tool, c.outcome, c.is_error, c.layer) for c in episode.calls] == [
        ("add_note", "success", False, "dynamics"),
        ("add_note", "validation_error", True, "arguments"),
        ("read_note", "not_found", True, "dynamics"),
    ]
    assert episode.calls[0].result == results[0].value()
    assert judge(TASK, episode).solved
    assert episode.answer == "Done."


def test_an_unknown_tool_is_answered_with_an_error_and_recorded():
    made, results = attempt(ToolCall("ad_note", {"title": "tea"}))
    assert results[0].is_error
    assert "ad_note" in results[0].first_text
    record = made.episode().calls[0]
    assert (record.is_error, record.layer) == (True, None)
    assert made.world.state is made.episode().start


def test_attempts_do_not_share_a_world():
    environment = open_session().environment
    one, other = Attempt(environment, TASK), Attempt(environment, TASK)
    asyncio.run(one.call(ToolCall("add_note", {"title": "tea"})))
    assert judge(TASK, one.episode()).solved
    assert not judge(TASK, other.episode()).solved


def test_an_episode_is_not_changed_by_later_calls():
    environment = open_session().environment
    made = Attempt(environment, TASK)
    early = made.episode()
    asyncio.run(made.call(ToolCall("add_note", {"title": "tea"})))
    assert (early.calls, early.final) == ((), early.start)


def test_the_seed_is_the_tasks_unless_another_is_given():
    assert attempt()[0].world.state.seed == 5
    assert attempt(seed=9)[0].world.state.seed == 9
