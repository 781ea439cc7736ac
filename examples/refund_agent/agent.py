"""A LangChain agent that may pay money back: a person is asked before it does.

python agent.py [--folder DATA]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from envace_sdk.integrations.langchain import RehearsalMiddleware, approvals_of, langchain_tools, resume
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from model import ORDER, ScriptedModel

from envace_sdk import Environment
from envace_sdk.guard import Guard, load_policy
from envace_sdk.inprocess import RehearsedTools
from envace_sdk.ledger import Ledger

HERE = Path(__file__).parent
THREAD = "chat-1"


def shop_tools(environment: Environment) -> list[Any]:
    """The tools of the shop. Here a world of its own stands for the real one; put your own tools in their place."""
    return [
        tool for tool in langchain_tools(RehearsedTools.load(environment)) if tool.name in ("get_order", "cancel_order")
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where ledger and checkpoints are kept; default: a temporary one")
    folder = parser.parse_args().folder or Path(tempfile.mkdtemp())

    environment = Environment.load("retail")
    ledger = Ledger.open(folder / "ledger.db")
    guard = Guard(environment, ledger, load_policy(HERE / "policy.yaml"))
    config: Any = {"configurable": {"thread_id": THREAD}}

    with SqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as checkpointer:
        agent = create_agent(
            ScriptedModel(),
            shop_tools(environment),
            middleware=[RehearsalMiddleware(guard)],  # the last one, next to the tools
            checkpointer=checkpointer,
        )
        state = agent.invoke({"messages": [HumanMessage(f"Please cancel {ORDER}, I want my money back.")]}, config)
        while waiting := approvals_of(state.get("__interrupt__", ())):
            for approval in waiting:
                decide(guard, approval)
            state = resume(agent, config)

    print("agent:", state["messages"][-1].text)
    print("trail:", [entry.kind for entry in ledger.entries(THREAD)])
    print("the trail holds:", ledger.verify().ok)
    ledger.close()


def decide(guard: Guard, approval: dict[str, Any]) -> None:
    """Ask the person at this terminal. `envace-sdk approvals` does the same from any other one."""
    print(f"{approval['tool']}({approval['arguments']})")
    print(f"risk: {approval['risk']}: {'; '.join(approval['risk_reasons'])}")
    print(f"predicted: {approval['predicted']}")
    answer = guard.approve if input("Approve? [y/N] ").strip().lower() == "y" else guard.reject
    answer(approval["approval"], by="the person at the terminal")


if __name__ == "__main__":
    main()
