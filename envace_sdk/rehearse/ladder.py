"""One call, top to bottom: the strongest evidence that can answer it does."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from envace_sdk.errors import MissError, UnknownToolError
from envace_sdk.faults import Schedule
from envace_sdk.jsonschema import Validator, compile_schema
from envace_sdk.tools.model import Tool, ToolCall, ToolResult
from envace_sdk.world.absorb import absorb
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import State

from .again import answered_again, with_answer
from .base import Context, Rehearsal, Rehearser
from .faults import refused, spoiled
from .fixtures import FixtureRehearser
from .histories import call_digest
from .history import remembered
from .precedents import Precedents
from .starts import Starts

__all__ = ["Ladder"]

logger = logging.getLogger(__name__)


class Ladder:
    """Answers every call of one toolset. Pure: it returns the state after the call and changes nothing.

    With `keeps_calls`, states remember the calls that may have changed something, for a layer that asks for them; with
    `keeps_reads`, what reads were answered since.
    """

    def __init__(
        self,
        tools: dict[str, Tool],
        dynamics: Dynamics,
        fixtures: FixtureRehearser,
        layers: Sequence[Rehearser],
        precedents: Precedents,
        *,
        starts: Starts,
        keeps_calls: bool = False,
        keeps_reads: bool = False,
    ) -> None:
        self._keeps_calls = keeps_calls
        self._keeps_reads = keeps_reads
        self._tools = tools
        self._dynamics = dynamics
        self._fixtures = fixtures
        self._layers = layers
        self._precedents = precedents
        self._starts = starts
        self._arguments: dict[str, Validator] = {}

    async def rehearse(
        self,
        call: ToolCall,
        state: State,
        history: Sequence[tuple[ToolCall, ToolResult]] = (),
        faults: Schedule | None = None,
    ) -> Rehearsal:
        """The rehearsed answer to `call` in `state`, with the state after it.

        Raises:
            UnknownToolError: no tool has that name.
            MissError: only recordings may answer, and none does.
            DynamicsError: the tool's rule cannot be evaluated.
            FaultError: a condition or a text of the fault plan cannot be evaluated.
            UnsatisfiableError: the tool's output schema admits nothing.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            raise UnknownToolError(call.name)
        if not self._validator(tool).is_valid(call.arguments):
            return self._refused(tool, call, state)
        if faults is None:
            return await self._answered(call, tool, state, history)
        strike = faults.strike(call, state, writes=self._fixtures.histories.changes(call))
        if (refusal := refused(strike, call)) is not None:
            return refusal
        return spoiled(await self._answered(call, tool, strike.state, history), strike, tool, call)

    async def _answered(
        self, call: ToolCall, tool: Tool, state: State, history: Sequence[tuple[ToolCall, ToolResult]]
    ) -> Rehearsal:
        """By the first layer that can."""
        is_read = self._keeps_reads and not self._fixtures.histories.changes(call)
        if is_read and (again := answered_again(call, state)) is not None:
            return again
        begun = self._starts.laid(call, state)
        context = Context(tool, begun, Random(f"{state.seed}/{call_digest(call)}"), history)
        for layer in self._layers:
            rehearsal = await layer.rehearse(call, context)
            if rehearsal is not None:
                settled = self._settled(self._explained(rehearsal, call), call, begun)
                if is_read and settled.fixture is None and (settled.layer != "dynamics" or settled.confidence < 1):
                    settled = replace(settled, state=with_answer(call, settled, settled.state))
                return settled
        raise MissError(f"{call.name}: {self._fixtures.explain(call)}")

    def _explained(self, rehearsal: Rehearsal, call: ToolCall) -> Rehearsal:
        """With the reason why no recording answered, where there are recordings."""
        if rehearsal.layer == "fixture" or not self._fixtures.is_recorded:
            return rehearsal
        miss = self._fixtures.explain(call)
        logger.info("%s: %s", call.name, miss)
        return replace(rehearsal, reason=f"{rehearsal.reason}; {miss}" if rehearsal.reason else miss)

    def _validator(self, tool: Tool) -> Validator:
        validator = self._arguments.get(tool.name)
        if validator is None:
            validator = compile_schema(tool.input_schema, where=f"{tool.name}.inputSchema")
            self._arguments[tool.name] = validator
        return validator

    def _refused(self, tool: Tool, call: ToolCall, state: State) -> Rehearsal:
        """Arguments that the schema forbids: in the real server's words where they were recorded."""
        observed = self._fixtures.find(call, state)
        if observed is not None and observed.result.is_error:
            return Rehearsal(
                observed.result, state, "fixture", "validation_error", 1.0, "observed in a recording", fixture=observed
            )
        found = "; ".join(map(str, self._validator(tool).violations(call.arguments, limit=5)))
        result = ToolResult.text(f"Invalid arguments for {tool.name}: {found}", is_error=True)
        return Rehearsal(result, state, "arguments", "validation_error", 1.0, "the input schema forbids the arguments")

    def _settled(self, rehearsal: Rehearsal, call: ToolCall, before: State) -> Rehearsal:
        """Write back what the answer shows, and let time pass if the call was a write."""
        rule = self._dynamics.tools.get(call.name)
        after = rehearsal.state
        if rehearsal.layer == "model" and not rehearsal.result.is_error:
            after = absorb(rehearsal.result.value(), rule, self._dynamics, after)
        told = rehearsal.fixture.episode if rehearsal.fixture is not None else rehearsal.told
        after = self._precedents.note(after, call, rehearsal.result, told)
        changing = self._fixtures.histories.changes(call) and not rehearsal.result.is_error
        if changing:
            if self._keeps_calls:
                after = remembered(after, call, rehearsal.result)
            after = self._fixtures.advance(before, after, call, rehearsal.writes).tick()
        elif after is not before:
            after = after.replace(version=before.version + 1)
        return rehearsal if after is rehearsal.state else replace(rehearsal, state=after)
