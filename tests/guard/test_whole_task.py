import asyncio

import pytest
from guarded_desk import desk, environment

from envace_sdk.errors import ApprovalRequired, GuardError
from envace_sdk.evidence.framing import NOTICE
from envace_sdk.guard import MeteredModel, TaskBudget, rehearse_then_commit
from envace_sdk.models import ScriptedModel
from envace_sdk.models.model import Message, Request
from envace_sdk.tools.model import ToolCall

TASK = "Refund 20 of order O-1 and note why."
ALLOW = {
    "tools": "refund_order",
    "arguments": {
        "order_id": {"type": "string", "maxLength": 9},
        "amount": {"type": "number", "minimum": 0, "maximum": 25},
    },
    "then": "commit",
}
NOTES = {"tools": "set_note", "then": "commit"}


class Agent:
    """Refunds too much at first, and what it was told in a memory afterwards."""

    def __init__(self):
        self.memories = []

    async def __call__(self, task, tools, memory):
        assert task == TASK
        self.memories.append((tools.rehearsed, memory))
        amount = 20 if "More than was paid" in memory else 70
        refunded = await tools("refund_order", {"order_id": "O-1", "amount": amount})
        if refunded.is_error:
            return f"I could not: {refunded.first_text}"
        await tools("set_note", {"order_id": "O-1", "note": "refunded"})
        return "Refunded."


def play(shop, agent, n=2, mode="parallel", **options):
    async def execute(call):
        shop.executed.append((call.name, dict(call.arguments)))
        return (await shop.guard.environment.call(shop.real, call)).result

    return asyncio.run(rehearse_then_commit(agent, TASK, None, n, mode, guard=shop.guard, execute=execute, **options))


def test_a_task_is_rehearsed_on_forks_and_carried_out_once_guided_by_what_was_learned(tmp_path):
    shop, agent = desk(tmp_path, ALLOW, NOTES), Agent()
    found = play(shop, agent)
    assert found.answer == "Refunded."
    assert [len(one.failures) for one in found.attempts] == [1, 1]
    assert shop.executed[0] == ("refund_order", {"order_id": "O-1", "amount": 20})
    assert len(shop.executed) == 2
    assert len(found.outcomes) == 2


def test_parallel_attempts_know_nothing_of_each_other_and_sequential_ones_do(tmp_path):
    parallel, sequential = Agent(), Agent()
    play(desk(tmp_path / "a", ALLOW, NOTES), parallel)
    found = play(desk(tmp_path / "b", ALLOW, NOTES), sequential, mode="sequential")
    assert [memory for rehearsed, memory in parallel.memories if rehearsed] == ["", ""]
    assert "More than was paid" in sequential.memories[1][1]
    assert "avoid or prepare refund_order" in sequential.memories[1][1]
    assert [len(one.failures) for one in found.attempts] == [1, 0]


def test_a_memory_is_framed_as_a_prediction(tmp_path):
    found = play(desk(tmp_path, ALLOW, NOTES), Agent())
    assert found.memory.count(NOTICE) == 2
    assert "Attempt 2" in found.memory


def test_all_that_was_rehearsed_is_labelled_so_in_the_ledger(tmp_path):
    shop = desk(tmp_path, ALLOW, NOTES)
    play(shop, Agent())
    rehearsed = [entry for entry in shop.ledger.entries("main") if "task" in entry.body]
    assert {entry.kind for entry in rehearsed} == {"rehearsed"}
    assert sorted(entry.body.get("attempt", 0) for entry in rehearsed) == [0, 1, 2]
    observed = [entry for entry in shop.ledger.entries("main") if entry.kind == "observed"]
    assert len(observed) == 2


def test_a_rehearsal_changes_neither_the_real_side_nor_the_known_world(tmp_path):
    shop = desk(tmp_path, {"then": "block", "reason": "no"})
    before = shop.guard.world.state
    found = play(shop, Agent())
    assert shop.executed == []
    assert shop.guard.world.state is before
    assert "was not executed" in found.answer


