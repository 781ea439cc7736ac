"""A LangChain agent on rehearsed tools, for tests of the agent."""

from typing import Any

from envace_sdk.integrations.langchain import langchain_tools
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from envace_sdk.inprocess import RehearsedTools


class Model(BaseChatModel):
    """Stands for a language model: it looks an order up, and says its state."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> "Model":
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        if isinstance(messages[-1], ToolMessage):
            label = messages[-1].artifact["evidence"]
            said = AIMessage(f"{messages[-1].artifact['structured_content']['status']}, {label['kind']}")
        else:
            said = AIMessage(
                "", tool_calls=[{"name": "get_order", "args": {"order_id": "TT-26-04124"}, "id": "call-1"}]
            )
        return ChatResult(generations=[ChatGeneration(message=said)])


model = Model()
tools = RehearsedTools.load("retail", seed=3)
agent = create_agent(model, tools=langchain_tools(tools))
state = agent.invoke({"messages": [("user", "What is the state of order TT-26-04124?")]})
print(state["messages"][-1].text)
