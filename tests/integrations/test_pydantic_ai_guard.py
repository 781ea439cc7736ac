"""The guard inside real Pydantic AI agents, whose model follows a script."""

import asyncio
import subprocess
import sys
import threading
from datetime import date
from pathlib import Path

import pytest
from framework_shop import ANY_REFUND, FORBIDDEN, Shop

pytest.importorskip("pydantic_ai")

from envace_sdk.integrations.pydantic_ai import GuardedToolset, Rehearsal, approvals, resume
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, ToolApproved
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import UnexpectedModelBehavior, UserError
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.toolsets import FunctionToolset

from envace_sdk.errors import EvidenceError, InDoubtError

REFUND = {"order_id": "O-1", "amount": 20}
ONCE = [("refund_order", {"order_id": "O-1", "amount": 20})]


def call(tool, arguments=None, call_id="c-1"):
    return ToolCallPart(tool, REFUND if arguments is None else arguments, tool_call_id=call_id)


def scripted(*turns):
    """A model that says one turn after another, by how many it has said in the history."""

    def turn(messages):
        said = sum(isinstance(message, ModelResponse) for message in messages)
        return turns[said] if said < len(turns) else "done"

    def answer(messages, info):
        parts = turn(messages)
        return ModelResponse(parts=[TextPart(parts)] if isinstance(parts, str) else list(parts))

    async def stream(messages, info):
        parts = turn(messages)
        if isinstance(parts, str):
            yield parts
            return
        for index, part in enumerate(parts):
            yield {index: DeltaToolCall(part.tool_name, part.args_as_json_str(), tool_call_id=part.tool_call_id)}

    return FunctionModel(answer, stream_function=stream)


def agent(shop, *turns, before=(), **options):
    options = {"tools": shop.tools, "output_type": [str, DeferredToolRequests], **options}
    return Agent(scripted(*turns), capabilities=[*before, Rehearsal(shop.guard)], **options)


def run(one, *prompt, **options):
    return asyncio.run(one.run(*prompt, **options))


def again(one, paused, results=None):
    """The run after the pause."""
    results = resume(paused.output) if results is None else results
    return run(one, message_history=paused.all_messages(), deferred_tool_results=results)


def returned(run):
    return [part for message in run.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]


def told(run):
    return "\n".join(str(part.content) for part in returned(run))


