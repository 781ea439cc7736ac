"""How often the guard's predictions come true, and how soon it notices that the real side has changed.

    python benchmarks/guard_report.py [--rounds 2] [--toolset retail] [--json]

The guard knows a toolset and the state that its real side began in. The real side is played by a world with another
seed, so that ids are minted differently, and goes its own way where a person or another agent acts on it without the
guard (`--unseen`, a share of the calls). Calls are those of the toolset's tasks, in a shuffled order, several rounds on
one world: many fail because an earlier one has been there. The guard runs in shadow mode: everything is judged and
scored, nothing is stopped.

Three predictors: the toolset's own rules; rules that were inferred from the schemas alone, which know none of the
house's conditions; and the former after the real side starts to refuse one tool (the drift).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from random import Random

from envace_sdk.guard import Action, Guard, parse_policy
from envace_sdk.guard.report import GuardReport, guard_report
from envace_sdk.ledger import Ledger
from envace_sdk.rehearse import Environment
from envace_sdk.tasks import load_tasks
from envace_sdk.tools.model import ToolCall, ToolResult

REAL_SEED = 4711
POLICIES = {
    "retail": """
rules:
  - name: trusted
    tools: update_contact
    record: {calls: 20, accuracy: 0.9}
    then: commit
""",
    "banking": """
rules:
  - name: trusted
    tools: create_payment
    arguments:
      account_id: {type: string, pattern: "^AG-[0-9-]+$"}
      payee_id: {type: string, pattern: "^PY-[0-9]+$"}
      amount: {type: integer, minimum: 1, maximum: 100000}
      purpose: {type: string, maxLength: 200}
      instructed_by: {type: string, pattern: "^M-[0-9]+$"}
    record: {calls: 20, accuracy: 0.9}
    then: commit
""",
}
"""Both trust the predictor with one tool as long as it does well; the one in banking is of high risk, so that every
argument is bounded."""


def drifting_calls(environment: Environment) -> Iterator[ToolCall]:
    """Calls of the tool that the policy trusts the predictor with."""
    if environment.toolset.name == "retail":
        customers = sorted(environment.start.collection("customers"))
        for number in count():
            arguments = {"customer_id": customers[number % len(customers)], "newsletter": number % 2 == 0}
            yield ToolCall("update_contact", arguments)
    paid = next(one.call for one in environment.seen if one.call.name == "create_payment" and not one.result.is_error)
    for number in count(1):
        yield ToolCall(paid.name, {**paid.arguments, "amount": 100 + number, "purpose": f"Instalment {number}"})


@dataclass
class Played:
    """What came of a number of calls."""

    report: GuardReport
    calls: int
    trusted_after: int | None = None
    """Calls of the drifting tool until the policy let it commit."""
    asked_after: int | None = None
    """Calls of it after the drift began until the policy asked again."""
    flagged_after: int | None = None
    """… until the report called it worse than before."""


def calls_of(environment: Environment, rounds: int, random: Random) -> list[ToolCall]:
    """The calls that the toolset's tasks need, task by task in a shuffled order."""
    path = environment.tasks_path
    assert path is not None
    tasks = list(load_tasks(path))
    found = []
    for _ in range(rounds):
        random.shuffle(tasks)
        found += [ToolCall(step.tool, dict(step.arguments)) for task in tasks for step in task.witness or ()]
    return found


async def play(
    toolset: str,
    folder: Path,
    *,
    rounds: int = 1,
    inferred: bool = False,
    unseen: float = 0.1,
    seed: int = 0,
) -> Played:
    """Put the calls of a toolset's tasks before a guard, and execute them on a world of another seed."""
    environment = Environment.load(toolset)
    knows = Environment(environment.toolset, start=environment.start) if inferred else environment
    real = environment.world("real", seed=REAL_SEED)
    random = Random(seed)
    calls = calls_of(environment, rounds, random)
    with Ledger.open(folder / f"{toolset}{'-inferred' if inferred else ''}.db") as ledger:
        guard = Guard(knows, ledger, parse_policy(POLICIES[toolset]), shadow=True, complete=True)
        for number, call in enumerate(calls):
            if random.random() < unseen:
                await environment.call(real, call)
                continue
            await _run(guard, environment, real, call, f"{number}")
        return Played(guard_report(ledger), len(calls))


