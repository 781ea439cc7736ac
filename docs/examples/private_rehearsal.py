"""An agent rehearses a task twice in private, and carries it out once, guided by what it learned."""

import asyncio
import tempfile
from pathlib import Path

from envace_sdk import Environment, ToolCall
from envace_sdk.guard import Guard, Toolbox, parse_policy, rehearse_then_commit
from envace_sdk.ledger import Ledger
from envace_sdk.tools import ToolResult

environment = Environment.load("retail")
policy = parse_policy("rules: [{when: risk.level != 'high', then: commit}]")
ledger = Ledger.open(Path(tempfile.mkdtemp()) / "ledger.db")
guard = Guard(environment, ledger, policy)
shop = environment.world("shop", seed=7)  # stands for the real one


async def agent(_task: str, tools: Toolbox, memory: str) -> str:
    """Stands for a language model: it guesses a customer number, unless a memory tells it better."""
    query = "brinkmann" if "There is no customer" in memory else None
    if query is None:
        customer_id = "C-00001"
    else:
        customer_id = (await tools("find_customers", {"query": query})).value()["customers"][0]["customer_id"]
    done = await tools("update_contact", {"customer_id": customer_id, "newsletter": False})
    return "Unsubscribed." if not done.is_error else f"It failed: {done.first_text}"


async def execute(call: ToolCall) -> ToolResult:
    return (await environment.call(shop, call)).result


async def main() -> None:
    found = await rehearse_then_commit(
        agent, "Take Brinkmann off the newsletter.", n=2, mode="sequential", guard=guard, execute=execute
    )
    for attempt in found.attempts:
        print(f"attempt {attempt.number}: {[call.status for call in attempt.calls]} {attempt.answer}")
    print("in earnest:", found.answer, len(found.outcomes), "calls")
    print(found.memory.splitlines()[0])


asyncio.run(main())
ledger.close()
