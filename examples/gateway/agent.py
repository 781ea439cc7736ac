"""A scripted agent calls a real server through the gateway; what needs a person is approved from a terminal.

Usage: python agent.py [FOLDER], where the database and the ledger are to lie.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

HERE = Path(__file__).parent
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
ENVACE = [sys.executable, "-P", "-m", "envace_sdk"]  # -P: the installed one, wherever this is started
FOLDER.mkdir(parents=True, exist_ok=True)
LEDGER = str(FOLDER / "ledger.db")

GATEWAY = StdioServerParameters(
    command=ENVACE[0],
    args=[
        *ENVACE[1:],
        *("gateway", "--policy", str(HERE / "policy.yaml"), "--dynamics", str(HERE / "dynamics.yaml")),
        *("--ledger", LEDGER, "--"),
        *(sys.executable, str(HERE / "orders_server.py"), str(FOLDER / "orders.db")),
    ],
    env=dict(os.environ),
)


def show(what: str, result: CallToolResult) -> CallToolResult:
    """Print the first line of an answer, and what the gateway says of it."""
    meta = dict(result.meta or {})
    said = meta.get("dev.envace/evidence", {}).get("kind") or meta["dev.envace/guard"]["verdict"]
    text = getattr(result.content[0], "text", "")
    sys.stdout.write(f"{what}: [{said}] {text.splitlines()[0]}\n")
    return result


async def main() -> None:
    """What an agent might do in a morning."""
    async with Client(GATEWAY) as client:
        show("read", await client.call_tool("get_order", {"order_id": "O-1"}))
        show("small refund", await client.call_tool("refund_order", {"order_id": "O-1", "amount": 5}))
        show("too much", await client.call_tool("refund_order", {"order_id": "O-1", "amount": 60}))

        refund = {"order_id": "O-1", "amount": 20}
        waiting = show("refund", await client.call_tool("refund_order", refund))
        approval = (waiting.meta or {})["dev.envace/guard"]["approval"]
        words = [*ENVACE, "approvals", "approve", approval, "--by", "ann", "--ledger", LEDGER]
        await asyncio.to_thread(subprocess.run, words, check=True, stdout=subprocess.DEVNULL)

        show("approved", await client.call_tool("refund_order", refund))
        show("once more", await client.call_tool("refund_order", refund))
        show("at last", await client.call_tool("get_order", {"order_id": "O-1"}))


asyncio.run(main())
