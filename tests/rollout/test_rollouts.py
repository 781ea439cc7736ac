import asyncio
import itertools
import json

import pytest
from envace_sdk.training.rewards import Rewarder
from envace_sdk.training.rollout import Case, RolloutSource, rows_of, source_of
from envace_sdk.training.rollout_config import RolloutConfig, ScheduleConfig
from envace_sdk.training.segments import render
from notes_toolset import open_session
from rollout_players import (
    TOKENS,
    collect,
    is_rehearsal,
    model_of,
    says_in_order,
    tool_call,
    witness_of,
)

from envace_sdk.errors import ModelError, TrainingError, UpstreamError
from envace_sdk.models import Completion
from envace_sdk.tasks import Task
from envace_sdk.tools.model import ToolResult

ENVIRONMENT = open_session(
    start={"notes": [{"note_id": "A", "title": "milk"}, {"note_id": "B", "title": "bread"}], "shelves": []}
).environment


def task(**changes):
    return Task.model_validate(
        {
            "id": "add",
            "instruction": "Add a note that says tea.",
            "checklist": [
                {"id": "there", "says": "Tea is there.", "that": "count('notes', {'title': 'tea'}) == 1"},
                {"id": "rest", "says": "No more.", "that": "count('notes') <= 3"},
            ],
            "witness": [{"tool": "add_note", "arguments": {"title": "tea"}}],
            "answer": "Added.",
            **changes,
        }
    )


CASE = Case(ENVIRONMENT, task())


def grounded(**changes):
    return RolloutConfig(**{"group": 1, "schedule": ScheduleConfig(source="grounded"), **changes})


def rehearsed(**changes):
    return RolloutConfig(**{"group": 1, **changes})


def one(says, config, case=CASE, **options):
    (trajectory,) = collect(RolloutSource(model_of(says), config, Rewarder(), **options), [case])
    return trajectory


def test_a_witness_that_is_followed_solves_its_task():
    trajectory = one(witness_of([CASE]), grounded())
    assert (trajectory.solved, trajectory.reward, trajectory.ending) == (True, 1.0, "answered")
    assert [turn.role for turn in trajectory.turns] == ["act", "rehearse", "act"]
    assert [turn.is_sampled for turn in trajectory.turns] == [True, False, True]


def test_a_policy_that_rehearses_is_asked_in_both_roles_and_shown_its_own_answers():
    prompts = []

    def says(prompt):
        prompts.append(prompt)
        if is_rehearsal(prompt):
            return '<response>{"result": {"note_id": "N-77", "title": "tea"}}</response>'
        return tool_call("add_note", title="tea") if len(prompts) == 1 else "Added as N-77."

    trajectory = one(says, rehearsed())
    assert [row.role for row in trajectory.rows()] == ["act", "rehearse", "act"]
    assert "N-77" in prompts[-1]
    assert trajectory.solved  # in the world where calls truly happen the note is there, under another id
    assert trajectory.turns[1].truth.result.value()["note_id"] != "N-77"


def test_rows_hold_the_tokens_that_were_read_and_written():
    trajectory = one(witness_of([CASE]), grounded(), case=CASE)
    rows = trajectory.rows()
    assert [row.turn for row in rows] == [0, 2]
    assert {row.task for row in rows} == {"notes/add"}
    assert TOKENS.text(rows[0].completion_ids) == f"{tool_call('add_note', title='tea')}<|im_end|>"
    assert "Add a note that says tea." in TOKENS.text(rows[0].prompt_ids)
    assert all(len(row.logprobs) == len(row.completion_ids) for row in rows)
    assert {row.reward for row in rows} == {1.0}


def test_a_model_that_does_not_say_its_tokens_can_be_played_but_not_trained():
    trajectory = one(says_in_order(Completion("Nothing to do.")), grounded())
    assert trajectory.ending == "answered"
    with pytest.raises(TrainingError, match="which tokens"):
        trajectory.rows()


def test_a_group_has_forks_of_one_world_and_versions_and_samples_of_its_own():
    cases = [CASE, Case(ENVIRONMENT, task(id="other", instruction="Please add a note: tea."))]
    source = RolloutSource(model_of(witness_of(cases)), grounded(group=3), Rewarder())
    found = collect(source, cases, 7)
    assert [(t.task, t.sample) for t in found] == [(c.name, n) for c in cases for n in range(3)]
    assert all(t.solved for t in found)
    assert {row.policy_version for row in rows_of(found)} == {7}
    assert found[0].episode.start is found[1].episode.start


