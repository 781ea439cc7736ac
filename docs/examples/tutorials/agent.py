"""An agent that may cancel orders: the guard lets it do so once a person has approved it.

python agent.py ORDER
"""

import sys
from pathlib import Path
from typing import Any

from envace_sdk.integrations.langchain import RehearsalMiddleware, approvals_of, resume
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver

from envace_sdk import Environment
from envace_sdk.guard import Guard, parse_policy
from envace_sdk.ledger import Ledger

ORDER = sys.argv[1] if len(sys.argv) > 1 else sys.exit("say which order: python agent.py TT-26-04124")
POLICY = """
rules:
  - {name: reads, when: risk.level == 'low', then: commit}
  - {name: hopeless, when: "prediction.status in ['not_found', 'conflict']", then: revise, reason: it would fail}
  - {name: money goes back, tools: cancel_order, then: ask, reason: money that is paid back is not paid twice}
"""


@tool
def cancel_order(order_id: str, reason: str) -> dict[str, str]:
    """Cancel a whole order and pay the customer back."""
    with Path("cancelled.txt").open("a") as file:  # the real thing, which must happen once
        print(order_id, reason, file=file)
    return {"order_id": order_id, "status": "cancelled"}


class Model(BaseChatModel):
    """Stands for a language model, so that this runs offline: it cancels the order, and says what came of it."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> "Model":
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        if isinstance(messages[-1], ToolMessage):
            said = AIMessage("It is cancelled." if messages[-1].status == "success" else "It was not cancelled.")
        else:
            arguments = {"order_id": ORDER, "reason": "changed_mind"}
            said = AIMessage("", tool_calls=[{"name": "cancel_order", "args": arguments, "id": "call-1"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


config: Any = {"configurable": {"thread_id": f"about-{ORDER}"}}
ledger = Ledger.open(Path("ledger.db"))
guard = Guard(Environment.load("retail"), ledger, parse_policy(POLICY))
guard.catch_up()  # what earlier processes observed
with SqliteSaver.from_conn_string("checkpoints.db") as checkpointer:
    agent = create_agent(Model(), [cancel_order], middleware=[RehearsalMiddleware(guard)], checkpointer=checkpointer)
    if agent.get_state(config).interrupts:
        state = resume(agent, config)
    else:
        state = agent.invoke({"messages": [("user", f"Please cancel order {ORDER}.")]}, config)
waiting = approvals_of(state.get("__interrupt__", ()))
for approval in waiting:
    print("waits for a person:", approval["approval"])
if not waiting:
    print("agent:", state["messages"][-1].text)
ledger.close()
