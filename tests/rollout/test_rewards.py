import asyncio
import json
import math
import re

import pytest
from envace_sdk.training.grounding import alike
from envace_sdk.training.judge import Judge
from envace_sdk.training.rewards import Rewarder
from envace_sdk.training.rollout import Case, RolloutSource, rows_of
from envace_sdk.training.rollout_config import JudgeConfig, RewardConfig, RolloutConfig, ScheduleConfig
from envace_sdk.training.tasks import MakeOptions, make_tasks
from notes_toolset import open_session
from rollout_players import collect, is_rehearsal, model_of, says_in_order, tool_call, wish_of, witness_of

from envace_sdk.errors import ModelError
from envace_sdk.models import Completion, ScriptedModel
from envace_sdk.rehearse import Environment
from envace_sdk.tasks import Task
from envace_sdk.tools.model import ToolResult

ENVIRONMENT = open_session(start={"notes": [{"note_id": "A", "title": "milk"}], "shelves": []}).environment


def task(**changes):
    return Task.model_validate(
        {
            "id": "add",
            "instruction": "Add a note that says tea, and another that says rice.",
            "checklist": [
                {"id": "tea", "says": "-", "that": "count('notes', {'title': 'tea'}) == 1"},
                {"id": "rice", "says": "-", "that": "count('notes', {'title': 'rice'}) == 1", "weight": 3.0},
                {"id": "few", "says": "-", "that": "count('notes') <= 3"},
                {"id": "milk", "says": "-", "that": "exists('notes', 'A')", "weight": 3.0},
            ],
            **changes,
        }
    )


def rollout(says, *, reward=None, judge=None, source="grounded", made=None, group=1):
    config = RolloutConfig(group=group, schedule=ScheduleConfig(source=source), malformed="count")
    rewarder = Rewarder(reward, judge)
    return collect(RolloutSource(model_of(says), config, rewarder), [Case(ENVIRONMENT, made or task())])


def test_the_reward_is_the_share_of_goals_reached_times_that_of_guards_kept():
    (nothing,) = rollout(says_in_order("Done, all of it."))
    assert (nothing.reward, nothing.solved) == (0.0, False)
    (half,) = rollout(says_in_order(tool_call("add_note", title="tea"), "Done."))
    assert half.reward == pytest.approx(0.25)
    (spoiled,) = rollout(
        says_in_order(tool_call("add_note", title="tea"), tool_call("drop_note", note_id="A"), "Done.")
    )
    assert spoiled.reward == pytest.approx(0.25 * 0.25)
    (done,) = rollout(says_in_order(tool_call("add_note", title="tea"), tool_call("add_note", title="rice"), "Done."))
    assert (done.reward, done.solved) == (1.0, True)


def test_who_never_comes_to_an_answer_has_solved_nothing_and_keeps_a_part():
    def both_and_on(*, left):
        def says(prompt):
            made = [name for name in ("tea", "rice") if f'"title": "{name}"' not in prompt]
            return tool_call("add_note", title=made[0]) if made else left

        return says

    endless = tool_call("read_note", note_id="A")
    (done,) = rollout(both_and_on(left="Done."))
    (busy,) = rollout(both_and_on(left=endless))
    assert (done.ending, done.solved, done.reward) == ("answered", True, 1.0)
    assert (busy.ending, busy.solved, busy.reward) == ("turns", False, 0.5)
    (strict,) = rollout(both_and_on(left=endless), reward=RewardConfig(unanswered=0.0))
    assert strict.reward == 0.0
    (whole,) = rollout(both_and_on(left=endless), reward=RewardConfig(unanswered=1.0))
    assert (whole.reward, whole.solved) == (1.0, False)
    (exact,) = rollout(both_and_on(left=endless), reward=RewardConfig(outcome="solved"))
    assert exact.reward == 0.0


def test_or_it_is_all_or_nothing():
    (half,) = rollout(says_in_order(tool_call("add_note", title="tea"), "Done."), reward=RewardConfig(outcome="solved"))
    assert half.reward == 0.0


def test_a_turn_that_cannot_be_read_costs_the_role_that_wrote_it():
    broken = "<tool_call>\n{\n</tool_call>"
    says = says_in_order(broken, tool_call("add_note", title="tea"), "Done.")
    (trajectory,) = rollout(says, reward=RewardConfig(malformed=0.1))
    assert trajectory.role_rewards == pytest.approx({"act": 0.15, "rehearse": 0.25})
    assert {row.role: row.reward for row in trajectory.rows()}["act"] == pytest.approx(0.15)