async def drift(toolset: str, folder: Path, *, before: int = 30, most: int = 20) -> Played:
    """As `play`, with one tool called over and over, until the real side begins to refuse it."""
    environment = Environment.load(toolset)
    real = environment.world("real", seed=REAL_SEED)
    calls = list(islice(drifting_calls(environment), before + most))
    tool = calls[0].name
    found = Played(GuardReport(()), len(calls))
    with Ledger.open(folder / f"{toolset}-drift.db") as ledger:
        guard = Guard(environment, ledger, parse_policy(POLICIES[toolset]), shadow=True, complete=True)
        for number, call in enumerate(calls):
            kind = await _run(guard, environment, real, call, f"{number}", refuse=number >= before)
            since = number - before + 1
            if kind == "commit" and found.trusted_after is None:
                found.trusted_after = number
            if since > 1 and kind == "ask" and found.asked_after is None:
                found.asked_after = since - 1
            if since > 0 and guard.record(tool).drifting and found.flagged_after is None:
                found.flagged_after = since
        found.report = guard_report(ledger)
    return found


async def _run(
    guard: Guard, environment: Environment, real: object, call: ToolCall, name: str, *, refuse: bool = False
) -> str:
    async def execute() -> ToolResult:
        if refuse:
            return ToolResult.text("Permission denied: this account may no longer do that", is_error=True)
        return (await environment.call(real, call)).result  # type: ignore[arg-type]

    outcome = await guard.run(Action(call.name, call.arguments, call_id=name), execute)
    return outcome.verdict.kind if outcome.verdict is not None else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--toolset", choices=sorted(POLICIES), action="append")
    parser.add_argument("--unseen", type=float, default=0.1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    document = {}
    for toolset in options.toolset or sorted(POLICIES):
        with tempfile.TemporaryDirectory() as folder:
            own = asyncio.run(play(toolset, Path(folder), rounds=options.rounds, unseen=options.unseen))
            guessed = asyncio.run(
                play(toolset, Path(folder), rounds=options.rounds, unseen=options.unseen, inferred=True)
            )
            changed = asyncio.run(drift(toolset, Path(folder)))
        document[toolset] = {
            "calls": own.calls,
            "own rules": own.report.as_json(),
            "inferred rules": guessed.report.as_json(),
            "drift": {
                "trusted_after": changed.trusted_after,
                "asked_after": changed.asked_after,
                "flagged_after": changed.flagged_after,
            },
        }
        if not options.json:
            show(toolset, own, guessed, changed)
    if options.json:
        print(json.dumps(document, indent=2))


def show(toolset: str, own: Played, guessed: Played, changed: Played) -> None:
    print(f"{toolset}: {own.calls} calls")
    other = {tool.name: tool.record for tool in guessed.report.tools}
    print(f"  {'tool':26} {'calls':>5} {'accuracy':>9} {'status':>7} {'change':>7} {'Brier':>6}   inferred rules")
    for tool in own.report.tools:
        record = tool.record
        inferred = other[tool.name].accuracy if tool.name in other else None
        print(
            f"  {tool.name:26} {record.calls:5} {_share(record.accuracy):>9} {_share(record.status_accuracy):>7} "
            f"{_share(record.change_accuracy):>7} {record.brier or 0:6.3f}   {_share(inferred)}"
        )
    for label, played in (("own rules", own), ("inferred rules", guessed)):
        scored = sum(tool.record.calls for tool in played.report.tools)
        right = sum(tool.record.right for tool in played.report.tools)
        print(f"  all, {label}: {right} of {scored} right ({right / scored:.1%})")
    print(
        f"  drift: the policy asks again after {changed.asked_after} refused calls, "
        f"the report flags it after {changed.flagged_after}\n"
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


if __name__ == "__main__":
    main()
