"""A guarded agent of the Agent Framework that asks before it cancels an order, with a scripted model."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message
from cancelling import ARGUMENTS, cancel_order, executed, guard
from envace_sdk.integrations.agent_framework import Rehearsal, approvals, resume


class Scripted(FunctionInvocationLayer, BaseChatClient):  # type: ignore[type-arg, misc]
    def _inner_get_response(self, *, messages: Any, **_: Any) -> Awaitable[ChatResponse]:
        called = any(item.type == "function_call" for message in messages for item in message.contents)
        call = Content.from_function_call(call_id="call_1", name="cancel_order", arguments=ARGUMENTS)
        return _said(Content.from_text("Cancelled.") if called else call)


async def _said(content: Content) -> ChatResponse:
    return ChatResponse(messages=[Message("assistant", [content])])


async def main() -> None:
    agent = Agent(client=Scripted(), tools=[cancel_order], middleware=[Rehearsal(guard)])
    session = agent.create_session()
    run = await agent.run("Cancel my order TT-26-04124.", session=session)
    while approvals(run):
        for request in approvals(run):
            print("asked:", request["predicted"])
            guard.approve(str(request["approval"]), by="ann")
        run = await agent.run(resume(run), session=session)
    print(run.text)


asyncio.run(main())
print("executed:", executed)
