"""An agent that rehearses its task in private before it does anything."""

import tempfile
from pathlib import Path
from typing import Any

from envace_sdk.integrations.langchain import RehearseThenCommit, langchain_tools
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from envace_sdk import Environment
from envace_sdk.guard import Guard, parse_policy
from envace_sdk.inprocess import RehearsedTools
from envace_sdk.ledger import Ledger

environment = Environment.load("retail")
ledger = Ledger.open(Path(tempfile.mkdtemp()) / "ledger.db")
guard = Guard(environment, ledger, parse_policy("rules: [{when: risk.level != 'high', then: commit}]"))
shop = langchain_tools(RehearsedTools.load(environment, seed=7))  # stands for the real tools


class Model(BaseChatModel):
    """Stands for a language model: it guesses a customer number, unless a memory tells it better."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> "Model":
        return self

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        if isinstance(messages[-1], ToolMessage):
            said = AIMessage("Unsubscribed." if messages[-1].status == "success" else messages[-1].text)
        else:
            warned = any("There is no customer" in message.text for message in messages)
            arguments = {"customer_id": "C-30649" if warned else "C-00001", "newsletter": False}
            said = AIMessage("", tool_calls=[{"name": "update_contact", "args": arguments, "id": "c1"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


def make_agent(tools: Any, middleware: Any) -> Any:
    return create_agent(Model(), tools, middleware=[*middleware], checkpointer=InMemorySaver())


agent = RehearseThenCommit(make_agent, shop, guard=guard, n=2, mode="sequential")
task = {"messages": [HumanMessage("Take Ulrike Falkner off the newsletter.")]}
found = agent.invoke(task, {"configurable": {"thread_id": "chat-1"}})
for attempt in found.attempts:
    print(f"attempt {attempt.number}: {attempt.calls[0].status}")
print("in earnest:", found.answer)
ledger.close()
