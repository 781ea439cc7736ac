"""A guarded kernel that asks before it cancels an order, with a scripted chat service in place of a real one."""

import asyncio
from typing import Any, ClassVar

from cancelling import ARGUMENTS, cancel_order, executed, guard
from envace_sdk.integrations.semantic_kernel import Rehearsal, approvals, resume
from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings
from semantic_kernel.contents import AuthorRole, ChatHistory, ChatMessageContent, FunctionCallContent, TextContent
from semantic_kernel.functions import kernel_function


class Scripted(ChatCompletionClientBase):
    SUPPORTS_FUNCTION_CALLING: ClassVar[bool] = True

    async def _inner_get_chat_message_contents(self, chat_history: ChatHistory, _: Any) -> list[ChatMessageContent]:
        called = any(message.role == AuthorRole.TOOL for message in chat_history.messages)
        call = FunctionCallContent(id="call_1", name="shop-cancel_order", arguments=ARGUMENTS)
        item = TextContent(text="Cancelled.") if called else call
        return [ChatMessageContent(role=AuthorRole.ASSISTANT, items=[item])]

    def _update_function_choice_settings_callback(self) -> Any:
        return lambda *_, **__: None

    def _verify_function_choice_settings(self, settings: Any) -> None: ...


async def main() -> None:
    chat, history = Scripted(ai_model_id="scripted"), ChatHistory()
    settings = PromptExecutionSettings(function_choice_behavior=FunctionChoiceBehavior.Auto())
    history.add_user_message("Cancel my order TT-26-04124.")

    kernel = Kernel()
    kernel.add_function("shop", kernel_function(cancel_order))
    Rehearsal(guard).install(kernel)
    answer = await chat.get_chat_message_content(history, settings, kernel=kernel)
    while approvals(history):
        for request in approvals(history):
            print("asked:", request["predicted"])
            guard.approve(str(request["approval"]), by="ann")
        if await resume(kernel, history):
            answer = await chat.get_chat_message_content(history, settings, kernel=kernel)
    print(answer)


asyncio.run(main())
print("executed:", executed)
