"""Stands for a language model, so that the example runs offline: it follows a script, as far as the answers let it."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

ORDER = "TT-26-04124"


class ScriptedModel(BaseChatModel):
    """Looks the order up, cancels it, and says what came of that."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> ScriptedModel:
        """It knows its tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        results = [message for message in messages if isinstance(message, ToolMessage)]
        return ChatResult(generations=[ChatGeneration(message=_next(results))])


def _next(results: list[ToolMessage]) -> AIMessage:
    if not results:
        return _calling("get_order", order_id=ORDER)
    if len(results) == 1:
        return _calling("cancel_order", order_id=ORDER, reason="changed_mind")
    if results[-1].status == "error":
        return AIMessage(f"I am sorry: order {ORDER} stands as it is, and nothing was paid back.")
    return AIMessage(f"I have cancelled order {ORDER}, and the money is on its way back to you.")


def _calling(name: str, **arguments: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"type": "tool_call", "id": f"call_{name}", "name": name, "args": arguments}])
