"""A chat service of Semantic Kernel that follows a script, and a kernel with it."""

from functools import reduce
from typing import ClassVar

from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings
from semantic_kernel.contents import (
    ChatHistory,
    ChatMessageContent,
    FunctionCallContent,
    StreamingChatMessageContent,
    StreamingTextContent,
    TextContent,
)
from semantic_kernel.functions import kernel_function


class ScriptedChat(ChatCompletionClientBase):
    """Says one turn after another, then "done"; a turn is text or calls."""

    SUPPORTS_FUNCTION_CALLING: ClassVar[bool] = True
    turns: list

    def _turn(self):
        return self.turns.pop(0) if self.turns else "done"

    async def _inner_get_chat_message_contents(self, chat_history, settings):
        turn = self._turn()
        items = [TextContent(text=turn)] if isinstance(turn, str) else turn
        return [ChatMessageContent(role="assistant", items=items)]

    async def _inner_get_streaming_chat_message_contents(self, chat_history, settings, function_invoke_attempt=0):
        turn = self._turn()
        items = [StreamingTextContent(text=turn, choice_index=0)] if isinstance(turn, str) else turn
        attempt = function_invoke_attempt
        yield [StreamingChatMessageContent("assistant", 0, items=items, function_invoke_attempt=attempt)]

    def _update_function_choice_settings_callback(self):
        return lambda *_, **__: None

    def _verify_function_choice_settings(self, settings):
        pass

    def _reset_function_choice_settings(self, settings):
        pass


class Talk:
    """A guarded kernel, a script and a history."""

    def __init__(self, tools, *turns):
        self.chat = ScriptedChat(ai_model_id="scripted", turns=list(turns))
        self.kernel = Kernel(services=[self.chat])
        for one in tools:
            kernel_function(getattr(one, "__func__", one))
        self.kernel.add_functions("shop", list(tools))
        self.history = ChatHistory()

    @property
    def settings(self):
        return PromptExecutionSettings(function_choice_behavior=FunctionChoiceBehavior.Auto())

    async def say(self, what=None):
        if what is not None:
            self.history.add_user_message(what)
        return await self.chat.get_chat_message_content(self.history, self.settings, kernel=self.kernel)

    async def stream(self, what=None):
        if what is not None:
            self.history.add_user_message(what)
        chunks = [
            chunk
            async for chunk in self.chat.get_streaming_chat_message_content(
                self.history, self.settings, kernel=self.kernel
            )
        ]
        return reduce(lambda one, two: one + two, chunks[-1:])


def call(tool, arguments, call_id="c-1"):
    return FunctionCallContent(id=call_id, name=f"shop-{tool}", arguments=arguments)