def test_all_that_wait_are_asked_in_one_batch():
    cases = [Case(ENVIRONMENT, task(id=f"t{n}", instruction=f"Add tea ({n}).")) for n in range(5)]

    def says(prompt):
        if is_rehearsal(prompt):
            return '<response>{"result": {"note_id": "N-1"}}</response>'
        return witness_of(cases)(prompt)

    source = RolloutSource(model_of(says), rehearsed(group=4), Rewarder())
    collect(source, cases)
    assert source.batches == [20, 20, 20]


def test_roles_with_models_of_their_own_are_asked_at_the_same_time():
    act, rehearse = model_of(witness_of([CASE]), "act"), model_of(lambda _: '<response>{"result": 1}</response>', "re")
    source = RolloutSource({"act": act, "rehearse": rehearse}, rehearsed(group=2), Rewarder())
    assert all(t.solved for t in collect(source, [CASE]))
    assert (len(act.requests), len(rehearse.requests)) == (4, 2)


def test_the_same_seed_gives_the_same_requests_and_samples_of_a_group_differ():
    def seeds(seed):
        model = model_of(witness_of([CASE]))
        collect(RolloutSource(model, grounded(group=2), Rewarder(), seed=seed), [CASE])
        return [request.sampling.seed for request in model.requests]

    assert seeds(1) == seeds(1)
    assert seeds(1) != seeds(2)
    assert len(set(seeds(1))) == 4


BROKEN = '<tool_call>\n{"name": "add_note"\n</tool_call>'


def test_a_malformed_act_ends_the_trajectory():
    trajectory = one(says_in_order(BROKEN), grounded())
    assert (trajectory.ending, trajectory.reward) == ("malformed", 0.0)
    assert trajectory.turns[-1].problem
    assert len(trajectory.rows()) == 1


def test_or_it_is_an_error_turn_that_the_policy_is_told_of():
    prompts = []

    def says(prompt):
        prompts.append(prompt)
        return (
            BROKEN
            if len(prompts) == 1
            else witness_of([CASE])(prompt.replace(BROKEN, "").replace("<|im_start|>assistant\n<|im_end|>", "", 1))
        )

    trajectory = one(says, grounded(malformed="count"))
    assert trajectory.solved
    assert "Error: " in prompts[1]
    assert trajectory.terms["malformed_act"] == 1


def test_so_many_error_turns_end_the_trajectory():
    trajectory = one(lambda _: BROKEN, grounded(malformed="count", max_errors=2))
    assert (trajectory.ending, len(trajectory.turns)) == ("errors", 2)


def test_a_tool_that_is_not_shown_cannot_be_called():
    case = Case(ENVIRONMENT, task(tools=["add_note"]))
    prompts = []

    def says(prompt):
        prompts.append(prompt)
        return tool_call("drop_note", note_id="A") if len(prompts) == 1 else "Done."

    trajectory = one(says, grounded(), case=case)
    assert "drop_note" not in prompts[0]
    assert "Unknown tool: drop_note" in prompts[1]
    assert trajectory.episode.final.get("notes", "A") is not None


def test_arguments_that_break_the_schema_are_refused_by_rule_not_rehearsed():
    model = model_of(says_in_order(tool_call("add_note", title=3), "Done."))
    (trajectory,) = collect(RolloutSource(model, rehearsed(), Rewarder()), [CASE])
    assert len(model.requests) == 2
    assert (trajectory.turns[1].is_sampled, trajectory.turns[1].result.is_error) == (False, True)


def test_more_calls_at_once_than_are_allowed_are_malformed():
    two = f"{tool_call('add_note', title='tea')}\n{tool_call('add_note', title='rice')}"
    assert one(says_in_order(two), grounded()).ending == "malformed"
    trajectory = one(says_in_order(two, "Done."), grounded(max_calls=2))
    assert [record.arguments["title"] for record in trajectory.episode.calls] == ["tea", "rice"]


def test_a_completion_that_is_cut_off_ends_the_trajectory_and_its_row_says_so():
    trajectory = one(says_in_order(Completion("Well", (1,), (-1.0,), "length", (2,))), grounded())
    assert trajectory.ending == "truncated"
    assert [row.truncated for row in trajectory.rows()] == [True]


