"""A guarded agent of the OpenAI Agents SDK that asks before it cancels an order, with a scripted model."""

import asyncio

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call
from cancelling import ARGUMENTS, cancel_order, executed, guard
from envace_sdk.integrations.openai_agents import ToolGuard

set_tracing_disabled(True)
model = ScriptedModel([[function_call("cancel_order", ARGUMENTS, call_id="call_1")], [assistant_message("Cancelled.")]])


async def main() -> None:
    gate = ToolGuard(guard)
    agent = Agent("clerk", model=model, tools=[gate.tool(function_tool(cancel_order))])
    run = await Runner.run(agent, "Cancel my order TT-26-04124.")
    while run.interruptions:
        state = run.to_state()
        for approval in gate.approvals(state):
            print("asked:", approval.tool, approval.arguments, approval.reasons)
            guard.approve(approval.id, by="ann")
        run = await Runner.run(agent, gate.resume(state))
    print(run.final_output)


asyncio.run(main())
print("executed:", executed)
