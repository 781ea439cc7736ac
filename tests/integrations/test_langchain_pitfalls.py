"""What went wrong in wrappers around the tool calls of LangChain's agents, each on the real framework."""

import asyncio
import threading
from typing import Annotated

import pytest

pytest.importorskip("langchain")
pytest.importorskip("langgraph.checkpoint.sqlite")

from envace_sdk.integrations.langchain import GuardedTool, RehearsalMiddleware, resumption
from envace_sdk.integrations.langchain.quiet import NO_STREAM
from guarded_desk import environment
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    LLMToolEmulator,
    ToolRetryMiddleware,
)
from langchain.agents.structured_output import ToolStrategy
from langchain.tools import InjectedState, ToolRuntime
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, StructuredTool, ToolException, tool
from langchain_shop import (
    ANY_REFUND,
    CONFIG,
    GO,
    Driver,
    Shop,
    TalkingChat,
    answers,
    call,
    calls,
    model,
    waiting,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.constants import TAG_NOSTREAM
from langgraph.errors import GraphInterrupt
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from envace_sdk.errors import GuardError, InDoubtError, ToolCallError
from envace_sdk.evidence import KEY, NOTICE
from envace_sdk.guard import Pass
from envace_sdk.rehearse import Rehearsal
from envace_sdk.tools.model import ToolResult

BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
DONE = AIMessage("That is all.")


def refund(order, call_id="c1", amount=20):
    return call("refund_order", call_id, order_id=order, amount=amount)


def agent(shop, *script, middleware=(), tools=None, saver=None, **options):
    guard = RehearsalMiddleware(shop.guard, **options.pop("guarding", {}))
    chat = options.pop("chat", None) or model(*script)
    return create_agent(
        chat, tools or shop.tools, middleware=[*middleware, guard], checkpointer=saver or InMemorySaver(), **options
    )


def raw_node(shop, tools=None, **options):
    """A graph of one `ToolNode`, in which all calls of a turn are one task."""
    guard = RehearsalMiddleware(shop.guard)
    node = ToolNode(
        tools or shop.tools, wrap_tool_call=guard.wrap_tool_call, awrap_tool_call=guard.awrap_tool_call, **options
    )
    graph = StateGraph(MessagesState)
    graph.add_node("tools", node)
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    return graph.compile(checkpointer=InMemorySaver())


def approve_all(shop, state):
    for each in waiting(state):
        shop.guard.approve(each["approval"], by="ann")


def asked_for(state, **arguments):
    (found,) = [each for each in waiting(state) if arguments.items() <= each["arguments"].items()]
    return found["approval"]


def observed(shop, run="t1"):
    return [entry for entry in shop.ledger.entries(run) if entry.kind == "observed"]


class Fickle:
    """A predictor that says something else each time."""

    def __init__(self):
        self.asked = 0

    async def rehearse(self, call, context):
        self.asked += 1
        outcome = "success" if self.asked % 2 else "permission_error"
        return Rehearsal(ToolResult.text(outcome, is_error=outcome != "success"), context.state, "model", outcome, 0.6)


@BOTH
def test_p01_a_prediction_that_flips_on_resume_does_not_turn_a_rejection_into_a_run(tmp_path, is_async):
    ran = []

    @tool
    def mystery(what: str) -> str:
        """Nobody knows."""
        ran.append(what)
        return what

    fickle = Fickle()
    rule = {"when": "prediction.status == 'permission_error'", "then": "commit"}
    shop = Shop(tmp_path, rule, environment_=environment(model=fickle))
    drive = Driver(agent(shop, calls(call("mystery", what="x")), DONE, tools=[mystery]), is_async)
    state = drive(GO)
    shop.guard.reject(waiting(state)[0]["approval"], by="ann")
    state = drive.resume()
    assert (ran, fickle.asked) == ([], 1)
    assert "rejected by ann" in answers(state)[0].content


@BOTH
def test_p02_a_retry_outside_the_guard_is_asked_for_each_time_and_no_resume_executes_again(tmp_path, is_async):
    shop = Shop(tmp_path)
    shop.fails = ValueError("boom")
    retry = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False, on_failure="continue")
    drive = Driver(agent(shop, calls(refund("O-1")), DONE, middleware=[retry]), is_async)
    state = drive(GO)
    for number in range(3):
        assert len(shop.executed) == number
        approve_all(shop, state)
        state = drive.resume()
    assert len(shop.executed) == 3
    assert waiting(state) == []
    assert answers(state)[0].status == "error"


