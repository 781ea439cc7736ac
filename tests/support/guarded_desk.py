"""A small shop whose real side can be made to misbehave, and a guard in front of it."""

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from sqlalchemy import event

from envace_sdk.evidence.secrets import keyed_redactor
from envace_sdk.guard import Action, Guard, parse_policy
from envace_sdk.ledger import Ledger
from envace_sdk.redaction import no_redaction
from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import State

READS = {"name": "reads", "when": "risk.level == 'low'", "then": "commit"}
REFUND = {"order_id": "O-1", "amount": 20}


def tool(name, required, **properties):
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"name": name, "description": f"{name} of the shop", "inputSchema": schema}


TEXT, NUMBER = {"type": "string"}, {"type": "number"}
TOOLS = [
    tool("get_order", ["order_id"], order_id=TEXT),
    tool("refund_order", ["order_id", "amount"], order_id=TEXT, amount=NUMBER),
    tool("set_note", ["order_id", "note"], order_id=TEXT, note=TEXT),
    tool("open_case", ["order_id"], order_id=TEXT),
    tool("close_case", ["case_id"], case_id=TEXT),
    tool("mystery", [], what=TEXT),
]
DYNAMICS = {
    "collections": {"orders": {"key": "order_id"}, "cases": {"key": "case_id", "mint": "C-{n}"}},
    "tools": {
        "get_order": {"effect": "read", "collection": "orders", "key": "args.order_id"},
        "refund_order": {
            "effect": "update",
            "collection": "orders",
            "key": "args.order_id",
            "requires": [
                {"that": "args.amount <= entity.total", "error": "More than was paid", "status": "validation_error"},
                {"that": "entity.refunded == 0", "error": "Already refunded", "status": "conflict"},
            ],
            "set": {"refunded": "args.amount"},
        },
        "set_note": {
            "effect": "update",
            "collection": "orders",
            "key": "args.order_id",
            "take": ["note"],
        },
        "open_case": {"effect": "create", "collection": "cases", "set": {"order_id": "args.order_id"}},
        "close_case": {"effect": "delete", "collection": "cases", "key": "args.case_id"},
        "mystery": {"effect": "opaque"},
    },
}
ORDERS = [{"order_id": f"O-{n}", "total": 50 * n, "refunded": 0, "note": ""} for n in range(1, 31)]


def environment(**options):
    dynamics = Dynamics.model_validate(DYNAMICS)
    start = State.start(dynamics=dynamics, collections={"orders": ORDERS})
    return Environment(Toolset.from_definitions(TOOLS, name="shop"), dynamics=dynamics, start=start, **options)


def policy(*rules, **more):
    import yaml

    return parse_policy(yaml.safe_dump({"rules": list(rules), **more}), "policy.yaml")


@dataclass
class Judging:
    """A policy that is one function."""

    judge: Callable


@dataclass
class Desk:
    """The guard, the real side, and what was really executed there."""

    guard: Guard
    executed: list = field(default_factory=list)
    answer: ToolResult | None = None
    """What the real side answers, instead of what its world says."""
    fails: BaseException | None = None

    def __post_init__(self):
        self.real = self.guard.environment.world("real", seed=99)

    @property
    def ledger(self):
        return self.guard.ledger

    async def execute(self, action):
        self.executed.append((action.tool, dict(action.arguments)))
        if self.fails is not None:
            raise self.fails
        if self.answer is not None:
            return self.answer
        return (await self.guard.environment.call(self.real, action.call)).result

    async def arun(self, action, **options):
        return await self.guard.run(action, lambda: self.execute(action), **options)

    def run(self, action, **options):
        return asyncio.run(self.arun(action, **options))

    def decide(self, action):
        return asyncio.run(self.guard.decide(action))

    def kinds(self, run="main"):
        return [entry.kind for entry in self.ledger.entries(run)]


def action(tool="refund_order", arguments=None, **fields):
    return Action(tool, dict(REFUND if arguments is None else arguments), **fields)


def call(tool, **arguments):
    return ToolCall(tool, arguments)


@lru_cache
def _empty_database():
    """The bytes of a migrated database: migrating a new one for every test takes longer than most tests."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        Ledger.open(path, redact=no_redaction).close()
        return path.read_bytes()


def ledger(folder, **options):
    folder.mkdir(exist_ok=True)
    path = folder / "ledger.db"
    if not path.exists():
        path.write_bytes(_empty_database())
    book = Ledger.open(path, redact=keyed_redactor(b"k" * 32), **options)
    # No test here pulls the plug, and waiting for the disk is most of what they would do.
    event.listen(book.database.engine, "connect", _hurry)
    book.database.engine.dispose()
    return book


def _hurry(connection, _):
    connection.execute("PRAGMA synchronous=OFF")


def desk(folder, *rules, judge=None, environment_=None, approvers=None, more=None, **options):
    """A desk whose ledger lies in a folder; without rules, reads commit and everything else asks.

    `judge` is a function that judges cases, instead of rules.
    """
    chosen = Judging(judge) if judge else policy(*(rules or [READS]), **(more or {}))
    book = ledger(folder, approvers=approvers)
    return Desk(Guard(environment_ or environment(), book, chosen, **options))
