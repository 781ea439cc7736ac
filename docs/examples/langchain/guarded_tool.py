"""One guarded tool, with langchain-core alone."""

import tempfile
from pathlib import Path

from envace_sdk.integrations.langchain import GuardedTool
from langchain_core.tools import tool

from envace_sdk import Environment
from envace_sdk.errors import ApprovalRequired
from envace_sdk.guard import Guard, parse_policy
from envace_sdk.ledger import Ledger

ledger = Ledger.open(Path(tempfile.mkdtemp()) / "ledger.db")
guard = Guard(Environment.load("retail"), ledger, parse_policy("rules: []"))


@tool
def cancel_order(order_id: str, reason: str) -> str:
    """Cancel a whole order."""
    return f"{order_id} is cancelled: {reason}"


guarded = GuardedTool(cancel_order, guard)
call = {"order_id": "TT-26-04124", "reason": "changed_mind"}
try:
    guarded.invoke(call)
except ApprovalRequired as pause:
    guard.approve(pause.approval, by="ann")
print(guarded.invoke(call))
ledger.close()
