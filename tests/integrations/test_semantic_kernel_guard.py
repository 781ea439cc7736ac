"""The guard inside real kernels of Semantic Kernel, whose chat service follows a script."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from framework_shop import ANY_REFUND, FORBIDDEN, Shop

pytest.importorskip("semantic_kernel")

from envace_sdk.integrations.semantic_kernel import Rehearsal, approvals, resume
from scripted_kernel import Talk, call
from semantic_kernel import Kernel
from semantic_kernel.contents import ChatHistory, FunctionResultContent
from semantic_kernel.exceptions import KernelInvokeException
from semantic_kernel.filters import FilterTypes

from envace_sdk.errors import ApprovalRequired, EvidenceError, InDoubtError, Refused

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

REFUND = {"order_id": "O-1", "amount": 20}
ONCE = [("refund_order", REFUND)]


def refund(arguments=None, call_id="c-1"):
    return call("refund_order", dict(REFUND if arguments is None else arguments), call_id)


def talk(shop, *turns, tools=None, filters=(), **options):
    made = Talk(shop.tools if tools is None else tools, *turns)
    for kind, one in filters:
        made.kernel.add_filter(kind, one)
    Rehearsal(shop.guard, **{"thread": lambda _: "chat", **options}).install(made.kernel)
    return made


def say(chat, what=None):
    answer = asyncio.run(chat.say(what))
    return str(answer)


def again(chat):
    """The turn after the pause: whether the model could go on, and what it said if so."""
    return say(chat) if asyncio.run(resume(chat.kernel, chat.history)) else None


def told(chat):
    items = [item for message in chat.history.messages for item in message.items]
    return "\n".join(str(item.result) for item in items if isinstance(item, FunctionResultContent))


def test_what_a_rule_allows_runs_and_is_observed(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    chat = talk(shop, [refund()])
    assert say(chat, "refund it") == "done"
    assert shop.executed == ONCE
    assert shop.kinds("chat") == ["rehearsed", "decision", "commit", "observed"]


def test_what_is_forbidden_is_told_to_the_model(tmp_path):
    shop = Shop(tmp_path, FORBIDDEN)
    chat = talk(shop, [refund()])
    assert say(chat, "refund it") == "done"
    assert "no refunds today" in told(chat)
    assert shop.executed == []


def test_a_person_is_asked_and_the_conversation_goes_on_after_they_agreed(tmp_path):
    shop = Shop(tmp_path)
    chat = talk(shop, [call("get_order", {"order_id": "O-1"}, "r"), refund()])
    say(chat, "refund it")
    (asked,) = approvals(chat.history)
    assert (asked["server"], asked["tool"], asked["arguments"]) == ("shop", "refund_order", REFUND)
    assert [tool for tool, _ in shop.executed] == ["get_order"]
    shop.guard.approve(asked["approval"], by="ann")
    assert again(chat) == "done"
    assert shop.executed[1:] == ONCE
    assert approvals(chat.history) == []


def test_a_conversation_is_resumed_from_its_written_history(tmp_path):
    shop = Shop(tmp_path)
    chat = talk(shop, [refund()])
    say(chat, "refund it")
    later = talk(shop)
    later.history = ChatHistory.restore_chat_history(chat.history.serialize())
    shop.approve_all()
    assert again(later) == "done"
    assert shop.executed == ONCE


def test_what_nobody_has_answered_still_waits(tmp_path):
    shop = Shop(tmp_path)
    chat = talk(shop, [refund()])
    say(chat, "refund it")
    assert again(chat) is None
    assert len(approvals(chat.history)) == 1
    assert "a person must approve it first" in told(chat)
    assert shop.executed == []


def test_a_rejection_is_told_to_the_model(tmp_path):
    shop = Shop(tmp_path)
    chat = talk(shop, [refund()])
    say(chat, "refund it")
    shop.guard.reject(shop.pending[0].id, by="ann")
    assert again(chat) == "done"
    assert "rejected by ann" in told(chat)
    assert shop.executed == []


def test_thread_05_what_a_person_edits_is_told_to_the_model_and_judged_anew(tmp_path):
    shop = Shop(tmp_path)
    less = {"order_id": "O-1", "amount": 5}
    chat = talk(shop, [refund()], [refund(less, "c-2")])
    say(chat, "refund it")
    shop.guard.edit(shop.pending[0].id, less, by="ann")
    again(chat)
    assert '"amount": 5' in told(chat)
    assert shop.executed == []
    shop.approve_all()
    assert again(chat) == "done"
    assert shop.executed == [("refund_order", less)]


def test_thread_09_one_rejection_leaves_the_approved_siblings_and_every_call_has_its_result(tmp_path):
    shop = Shop(tmp_path)
    chat = talk(shop, [refund({"order_id": f"O-{n}", "amount": n}, f"c-{n}") for n in (1, 2, 3)])
    say(chat, "refund them")
    asked = {payload["arguments"]["order_id"]: payload["approval"] for payload in approvals(chat.history)}
    shop.guard.reject(asked["O-2"], by="ann")
    for order in ("O-1", "O-3"):
        shop.guard.approve(asked[order], by="ann")
    assert again(chat) == "done"
    assert sorted(arguments["order_id"] for _, arguments in shop.executed) == ["O-1", "O-3"]
    results = [
        item for message in chat.history.messages for item in message.items if isinstance(item, FunctionResultContent)
    ]
    assert sorted(item.id for item in results) == ["c-1", "c-2", "c-3"]


def test_thread_14_other_arguments_in_a_replayed_history_need_an_approval_of_their_own(tmp_path):
    shop = Shop(tmp_path)
    chat = talk(shop, [refund()])
    say(chat, "refund it")
    shop.approve_all()
    chat.history.messages[1].items[0].arguments = {"order_id": "O-1", "amount": 49}
    assert again(chat) is None
    assert shop.executed == []


def test_the_same_history_twice_executes_once(tmp_path):
    shop = Shop(tmp_path)
    chat = talk(shop, [refund()])
    say(chat, "refund it")
    text = chat.history.serialize()
    shop.approve_all()
    for _ in range(3):
        chat.history = ChatHistory.restore_chat_history(text)
        assert again(chat) == "done"
    assert shop.executed == ONCE


async def doubles(context, next):  # noqa: A002
    if "amount" in context.arguments:
        context.arguments["amount"] = context.arguments["amount"] * 2
    await next(context)


def test_p06_arguments_that_an_earlier_filter_changes_are_judged_as_changed(tmp_path):
    shop = Shop(tmp_path)
    chat = talk(shop, [refund()], filters=[(FilterTypes.FUNCTION_INVOCATION, doubles)])
    say(chat, "refund it")
    assert approvals(chat.history)[0]["arguments"]["amount"] == 40


def test_p06_a_filter_that_was_added_behind_the_guard_lets_nothing_run(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    chat = talk(shop, [refund()])
    chat.kernel.add_filter(FilterTypes.FUNCTION_INVOCATION, doubles)
    say(chat, "refund it")
    assert "install the guard after all other filters" in told(chat)
    assert shop.executed == []


def test_p05_retries_around_the_guard_are_judged_one_by_one(tmp_path):
    async def retries(context, next):  # noqa: A002
        for _ in range(2):
            try:
                return await next(context)
            except RuntimeError:
                shop.desk.fails = None
        return None

    shop = Shop(tmp_path, ANY_REFUND)
    shop.desk.fails = RuntimeError("busy")
    chat = talk(shop, [refund()], filters=[(FilterTypes.FUNCTION_INVOCATION, retries)])
    assert say(chat, "refund it") == "done"
    assert shop.kinds("chat").count("commit") == shop.kinds("chat").count("observed") == len(shop.executed)


def test_p08_arguments_that_the_function_does_not_take_are_no_observation(tmp_path):
    shop = Shop(tmp_path, {"then": "commit"})
    chat = talk(shop, [refund({"order_id": "O-1", "amount": "a lot"})])
    say(chat, "refund it")
    assert shop.executed == []
    assert "observed" not in shop.kinds("chat")


def test_p09_a_name_that_no_function_has_is_no_action(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    say(talk(shop, [call("give_all_away", {})]), "refund it")
    assert shop.kinds("chat") == []


def test_p10_a_function_that_raises_is_observed_and_told_as_the_kernel_tells_it(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    shop.desk.fails = RuntimeError("boom")
    chat = talk(shop, [refund()])
    assert say(chat, "refund it") == "done"
    assert "boom" in told(chat)
    observed = [entry for entry in shop.desk.ledger.entries("chat") if entry.kind == "observed"]
    assert [entry.body["raised"] for entry in observed] == ["RuntimeError"]


def test_a_lost_answer_is_told_as_one_that_nobody_knows(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    shop.desk.fails = TimeoutError()
    chat = talk(shop, [refund()])
    say(chat, "refund it")
    assert "not known whether it was executed" in told(chat)
    assert shop.kinds("chat")[-1] == "commit"


def test_p17_the_same_call_id_in_a_later_turn_is_another_action(tmp_path):
    shop = Shop(tmp_path)
    look = call("get_order", {"order_id": "O-1"})
    chat = talk(shop, [look], "first", [look])
    say(chat, "look")
    chat.history.add_assistant_message("first")
    say(chat, "look again")
    assert len(shop.executed) == 2


def test_p18_a_call_in_doubt_ends_the_turn_until_somebody_says(tmp_path):
    shop = Shop(tmp_path)
    chat = talk(shop, [refund()])
    say(chat, "refund it")
    shop.approve_all()
    text = chat.history.serialize()
    shop.desk.fails = asyncio.CancelledError()
    with pytest.raises(asyncio.CancelledError):
        again(chat)
    shop.desk.fails = None
    chat.history = ChatHistory.restore_chat_history(text)
    with pytest.raises(InDoubtError):
        again(chat)
    assert len(shop.executed) == 1


def test_a_guard_that_fails_lets_nothing_run(tmp_path):
    def broken(case):
        raise RuntimeError("policy server down")

    shop = Shop(tmp_path, judge=broken)
    chat = talk(shop, [refund()])
    say(chat, "refund it")
    assert "the guard failed" in told(chat)
    assert shop.executed == []


def test_arguments_that_cannot_be_written_as_json_end_the_turn(tmp_path):
    async def injects(context, next):  # noqa: A002
        context.arguments["amount"] = object()
        await next(context)

    shop = Shop(tmp_path, ANY_REFUND)
    chat = talk(shop, [refund()], filters=[(FilterTypes.FUNCTION_INVOCATION, injects)])
    with pytest.raises(EvidenceError, match="refund_order"):
        say(chat, "refund it")
    assert shop.executed == []


def test_what_a_program_invokes_itself_is_guarded_and_refusals_are_raised(tmp_path):
    shop = Shop(tmp_path)
    kernel = talk(shop).kernel

    def invoke():
        return asyncio.run(kernel.invoke(plugin_name="shop", function_name="refund_order", **REFUND))

    with pytest.raises(KernelInvokeException) as stopped:
        invoke()
    assert isinstance(stopped.value.__cause__, ApprovalRequired)
    shop.guard.approve(stopped.value.__cause__.approval, by="ann")
    assert invoke().value["refunded"] == 20
    with pytest.raises(KernelInvokeException) as second:
        invoke()
    assert isinstance(second.value.__cause__, ApprovalRequired | Refused)
    assert shop.executed == ONCE


def test_what_a_function_calls_in_turn_is_judged_on_its_own(tmp_path):
    calls = []

    async def mystery(what: str) -> str:
        calls.append(what)
        try:
            await chat.kernel.invoke(plugin_name="shop", function_name="refund_order", **REFUND)
        except KernelInvokeException as error:
            return str(error.__cause__)
        return "refunded"

    commit = {"tools": "mystery", "arguments": {"what": {"type": "string", "maxLength": 9}}, "then": "commit"}
    shop = Shop(tmp_path, commit, FORBIDDEN)
    chat = talk(shop, [call("mystery", {"what": "x"})], tools=[mystery, *shop.tools])
    say(chat, "go")
    assert calls == ["x"]
    assert "no refunds today" in told(chat)
    assert shop.executed == []


def test_functions_made_of_prompts_pass(tmp_path):
    shop = Shop(tmp_path, {"then": "block"})
    chat = talk(shop)
    answer = asyncio.run(chat.kernel.invoke_prompt("Say something."))
    assert str(answer) == "done"


def test_streamed_turns_are_guarded(tmp_path):
    shop = Shop(tmp_path)
    chat = talk(shop, [refund()])
    asyncio.run(chat.stream("refund it"))
    assert len(approvals(chat.history)) == 1
    shop.approve_all()
    assert asyncio.run(resume(chat.kernel, chat.history))
    assert str(asyncio.run(chat.stream())) == "done"
    assert shop.executed == ONCE


def test_a_function_that_yields_its_result_is_observed_when_it_was_read(tmp_path):
    shop = Shop(tmp_path, {"then": "commit", "tools": "get_order"})

    async def get_order(order_id: str) -> AsyncGenerator[str, None]:
        for word in ("an", "order"):
            yield word

    chat = talk(shop, tools=[get_order])

    async def read():
        parts = []
        async for part in chat.kernel.invoke_stream(plugin_name="shop", function_name="get_order", order_id="O-1"):
            assert "observed" not in shop.kinds("chat")
            parts.append(part)
        return parts

    assert asyncio.run(read())
    assert shop.kinds("chat")[-1] in {"observed", "scored"}
    assert "observed" in shop.kinds("chat")


def test_a_kernel_that_was_cloned_is_guarded_too(tmp_path):
    shop = Shop(tmp_path, FORBIDDEN)
    clone = talk(shop).kernel.clone()
    assert isinstance(clone, Kernel)
    with pytest.raises(KernelInvokeException):
        asyncio.run(clone.invoke(plugin_name="shop", function_name="refund_order", **REFUND))
    assert shop.executed == []


def test_the_documented_example_runs():
    example = Path(__file__).parents[2] / "docs" / "examples" / "frameworks" / "with_semantic_kernel.py"
    ran = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1].startswith("executed: ")