def test_what_a_rule_allows_runs_and_is_observed(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    ran = run(agent(shop, [call("refund_order")]), "refund it", conversation_id="chat")
    assert ran.output == "done"
    assert shop.executed == ONCE
    assert shop.kinds("chat") == ["rehearsed", "decision", "commit", "observed"]


def test_what_is_forbidden_fails_with_reasons_for_the_model_and_never_runs(tmp_path):
    shop = Shop(tmp_path, FORBIDDEN)
    ran = run(agent(shop, [call("refund_order")]), "refund it")
    assert shop.executed == []
    assert returned(ran)[0].outcome == "failed"
    assert "no refunds today" in told(ran)


def test_a_predicted_failure_is_told_as_a_prediction(tmp_path):
    shop = Shop(tmp_path, {"when": "prediction.status != 'success'", "then": "revise"})
    ran = run(agent(shop, [call("refund_order", {"order_id": "O-1", "amount": 999})]), "refund it")
    assert shop.executed == []
    assert "validation_error" in told(ran)
    assert "nothing was executed" in told(ran).lower()


def test_a_person_is_asked_and_the_run_goes_on_after_they_agreed(tmp_path):
    shop = Shop(tmp_path)
    one = agent(shop, [call("get_order", {"order_id": "O-1"}, "r"), call("refund_order")])
    ran = run(one, "refund it")
    asked = approvals(ran.output)["c-1"]
    assert asked["arguments"] == REFUND
    assert asked["risk"] == "high"
    assert [tool for tool, _ in shop.executed] == ["get_order"]
    shop.guard.approve(asked["approval"], by="ann")
    assert again(one, ran).output == "done"
    assert shop.executed[1:] == ONCE


def test_the_user_s_prompt_is_shown_to_the_person(tmp_path):
    shop = Shop(tmp_path)
    run(agent(shop, [call("refund_order")]), "give O-1 back its money")
    assert shop.pending[0].details["context"] == {"prompt": "give O-1 back its money"}


def test_the_frameworks_word_for_an_approval_is_not_enough(tmp_path):
    shop = Shop(tmp_path)
    one = agent(shop, [call("refund_order")])
    ran = run(one, "refund it")
    second = again(one, ran)
    assert isinstance(second.output, DeferredToolRequests)
    assert shop.executed == []
    assert len(shop.pending) == 1


def test_a_rejection_holds_whatever_the_framework_is_told(tmp_path):
    shop = Shop(tmp_path)
    one = agent(shop, [call("refund_order")])
    ran = run(one, "refund it")
    shop.guard.reject(shop.pending[0].id, by="ann")
    second = again(one, ran)
    assert "rejected by ann" in told(second)
    assert shop.executed == []


def test_thread_19_arguments_that_are_swapped_under_an_approval_are_asked_about_again(tmp_path):
    shop = Shop(tmp_path)
    one = agent(shop, [call("refund_order")])
    ran = run(one, "refund it")
    shop.approve_all()
    swapped = DeferredToolResults(approvals={"c-1": ToolApproved(override_args={"order_id": "O-1", "amount": 45})})
    second = again(one, ran, swapped)
    assert approvals(second.output)["c-1"]["arguments"]["amount"] == 45
    assert shop.executed == []


def test_thread_19_an_approval_that_is_replayed_on_the_old_history_executes_nothing_twice(tmp_path):
    shop = Shop(tmp_path)
    one = agent(shop, [call("refund_order")])
    ran = run(one, "refund it")
    shop.approve_all()
    for _ in range(3):
        assert again(one, ran).output == "done"
    assert shop.executed == ONCE


def test_thread_19_a_history_that_ends_in_an_unapproved_call_does_not_count_as_approval(tmp_path):
    shop = Shop(tmp_path)
    one = agent(shop, [call("refund_order")])
    ran = run(one, "refund it")
    second = run(one, message_history=ran.all_messages())
    assert isinstance(second.output, DeferredToolRequests)
    assert shop.executed == []


def test_thread_19_invalid_arguments_are_not_shown_to_a_person(tmp_path):
    shop = Shop(tmp_path)
    ran = run(agent(shop, [call("refund_order", {"order_id": "O-1", "amount": "a lot"})]), "refund it")
    assert ran.output == "done"
    assert shop.pending == []
    assert shop.executed == []


def test_thread_18_arguments_that_another_capability_rewrites_are_those_that_are_judged(tmp_path):
    class Doubles(AbstractCapability):
        async def before_tool_execute(self, ctx, *, call, tool_def, args):
            return {**args, "amount": args["amount"] * 2}

    shop = Shop(tmp_path)
    one = agent(shop, [call("refund_order")], before=[Doubles()])
    ran = run(one, "refund it")
    assert approvals(ran.output)["c-1"]["arguments"]["amount"] == 40
    shop.approve_all()
    again(one, ran)
    assert shop.executed == [("refund_order", {"order_id": "O-1", "amount": 40})]


def test_thread_18_a_capability_that_is_listed_after_the_guard_is_outside_it_all_the_same(tmp_path):
    class Doubles(AbstractCapability):
        async def wrap_tool_execute(self, ctx, *, call, tool_def, args, handler):
            return await handler({**args, "amount": args["amount"] * 2})

    shop = Shop(tmp_path)
    one = Agent(
        scripted([call("refund_order")]),
        tools=shop.tools,
        capabilities=[Rehearsal(shop.guard), Doubles()],
        output_type=[str, DeferredToolRequests],
    )
    assert approvals(run(one, "refund it").output)["c-1"]["arguments"]["amount"] == 40


def test_thread_14_other_arguments_in_a_replayed_history_need_an_approval_of_their_own(tmp_path):
    shop = Shop(tmp_path)
    one = agent(shop, [call("refund_order")])
    ran = run(one, "refund it")
    shop.approve_all()
    history = ran.all_messages()
    history[-1].parts[0].args = {"order_id": "O-1", "amount": 49}
    second = run(one, message_history=history, deferred_tool_results=resume(ran.output))
    assert isinstance(second.output, DeferredToolRequests)
    assert shop.executed == []


def test_thread_09_one_rejection_leaves_the_approved_siblings_and_every_call_is_answered(tmp_path):
    shop = Shop(tmp_path)
    calls = [call("refund_order", {"order_id": f"O-{n}", "amount": n}, f"c-{n}") for n in (1, 2, 3)]
    one = agent(shop, calls)
    ran = run(one, "refund them")
    asked = approvals(ran.output)
    assert len({payload["approval"] for payload in asked.values()}) == 3
    shop.guard.reject(asked["c-2"]["approval"], by="ann")
    for name in ("c-1", "c-3"):
        shop.guard.approve(asked[name]["approval"], by="ann")
    second = again(one, ran)
    assert sorted(arguments["order_id"] for _, arguments in shop.executed) == ["O-1", "O-3"]
    assert {part.tool_call_id: part.outcome for part in returned(second)} == {
        "c-1": "success",
        "c-2": "failed",
        "c-3": "success",
    }


def test_thread_05_what_a_person_edits_is_told_to_the_model_and_judged_anew(tmp_path):
    shop = Shop(tmp_path)
    less = {"order_id": "O-1", "amount": 5}
    one = agent(shop, [call("refund_order")], [call("refund_order", less, "c-2")])
    ran = run(one, "refund it")
    edited = shop.guard.edit(shop.pending[0].id, less, by="ann")
    second = again(one, ran)
    assert '"amount": 5' in told(second)
    assert shop.executed == []
    asked = approvals(second.output)["c-2"]
    assert asked["arguments"] == less
    assert edited.id
    shop.approve_all()
    again(one, second)
    assert shop.executed == [("refund_order", less)]


def test_an_approval_that_is_given_within_the_run_lets_it_go_on_and_the_call_runs_once(tmp_path):
    shop = Shop(tmp_path)

    class Desk(AbstractCapability):
        async def handle_deferred_tool_calls(self, ctx, *, requests):
            for payload in approvals(requests).values():
                shop.guard.approve(payload["approval"], by="ann")
            return resume(requests)

    one = agent(shop, [call("refund_order")], before=[Desk()])
    assert run(one, "refund it").output == "done"
    assert shop.executed == ONCE


def test_a_handler_that_only_says_yes_executes_nothing(tmp_path):
    shop = Shop(tmp_path)

    class Yes(AbstractCapability):
        async def handle_deferred_tool_calls(self, ctx, *, requests):
            return resume(requests)

    ran = run(agent(shop, [call("refund_order")], before=[Yes()]), "refund it")
    assert isinstance(ran.output, DeferredToolRequests)
    assert shop.executed == []


def test_an_agent_whose_output_cannot_be_a_pause_stops_instead_of_going_on(tmp_path):
    shop = Shop(tmp_path)
    with pytest.raises(UserError, match="DeferredToolRequests"):
        run(agent(shop, [call("refund_order")], output_type=str), "refund it")
    assert shop.executed == []


def test_results_of_others_are_left_to_them(tmp_path):
    shop = Shop(tmp_path)
    asked = []

    async def ship(order_id: str) -> str:
        asked.append(order_id)
        return "shipped"

    toolset = FunctionToolset(shop.tools)
    toolset.add_function(ship, requires_approval=True)
    one = agent(shop, [call("refund_order"), call("ship", {"order_id": "O-1"}, "c-2")], tools=[], toolsets=[toolset])
    ran = run(one, "refund it")
    assert set(approvals(ran.output)) == {"c-1"}
    assert set(resume(ran.output).approvals) == {"c-1"}
    others = DeferredToolResults(approvals={"c-2": False})
    assert resume(ran.output, others).approvals == {"c-1": True, "c-2": False}


def test_a_guard_that_fails_lets_nothing_run(tmp_path):
    def broken(case):
        raise RuntimeError("policy server down")

    shop = Shop(tmp_path, judge=broken)
    ran = run(agent(shop, [call("refund_order")]), "refund it")
    assert shop.executed == []
    assert "the guard failed" in told(ran)


def test_the_kill_switch_holds_between_two_turns(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)

    class Stops(AbstractCapability):
        async def after_tool_execute(self, ctx, *, call, tool_def, args, result):
            shop.guard.stop(by="ann", reason="incident 7")
            return result

    turns = [call("refund_order")], [call("refund_order", {"order_id": "O-2", "amount": 1}, "c-2")]
    ran = run(agent(shop, *turns, before=[Stops()]), "refund them")
    assert shop.executed == ONCE
    assert "incident 7" in told(ran)


def test_shadow_mode_stops_nothing_and_writes_down(tmp_path):
    shop = Shop(tmp_path, FORBIDDEN, shadow=True)
    run(agent(shop, [call("refund_order")]), "refund it", conversation_id="chat")
    assert shop.executed == ONCE
    assert "observed" in shop.kinds("chat")


def test_p02_a_capability_that_tries_again_after_an_error_gets_a_judgement_for_each_try(tmp_path):
    class Retries(AbstractCapability):
        async def wrap_tool_execute(self, ctx, *, call, tool_def, args, handler):
            for _ in range(2):
                try:
                    return await handler(args)
                except RuntimeError:
                    shop.desk.fails = None
            raise AssertionError

    shop = Shop(tmp_path, ANY_REFUND)
    shop.desk.fails = RuntimeError("busy")
    ran = run(agent(shop, [call("refund_order")], before=[Retries()]), "refund it", conversation_id="chat")
    assert ran.output == "done"
    assert shop.kinds("chat").count("commit") == shop.kinds("chat").count("observed") == 2


def test_p02_a_try_that_waits_for_a_person_does_not_repeat_those_before_it(tmp_path):
    class Retries(AbstractCapability):
        async def wrap_tool_execute(self, ctx, *, call, tool_def, args, handler):
            while True:
                try:
                    return await handler(args)
                except RuntimeError:
                    continue
                except ModelRetry:
                    raise AssertionError from None

    shop = Shop(tmp_path)
    one = agent(shop, [call("refund_order")], before=[Retries()])
    shop.desk.fails = RuntimeError("busy")
    ran = run(one, "refund it")
    shop.approve_all()
    second = again(one, ran)  # the first try fails, the second asks
    assert isinstance(second.output, DeferredToolRequests)
    assert len(shop.executed) == 1
    shop.desk.fails = None
    shop.approve_all()
    third = run(one, message_history=ran.all_messages(), deferred_tool_results=resume(second.output))
    assert len(shop.executed) == 1
    assert third.output == "done"
    assert "busy" in told(third)


def test_p10_a_tool_that_raises_ends_the_run_as_without_the_guard_and_is_not_called_again(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    shop.desk.fails = RuntimeError("boom")
    one = agent(shop)
    made = [ModelRequest.user_text_prompt("refund it"), ModelResponse([call("refund_order")])]
    with pytest.raises(RuntimeError, match="boom"):
        run(one, message_history=made, conversation_id="chat")
    shop.desk.fails = None
    ran = run(one, message_history=made, conversation_id="chat")
    assert "boom" in told(ran)
    assert len(shop.executed) == 1
    assert shop.kinds("chat").count("observed") == 1


def test_a_tool_that_asks_the_model_to_try_again_is_observed_and_the_next_call_is_judged(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    shop.desk.fails = ModelRetry("say which order")
    turns = [call("refund_order")], [call("refund_order", REFUND, "c-2")]
    run(agent(shop, *turns, retries=3), "refund it", conversation_id="chat")
    assert shop.kinds("chat").count("observed") == 2


def test_a_tool_that_runs_out_of_time_is_in_doubt_and_the_model_is_told_not_to_repeat_it(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)

    async def refund_order(order_id: str, amount: float) -> str:
        shop.executed.append("started")
        await asyncio.Event().wait()
        return "never"

    toolset = FunctionToolset([refund_order], timeout=0.05)
    ran = run(agent(shop, [call("refund_order")], tools=[], toolsets=[toolset]), "go", conversation_id="chat")
    assert "not known whether it was executed" in told(ran)
    assert shop.executed == ["started"]
    assert shop.kinds("chat")[-1] == "commit"


def test_p18_a_call_whose_outcome_was_never_written_is_in_doubt_until_somebody_says(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    started = asyncio.Event()

    async def refund_order(order_id: str, amount: float) -> str:
        shop.executed.append("started")
        started.set()
        await asyncio.Event().wait()
        return "never"

    one = agent(shop, tools=[refund_order])
    made = [ModelRequest.user_text_prompt("refund it"), ModelResponse([call("refund_order")])]

    def again():
        return one.run(message_history=made, conversation_id="chat")

    async def cancelled():
        task = asyncio.create_task(again())
        await started.wait()
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(cancelled())
    with pytest.raises(InDoubtError):
        asyncio.run(again())
    assert shop.executed == ["started"]


def test_p17_the_same_call_id_in_a_later_turn_is_another_action(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND, {"then": "commit"})
    turns = [call("get_order", {"order_id": "O-1"})], [call("get_order", {"order_id": "O-1"})]
    run(agent(shop, *turns), "look twice")
    assert len(shop.executed) == 2


def test_p17_calls_that_share_an_id_in_one_turn_are_refused_before_any_is_judged(tmp_path):
    shop = Shop(tmp_path, {"then": "commit"})
    one = agent(shop, [call("get_order", {"order_id": "O-1"}), call("get_order", {"order_id": "O-1"})])
    with pytest.raises(UnexpectedModelBehavior, match="duplicate"):
        run(one, "look twice")
    assert shop.executed == []


def test_p09_a_name_that_no_tool_has_is_no_action(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    ran = run(agent(shop, [call("give_all_away", {})]), "refund it", conversation_id="chat")
    assert ran.output == "done"
    assert shop.kinds("chat") == []


def test_arguments_are_judged_as_json_and_what_cannot_be_is_not_executed(tmp_path):
    class Injects(AbstractCapability):
        async def before_tool_execute(self, ctx, *, call, tool_def, args):
            return {**args, "what": object()}

    shop = Shop(tmp_path)
    made = []

    async def mystery(what: date) -> date:
        made.append(what)
        return what

    ran = run(agent(shop, [call("mystery", {"what": "2026-11-30"})], tools=[mystery]), "go")
    assert approvals(ran.output)["c-1"]["arguments"] == {"what": "2026-11-30"}
    with pytest.raises(EvidenceError, match="mystery"):
        run(agent(shop, [call("mystery", {"what": "2026-11-30"})], tools=[mystery], before=[Injects()]), "go")
    assert made == []


def test_one_toolset_can_be_guarded_under_the_name_of_its_server(tmp_path):
    shop = Shop(tmp_path, {"servers": "shop", "then": "block", "reason": "closed"}, {"then": "commit"})
    free = []

    async def greet(name: str) -> str:
        free.append(name)
        return f"hello {name}"

    guarded = GuardedToolset(FunctionToolset(shop.tools), guard=shop.guard, server="shop")
    turn = [call("refund_order"), call("greet", {"name": "Ada"}, "c-2")]
    ran = run(Agent(scripted(turn), tools=[greet], toolsets=[guarded]), "go")
    assert free == ["Ada"]
    assert shop.executed == []
    assert "closed" in told(ran)


def test_asynchronous_runs_pause_and_resume(tmp_path):
    shop = Shop(tmp_path)
    one = agent(shop, [call("refund_order")])

    async def main():
        run = await one.run("refund it")
        shop.approve_all()
        results = resume(run.output)
        return await one.run(message_history=run.all_messages(), deferred_tool_results=results)

    assert asyncio.run(main()).output == "done"
    assert shop.executed == ONCE


def test_streamed_runs_are_guarded_and_nothing_of_the_rehearsal_is_streamed(tmp_path):
    shop = Shop(tmp_path)
    one = agent(shop, [call("refund_order")], "All done.")

    async def main():
        async with one.run_stream("refund it") as run:
            paused = await run.get_output()
        shop.approve_all()
        results = resume(paused)
        async with one.run_stream(message_history=run.all_messages(), deferred_tool_results=results) as second:
            return [text async for text in second.stream_text(delta=True)]

    assert "".join(asyncio.run(main())) == "All done."
    assert shop.executed == ONCE


def test_events_of_a_refused_call_say_that_it_failed(tmp_path):
    shop = Shop(tmp_path, FORBIDDEN)

    async def main():
        async with agent(shop, [call("refund_order")]).run_stream_events("refund it") as events:
            return [event async for event in events]

    results = [event.part for event in asyncio.run(main()) if event.event_kind == "function_tool_result"]
    assert [part.outcome for part in results] == ["failed"]


def test_p20_many_runs_at_once_execute_each_call_once(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    orders = [f"O-{n}" for n in range(1, 9)]

    def one(order):
        run(agent(shop, [call("refund_order", {"order_id": order, "amount": 1})]), "go", conversation_id=order)

    threads = [threading.Thread(target=one, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(arguments["order_id"] for _, arguments in shop.executed) == sorted(orders)
    assert shop.desk.ledger.verify().ok


def test_the_documented_example_runs():
    example = Path(__file__).parents[2] / "docs" / "examples" / "frameworks" / "with_pydantic_ai.py"
    ran = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1].startswith("executed: ")