def test_a_prompt_that_the_model_does_not_take_ends_the_trajectory_without_a_row():
    trajectory = one(says_in_order(Completion("", finish_reason="error", error="too long")), grounded())
    assert (trajectory.ending, trajectory.turns[0].problem, trajectory.rows()) == ("refused", "too long", [])


def test_a_response_that_cannot_be_read_ends_the_trajectory_or_is_an_error_turn():
    says = lambda prompt: "It worked!" if is_rehearsal(prompt) else witness_of([CASE])(prompt)  # noqa: E731
    assert one(says, rehearsed()).ending == "malformed"
    trajectory = one(says, rehearsed(malformed="count"))
    assert trajectory.turns[1].result.is_error
    assert trajectory.terms["rehearse_schema"] == 0.0


def test_there_are_only_so_many_turns():
    trajectory = one(lambda _: tool_call("list_notes"), grounded(max_turns=3))
    assert (trajectory.ending, sum(t.role == "act" for t in trajectory.turns)) == ("turns", 3)


def test_a_conversation_goes_on_when_the_first_wish_is_answered():
    talk = task(
        follow_ups=["And now drop note A."],
        witness=[
            {"tool": "add_note", "arguments": {"title": "tea"}},
            {"tool": "drop_note", "arguments": {"note_id": "A"}, "turn": 1},
        ],
        answer="Added.\nDropped.",
    )
    case = Case(ENVIRONMENT, talk)
    trajectory = one(witness_of([case]), grounded(), case=case)
    assert trajectory.answers == ["Added.", "Dropped."]
    assert trajectory.episode.final.get("notes", "A") is None


def test_a_model_that_fails_stops_all():
    def says(prompt):
        raise ModelError("out of order")

    with pytest.raises(ModelError, match="out of order"):
        one(says, grounded(group=3))


def test_a_source_by_schedule():
    plan = ScheduleConfig(grounded_steps=2, real_every=3)
    assert [source_of(plan, step, 0) for step in range(8)] == [
        "grounded", "grounded", "train", "train", "real", "train", "train", "real"]  # fmt: skip
    mix = ScheduleConfig(mix={"train": 1, "grounded": 1})
    drawn = [source_of(mix, step, group) for step in range(20) for group in range(10)]
    assert 60 < drawn.count("train") < 140
    assert drawn == [source_of(mix, step, group) for step in range(20) for group in range(10)]
    with pytest.raises(ValueError, match="shares"):
        ScheduleConfig(mix={"train": 0.0})


class Clients:
    """A real environment: another world of the same rules."""

    def __init__(self, fails=()):
        self.fails = fails
        self.closed = 0

    async def open(self, task, sample):
        if "open" in self.fails:
            raise UpstreamError("no server there")
        return Client(self, ENVIRONMENT.world(f"real-{sample}"))


class Client:
    is_rehearsal = False

    def __init__(self, clients, world):
        self.clients, self.world = clients, world

    async def call(self, call):
        await asyncio.sleep(0)
        if call.name in self.clients.fails:
            raise UpstreamError("gone")
        return (await ENVIRONMENT.call(self.world, call)).result

    async def close(self):
        self.clients.closed += 1


def real(clients, config=None, case=CASE):
    source = RolloutSource(
        model_of(witness_of([case])),
        config or rehearsed(group=2, schedule=ScheduleConfig(source="real")),
        Rewarder(),
        clients={"notes": clients},
    )
    return collect(source, [case])


def test_a_real_server_answers_and_its_world_is_followed():
    clients = Clients()
    found = real(clients)
    assert all(t.solved and t.source == "real" for t in found)
    assert [len(t.rows()) for t in found] == [2, 2]
    assert clients.closed == 2


def test_a_tool_that_is_not_shown_is_not_asked_of_a_real_server():
    says = iter(['<tool_call>\n{"name": "no_such_tool", "arguments": {}}\n</tool_call>', "Done."])
    config = rehearsed(group=1, schedule=ScheduleConfig(source="real"))
    source = RolloutSource(model_of(lambda _: next(says)), config, Rewarder(), clients={"notes": Clients()})
    (found,) = collect(source, [CASE])
    assert found.turns[1].result.is_error
    assert found.answered_by == "nobody"