def test_the_memory_of_the_first_pass_serves_when_a_task_is_resumed_after_an_approval(tmp_path):
    shop, agent = desk(tmp_path, NOTES), Agent()
    with pytest.raises(ApprovalRequired) as pause:
        play(shop, agent)
    shop.guard.approve(pause.value.approval, by="ann")
    found = play(shop, agent)
    assert found.attempts == ()
    assert "More than was paid" in found.memory
    assert found.answer == "Refunded."
    again = play(shop, agent)
    assert all(outcome.replayed for outcome in again.outcomes)
    assert len(shop.executed) == 2


def test_another_turn_with_the_same_words_is_rehearsed_anew(tmp_path):
    shop, agent = desk(tmp_path, ALLOW, NOTES), Agent()
    play(shop, agent, turn="1")
    assert len(play(shop, agent, turn="2").attempts) == 2


def test_an_attempt_that_fails_is_told_and_the_others_are_used(tmp_path):
    class Clumsy(Agent):
        async def __call__(self, task, tools, memory):
            if tools.rehearsed and not self.memories:
                self.memories.append((True, ""))
                raise ValueError("lost the thread")
            return await super().__call__(task, tools, memory)

    found = play(desk(tmp_path, ALLOW, NOTES), Clumsy())
    assert found.attempts[0].error == "ValueError: lost the thread"
    assert found.answer == "Refunded."


def test_an_attempt_makes_no_more_calls_than_it_may(tmp_path):
    async def endless(task, tools, memory):
        while tools.rehearsed:
            await tools("get_order", {"order_id": "O-1"})
        return "done"

    found = play(desk(tmp_path, ALLOW), endless, n=1, budget=TaskBudget(calls=3))
    assert len(found.attempts[0].calls) == 3
    assert "more than 3 calls" in found.attempts[0].error
    assert "called 3 times with the same arguments" in found.memory


def test_the_time_for_rehearsals_is_bounded_and_the_task_is_carried_out_all_the_same(tmp_path):
    async def slow(task, tools, memory):
        if tools.rehearsed:
            await asyncio.Event().wait()
        return "done"

    found = play(desk(tmp_path, ALLOW), slow, budget=TaskBudget(seconds=0.05))
    assert (found.answer, found.attempts, found.memory) == ("done", (), "")


def test_the_tokens_of_metered_models_are_bounded_over_all_attempts(tmp_path):
    model = MeteredModel(ScriptedModel(lambda request: "word " * 40))

    async def talkative(task, tools, memory):
        if tools.rehearsed:
            await model.complete([Request(messages=(Message("user", "go on"),))])
        return "done"

    found = play(desk(tmp_path, ALLOW), talkative, n=4, mode="sequential", budget=TaskBudget(tokens=100))
    assert [bool(one.error) for one in found.attempts] == [False, False, True, True]
    assert "token budget" in found.attempts[3].error


def test_a_memory_can_be_condensed_by_whoever_likes(tmp_path):
    async def condense(attempts):
        return f"{len(attempts)} attempts: More than was paid"

    found = play(desk(tmp_path, ALLOW, NOTES), Agent(), condense=condense)
    assert "2 attempts" in found.memory
    assert NOTICE in found.memory
    assert found.answer == "Refunded."


def test_none_and_fewer_than_none_rehearsals(tmp_path):
    async def idle(task, tools, memory):
        return f"rehearsed: {tools.rehearsed}"

    found = play(desk(tmp_path, ALLOW, NOTES), idle, n=0)
    assert (found.answer, found.memory, found.attempts) == ("rehearsed: False", "", ())
    with pytest.raises(GuardError, match="n is -1"):
        play(desk(tmp_path, ALLOW), Agent(), n=-1)


def test_a_pause_inside_a_rehearsal_passes_through(tmp_path):
    class GraphInterrupt(Exception):  # noqa: N818
        pass

    async def pausing(task, tools, memory):
        raise GraphInterrupt

    with pytest.raises(GraphInterrupt):
        play(desk(tmp_path, ALLOW), pausing)


def test_another_environment_may_rehearse(tmp_path):
    async def execute(call: ToolCall):
        raise AssertionError

    async def look(task, tools, memory):
        return (await tools("get_order", {"order_id": "O-1"})).first_text if tools.rehearsed else "done"

    shop = desk(tmp_path, ALLOW)
    found = asyncio.run(rehearse_then_commit(look, TASK, environment(), 1, guard=shop.guard, execute=execute))
    assert "O-1" in found.attempts[0].answer
