"""The guarded tool with langchain-core alone, and the same in graphs where there is one."""

import asyncio
import importlib.util
from typing import Annotated

import pytest

pytest.importorskip("langchain_core")

from envace_sdk.integrations.langchain import GuardedTool
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import InjectedToolCallId, StructuredTool, ToolException, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_shop import ANY_REFUND, Shop, call

from envace_sdk.errors import ApprovalRequired, ToolCallError
from envace_sdk.evidence import KEY, NOTICE

BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
REFUND = {"order_id": "O-1", "amount": 20}
HAS_GRAPHS = importlib.util.find_spec("langgraph") is not None


def given(made, value, is_async):
    return asyncio.run(made.ainvoke(value)) if is_async else made.invoke(value)


def guarded(shop, inner=None):
    return GuardedTool(inner or shop.refund_order, shop.guard)


def test_a_model_cannot_tell_it_from_the_tool(tmp_path):
    shop = Shop(tmp_path)
    for inner in shop.tools:
        assert convert_to_openai_tool(guarded(shop, inner)) == convert_to_openai_tool(inner)


@BOTH
def test_it_answers_as_the_tool_does(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    message = given(guarded(shop), call("refund_order", **REFUND), is_async)
    assert isinstance(message, ToolMessage)
    assert (message.status, message.tool_call_id) == ("success", "c1")
    assert message.additional_kwargs[KEY]["kind"] == "observed"


@BOTH
def test_plain_arguments_give_plain_data(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    assert given(guarded(shop), REFUND, is_async)["refunded"] == 20


@BOTH
def test_a_refused_tool_call_is_an_error_message_and_refused_arguments_are_an_exception(tmp_path, is_async):
    shop = Shop(tmp_path, {"then": "block", "reason": "no refunds"})
    message = given(guarded(shop), call("refund_order", **REFUND), is_async)
    assert (message.status, message.artifact["executed"]) == ("error", False)
    assert message.content.startswith("refund_order was not executed: no refunds")
    assert NOTICE in message.content
    with pytest.raises(ToolException, match="was not executed: no refunds"):
        given(guarded(shop), REFUND, is_async)
    assert shop.executed == []


@BOTH
@pytest.mark.parametrize("value", [REFUND, call("refund_order", **REFUND)], ids=["arguments", "tool call"])
def test_outside_of_a_graph_an_approval_is_an_exception_and_the_same_call_goes_on(tmp_path, is_async, value):
    shop = Shop(tmp_path)
    made = guarded(shop)
    with pytest.raises(ApprovalRequired) as pause:
        given(made, value, is_async)
    with pytest.raises(ApprovalRequired) as again:
        given(made, value, is_async)
    assert again.value.approval == pause.value.approval
    shop.guard.approve(pause.value.approval, by="ann")
    given(made, value, is_async)
    assert len(shop.executed) == 1
    with pytest.raises(ApprovalRequired) as third:
        given(made, value, is_async)
    assert third.value.approval != pause.value.approval


@BOTH
def test_each_call_is_a_new_action_once_the_one_before_was_executed(tmp_path, is_async):
    shop = Shop(tmp_path)
    made = guarded(shop, shop.get_order)
    for _ in range(3):
        given(made, {"order_id": "O-1"}, is_async)
    assert len(shop.executed) == 3


def test_the_way_past_the_guard_is_closed(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    with pytest.raises(NotImplementedError, match="guarded"):
        guarded(shop).run(REFUND)
    with pytest.raises(NotImplementedError, match="guarded"):
        asyncio.run(guarded(shop).arun(REFUND))
    assert shop.executed == []


@BOTH
def test_an_edited_call_is_executed_with_the_arguments_that_the_person_wants(tmp_path, is_async):
    shop = Shop(tmp_path)
    made = guarded(shop)
    with pytest.raises(ApprovalRequired) as pause:
        given(made, call("refund_order", **REFUND), is_async)
    edited = shop.guard.edit(pause.value.approval, {"order_id": "O-1", "amount": 5}, by="ann")
    with pytest.raises(ApprovalRequired) as again:
        given(made, call("refund_order", **REFUND), is_async)
    assert again.value.approval == edited.id
    shop.guard.approve(edited.id, by="bob")
    message = given(made, call("refund_order", **REFUND), is_async)
    assert shop.executed == [("refund_order", {"order_id": "O-1", "amount": 5.0})]
    assert message.content.startswith("A person changed")


def test_validation_artifacts_and_injected_arguments_stay_the_inner_tools(tmp_path):
    seen = []

    @tool(response_format="content_and_artifact")
    def get_order(order_id: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> tuple[str, dict]:
        """Look an order up."""
        seen.append(tool_call_id)
        return "found", {"structured_content": {"order_id": order_id}}

    shop = Shop(tmp_path)
    message = guarded(shop, get_order).invoke(call("get_order", order_id="O-1"))
    assert (message.content, message.artifact) == ("found", {"structured_content": {"order_id": "O-1"}})
    assert seen == ["c1"]


def test_a_tool_with_one_argument_takes_it_bare(tmp_path):
    shop = Shop(tmp_path)
    assert guarded(shop, shop.get_order).invoke("O-1")["order_id"] == "O-1"


@BOTH
def test_what_a_tool_raises_goes_on_and_is_observed(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    shop.fails = ZeroDivisionError("odd")
    with pytest.raises(ZeroDivisionError):
        given(guarded(shop), REFUND, is_async)
    (entry,) = shop.ledger.entries(kind="observed")
    assert entry.body["raised"] == "ZeroDivisionError"


def test_an_async_only_tool_is_guarded(tmp_path):
    async def found(**given):
        return given

    schema = {"type": "object", "properties": {"order_id": {"type": "string"}}}
    inner = StructuredTool(name="get_order", description="Look.", args_schema=schema, coroutine=found)
    shop = Shop(tmp_path, {"then": "block", "reason": "closed"})
    with pytest.raises(ToolException, match="closed"):
        asyncio.run(guarded(shop, inner).ainvoke({"order_id": "O-1"}))


@BOTH
def test_it_works_in_a_plain_chain(tmp_path, is_async):
    shop = Shop(tmp_path)
    chain = RunnableLambda(lambda order: {"order_id": order}) | guarded(shop, shop.get_order)
    assert given(chain, "O-2", is_async)["order_id"] == "O-2"


if HAS_GRAPHS:
    from langchain_core.messages import AIMessage
    from langchain_shop import CONFIG, GO, Driver, answers, calls, model, waiting
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    def graph(tools, saver):
        made = StateGraph(MessagesState)
        made.add_node("tools", ToolNode(tools))
        made.add_edge(START, "tools")
        made.add_edge("tools", END)
        return made.compile(checkpointer=saver)

    @BOTH
    def test_in_a_graph_with_a_checkpointer_it_interrupts_and_each_call_gets_its_own_answer(tmp_path, is_async):
        shop = Shop(tmp_path)
        drive = Driver(graph([guarded(shop, each) for each in shop.tools], InMemorySaver()), is_async)
        made = [call("refund_order", "c1", **REFUND), call("set_note", "c2", order_id="O-2", note="x")]
        state = drive({"messages": [AIMessage("", tool_calls=made)]})
        rounds = 0
        while waiting(state):
            for each in waiting(state):
                answer = shop.guard.approve if each["tool"] == "set_note" else shop.guard.reject
                answer(each["approval"], by="ann")
            state = drive.resume()
            rounds += 1
            assert rounds < 9
        assert [name for name, _ in shop.executed] == ["set_note"]
        assert {m.tool_call_id: m.status for m in answers(state)} == {"c1": "error", "c2": "success"}

    @BOTH
    def test_in_an_agent_without_a_checkpointer_an_approval_is_an_exception(tmp_path, is_async):
        from langchain.agents import create_agent

        shop = Shop(tmp_path)
        tools = [guarded(shop, each) for each in shop.tools]
        made = create_agent(model(calls(call("refund_order", **REFUND)), AIMessage("Done.")), tools)
        with pytest.raises(ApprovalRequired):
            Driver(made, is_async, config={})(GO)
        assert shop.executed == []

    def test_what_was_executed_and_raised_is_not_run_again_when_the_graph_goes_on(tmp_path):
        shop = Shop(tmp_path, ANY_REFUND)
        shop.fails = ZeroDivisionError("odd")
        made = graph([guarded(shop, shop.refund_order)], InMemorySaver())
        with pytest.raises(ZeroDivisionError):
            made.invoke({"messages": [AIMessage("", tool_calls=[call("refund_order", **REFUND)])]}, CONFIG)
        with pytest.raises(ToolCallError):
            made.invoke(None, CONFIG)
        assert len(shop.executed) == 1