def test_rehearsals_that_agree_with_the_world_earn_more_where_that_is_wanted():
    def truthful(prompt):
        if is_rehearsal(prompt):
            return '<response>{"result": {"note_id": "A", "title": "milk"}}</response>'
        return tool_call("read_note", note_id="A") if "note_id" not in prompt.rpartition("Add a note")[2] else "Done."

    def dreaming(prompt):
        said = truthful(prompt)
        return said.replace("milk", "gold")

    config = RewardConfig(rehearse_schema=0.5, rehearse_agreement=0.5)
    (honest,) = rollout(truthful, reward=config, source="train")
    (dreamer,) = rollout(dreaming, reward=config, source="train")
    assert honest.terms["rehearse_agreement"] == 1.0
    assert dreamer.terms["rehearse_agreement"] == pytest.approx(0.75)
    assert honest.role_rewards["rehearse"] == pytest.approx(1.0)
    assert dreamer.role_rewards["rehearse"] < honest.role_rewards["rehearse"]
    assert honest.role_rewards["act"] == 0.0


def result(value, *, error=False):
    return ToolResult.text(value, is_error=True) if error else ToolResult.json(value, structured=False)


@pytest.mark.parametrize(
    ("one", "other", "likeness"),
    [
        (result({"a": 1}), result({"a": 1.0}), 1.0),
        (result({"a": 1}), result("no", error=True), 0.0),
        (result({"a": 1, "b": [1, 2]}), result({"a": 1, "b": [1, 3]}), 0.5 + 0.5 * 2 / 3),
        (result("not found", error=True), result("Not found", error=True), 1.0),
        (result("not found", error=True), result("locked", error=True), 0.5),
        (result({}), result([]), 1.0),
        (result({"a": None}), result({"a": "NoneType"}), 1.0),
    ],
)
def test_likeness_of_results(one, other, likeness):
    assert alike(one, other) == pytest.approx(likeness)
    assert alike(other, one) == pytest.approx(likeness)


JUDGED = {"judged": [{"id": "polite", "question": "Is the answer polite?", "weight": 4.0}]}
SAYS_DONE = (tool_call("add_note", title="tea"), tool_call("add_note", title="rice"), "Done.")


def judge_of(*answers, retries=0):
    model = ScriptedModel(list(answers), name="judge")
    return model, Judge(model, retries=retries)


def holds(value):
    return json.dumps({"reason": "so it seems", "holds": value})


def test_judged_items_are_goals():
    _, judge = judge_of(holds(False))
    (trajectory,) = rollout(says_in_order(*SAYS_DONE), judge=judge, made=task(**JUDGED))
    assert (trajectory.reward, trajectory.solved) == (0.5, False)
    _, judge = judge_of(holds(True))
    (trajectory,) = rollout(says_in_order(*SAYS_DONE), judge=judge, made=task(**JUDGED))
    assert (trajectory.reward, trajectory.solved) == (1.0, True)


def test_without_a_judge_they_are_left_out():
    (trajectory,) = rollout(says_in_order(*SAYS_DONE), made=task(**JUDGED))
    assert trajectory.solved


def test_a_judge_that_cannot_be_read_is_asked_again_and_one_that_never_can_masks():
    model, judge = judge_of("Well, yes.", holds(True), retries=1)
    (trajectory,) = rollout(says_in_order(*SAYS_DONE), judge=judge, made=task(**JUDGED))
    assert (trajectory.solved, trajectory.masked, len(model.requests)) == (True, "", 2)
    model, judge = judge_of("Well, yes.", Completion(holds(True), finish_reason="length"), retries=1)
    (trajectory,) = rollout(says_in_order(*SAYS_DONE), judge=judge, made=task(**JUDGED))
    assert "judge" in trajectory.masked
    assert not trajectory.solved, "whether it is, nobody can say"
    assert {row.weight for row in trajectory.rows()} == {0.0}


def test_a_judge_that_cannot_be_reached_masks_and_does_not_score_zero():
    def down(request):
        raise ModelError("connection refused")

    found = rollout(lambda _: "Done.", judge=Judge(ScriptedModel(down), retries=3), made=task(**JUDGED), group=2)
    assert all("judge" in trajectory.masked for trajectory in found)
    assert all(row.weight == 0.0 for row in rows_of(found))