@pytest.mark.parametrize("fails", [("open",), ("add_note",)])
def test_a_real_server_that_fails_masks_the_trajectory_and_earns_nothing_to_learn_from(fails):
    clients = Clients(fails)
    found = real(clients)
    assert all(t.masked for t in found)
    assert all(row.weight == 0.0 for row in rows_of(found))


def test_without_a_real_server_a_schedule_that_needs_one_is_refused():
    with pytest.raises(TrainingError, match="real server"):
        RolloutSource(model_of(str), rehearsed(schedule=ScheduleConfig(real_every=2)), Rewarder())


def stream(says, config, case=CASE):
    source = RolloutSource(model_of(says), config, Rewarder(), rendering="stream", tokens=TOKENS)
    return collect(source, [case])


def stream_policy(prompt):
    if is_rehearsal(prompt):
        return '{"note_id": "N-5", "title": "tea"}\n</tool_response>'
    return witness_of([CASE])(prompt)


def test_a_stream_is_one_sequence_of_the_tokens_that_were_sampled():
    (trajectory,) = stream(stream_policy, rehearsed())
    assert trajectory.solved
    rows = trajectory.rows()
    assert [row.role for row in rows] == ["act", "rehearse", "act"]
    (sequence,) = render(rows, "stream")
    text = TOKENS.text(sequence.input_ids)
    assert text.count("<|im_end|>") == text.count("<|im_start|>")
    assert '<|im_start|>user\n<tool_response>\n{"note_id": "N-5", "title": "tea"}\n</tool_response><|im_end|>\n' in text
    for earlier, later in itertools.pairwise(rows):
        assert later.prompt_ids[: earlier.length] == earlier.prompt_ids + earlier.completion_ids


def test_what_the_environment_answers_is_context_in_a_stream():
    (trajectory,) = stream(witness_of([CASE]), grounded())
    rows = trajectory.rows()
    assert [row.role for row in rows] == ["act", "act"]
    (sequence,) = render(rows, "stream")
    text = TOKENS.text(sequence.input_ids)
    assert json.dumps(trajectory.turns[1].result.value(), separators=(",", ":")) in text.replace(": ", ":").replace(
        ", ", ",")  # fmt: skip
    assert text.count("<|im_end|>") == text.count("<|im_start|>")


def test_an_error_in_a_stream_is_an_object_with_nothing_but_the_error():
    def says(prompt):
        if is_rehearsal(prompt):
            return '{"error": "The notes are locked."}\n</tool_response>'
        return witness_of([CASE])(prompt)

    (trajectory,) = stream(says, rehearsed())
    assert trajectory.turns[1].result == ToolResult.text("The notes are locked.", is_error=True)


def test_a_conversation_and_error_turns_stay_one_stream():
    talk = task(follow_ups=["Thanks."], answer="Added.\nGood bye.")
    case = Case(ENVIRONMENT, talk)
    count = []

    def says(prompt):
        count.append(1)
        if len(count) == 1:
            return BROKEN
        return ["", tool_call("add_note", title="tea"), "Added.", "Good bye."][len(count) - 1]

    (trajectory,) = stream(says, grounded(malformed="count"), case)
    assert trajectory.answers == ["Added.", "Good bye."]
    (sequence,) = render(trajectory.rows(), "stream")
    assert TOKENS.text(sequence.input_ids).count("<|im_start|>user") == 4


def test_a_stream_needs_tokens_one_model_and_one_call_an_act():
    with pytest.raises(TrainingError, match="one model"):
        RolloutSource(model_of(str), rehearsed(), Rewarder(), rendering="stream")
    with pytest.raises(TrainingError, match="max_calls is 2"):
        RolloutSource(model_of(str), rehearsed(max_calls=2), Rewarder(), rendering="stream", tokens=TOKENS)


def test_a_call_that_the_environment_cannot_answer_masks_the_trajectory():
    broken = open_session(
        dynamics="""
collections: {notes: {key: note_id}}
tools:
  add_note: {effect: create, collection: notes, take: [title], set: {size: 1 / 0}}
"""
    ).environment
    trajectory = one(witness_of([CASE]), grounded(), case=Case(broken, task()))
    assert "cannot answer" in trajectory.masked


def test_a_trajectory_can_be_read_as_json():
    shown = json.loads(json.dumps(one(witness_of([CASE]), grounded()).as_json()))
    assert shown["solved"] is True
    assert shown["turns"][1]["truth"]["layer"] == "dynamics"
