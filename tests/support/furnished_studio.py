"""A studio with something in every view."""

import asyncio
import json

from guarded_desk import READS, action, desk
from studios import ask

from envace_sdk.ledger import Ledger
from envace_sdk.rehearse import Environment
from envace_sdk.store import Store
from envace_sdk.studio.examined import Examination
from envace_sdk.tools.model import ToolCall, ToolResult

ANY_REFUND = {
    "name": "any refund",
    "tools": "refund_order",
    "arguments": {
        "order_id": {"type": "string", "maxLength": 9},
        "amount": {"type": "number", "minimum": 0, "maximum": 9999},
    },
    "then": "commit",
}


def furnish(folder):
    """Writes a ledger with runs and approvals of all kinds; gives the ids of some approvals by state."""
    path = folder / "ledger.db"
    made = desk(folder, READS, ANY_REFUND)
    made.run(action("get_order", {"order_id": "O-1"}))
    made.answer = ToolResult.json({"order_id": "O-1", "total": 50, "refunded": 7, "note": ""}, structured=True)
    made.run(action())
    made.ledger.append("main", "claimed", {"unsupported": 1}, payload={"text": "I have refunded the order."})
    made.ledger.close()
    ids = {"pending": ask(path, world="w1").id}
    for state in ("rejected", "stale", "edited", "approved"):
        ids[state] = ask(path, action=state, run="thread-8", tool="send_mail", risk="medium").id
    with Ledger.open(path) as ledger:
        ledger.approvals.decide(ids["rejected"], "reject", by="eve")
        ledger.approvals.outdate(ids["stale"], "an equal call was executed")
        ids["new"] = ledger.approvals.edit(ids["edited"], {"order": "A", "amount": 4}, by="eve").id
        ledger.approvals.decide(ids["approved"], "approve", by="eve", comment="fine")
    return ids


def trained(folder):
    """Two runs of training in a folder, with trajectories of their last step."""
    for number, name in enumerate(("role-wise/seed-0", "pooled/seed-0")):
        run = folder / "runs" / name
        (run / "samples").mkdir(parents=True)
        (run / "run.json").write_text(json.dumps({"config": {"model": "smollm2-135m"}}))
        lines = [_step(step, 0.01 * step / (1 + number)) for step in range(1, 31)]
        (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (run / "samples" / "000030.jsonl").write_text(json.dumps(TRAJECTORY) + "\n")
    return folder / "runs"


def _step(step, gain):
    measured = {"eval/success": 0.2 + gain, "eval/fidelity": 0.8 + gain / 2} if step % 10 == 0 else {}
    return {
        "step": step,
        "success": 0.2 + gain,
        "turns": 3 - gain,
        "masked": step % 3,
        "truncated_rows": step % 2,
        "reward/act": 0.3 + gain,
        "reward/rehearse": 1.0 + gain,
        "act/entropy": 1 - gain,
        "rehearse/entropy": 0.2,
        **measured,
    }


CALL = {"tool": "switch_on", "arguments": {"lamp": "red"}}
TRAJECTORY = {
    "task": "lamps/switch_on-red",
    "source": "train",
    "ending": "answered",
    "reward": 0.5,
    "solved": True,
    "masked": "",
    "answer": "It is on.",
    "turns": [
        {"role": "act", "sampled": True, "text": '<tool_call>{"name": "switch_on"}</tool_call>', "calls": [CALL]},
        {
            "role": "rehearse",
            "sampled": True,
            "text": '<response>{"light": "dim"}</response>',
            "result": {"value": {"light": "dim"}, "is_error": False},
            "truth": {"value": {"light": "on"}, "is_error": False, "layer": "dynamics"},
        },
        {"role": "act", "sampled": True, "text": "no call", "problem": "there is no call in it"},
    ],
}


def worlds(folder):
    """Stores a world in which an order was cancelled; gives the URL of the store."""
    url = f"sqlite:///{folder / 'worlds.db'}"
    environment = Environment.load("retail")
    world = environment.world("changed")
    cancel = ToolCall("cancel_order", {"order_id": "TT-26-04124", "reason": "ordered_by_mistake"})
    asyncio.run(environment.call(world, cancel))
    with Store.open(url) as store:
        store.save("retail", world)
    return url


def examined():
    """The rules that are inferred of a shipped toolset, examined against what is recorded of it."""
    shipped = Environment.load("retail")
    exam = Examination(Environment(shipped.toolset, start=shipped.start), [shipped.toolset.folder / "fixtures.jsonl"])
    exam.hold()
    return exam
