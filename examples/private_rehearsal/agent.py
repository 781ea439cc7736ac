"""An agent rehearses its task in private, learns what would fail, and carries it out once; a person is asked before.

python agent.py [--folder DATA] [--rehearsals N]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from pathlib import Path

from model import scripted_model

from envace_sdk import Environment, ToolCall
from envace_sdk.errors import ApprovalRequired
from envace_sdk.guard import Guard, MeteredModel, TaskBudget, TaskOutcome, Toolbox, load_policy, rehearse_then_commit
from envace_sdk.ledger import Ledger
from envace_sdk.models.model import Message, Request
from envace_sdk.tools import ToolResult

HERE = Path(__file__).parent
TASK = "Put RIDGEWALK15 on order TT-26-04131; should it not be for him, then FIRSTFROST. Tell him the total."
THREAD = "chat-1"

model = MeteredModel(scripted_model())  # any chat model; metered, so that the budget's tokens are counted


async def agent(task: str, tools: Toolbox, memory: str) -> str:
    """Call tools until the model has an answer. It is the same agent in a rehearsal and in earnest."""
    messages = [Message("system", f"Answer with a call or an answer, as JSON.\n{memory}"), Message("user", task)]
    while True:
        [said] = await model.complete([Request(messages=tuple(messages))])
        step = json.loads(said.text)
        if "answer" in step:
            return str(step["answer"])
        result = await tools(step["tool"], step["arguments"])
        messages += [Message("assistant", said.text), Message("tool", result.first_text)]


async def work(guard: Guard, environment: Environment, n: int) -> TaskOutcome:
    """Rehearse, then commit; come back each time that a person has decided."""
    shop = environment.world("shop", seed=7)  # stands for the real shop

    async def execute(call: ToolCall) -> ToolResult:
        print(f"really called: {call.name}({dict(call.arguments)})")
        return (await environment.call(shop, call)).result

    budget = TaskBudget(seconds=60, tokens=20_000, calls=10)
    while True:
        try:
            return await rehearse_then_commit(
                agent, TASK, n=n, mode="sequential", budget=budget, guard=guard, execute=execute, thread=THREAD
            )
        except ApprovalRequired as pause:
            decide(guard, pause)


def decide(guard: Guard, pause: ApprovalRequired) -> None:
    """Ask the person at this terminal. `envace-sdk approvals` does the same from any other one."""
    shown = pause.payload
    print(f"{shown['tool']}({shown['arguments']})")
    print(f"predicted: {shown['predicted']}")
    answer = guard.approve if input("Approve? [y/N] ").strip().lower() == "y" else guard.reject
    answer(pause.approval, by="the person at the terminal")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where the ledger is kept; default: a temporary one")
    parser.add_argument("--rehearsals", type=int, default=2)
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp())

    environment = Environment.load("retail")
    with Ledger.open(folder / "ledger.db") as ledger:
        guard = Guard(environment, ledger, load_policy(HERE / "policy.yaml"))
        found = asyncio.run(work(guard, environment, options.rehearsals))
        print("agent:", found.answer)
        for entry in ledger.entries(THREAD, kind="rehearsed"):
            if "attempt" in entry.body:
                print(f"rehearsed, attempt {entry.body['attempt']}: {entry.body['tool']} -> {entry.body['status']}")
        print("the trail holds:", ledger.verify().ok)


if __name__ == "__main__":
    main()