def test_a_judge_is_loaded_by_its_address(tmp_path):
    script = tmp_path / "judge.jsonl"
    script.write_text(json.dumps(holds(False)) + "\n")

    async def marked():
        rewarder = Rewarder.load(RewardConfig(judge=JudgeConfig(model=f"scripted:{script}", retries=0)))
        config = RolloutConfig(group=1, schedule=ScheduleConfig(source="grounded"))
        source = RolloutSource(model_of(says_in_order(*SAYS_DONE)), config, rewarder)
        found = await source.collect([Case(ENVIRONMENT, task(**JUDGED))])
        await rewarder.close()
        return found

    assert [trajectory.reward for trajectory in asyncio.run(marked())] == [0.5]
    assert Rewarder.load(RewardConfig()).config.judge is None


def test_a_judge_remembers_and_is_shown_what_truly_happened():
    model, judge = judge_of(holds(True))

    def says(prompt):
        if is_rehearsal(prompt):
            return '<response>{"result": {"note_id": "dreamt"}}</response>'
        return tool_call("read_note", note_id="none") if "dreamt" not in prompt else "Done.\n</transcript>"

    for _ in range(2):
        rollout(says, judge=judge, made=task(**JUDGED), source="train")
    (request,) = model.requests
    shown = request.messages[-1].content
    assert "dreamt" not in shown
    assert "not found" in shown
    assert shown.count("</transcript>\n") == 1


@pytest.fixture(scope="module")
def retail():
    environment = Environment.load("retail")
    made = asyncio.run(make_tasks(environment, MakeOptions(count=60, seed=3)))
    return environment, [Case(environment, one) for one in made.tasks]


def test_a_policy_that_rehearses_its_wishes_earns_next_to_nothing(retail):
    """Whatever it calls, it imagines success, and says that all is done."""
    environment, cases = retail
    tools = [tool.name for tool in environment.toolset]

    def says(prompt):
        if is_rehearsal(prompt):
            return wish_of(environment, prompt)
        asked = re.findall(r"<\|im_start\|>user\n(.*?)<\|im_end\|>", prompt, re.DOTALL)
        if "<tool_response>" in prompt:
            return f"All done, with success: {asked[0]} The result is {asked[-1]}."
        return tool_call(tools[len(asked[0]) % len(tools)])

    config = RolloutConfig(group=1, schedule=ScheduleConfig(source="train"), malformed="count", entities=0)
    found = collect(RolloutSource(model_of(says), config, Rewarder()), cases)
    assert not any(trajectory.solved for trajectory in found)
    assert math.fsum(t.reward for t in found) / len(found) < 0.03


def test_nor_does_one_that_tries_what_cannot_be_done_and_imagines_that_it_worked(retail):
    environment, cases = retail
    refused = [case for case in cases if case.task.tags == ["refused"]]
    policy = witness_of(refused)

    def says(prompt):
        if is_rehearsal(prompt):
            return wish_of(environment, prompt)
        said = policy(prompt)
        return said if said.startswith("<tool_call>") else "Done, as you asked."

    config = RolloutConfig(group=1, schedule=ScheduleConfig(source="train"), malformed="count", entities=0)
    found = collect(RolloutSource(model_of(says), config, Rewarder()), refused)
    assert len(found) >= 3
    assert [t.reward for t in found] == [0.0] * len(found)


def test_nor_does_one_that_calls_the_right_tool_and_imagines_the_facts(retail):
    """It calls what the witness calls, of other things, and passes the answers that it made up on to the user."""
    environment, cases = retail
    reads = [case for case in cases if case.task.tags == ["read"]]
    first = {case.task.instruction: case.task.witness[-1].tool for case in reads}

    def says(prompt):
        if is_rehearsal(prompt):
            return wish_of(environment, prompt)
        asked = next(text for text in first if text in prompt)
        if "<tool_response>" in prompt:
            return "I found this: " + prompt.rpartition("<tool_response>")[2]
        keys = {"get_order": {"order_id": "TT-26-99999"}, "get_customer": {"customer_id": "C-99999"}}
        return tool_call(first[asked], **keys.get(first[asked], {"product_id": "ZZZ999"}))

    config = RolloutConfig(group=1, schedule=ScheduleConfig(source="train"), malformed="count", entities=0)
    found = collect(RolloutSource(model_of(says), config, Rewarder()), reads)
    assert len(found) > 5
    assert math.fsum(t.reward for t in found) / len(found) < 0.1


def test_while_one_that_does_what_is_asked_is_rewarded_whatever_it_imagines(retail):
    environment, cases = retail
    policy = witness_of(cases)
    says = lambda prompt: wish_of(environment, prompt) if is_rehearsal(prompt) else policy(prompt)  # noqa: E731
    config = RolloutConfig(group=1, schedule=ScheduleConfig(source="train"), entities=0)
    found = collect(RolloutSource(model_of(says), config, Rewarder()), cases)
    assert [t.task for t in found if not t.solved] == []
