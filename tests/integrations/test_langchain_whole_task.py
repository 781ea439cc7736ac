"""Agents of LangChain that rehearse a task in private and carry it out once."""

import asyncio

import pytest

pytest.importorskip("langchain")
pytest.importorskip("langgraph.checkpoint.sqlite")

from envace_sdk.integrations.langchain import RehearseThenCommit, resume
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_shop import ANY_REFUND, CONFIG, GO, READS, ScriptedChat, Shop, answers, call, calls, waiting
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from envace_sdk.errors import GuardError
from envace_sdk.evidence import NOTICE

BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


def learning(messages):
    """Refunds too much, unless a memory tells it that this fails."""
    warned = any("More than was paid" in message.text for message in messages if isinstance(message, HumanMessage))
    return calls(call("refund_order", order_id="O-1", amount=20 if warned else 500))


def last(messages):
    return AIMessage(f"I have refunded O-1: {messages[-1].text}")


class Making:
    """Makes agents, and remembers what their models were shown."""

    def __init__(self, saver=None, first=learning):
        self.saver, self.first, self.models = saver or InMemorySaver(), first, []

    def __call__(self, tools, middleware):
        chat = ScriptedChat(script=[self.first, last], bound=[], seen=[])
        self.models.append(chat)
        return create_agent(chat, tools, middleware=[*middleware], checkpointer=self.saver)


def go(made, given=GO, is_async=False, **options):
    return asyncio.run(made.ainvoke(given, CONFIG, **options)) if is_async else made.invoke(given, CONFIG, **options)


@BOTH
def test_what_was_learned_in_rehearsals_guides_the_run_in_earnest(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    making = Making()
    made = RehearseThenCommit(making, shop.tools, guard=shop.guard, n=2, mode="sequential")
    found = go(made, is_async=is_async)
    assert [attempt.calls[0].status for attempt in found.attempts] == ["validation_error", "success"]
    assert shop.executed == [("refund_order", {"order_id": "O-1", "amount": 20.0})]
    assert found.answer.startswith("I have refunded O-1")
    assert not found.waits
    memory = found.state["messages"][0]
    assert isinstance(memory, HumanMessage)
    assert memory.text.count(NOTICE) == 2


@BOTH
def test_everything_rehearsed_is_in_the_ledger_as_rehearsed_and_in_no_thread(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    making = Making()
    go(RehearseThenCommit(making, shop.tools, guard=shop.guard, n=2), is_async=is_async)
    kinds = shop.kinds()
    assert kinds.count("commit") == kinds.count("observed") == 1
    assert kinds.count("rehearsed") == 4  # two calls, the memory, and the call in earnest
    threads = {found.config["configurable"]["thread_id"] for found in making.saver.list(None)}
    assert threads == {"t1"}
    assert not shop.ledger.verify().findings


@BOTH
def test_a_run_that_waits_goes_on_with_the_same_input_and_rehearses_nothing_again(tmp_path, is_async):
    shop = Shop(tmp_path)
    making = Making(first=lambda _: calls(call("refund_order", order_id="O-1", amount=20)))
    made = RehearseThenCommit(making, shop.tools, guard=shop.guard, n=2)
    found = go(made, is_async=is_async)
    assert found.waits
    assert (found.answer, shop.executed) == ("", [])
    shop.guard.approve(waiting(found.state)[0]["approval"], by="ann")
    found = go(made, is_async=is_async)
    assert found.attempts == ()
    assert len(shop.executed) == 1
    assert len(making.models) == 3
    assert found.answer.startswith("I have refunded")


def test_a_run_that_waits_goes_on_by_resume_too_after_a_restart(tmp_path):
    first = lambda _: calls(call("refund_order", order_id="O-1", amount=20))  # noqa: E731
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        shop = Shop(tmp_path)
        found = go(RehearseThenCommit(Making(saver, first), shop.tools, guard=shop.guard, n=1))
        shop.guard.approve(waiting(found.state)[0]["approval"], by="ann")
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        other = Shop(tmp_path)
        again = RehearseThenCommit(Making(saver, first), other.tools, guard=other.guard, n=1)
        state = resume(again.agent, CONFIG)
    assert answers(state)[0].status == "success"
    assert len(other.executed) == 1


def test_without_rehearsals_it_is_the_guarded_agent(tmp_path):
    shop = Shop(tmp_path, READS, ANY_REFUND)
    first = lambda _: calls(call("get_order", order_id="O-1"))  # noqa: E731
    found = go(RehearseThenCommit(Making(first=first), shop.tools, guard=shop.guard, n=0))
    assert (found.memory, found.attempts) == ("", ())
    assert found.state["messages"][0].text == GO["messages"][0].text


def test_an_attempt_that_breaks_off_is_told_and_the_real_tools_stay_untouched(tmp_path):
    def first(messages):
        if len(messages) == 1:
            raise RuntimeError("the model is down")
        return calls(call("refund_order", order_id="O-1", amount=20))

    shop = Shop(tmp_path, ANY_REFUND)
    found = go(RehearseThenCommit(Making(first=first), shop.tools, guard=shop.guard, n=1))
    assert "the model is down" in found.attempts[0].error
    assert len(shop.executed) == 1


def test_there_must_be_a_task(tmp_path):
    shop = Shop(tmp_path)
    made = RehearseThenCommit(Making(), shop.tools, guard=shop.guard)
    with pytest.raises(GuardError, match="no message of a user"):
        go(made, {"messages": [AIMessage("hello")]})
