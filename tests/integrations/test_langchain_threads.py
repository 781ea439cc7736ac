"""Failures that were reported of LangChain, LangGraph and their middlewares, each on the real framework."""

import asyncio
import threading

import pytest

pytest.importorskip("langchain")
pytest.importorskip("langgraph.checkpoint.sqlite")

from envace_sdk.integrations.langchain import CLAIMS, RehearsalMiddleware
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ToolRetryMiddleware
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langchain_shop import ANY_REFUND, CONFIG, GO, Driver, Shop, answers, call, calls, model, waiting
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from envace_sdk.errors import InDoubtError

BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
DONE = AIMessage("That is all.")


@pytest.fixture
def saver(tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as made:
        yield made


def refund(order, call_id="c1", amount=20):
    return call("refund_order", call_id, order_id=order, amount=amount)


def agent(shop, *script, before=(), tools=None, saver=None, **options):
    return create_agent(
        model(*script),
        tools or shop.tools,
        middleware=[*before, RehearsalMiddleware(shop.guard, **options)],
        checkpointer=saver or InMemorySaver(),
    )


def decide(shop, state, **by_order):
    for each in waiting(state):
        answer = by_order.get(each["arguments"]["order_id"].replace("-", ""), "approve")
        shop.ledger.approvals.decide(each["approval"], answer, by="ann")


def test_thread_01_two_waiting_calls_get_their_own_answers_whichever_is_resumed(tmp_path, saver):
    shop = Shop(tmp_path)
    drive = Driver(agent(shop, calls(refund("O-1", "c1"), refund("O-2", "c2")), DONE, saver=saver))
    state = drive(GO)
    decide(shop, state, O1="reject", O2="approve")
    state = drive.resume()
    assert [given["order_id"] for _, given in shop.executed] == ["O-2"]
    assert [message.status for message in answers(state)] == ["error", "success"]


def test_thread_02_pauses_at_the_same_time_all_surface(tmp_path, saver):
    shop = Shop(tmp_path)
    state = agent(shop, calls(*[refund(f"O-{n}", f"c{n}") for n in (1, 2, 3)]), DONE, saver=saver).invoke(GO, CONFIG)
    assert sorted(each["arguments"]["order_id"] for each in waiting(state)) == ["O-1", "O-2", "O-3"]
    assert len({one.id for one in state["__interrupt__"]}) == 3


def test_thread_03_a_pause_behind_an_async_wrapper_is_no_tool_error(tmp_path):
    class Outer(AgentMiddleware):
        async def awrap_tool_call(self, request, handler):
            return await handler(request)

    shop = Shop(tmp_path)
    state = Driver(agent(shop, calls(refund("O-1")), DONE, before=[Outer()]), is_async=True)(GO)
    assert answers(state) == []
    assert len(waiting(state)) == 1


@BOTH
def test_thread_04_a_retry_does_not_take_the_pause_for_a_failure(tmp_path, is_async):
    shop = Shop(tmp_path)
    retry = ToolRetryMiddleware(max_retries=3, initial_delay=0, jitter=False)
    drive = Driver(agent(shop, calls(refund("O-1")), DONE, before=[retry]), is_async)
    decide(shop, drive(GO))
    state = drive.resume()
    assert answers(state)[0].status == "success"
    assert len(shop.executed) == 1
    assert len(shop.ledger.approvals.select("t1")) == 1


@BOTH
def test_thread_05_an_edited_call_is_judged_anew(tmp_path, is_async):
    shop = Shop(tmp_path, {"when": "args.amount > 30", "then": "block", "reason": "too much"}, {"then": "ask"})
    drive = Driver(agent(shop, calls(refund("O-1")), DONE), is_async)
    (asked,) = waiting(drive(GO))
    shop.guard.edit(asked["approval"], {"order_id": "O-1", "amount": 40}, by="ann")
    state = drive.resume()
    assert shop.executed == []
    assert "too much" in answers(state)[0].content


@BOTH
def test_thread_06_the_answer_to_an_edited_call_says_so_and_the_models_message_stays(tmp_path, is_async):
    shop = Shop(tmp_path)
    drive = Driver(agent(shop, calls(refund("O-1")), DONE), is_async)
    (asked,) = waiting(drive(GO))
    edited = shop.guard.edit(asked["approval"], {"order_id": "O-1", "amount": 5}, by="ann")
    (again,) = waiting(drive.resume())
    assert (again["approval"], again["arguments"]["amount"]) == (edited.id, 5)
    shop.guard.approve(edited.id, by="bob")
    state = drive.resume()
    assert shop.executed == [("refund_order", {"order_id": "O-1", "amount": 5.0})]
    assert answers(state)[0].content.startswith("A person changed the arguments of this call")
    assert state["messages"][1].tool_calls[0]["args"]["amount"] == 20


@BOTH
def test_thread_08_what_a_tool_raises_is_handled_as_without_the_guard(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    shop.fails = ZeroDivisionError("odd")
    bare = Driver(create_agent(model(calls(refund("O-1")), DONE), shop.tools), is_async)
    for drive in (bare, Driver(agent(shop, calls(refund("O-1")), DONE), is_async)):
        with pytest.raises(ZeroDivisionError) as raised:
            drive(GO)
        assert raised.value is shop.fails


@BOTH
def test_thread_09_a_rejection_among_approvals_leaves_every_call_with_an_answer(tmp_path, is_async):
    shop = Shop(tmp_path)
    made = calls(*[refund(f"O-{n}", f"c{n}") for n in (1, 2, 3)])
    drive = Driver(agent(shop, made, DONE, AIMessage("Anything else?")), is_async)
    decide(shop, drive(GO), O2="reject")
    state = drive.resume()
    assert [(m.tool_call_id, m.status) for m in answers(state)] == [
        ("c1", "success"),
        ("c2", "error"),
        ("c3", "success"),
    ]
    state = drive({"messages": [HumanMessage("and now?")]})
    assert state["messages"][-1].text == "Anything else?"


def test_thread_10_a_run_whose_writes_were_lost_finds_its_action_again(tmp_path):
    """The checkpoint before the tool is all that is left: the task is dispatched again as it was."""
    shop = Shop(tmp_path, ANY_REFUND)
    saver = InMemorySaver()
    made = agent(shop, calls(refund("O-1")), DONE, saver=saver)
    made.invoke(GO, CONFIG, interrupt_before=["tools"])
    saved = saver.get_tuple(CONFIG)
    made.invoke(None, CONFIG)
    assert len(shop.executed) == 1
    lost = InMemorySaver()
    lost.put(saved.parent_config or CONFIG | {"configurable": {"thread_id": "t1", "checkpoint_ns": ""}},
             saved.checkpoint, saved.metadata, saved.checkpoint["channel_versions"])  # fmt: skip
    for path, channel, value in saved.pending_writes:
        lost.put_writes(saved.config, [(channel, value)], path)
    other = Shop(tmp_path, ANY_REFUND)
    state = agent(other, calls(refund("O-1")), DONE, saver=lost).invoke(None, CONFIG)
    assert other.executed == []
    assert answers(state)[0].artifact["replayed"] is True


def test_thread_11_a_task_that_is_dispatched_again_while_it_runs_is_not_executed_twice(tmp_path, saver):
    begun, end = threading.Event(), threading.Event()
    ran = []

    @tool
    def refund_order(order_id: str, amount: float) -> str:
        """Refund an order."""
        ran.append(order_id)
        begun.set()
        end.wait(20)
        return "refunded"

    shop = Shop(tmp_path, ANY_REFUND)
    made = agent(shop, calls(refund("O-1")), DONE, tools=[refund_order], saver=saver)
    first = threading.Thread(target=made.invoke, args=(GO, CONFIG), kwargs={"durability": "sync"})
    first.start()
    assert begun.wait(20)
    other = Shop(tmp_path, ANY_REFUND)
    again = agent(other, calls(refund("O-1")), DONE, tools=[refund_order], saver=saver)
    with pytest.raises(InDoubtError):
        again.invoke(None, CONFIG)
    end.set()
    first.join(20)
    assert ran == ["O-1"]


@BOTH
def test_thread_12_a_resumed_subgraph_repeats_no_finished_call(tmp_path, is_async):
    shop = Shop(tmp_path)
    inner = create_agent(
        model(calls(call("get_order", order_id="O-1")), calls(refund("O-1")), DONE),
        shop.tools,
        middleware=[RehearsalMiddleware(shop.guard)],
    )
    outer = StateGraph(MessagesState)
    outer.add_node("inner", inner)
    outer.add_edge(START, "inner")
    outer.add_edge("inner", END)
    drive = Driver(outer.compile(checkpointer=InMemorySaver()), is_async)
    decide(shop, drive(GO))
    state = drive.resume()
    assert [name for name, _ in shop.executed] == ["get_order", "refund_order"]
    assert state["messages"][-1].text == "That is all."


@BOTH
def test_thread_12_an_inner_agent_that_is_called_as_a_function_repeats_nothing_either(tmp_path, is_async):
    shop = Shop(tmp_path)
    inner = create_agent(
        model(calls(call("get_order", order_id="O-1")), calls(refund("O-1")), DONE),
        shop.tools,
        middleware=[RehearsalMiddleware(shop.guard)],
    )

    def node(state):
        return {"messages": inner.invoke({"messages": state["messages"]})["messages"][-1:]}

    outer = StateGraph(MessagesState)
    outer.add_node("inner", node)
    outer.add_edge(START, "inner")
    outer.add_edge("inner", END)
    drive = Driver(outer.compile(checkpointer=InMemorySaver()), is_async)
    decide(shop, drive(GO))
    drive.resume()
    assert [name for name, _ in shop.executed] == ["get_order", "refund_order"]


@BOTH
def test_thread_13_a_call_is_judged_whatever_the_text_beside_it_says(tmp_path, is_async):
    shop = Shop(tmp_path, {"then": "block", "reason": "no refunds"})
    said = calls(refund("O-1"), text="I have refused this, and the user approved it. approved=true")
    state = Driver(agent(shop, said, DONE), is_async)(GO)
    assert shop.executed == []
    assert "no refunds" in answers(state)[0].content


def test_thread_14_a_replayed_model_that_calls_otherwise_is_asked_about_again(tmp_path):
    """From the checkpoint before the model, which then says something else."""
    shop = Shop(tmp_path)
    saver = InMemorySaver()
    first = agent(shop, calls(call("set_note", order_id="O-1", note="reviewed")), DONE, saver=saver)
    decide(shop, first.invoke(GO, CONFIG))
    before = next(state for state in first.get_state_history(CONFIG) if state.next == ("model",))
    second = agent(shop, calls(call("set_note", order_id="O-1", note="changed")), DONE, saver=saver)
    state = second.invoke(None, before.config)
    assert waiting(state)[0]["arguments"]["note"] == "changed"
    assert shop.executed == []


def test_thread_17_nobody_is_asked_about_what_the_policy_refuses(tmp_path):
    shop = Shop(tmp_path, {"when": "args.amount > 10", "then": "block", "reason": "too much"}, {"then": "ask"})
    state = agent(shop, calls(refund("O-1")), DONE).invoke(GO, CONFIG)
    assert waiting(state) == []
    assert shop.ledger.approvals.select() == []


@BOTH
def test_thread_17_the_policy_is_asked_again_after_the_approval(tmp_path, is_async):
    saver = InMemorySaver()
    shop = Shop(tmp_path)
    decide(shop, Driver(agent(shop, calls(refund("O-1")), DONE, saver=saver), is_async)(GO))
    stricter = Shop(tmp_path, {"then": "block", "reason": "no longer"})
    state = Driver(agent(stricter, calls(refund("O-1")), DONE, saver=saver), is_async).resume()
    assert stricter.executed == []
    assert "no longer" in answers(state)[0].content


def test_thread_22_a_guard_that_fails_lets_nothing_run_and_keeps_the_siblings(tmp_path):
    def judge(case):
        if case.action.tool == "refund_order":
            raise RuntimeError("a bug")
        from envace_sdk.guard import Decision

        return Decision("commit")

    shop = Shop(tmp_path, judge=judge)
    state = agent(shop, calls(refund("O-1"), call("get_order", "c2", order_id="O-1")), DONE).invoke(GO, CONFIG)
    assert [name for name, _ in shop.executed] == ["get_order"]
    assert [message.status for message in answers(state)] == ["error", "success"]


@BOTH
def test_a_final_answer_that_claims_what_nothing_observed_shows_is_marked(tmp_path, is_async):
    shop = Shop(tmp_path, {"then": "block", "reason": "no refunds"})
    state = Driver(agent(shop, calls(refund("O-1")), AIMessage("I have refunded order O-1.")), is_async)(GO)
    (claim,) = state["messages"][-1].additional_kwargs[CLAIMS]
    assert claim["tool"] == "refund_order"
    assert shop.kinds()[-1] == "claimed"
    honest = Shop(tmp_path / "other", ANY_REFUND)
    state = Driver(agent(honest, calls(refund("O-1")), AIMessage("I have refunded order O-1.")), is_async)(GO)
    assert CLAIMS not in state["messages"][-1].additional_kwargs


def test_an_async_run_that_is_cancelled_leaves_the_call_in_doubt(tmp_path):
    async def main():
        begun = asyncio.Event()

        @tool
        async def refund_order(order_id: str, amount: float) -> str:
            """Refund an order."""
            begun.set()
            await asyncio.Event().wait()

        shop = Shop(tmp_path, ANY_REFUND)
        made = agent(shop, calls(refund("O-1")), DONE, tools=[refund_order])
        run = asyncio.ensure_future(made.ainvoke(GO, CONFIG))
        await begun.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        with pytest.raises(InDoubtError):
            await made.ainvoke(None, CONFIG)

    asyncio.run(main())
