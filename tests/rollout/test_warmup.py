import asyncio
import json

import pytest
from envace_sdk.training.rewards import Rewarder
from envace_sdk.training.rollout import Case, RolloutSource
from envace_sdk.training.rollout_config import RolloutConfig
from envace_sdk.training.segments import render
from envace_sdk.training.tasks import MakeOptions, make_tasks
from envace_sdk.training.warmup import demonstrate, recorded_rows, witness_rows, worked_example
from notes_toolset import observed, open_session
from rollout_players import FORM, TOKENS, collect, is_rehearsal, model_of

from envace_sdk.errors import TrainingError
from envace_sdk.rehearse import Environment
from envace_sdk.tasks import Task

START = {"notes": [{"note_id": "A", "title": "milk"}], "shelves": []}
ENVIRONMENT = open_session(start=START).environment
TASK = Task.model_validate(
    {
        "id": "talk",
        "instruction": "Add a note that says tea.",
        "follow_ups": ["Drop it again."],
        "checklist": [{"id": "there", "says": "-", "that": "called('drop_note') == 1"}],
        "witness": [
            {"tool": "add_note", "arguments": {"title": "tea"}},
            {"tool": "drop_note", "arguments": {"note_id": {"$cel": "results[0].note_id"}}, "turn": 1},
        ],
        "answer": "Added.\nGone.",
    }
)
CASE = Case(ENVIRONMENT, TASK)


def source(rendering="split", **changes):
    return RolloutSource(
        model_of(str),
        RolloutConfig(**changes),
        Rewarder(),
        rendering=rendering,
        tokens=TOKENS if rendering == "stream" else None,
    )


def test_a_witness_is_shown_in_both_roles_with_the_environments_true_answers():
    trajectory = asyncio.run(demonstrate(CASE, source(), TOKENS))
    rows = trajectory.rows()
    assert [row.role for row in rows] == ["act", "rehearse", "act", "act", "rehearse", "act"]
    assert {row.reward for row in rows} == {1.0}
    assert all(row.logprobs == () for row in rows)
    said = [TOKENS.text(row.completion_ids) for row in rows]
    note = json.loads(said[1].removeprefix("<response>").removesuffix("</response><|im_end|>"))["result"]
    assert note["title"] == "tea"
    assert note["note_id"] in said[3]
    assert (said[2], said[5]) == ("Added.<|im_end|>", "Gone.<|im_end|>")


@pytest.mark.parametrize("rendering", ["split", "stream"])
def test_a_model_that_says_what_was_shown_is_asked_the_same_prompts(rendering):
    shown = asyncio.run(demonstrate(CASE, source(rendering), TOKENS)).rows()
    learned = {TOKENS.text(row.prompt_ids): TOKENS.text(row.completion_ids).removesuffix("<|im_end|>") for row in shown}
    config = RolloutConfig(group=1)
    options = {"rendering": rendering, "tokens": TOKENS} if rendering == "stream" else {}
    (trajectory,) = collect(
        RolloutSource(model_of(lambda prompt: learned[prompt]), config, Rewarder(), **options), [CASE]
    )
    assert trajectory.solved
    assert [row.prompt_ids for row in trajectory.rows()] == [row.prompt_ids for row in shown]


def test_a_demonstration_in_a_stream_is_one_sequence():
    rows = asyncio.run(demonstrate(CASE, source("stream"), TOKENS)).rows()
    assert len(render(rows, "stream")) == 1
    assert len(rows) == 6


def test_a_task_without_a_witness_or_too_long_for_the_limits_teaches_nothing():
    with pytest.raises(TrainingError, match="no witness"):
        asyncio.run(demonstrate(Case(ENVIRONMENT, TASK.model_copy(update={"witness": None})), source(), TOKENS))
    with pytest.raises(TrainingError, match="ends with turns"):
        asyncio.run(demonstrate(CASE, source(max_turns=2), TOKENS))
    assert asyncio.run(witness_rows([CASE], source(max_turns=2), TOKENS)) == []


def test_recorded_calls_teach_both_roles_and_are_not_shown_to_themselves():
    fixtures = [
        observed("read_note", {"note_id": "A"}, {"note_id": "A", "title": "milk"}, "one", 0),
        observed("read_note", {"note_id": "Z"}, "No such note: Z", "one", 1, is_error=True),
        observed("read_note", {"note_id": "A"}, {"note_id": "A", "title": "cream"}, "two", 0),
    ]
    environment = open_session(fixtures=fixtures).environment
    rows = recorded_rows(environment, source(), TOKENS)
    assert [row.role for row in rows] == ["act", "rehearse"] * 3
    first = TOKENS.text(rows[1].prompt_ids)
    assert TOKENS.text(rows[1].completion_ids) == (
        '<response>{"result": {"note_id": "A", "title": "milk"}}</response><|im_end|>'
    )
    assert "cream" in first
    assert "No such note" not in first
    second = TOKENS.text(rows[3].prompt_ids)
    assert second.count("milk") == 1  # as history
    assert "No such note: Z" in TOKENS.text(rows[3].completion_ids)
    assert FORM.render_call("read_note", {"note_id": "A"}) in TOKENS.text(rows[0].completion_ids)
    assert "The note id is A." in TOKENS.text(rows[0].prompt_ids)


def test_in_a_stream_recordings_teach_the_acting_role():
    fixtures = [observed("read_note", {"note_id": "A"}, {"note_id": "A", "title": "milk"})]
    rows = recorded_rows(open_session(fixtures=fixtures).environment, source("stream"), TOKENS)
    assert [row.role for row in rows] == ["act"]


def test_every_task_that_is_made_of_a_shipped_toolset_can_be_shown():
    environment = Environment.load("issue_tracker")
    made = asyncio.run(make_tasks(environment, MakeOptions(count=40, tools_per_task=5)))
    assert len(made.tasks) == 40
    for task in made.tasks:
        trajectory = asyncio.run(demonstrate(Case(environment, task), source(), TOKENS))
        assert trajectory.ending == "answered"
    assert len(recorded_rows(environment, source(), TOKENS)) > 60


def test_a_worked_example_is_the_conversation_of_a_witness():
    single = Case(ENVIRONMENT, TASK.model_copy(update={"follow_ups": [], "answer": "All done."}))
    messages = asyncio.run(worked_example(single, FORM))
    assert [message.role for message in messages] == ["user", "assistant", "user", "assistant", "user", "assistant"]
    assert messages[-1].content == "All done."
    with pytest.raises(TrainingError, match="one turn"):
        asyncio.run(worked_example(CASE, FORM))


def test_worked_examples_are_shown_to_the_acting_role():
    single = Case(ENVIRONMENT, TASK.model_copy(update={"follow_ups": [], "answer": "All done."}))
    messages = asyncio.run(worked_example(single, FORM))
    prompts = []

    def says(prompt):
        prompts.append(prompt)
        return "Nothing." if not is_rehearsal(prompt) else ""

    model = model_of(says)
    collect(RolloutSource(model, RolloutConfig(group=1), Rewarder(), examples={"notes": [messages]}), [CASE])
    assert prompts[0].index("All done.") < prompts[0].rindex("Add a note that says tea.")
