"""What the examples for agent frameworks share: a shop, a tool that cancels an order, and a guard in front of it."""

import tempfile
from pathlib import Path

from envace_sdk import Environment, ToolCall
from envace_sdk.guard import Guard, parse_policy
from envace_sdk.ledger import Ledger

POLICY = "rules: [{name: reads, when: risk.level == 'low', then: commit}]"

environment = Environment.load("retail")
ledger = Ledger.open(Path(tempfile.mkdtemp()) / "ledger.db")
guard = Guard(environment, ledger, parse_policy(POLICY))
shop = environment.world("shop", seed=7)  # stands for the real one
executed: list[str] = []


async def cancel_order(order_id: str, reason: str) -> str:
    """Cancel an order that has not been shipped."""
    executed.append(order_id)
    arguments = {"order_id": order_id, "reason": reason}
    return (await environment.call(shop, ToolCall("cancel_order", arguments))).result.first_text


ARGUMENTS = {"order_id": "TT-26-04124", "reason": "ordered_by_mistake"}