@BOTH
def test_p03_three_gated_calls_of_one_node_run_once_each(tmp_path, is_async):
    shop = Shop(tmp_path)
    drive = Driver(raw_node(shop), is_async)
    state = drive({"messages": [calls(*[refund(f"O-{n}", f"c{n}") for n in (1, 2, 3)])]})
    rounds = 0
    while waiting(state):
        approve_all(shop, state)
        state = drive.resume()
        rounds += 1
        assert rounds < 9
    assert sorted(arguments["order_id"] for _, arguments in shop.executed) == ["O-1", "O-2", "O-3"]
    assert [message.status for message in answers(state)] == ["success"] * 3


@BOTH
def test_p04_in_one_node_the_rejected_call_does_not_run_and_the_approved_one_does(tmp_path, is_async):
    shop = Shop(tmp_path)
    drive = Driver(raw_node(shop), is_async)
    state = drive({"messages": [calls(refund("O-1", "c1"), refund("O-2", "c2"))]})
    decided = set()
    while waiting(state):
        for each in waiting(state):
            decided.add(each["approval"])
            answer = shop.guard.reject if each["arguments"]["order_id"] == "O-1" else shop.guard.approve
            answer(each["approval"], by="ann")
        state = drive.resume()
    assert [arguments["order_id"] for _, arguments in shop.executed] == ["O-2"]
    assert {m.tool_call_id: m.status for m in answers(state)} == {"c1": "error", "c2": "success"}


@pytest.mark.parametrize("answer", [{"type": "approve"}, "yes", True, [{"type": "approve"}], None])
def test_p04_nothing_that_a_graph_is_resumed_with_approves_anything(tmp_path, answer):
    shop = Shop(tmp_path)
    made = agent(shop, calls(refund("O-1")), DONE)
    state = made.invoke(GO, CONFIG)
    (one,) = state["__interrupt__"]
    state = made.invoke(Command(resume={one.id: answer}), CONFIG)
    assert waiting(state)
    assert shop.executed == []


@BOTH
def test_p05_a_retry_inside_the_guard_executes_nothing_that_was_not_judged(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    shop.fails = ValueError("boom")
    retry = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False, on_failure="continue")
    guard = RehearsalMiddleware(shop.guard)
    made = create_agent(
        model(calls(refund("O-1")), DONE), shop.tools, middleware=[guard, retry], checkpointer=InMemorySaver()
    )
    state = Driver(made, is_async)(GO)
    assert len(shop.executed) == 1
    (entry,) = observed(shop)
    assert entry.body["raised"] == "ValueError"
    assert answers(state)[0].status == "error"


def _rewriting(request):
    return request.override(tool_call={**request.tool_call, "args": {**request.tool_call["args"], "amount": 999}})


class Rewriting(AgentMiddleware):
    def wrap_tool_call(self, request, handler):
        return handler(_rewriting(request))

    async def awrap_tool_call(self, request, handler):
        return await handler(_rewriting(request))


