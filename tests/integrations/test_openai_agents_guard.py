"""The guard inside real agents of the OpenAI Agents SDK, whose model follows a script."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from framework_shop import ANY_REFUND, FORBIDDEN, Shop
from guarded_desk import TOOLS, Action

pytest.importorskip("agents")

from agents import (
    Agent,
    FunctionTool,
    ModelBehaviorError,
    RunConfig,
    Runner,
    RunState,
    function_tool,
    set_tracing_disabled,
)
from agents.mcp import MCPServer
from agents.testing import ScriptedModel, assistant_message, function_call
from envace_sdk.integrations.openai_agents import ToolGuard
from mcp.types import CallToolResult
from mcp.types import Tool as MCPTool

set_tracing_disabled(True)

REFUND = {"order_id": "O-1", "amount": 20}
ONCE = [("refund_order", REFUND)]


def call(tool="refund_order", arguments=None, call_id="c-1"):
    return function_call(tool, REFUND if arguments is None else arguments, call_id=call_id)


def agent(shop, *turns, gate=None, tools=None, **options):
    """An agent that says one turn after another, then "done"."""
    gate = gate or ToolGuard(shop.guard, thread=lambda _: "chat")
    steps = [list(turn) for turn in turns] + [[assistant_message("done")]] * 6
    tools = [gate.tool(function_tool(one)) for one in shop.tools] if tools is None else tools
    return Agent("clerk", model=ScriptedModel(steps), tools=tools, **options), gate


def run(one, said="refund it", **options):
    return asyncio.run(Runner.run(one, said, **options))


def told(ran):
    return "\n".join(str(item.output) for item in ran.new_items if item.type == "tool_call_output_item")


class Server(MCPServer):
    """The shop behind MCP, in memory."""

    def __init__(self, shop, fails=False, **options):
        super().__init__(**options)
        self.shop = shop
        self.fails = fails

    name = "shop"

    async def connect(self):
        pass

    async def cleanup(self):
        pass

    async def list_tools(self, run_context=None, agent=None):
        return [MCPTool.model_validate({**one, "annotations": {"destructiveHint": True}}) for one in TOOLS]

    async def call_tool(self, tool_name, arguments, meta=None):
        result = await self.shop.desk.execute(Action(tool_name, arguments))
        content = [dict(block) for block in result.content]
        return CallToolResult.model_validate({"content": content, "isError": self.fails or result.is_error})

    async def list_prompts(self):
        raise NotImplementedError

    async def get_prompt(self, name, arguments=None):
        raise NotImplementedError


def test_what_a_rule_allows_runs_and_is_observed(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    one, _ = agent(shop, [call()])
    assert run(one).final_output == "done"
    assert shop.executed == ONCE
    assert shop.kinds("chat") == ["rehearsed", "decision", "commit", "observed"]


def test_what_is_forbidden_is_told_to_the_model_and_nobody_is_asked(tmp_path):
    shop = Shop(tmp_path, FORBIDDEN)
    one, _ = agent(shop, [call()])
    ran = run(one)
    assert ran.interruptions == []
    assert "no refunds today" in told(ran)
    assert shop.executed == []


def test_a_person_is_asked_and_the_run_goes_on_after_they_agreed(tmp_path):
    shop = Shop(tmp_path)
    one, gate = agent(shop, [call("get_order", {"order_id": "O-1"}, "r"), call()])
    ran = run(one)
    state = ran.to_state()
    asked = gate.approvals(state)
    assert [(approval.tool, approval.arguments, approval.risk) for approval in asked] == [
        ("refund_order", REFUND, "high")
    ]
    shop.guard.approve(asked[0].id, by="ann")
    assert run(one, gate.resume(state)).final_output == "done"
    assert shop.executed[1:] == ONCE


def test_a_run_is_resumed_from_its_written_state(tmp_path):
    shop = Shop(tmp_path)
    one, _ = agent(shop, [call()])
    text = run(one).to_state().to_string()
    shop.approve_all()

    async def later():
        again, gate = agent(shop)
        state = await RunState.from_string(again, text)
        return await Runner.run(again, gate.resume(state))

    assert asyncio.run(later()).final_output == "done"
    assert shop.executed == ONCE


def test_thread_15_a_run_that_is_resumed_with_another_context_does_not_pause_again(tmp_path):
    shop = Shop(tmp_path)
    one, gate = agent(shop, [call()])
    text = run(one, context={"user": "u"}).to_state().to_string()
    shop.approve_all()

    async def later():
        state = await RunState.from_string(one, text, context_override=None)
        return await Runner.run(one, gate.resume(state), context={"user": "someone else"})

    ran = asyncio.run(later())
    assert ran.interruptions == []
    assert shop.executed == ONCE


def test_the_frameworks_word_for_an_approval_is_not_enough(tmp_path):
    shop = Shop(tmp_path)
    one, _ = agent(shop, [call()])
    state = run(one).to_state()
    for item in state.get_interruptions():
        state.approve(item, always_approve=True)
    ran = run(one, state)
    assert "a person must approve it first" in told(ran)
    assert shop.executed == []


def test_what_nobody_has_answered_stays_interrupted(tmp_path):
    shop = Shop(tmp_path)
    one, gate = agent(shop, [call()])
    ran = run(one, gate.resume(run(one).to_state()))
    assert len(ran.interruptions) == 1
    assert shop.executed == []


def test_thread_09_one_rejection_leaves_the_approved_siblings_and_every_call_is_answered(tmp_path):
    shop = Shop(tmp_path)
    calls = [call(arguments={"order_id": f"O-{n}", "amount": n}, call_id=f"c-{n}") for n in (1, 2, 3)]
    one, gate = agent(shop, calls)
    state = run(one).to_state()
    for approval in gate.approvals(state):
        answer = shop.guard.reject if approval.arguments["order_id"] == "O-2" else shop.guard.approve
        answer(approval.id, by="ann")
    ran = run(one, gate.resume(state))
    assert ran.final_output == "done"
    assert sorted(arguments["order_id"] for _, arguments in shop.executed) == ["O-1", "O-3"]
    assert "rejected by ann" in told(ran)


def test_thread_05_what_a_person_edits_is_told_to_the_model_and_judged_anew(tmp_path):
    shop = Shop(tmp_path)
    less = {"order_id": "O-1", "amount": 5}
    one, gate = agent(shop, [call()], [call(arguments=less, call_id="c-2")])
    state = run(one).to_state()
    shop.guard.edit(shop.pending[0].id, less, by="ann")
    ran = run(one, gate.resume(state))
    assert '"amount": 5' in told(ran)
    assert shop.executed == []
    shop.approve_all()
    run(one, gate.resume(ran.to_state()))
    assert shop.executed == [("refund_order", less)]


def test_thread_14_a_state_whose_arguments_were_changed_executes_nothing(tmp_path):
    shop = Shop(tmp_path)
    one, _ = agent(shop, [call()])
    text = run(one).to_state().to_string()
    shop.approve_all()
    changed = text.replace('\\"amount\\": 20', '\\"amount\\": 49').replace('\\"amount\\":20', '\\"amount\\":49')
    assert changed != text

    async def later():
        state = await RunState.from_string(one, changed)
        for item in state.get_interruptions():
            state.approve(item)
        return await Runner.run(one, state)

    with pytest.raises(ModelBehaviorError, match="reused a tool call ID"):
        asyncio.run(later())
    assert shop.executed == []


def test_thread_16_tools_of_mcp_servers_are_guarded_as_functions_are(tmp_path):
    shop = Shop(tmp_path, {"servers": "shop", "tools": "refund_order", "then": "block", "reason": "closed"})
    gate = ToolGuard(shop.guard)
    one, _ = agent(shop, [call()], gate=gate, tools=[], mcp_servers=[gate.server(Server(shop))])
    ran = run(one)
    assert "closed" in told(ran)
    assert shop.executed == []


def test_thread_16_tools_of_mcp_servers_wait_for_people(tmp_path):
    shop = Shop(tmp_path)
    gate = ToolGuard(shop.guard, thread=lambda _: "chat")
    server = gate.server(Server(shop))
    one, _ = agent(shop, [call()], gate=gate, tools=[], mcp_servers=[server])
    state = run(one).to_state()
    asked = gate.approvals(state)
    assert [(approval.server, approval.tool) for approval in asked] == [("shop", "refund_order")]
    shop.approve_all()
    assert run(one, gate.resume(state)).final_output == "done"
    assert shop.executed == ONCE
    assert "observed" in shop.kinds("chat")


def test_thread_16_a_server_under_a_prefix_waits_for_people_too(tmp_path):
    shop = Shop(tmp_path)
    gate = ToolGuard(shop.guard)
    options = {"mcp_servers": [gate.server(Server(shop))], "mcp_config": {"include_server_in_tool_names": True}}
    one, _ = agent(shop, gate=gate, tools=[], **options)
    name = next(tool.name for tool in asyncio.run(one.get_all_tools(None)) if tool.name.endswith("refund_order"))
    one, _ = agent(shop, [call(name)], gate=gate, tools=[], **options)
    state = run(one).to_state()
    shop.approve_all()
    assert run(one, gate.resume(state)).final_output == "done"
    assert shop.executed == ONCE


def test_thread_16_a_server_that_is_called_past_the_agent_is_guarded_all_the_same(tmp_path):
    shop = Shop(tmp_path)
    server = ToolGuard(shop.guard).server(Server(shop))
    answer = asyncio.run(server.call_tool("refund_order", REFUND))
    assert "a person must approve it first" in answer.content[0].text
    assert shop.executed == []


def test_an_mcp_result_that_is_an_error_is_observed_as_one(tmp_path):
    shop = Shop(tmp_path, {**ANY_REFUND, "tools": "refund_order"}, trusted=["shop"])
    gate = ToolGuard(shop.guard, thread=lambda _: "chat")
    one, _ = agent(shop, [call()], gate=gate, tools=[], mcp_servers=[gate.server(Server(shop, fails=True))])
    run(one)
    observed = [entry for entry in shop.desk.ledger.entries("chat") if entry.kind == "observed"]
    assert [entry.body["status"] == "success" for entry in observed] == [False]


def test_thread_17_nobody_is_asked_about_a_call_that_is_refused_anyway(tmp_path):
    shop = Shop(tmp_path, FORBIDDEN)
    gate = ToolGuard(shop.guard)
    asked = []

    async def own(context, arguments, call_id):
        asked.append(arguments)
        return True

    one, _ = agent(shop, [call()], gate=gate, tools=[gate.tool(function_tool(shop.refund_order, needs_approval=own))])
    ran = run(one, run_config=RunConfig(tool_execution={"pre_approval_tool_input_guardrails": True}))
    assert ran.interruptions == []
    assert asked == []


def test_thread_17_what_the_policy_says_after_the_approval_counts(tmp_path):
    shop = Shop(tmp_path)
    one, gate = agent(shop, [call()])
    state = run(one).to_state()
    shop.approve_all()
    shop.guard.stop(by="ann", reason="incident 7")
    ran = run(one, gate.resume(state))
    assert "incident 7" in told(ran)
    assert shop.executed == []


def test_an_approval_that_the_tool_itself_wants_is_not_given_by_resume(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    gate = ToolGuard(shop.guard)
    one, _ = agent(shop, [call()], gate=gate, tools=[gate.tool(function_tool(shop.refund_order, needs_approval=True))])
    ran = run(one, gate.resume(run(one).to_state()))
    assert len(ran.interruptions) == 1
    assert shop.executed == []


def test_one_call_is_rehearsed_once_however_often_the_framework_asks(tmp_path):
    shop = Shop(tmp_path)
    one, gate = agent(shop, [call()])
    state = run(one).to_state()
    shop.approve_all()
    run(one, gate.resume(state))
    assert shop.kinds("chat").count("rehearsed") == 1


def test_the_same_state_twice_executes_once(tmp_path):
    shop = Shop(tmp_path)
    one, _ = agent(shop, [call()])
    text = run(one).to_state().to_string()
    shop.approve_all()

    async def later():
        again, gate = agent(shop)
        return await Runner.run(again, gate.resume(await RunState.from_string(again, text)))

    first, second = asyncio.run(later()), asyncio.run(later())
    assert shop.executed == ONCE
    assert json.loads(told(second).replace("'", '"')) == json.loads(told(first).replace("'", '"'))


def test_p10_a_tool_that_raises_is_observed_as_a_failure_and_told_as_the_framework_tells_it(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    shop.desk.fails = RuntimeError("boom")
    one, _ = agent(shop, [call()])
    ran = run(one)
    assert "An error occurred while running the tool" in told(ran)
    observed = [entry for entry in shop.desk.ledger.entries("chat") if entry.kind == "observed"]
    assert [entry.body["raised"] for entry in observed] == ["RuntimeError"]


def test_p10_a_tool_without_an_error_function_ends_the_run_as_without_the_guard(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    shop.desk.fails = RuntimeError("boom")
    gate = ToolGuard(shop.guard)
    tool = gate.tool(function_tool(shop.refund_order, failure_error_function=None))
    with pytest.raises(Exception, match="boom"):
        run(agent(shop, [call()], gate=gate, tools=[tool])[0])
    assert len(shop.executed) == 1


def test_a_tool_that_was_not_made_of_a_function_is_guarded_too(tmp_path):
    shop = Shop(tmp_path, FORBIDDEN)

    async def invoke(context, text):
        shop.executed.append(text)
        return "refunded"

    schema = next(one["inputSchema"] for one in TOOLS if one["name"] == "refund_order")
    gate = ToolGuard(shop.guard)
    tool = gate.tool(FunctionTool("refund_order", "Refund", schema, invoke))
    assert "no refunds today" in told(run(agent(shop, [call()], gate=gate, tools=[tool])[0]))
    assert shop.executed == []


def test_a_tool_that_runs_out_of_time_is_in_doubt(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)

    async def refund_order(order_id: str, amount: float) -> str:
        shop.executed.append("started")
        await asyncio.Event().wait()
        return "never"

    gate = ToolGuard(shop.guard, thread=lambda _: "chat")
    tool = gate.tool(function_tool(refund_order, timeout=0.5))
    ran = run(agent(shop, [call()], gate=gate, tools=[tool])[0])
    assert "not known whether it was executed" in told(ran)
    assert shop.executed == ["started"]
    assert shop.kinds("chat")[-1] == "commit"


def test_p09_a_name_that_no_tool_has_is_no_action(tmp_path):
    shop = Shop(tmp_path, ANY_REFUND)
    with pytest.raises(ModelBehaviorError):
        run(agent(shop, [call("give_all_away", {})])[0])
    assert shop.kinds("chat") == []


def test_p08_arguments_that_are_not_json_are_never_executed_or_asked_about(tmp_path):
    shop = Shop(tmp_path)
    one, gate = agent(shop, [function_call("refund_order", "{not json", call_id="c-1")])
    ran = run(one)
    ran = run(one, gate.resume(ran.to_state())) if ran.interruptions else ran
    assert ran.final_output == "done"
    assert shop.pending == []
    assert shop.executed == []


def test_p17_the_same_call_id_in_a_later_run_is_another_action(tmp_path):
    shop = Shop(tmp_path)
    look = [call("get_order", {"order_id": "O-1"})]
    one, _ = agent(shop, look)
    first = run(one, "look")
    two, _ = agent(shop, look)
    run(two, [*first.to_input_list(), {"role": "user", "content": "look again"}])
    assert len(shop.executed) == 2


def test_a_guard_that_fails_lets_nothing_run(tmp_path):
    def broken(case):
        raise RuntimeError("policy server down")

    shop = Shop(tmp_path, judge=broken)
    assert "the guard failed" in told(run(agent(shop, [call()])[0]))
    assert shop.executed == []


def test_streamed_runs_are_guarded(tmp_path):
    shop = Shop(tmp_path)
    one, gate = agent(shop, [call()])

    async def main():
        first = Runner.run_streamed(one, "refund it")
        async for _ in first.stream_events():
            pass
        shop.approve_all()
        second = Runner.run_streamed(one, gate.resume(first.to_state()))
        async for _ in second.stream_events():
            pass
        return second.final_output

    assert asyncio.run(main()) == "done"
    assert shop.executed == ONCE


def test_the_documented_example_runs():
    example = Path(__file__).parents[2] / "docs" / "examples" / "frameworks" / "with_openai_agents.py"
    ran = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1].startswith("executed: ")
