"""Running a task's witness."""

from __future__ import annotations

from dataclasses import dataclass

from envace_sdk.errors import ExpressionError
from envace_sdk.json import Json
from envace_sdk.rehearse.environment import Environment
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.expressions.expression import compile_expression
from envace_sdk.world.expressions.scope import Scope
from envace_sdk.world.state import State

from .attempt import Attempt
from .episode import CallRecord, Episode
from .model import Task, WitnessCall

__all__ = ["WitnessRun", "run_witness", "substitute"]

_CEL = "$cel"


@dataclass(frozen=True, slots=True)
class WitnessRun:
    """What running a witness came to."""

    episode: Episode
    invalid: str = ""
    """Why a call could not be made at all; the calls after it were not tried."""
    unexpected: tuple[str, ...] = ()
    """Calls that came to something else than the witness expects."""


async def run_witness(environment: Environment, task: Task) -> WitnessRun:
    """Make the witness's calls on a fresh world, up to the first that is not valid.

    Raises:
        TaskError: the task's world does not fit the environment.
        DynamicsError, UnsatisfiableError: the environment is at fault; see `Environment.call`.
    """
    attempt = Attempt(environment, task)
    results: list[Json] = []
    unexpected: list[str] = []
    for number, step in enumerate(task.witness or (), start=1):
        place = f"witness call {number} ({step.tool})"
        try:
            arguments = substitute(step.arguments, results, attempt.world.state)
        except ExpressionError as error:
            return WitnessRun(attempt.episode(), f"{place}: {error}", tuple(unexpected))
        if step.tool not in environment.toolset:
            return WitnessRun(attempt.episode(), f"{place}: the toolset has no such tool", tuple(unexpected))
        result = await attempt.call(ToolCall(step.tool, arguments))
        record = attempt.calls[-1]
        if record.layer == "arguments":
            return WitnessRun(attempt.episode(), f"{place}: {result.first_text}", tuple(unexpected))
        if mismatch := _mismatch(step, record, result):
            unexpected.append(f"{place}: {mismatch}")
        results.append(record.result)
    return WitnessRun(attempt.episode(task.answer), "", tuple(unexpected))


def substitute(value: Json, results: list[Json], state: State) -> Json:
    """`value` with every `{"$cel": …}` in it replaced by what the expression gives.

    It may ask `results`, the answers to the calls before, and `world`, as it is now.

    Raises:
        ExpressionError: an expression is not one, or cannot be evaluated.
    """
    if isinstance(value, list):
        return [substitute(item, results, state) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {_CEL} and isinstance(value[_CEL], str):
        return compile_expression(value[_CEL])(Scope({"results": results}, state))
    return {name: substitute(item, results, state) for name, item in value.items()}


def _mismatch(step: WitnessCall, record: CallRecord, result: ToolResult) -> str:
    if step.expect == "success":
        return (
            f'fails with {result.first_text!r}; if that is meant, say so: "expect": "error"' if record.is_error else ""
        )
    if not record.is_error:
        return f"succeeds, though the witness expects {step.expect}"
    if step.expect not in {"error", record.outcome}:
        return f"comes to {record.outcome}, though the witness expects {step.expect}: {result.first_text!r}"
    return ""