@BOTH
def test_p06_what_a_middleware_after_the_guard_makes_of_a_call_is_not_executed(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    made = create_agent(
        model(calls(refund("O-1", amount=1)), DONE),
        shop.tools,
        middleware=[RehearsalMiddleware(shop.guard), Rewriting()],
        checkpointer=InMemorySaver(),
    )
    state = Driver(made, is_async)(GO)
    assert shop.executed == []
    assert observed(shop) == []
    assert "changed after it was judged" in answers(state)[0].content


@BOTH
def test_p06_what_a_middleware_before_the_guard_makes_of_a_call_is_what_is_judged(tmp_path, is_async):
    shop = Shop(tmp_path)
    state = Driver(agent(shop, calls(refund("O-1", amount=1)), DONE, middleware=[Rewriting()]), is_async)(GO)
    assert shop.executed == []
    assert answers(state) == [] or "More than was paid" in answers(state)[0].content


@BOTH
def test_p06_a_guarded_tool_judges_what_middlewares_made_of_the_call(tmp_path, is_async):
    shop = Shop(tmp_path, {"when": "args.amount > 10.0", "then": "block", "reason": "too much"}, ANY_REFUND)
    guarded = [GuardedTool(each, shop.guard) for each in shop.tools]
    made = create_agent(
        model(calls(refund("O-1", amount=1)), DONE), guarded, middleware=[Rewriting()], checkpointer=InMemorySaver()
    )
    state = Driver(made, is_async)(GO)
    assert shop.executed == []
    assert "was not executed" in answers(state)[0].content


class Swallowing(AgentMiddleware):
    """Takes a pause for a failure."""

    def wrap_tool_call(self, request, handler):
        try:
            return handler(request)
        except Exception as error:
            return ToolMessage(f"failed: {type(error).__name__}", tool_call_id=request.tool_call["id"], status="error")

    async def awrap_tool_call(self, request, handler):
        try:
            return await handler(request)
        except Exception as error:
            return ToolMessage(f"failed: {type(error).__name__}", tool_call_id=request.tool_call["id"], status="error")


@BOTH
def test_p07_where_somebody_swallows_the_pause_nothing_is_executed_and_the_request_stands(tmp_path, is_async):
    shop = Shop(tmp_path)
    state = Driver(agent(shop, calls(refund("O-1")), DONE, middleware=[Swallowing()]), is_async)(GO)
    assert answers(state)[0].content == "failed: GraphInterrupt"
    assert shop.executed == []
    assert len(shop.ledger.approvals.pending("t1")) == 1


@BOTH
def test_p07_an_interrupt_inside_the_tool_passes_through_and_uses_no_approval_up(tmp_path, is_async):
    ran = []

    @tool
    def refund_order(order_id: str, amount: float) -> str:
        """Refund an order."""
        said = interrupt("really?")
        ran.append(said)
        return "refunded"

    shop = Shop(tmp_path)
    made = agent(shop, calls(refund("O-1")), DONE, tools=[refund_order])
    drive = Driver(made, is_async)
    approve_all(shop, drive(GO))
    state = drive.resume()
    assert [one.value for one in state["__interrupt__"]] == ["really?"]
    state = drive(Command(resume="yes"))
    assert len(ran) == 1
    assert answers(state)[0].content == "refunded"
    assert len(shop.ledger.approvals.select("t1")) == 1


@BOTH
def test_p08_arguments_that_the_framework_refuses_are_no_observation(tmp_path, is_async):
    class Strict(BaseModel):
        order_id: str
        amount: float
        reason: str

    ran = []
    strict = StructuredTool.from_function(
        lambda **given: ran.append(given), name="refund_order", description="Refund.", args_schema=Strict
    )
    shop = Shop(tmp_path, ANY_REFUND)
    state = Driver(agent(shop, calls(refund("O-1")), DONE, tools=[strict]), is_async)(GO)
    assert ran == []
    assert observed(shop) == []
    assert answers(state)[0].status == "error"
    assert "reason" in answers(state)[0].content


@BOTH
def test_p08_arguments_that_the_schema_forbids_are_sent_back_and_shown_to_nobody(tmp_path, is_async):
    shop = Shop(tmp_path)
    state = Driver(agent(shop, calls(call("refund_order", order_id="O-1")), DONE), is_async)(GO)
    assert answers(state)[0].artifact["verdict"] == "revise"
    assert shop.ledger.approvals.select() == []
    assert shop.executed == []


@BOTH
def test_p08_a_tool_that_answers_refused_arguments_itself_never_ran(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    shop.refund_order.handle_validation_error = "these arguments will not do"
    shop.refund_order.args_schema = type("Odd", (BaseModel,), {"__annotations__": {"order_id": int, "amount": float}})
    state = Driver(agent(shop, calls(refund("O-1")), DONE), is_async)(GO)
    assert answers(state)[0].content == "these arguments will not do"
    assert observed(shop) == []
    assert shop.executed == []


@BOTH
def test_p09_a_name_that_the_model_made_up_is_neither_rehearsed_nor_observed(tmp_path, is_async):
    shop = Shop(tmp_path)
    state = Driver(agent(shop, calls(call("refund_everything")), DONE), is_async)(GO)
    assert answers(state)[0].artifact["executed"] is False
    assert "there is no tool of that name" in answers(state)[0].content
    assert {"rehearsed", "observed"}.isdisjoint(shop.kinds())


@BOTH
def test_p10_a_tool_that_raises_was_observed_to_and_is_not_run_again(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    shop.fails = KeyError("total")
    drive = Driver(agent(shop, calls(refund("O-1")), DONE), is_async)
    with pytest.raises(KeyError):
        drive(GO)
    (entry,) = observed(shop)
    assert entry.body["raised"] == "KeyError"
    with pytest.raises(ToolCallError, match="KeyError: 'total'"):
        drive(None)
    assert len(shop.executed) == 1


@BOTH
def test_p10_an_error_that_the_node_makes_a_message_of_is_observed_as_an_error(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    shop.fails = KeyError("total")
    state = Driver(raw_node(shop, handle_tool_errors=True), is_async)({"messages": [calls(refund("O-1"))]})
    assert answers(state)[0].status == "error"
    assert observed(shop)[0].body["raised"] == "KeyError"


@tool
def refund_with_note(order_id: str, amount: float, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Refund an order."""
    answer = ToolMessage("refunded", tool_call_id=tool_call_id)
    return Command(update={"messages": [answer]})


refund_with_note.name = "refund_order"


@BOTH
def test_p11_the_answer_in_a_command_is_what_is_observed(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    state = Driver(agent(shop, calls(refund("O-1")), DONE, tools=[refund_with_note]), is_async)(GO)
    (entry,) = observed(shop)
    assert shop.ledger.payload(entry)["result"]["content"] == [{"type": "text", "text": "refunded"}]
    assert answers(state)[0].additional_kwargs[KEY]["kind"] == "observed"


@BOTH
def test_p11_a_command_is_given_again_whole_when_its_node_is_resumed(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    drive = Driver(raw_node(shop, [refund_with_note, shop.set_note]), is_async)
    note = call("set_note", "c2", order_id="O-2", note="x")
    state = drive({"messages": [calls(refund("O-1"), note)]})
    approve_all(shop, state)
    state = drive.resume()
    assert "refunded" in [message.content for message in answers(state)]
    assert len(observed(shop)) == 2


@BOTH
def test_p12_what_the_framework_injects_is_neither_hashed_nor_shown(tmp_path, is_async):
    given = []

    @tool
    def refund_order(
        order_id: str,
        amount: float,
        runtime: ToolRuntime,
        state: Annotated[dict, InjectedState],
        tool_call_id: Annotated[str, InjectedToolCallId],
    ) -> str:
        """Refund an order."""
        given.append((runtime.tool_call_id, len(state["messages"]), tool_call_id))
        return "refunded"

    for wrapped in (False, True):
        shop = Shop(tmp_path / str(wrapped), ANY_REFUND)
        tools = [GuardedTool(refund_order, shop.guard)] if wrapped else [refund_order]
        guard = [] if wrapped else [RehearsalMiddleware(shop.guard)]
        made = create_agent(model(calls(refund("O-1")), DONE), tools, middleware=guard, checkpointer=InMemorySaver())
        state = Driver(made, is_async)(GO)
        assert answers(state)[0].content == "refunded"
        (entry,) = observed(shop)
        assert shop.ledger.payload(entry)["arguments"] == {"order_id": "O-1", "amount": 20}
    assert given == [("c1", 2, "c1")] * 2


@BOTH
def test_p13_a_refused_call_of_a_tool_that_ends_the_run_does_not_look_like_a_result(tmp_path, is_async):
    shop = Shop(tmp_path, {"then": "block", "reason": "no refunds today"})
    shop.refund_order.return_direct = True
    state = Driver(agent(shop, calls(refund("O-1")), DONE), is_async)(GO)
    last = state["messages"][-1]
    assert isinstance(last, ToolMessage)
    assert last.status == "error"
    assert last.content.startswith("refund_order was not executed: no refunds today")
    assert last.content.count(NOTICE) == 2


class Report(BaseModel):
    """The final report."""

    text: str


@BOTH
def test_p14_structured_output_beside_a_waiting_call_does_not_let_it_run(tmp_path, is_async):
    shop = Shop(tmp_path)
    made = calls(refund("O-1"), call("Report", "c2", text="done"))
    drive = Driver(agent(shop, made, DONE, response_format=ToolStrategy(Report)), is_async)
    state = drive(GO)
    assert shop.executed == []
    assert len(waiting(state)) == 1
    approve_all(shop, state)
    drive.resume()
    assert len(shop.executed) == 1


class Chatty:
    """A predictor that asks a streaming model of LangChain, and passes it no configuration."""

    name = "chatty"

    async def rehearse(self, call, context):
        said = await TalkingChat(script=[AIMessage("secret rehearsal tokens")], bound=[], seen=[]).ainvoke("predict")
        return Rehearsal(ToolResult.text(said.text), context.state, "model", "success", 0.9)


@BOTH
def test_p15_the_tokens_of_a_rehearsal_are_not_streamed_to_the_user(tmp_path, is_async):
    @tool
    def mystery(what: str) -> str:
        """Nobody knows; it asks a model that the user may hear."""
        heard = TalkingChat(script=[AIMessage("spoken by the tool")], bound=[], seen=[]).invoke("go")
        return heard.text

    explicit = {"tools": "mystery", "arguments": {"what": {"enum": ["x"]}}, "then": "commit"}
    shop = Shop(tmp_path, explicit, environment_=environment(model=Chatty()))
    chat = model(calls(call("mystery", what="x")), AIMessage("All is done."), kind=TalkingChat)
    made = agent(shop, tools=[mystery], chat=chat)

    async def streamed():
        return [part async for part in made.astream(GO, CONFIG, stream_mode="messages")]

    parts = asyncio.run(streamed()) if is_async else list(made.stream(GO, CONFIG, stream_mode="messages"))
    heard = "".join(part.text for part, _ in parts)
    assert "secret" not in heard
    assert "spoken by the tool" in heard
    assert "All is done." in heard
    assert "secret rehearsal tokens" in str([shop.ledger.payload(e) for e in shop.ledger.entries("t1")])


def test_p15_the_tag_is_that_of_the_framework():
    assert NO_STREAM == TAG_NOSTREAM


@BOTH
def test_p16_siblings_wait_for_the_decision_where_the_scope_is_the_turn(tmp_path, is_async):
    look = call("get_order", "c2", order_id="O-1")
    for scope, ran in (("call", ["get_order"]), ("turn", [])):
        shop = Shop(tmp_path / scope)
        made = agent(shop, calls(refund("O-1"), look, refund("O-2", "c3")), DONE, guarding={"scope": scope})
        drive = Driver(made, is_async)
        state = drive(GO)
        assert [name for name, _ in shop.executed] == ran
        assert len(waiting(state)) == 2
        shop.guard.approve(asked_for(state, order_id="O-1"), by="ann")
        if scope == "turn":
            state = drive.resume()
            assert shop.executed == []
            assert len(waiting(state)) == 1
        shop.guard.reject(asked_for(state, order_id="O-2"), by="ann")
        state = drive.resume()
        assert sorted(name for name, _ in shop.executed) == ["get_order", "refund_order"]
        assert [message.status for message in answers(state)] == ["success", "success", "error"]
        assert len(shop.ledger.approvals.select("t1")) == 2


@BOTH
@pytest.mark.parametrize("scope", ["call", "turn"])
def test_p17_empty_and_repeated_call_ids_are_told_apart(tmp_path, is_async, scope):
    shop = Shop(tmp_path, ANY_REFUND)
    script = [
        calls(refund("O-1", "", 1), refund("O-2", "", 2), refund("O-3", "", 3)),
        calls(refund("O-1", "", 1)),
        DONE,
    ]
    state = Driver(agent(shop, *script, guarding={"scope": scope}), is_async)(GO)
    assert sorted((given["order_id"], given["amount"]) for _, given in shop.executed) == [
        ("O-1", 1.0),
        ("O-1", 1.0),
        ("O-2", 2.0),
        ("O-3", 3.0),
    ]
    assert len(observed(shop)) == 4
    assert "Already refunded" in str(answers(state)[-1].content)


@BOTH
def test_p17_the_same_call_with_the_same_id_in_a_later_turn_is_another_one(tmp_path, is_async):
    shop = Shop(tmp_path)
    drive = Driver(agent(shop, *[calls(call("get_order", order_id="O-1"))] * 2, DONE), is_async)
    drive(GO)
    assert len(shop.executed) == 2


class _Killed(BaseException):
    pass


@BOTH
def test_p18_a_process_that_dies_while_the_tool_runs_leaves_it_in_doubt(tmp_path, is_async):
    saver = InMemorySaver()
    shop = Shop(tmp_path, ANY_REFUND)
    shop.fails = _Killed()
    with pytest.raises(_Killed):
        Driver(agent(shop, calls(refund("O-1")), DONE, saver=saver), is_async)(GO)
    other = Shop(tmp_path, ANY_REFUND)
    again = Driver(agent(other, calls(refund("O-1")), DONE, saver=saver), is_async)
    with pytest.raises(InDoubtError):
        again(None)
    assert other.executed == []
    assert "observed" not in other.kinds()


def test_p18_what_was_executed_before_the_checkpoint_was_lost_is_not_executed_again(tmp_path):
    """The pause and its answer survive in two files: the checkpoint, and the ledger."""
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        shop = Shop(tmp_path)
        drive = Driver(agent(shop, calls(refund("O-1")), DONE, saver=saver))
        approve_all(shop, drive(GO))
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        other = Shop(tmp_path)
        made = agent(other, calls(refund("O-1")), DONE, saver=saver)
        (paused,) = made.get_state(CONFIG).tasks
        before = made.get_state(CONFIG).config
        state = Driver(made).resume()
        assert answers(state)[0].status == "success"
        assert len(other.executed) == 1
        assert before["configurable"]["thread_id"] == "t1"
        third = Shop(tmp_path)
        redone = Pass("t1", paused.id).action("refund_order", {"order_id": "O-1", "amount": 20}, call_id="c1")
        assert third.ledger.status(redone.identity) == "observed"


def mcp_tool(answer):
    """A tool as the adapters for MCP make them: async only, with the structured content in its artifact."""

    async def called(**_):
        if isinstance(answer, Exception):
            raise answer
        return answer

    schema = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
    return StructuredTool(
        name="get_order",
        description="Look an order up.",
        args_schema=schema,
        coroutine=called,
        response_format="content_and_artifact",
        handle_tool_error=True,
        metadata={"destructiveHint": True},
    )


LOOK = call("get_order", order_id="O-1")


def test_p19_an_async_only_tool_is_guarded_and_its_artifact_is_observed(tmp_path):
    found = {"order_id": "O-1", "total": 50}
    answer = ([{"type": "text", "text": "see below"}], {"structured_content": found})
    shop = Shop(tmp_path, {"tools": "get_order", "arguments": {"order_id": {"enum": ["O-1"]}}, "then": "commit"})
    drive = Driver(agent(shop, calls(LOOK), DONE, tools=[mcp_tool(answer)]), is_async=True)
    state = drive(GO)
    assert answers(state)[0].artifact == {"structured_content": found}
    assert shop.ledger.payload(observed(shop)[0])["result"]["structuredContent"] == found


def test_p19_an_async_only_tool_that_is_called_without_a_loop_never_ran(tmp_path):
    shop = Shop(tmp_path, {"tools": "get_order", "arguments": {"order_id": {"enum": ["O-1"]}}, "then": "commit"})
    with pytest.raises(NotImplementedError):
        agent(shop, calls(LOOK), DONE, tools=[mcp_tool(("x", None))]).invoke(GO, CONFIG)


def test_p19_an_error_result_is_an_observed_error_and_a_lost_connection_is_in_doubt(tmp_path):
    rule = {"tools": "get_order", "arguments": {"order_id": {"enum": ["O-1"]}}, "then": "commit"}
    shop = Shop(tmp_path / "a", rule)
    refused = mcp_tool(ToolException("order not found"))
    state = Driver(agent(shop, calls(LOOK), DONE, tools=[refused]), is_async=True)(GO)
    assert answers(state)[0].status == "error"
    assert observed(shop)[0].body["status"] == "not_found"
    other = Shop(tmp_path / "b", rule)
    drive = Driver(agent(other, calls(LOOK), DONE, tools=[mcp_tool(ConnectionError("gone"))]), is_async=True)
    with pytest.raises(ConnectionError):
        drive(GO)
    with pytest.raises(InDoubtError):
        drive(None)


def test_p19_what_a_server_hints_raises_the_risk(tmp_path):
    shop = Shop(tmp_path)
    state = Driver(agent(shop, calls(LOOK), DONE, tools=[mcp_tool(("x", None))]), is_async=True)(GO)
    assert waiting(state)[0]["risk"] == "high"


def test_p20_the_calls_of_a_turn_run_in_threads_at_once(tmp_path):
    shop = Shop(tmp_path)
    meet = threading.Barrier(6)

    @tool
    def get_order(order_id: str) -> str:
        """Look an order up."""
        meet.wait(20)
        return order_id

    made = [call("get_order", f"c{n}", order_id=f"O-{n}") for n in range(1, 7)]
    config = {**CONFIG, "max_concurrency": 6}
    state = agent(shop, calls(*made), DONE, tools=[get_order]).invoke(GO, config)
    assert [message.content for message in answers(state)] == [f"O-{n}" for n in range(1, 7)]
    assert not shop.ledger.verify().findings


@BOTH
def test_p22_an_answer_that_a_person_gave_in_the_tools_place_is_claimed(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    people = HumanInTheLoopMiddleware(interrupt_on={"refund_order": True}, interrupt_mode="per_call")
    made = create_agent(
        model(calls(refund("O-1")), AIMessage("I have refunded order O-1.")),
        shop.tools,
        middleware=[RehearsalMiddleware(shop.guard), people],
        checkpointer=InMemorySaver(),
    )
    drive = Driver(made, is_async)
    state = drive(GO)
    (one,) = state["__interrupt__"]
    state = drive(Command(resume={one.id: {"type": "respond", "message": "Refunded."}}))
    assert answers(state)[0].status == "success"
    assert answers(state)[0].additional_kwargs[KEY]["kind"] == "claimed"
    assert shop.executed == []
    assert observed(shop) == []


@BOTH
def test_an_emulated_answer_after_the_guard_is_claimed_not_observed(tmp_path, is_async):
    shop = Shop(tmp_path, ANY_REFUND)
    emulator = LLMToolEmulator(model=model(AIMessage("Refunded!")))
    made = create_agent(
        model(calls(refund("O-1")), DONE),
        shop.tools,
        middleware=[RehearsalMiddleware(shop.guard), emulator],
        checkpointer=InMemorySaver(),
    )
    state = Driver(made, is_async)(GO)
    assert answers(state)[0].content == "Refunded!"
    assert answers(state)[0].additional_kwargs[KEY]["kind"] == "claimed"
    assert observed(shop) == []


def test_a_guard_that_may_ask_does_not_start_without_a_checkpointer(tmp_path):
    shop = Shop(tmp_path)
    script = [calls(refund("O-1")), DONE]
    for is_async in (False, True):
        made = create_agent(model(*script), shop.tools, middleware=[RehearsalMiddleware(shop.guard)])
        with pytest.raises(GuardError, match="checkpointer"):
            Driver(made, is_async)(GO)


@BOTH
def test_where_nobody_can_be_asked_what_a_person_must_decide_is_refused(tmp_path, is_async):
    shop = Shop(tmp_path)
    made = create_agent(
        model(calls(refund("O-1")), DONE), shop.tools, middleware=[RehearsalMiddleware(shop.guard, asks=False)]
    )
    state = Driver(made, is_async, config={})(GO)
    assert "nobody can be asked" in answers(state)[0].content
    assert shop.executed == []


def test_nothing_but_ours_is_answered_by_a_resumption():
    with pytest.raises(GuardError, match="nothing waits"):
        resumption([])


def test_a_pause_is_an_exception_that_the_guard_knows():
    from envace_sdk.guard import is_control_flow, is_pause

    assert is_pause(GraphInterrupt(()))
    assert is_control_flow(GraphInterrupt(()))
