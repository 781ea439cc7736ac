"""A guarded Pydantic AI agent that asks before it cancels an order, with a scripted model in place of a real one."""

import asyncio

from cancelling import ARGUMENTS, cancel_order, executed, guard
from envace_sdk.integrations.pydantic_ai import Rehearsal, approvals, resume
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel


def script(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    done = any(isinstance(message, ModelResponse) for message in messages)
    return ModelResponse([TextPart("Cancelled.") if done else ToolCallPart("cancel_order", ARGUMENTS)])


async def main() -> None:
    agent = Agent(
        FunctionModel(script),
        tools=[cancel_order],
        output_type=[str, DeferredToolRequests],
        capabilities=[Rehearsal(guard)],
    )
    run = await agent.run("Cancel my order TT-26-04124.")
    while isinstance(run.output, DeferredToolRequests):
        for request in approvals(run.output).values():
            print("asked:", request["predicted"])
            guard.approve(str(request["approval"]), by="ann")
        run = await agent.run(message_history=run.all_messages(), deferred_tool_results=resume(run.output))
    print(run.output)


asyncio.run(main())
print("executed:", executed)
