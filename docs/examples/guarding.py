"""A guard in front of a shop: what it asks about, what runs once, and what it learns."""

import asyncio
import tempfile
from pathlib import Path

from envace_sdk import Environment, ToolCall
from envace_sdk.errors import ApprovalRequired, Refused
from envace_sdk.guard import Guard, Outcome, Pass, load_policy
from envace_sdk.guard import guard as guarded
from envace_sdk.ledger import Ledger
from envace_sdk.tools import ToolResult

environment = Environment.load("retail")
policy = load_policy(Path(__file__).parent / "guard" / "policy.yaml")
ledger = Ledger.open(Path(tempfile.mkdtemp()) / "ledger.db", approvers=policy.approvers)
guard = Guard(environment, ledger, policy)

shop = environment.world("shop", seed=7)  # stands for the real one


async def call(current: Pass, tool: str, **arguments: object) -> Outcome:
    action = current.action(tool, arguments)

    async def execute() -> ToolResult:
        return (await environment.call(shop, ToolCall(tool, arguments))).result

    return await guard.run(action, execute)


@guarded(by=guard, hidden=["client"])
def set_gift_options(client: object, order_id: str, wrapped: bool, note: str) -> str:
    return f"{client}: {order_id} is {'' if wrapped else 'not '}wrapped, and says {note!r}"


async def turn(current: Pass) -> str:
    order = await call(current, "get_order", order_id="TT-26-04124")
    print("order:", order.result.value()["status"], "| replayed:", order.replayed)
    await call(current, "cancel_order", order_id="TT-26-04124", reason="ordered_by_mistake")
    return "I have cancelled order TT-26-04124."


async def main() -> None:
    try:
        await turn(Pass("chat-1", "turn-1"))
    except ApprovalRequired as pause:
        print("asked:", pause.payload["predicted"].splitlines()[0], "| risk:", pause.payload["risk"])
        guard.approve(pause.approval, by="ann")

    answer = await turn(Pass("chat-1", "turn-1"))  # the same turn again: what ran is not run again
    print("claims without evidence:", guard.audit_claims(answer, "chat-1"))

    try:
        await call(Pass("chat-1", "turn-2"), "cancel_order", order_id="TT-26-04124", reason="ordered_by_mistake")
    except Refused as refusal:
        print(f"{refusal.kind}: {refusal}")

    try:
        set_gift_options("a client of the shop", "TT-26-04117", wrapped=True, note="Happy birthday")
    except ApprovalRequired as pause:
        print("a plain function asks too:", pause.payload["arguments"])

    print("predictions for cancel_order that came true:", guard.record("cancel_order").accuracy)
    print("the trail holds:", ledger.verify().ok)


asyncio.run(main())
ledger.close()
