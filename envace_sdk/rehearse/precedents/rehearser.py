"""The layer of precedents: what the real server answered to calls like this one, told again for this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from envace_sdk.json import UNSET, Json
from envace_sdk.jsonschema import compile_schema, generate
from envace_sdk.recordings import Matching
from envace_sdk.tools.fixture import TOOL_CALL, Fixture
from envace_sdk.tools.model import Tool, ToolCall, ToolResult
from envace_sdk.world.absorb import absorb
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import State
from envace_sdk.world.statuses import status_of

from ..answers import REWRITTEN
from ..base import Context, Rehearsal
from ..replayed import Replayed
from .events import Event, call_key
from .grounding import grounded
from .journal import noted, read_journal
from .remit import Remit, is_silent, remit_of
from .retell import with_value
from .scene import Scene
from .told import Told

__all__ = ["Precedents"]


class Precedents:
    """Answers calls that rules leave open, or answer worse, where calls of the same tool were recorded.

    Recorded episodes may have begun in another state than this world: their answers are no facts here. What is taken
    from them is when the tool fails and how, and the form of its answers; the values come from the call and from what
    has happened in this world, as far as the recordings show that they do. Nothing is learned before it is needed.

    Args:
        recorded: the recorded calls, and what the rules make of them.
        tools: the toolset.
        dynamics: its rules.
        writing: the tools that may change the world.
        matching: what of a call matters; secrets are not remembered.
    """

    def __init__(
        self,
        recorded: Replayed,
        tools: Mapping[str, Tool],
        dynamics: Dynamics,
        *,
        writing: frozenset[str],
        matching: Matching,
    ) -> None:
        self._recorded = recorded
        self._tools = tools
        self._dynamics = dynamics
        self._writing = writing
        self._matching = matching
        self._is_redacted = any(fixture.call.client is not None for fixture in recorded.fixtures)
        self._latest: tuple[State, ToolCall, Told | None] | None = None

    def __contains__(self, tool: object) -> bool:
        """Whether precedents answer for the tool where its rule does not, or instead of it."""
        return tool in self._remit.told

    def outranks(self, call: ToolCall, state: State) -> bool:
        """Whether precedents are better evidence than the tool's rule, as the recordings show.

        A rule that often knows too little may be the better one where it knows enough.
        """
        tool = call.name
        if tool not in self._remit.outranked:
            return False
        if not self._recorded.answers(Fixture(call, ToolResult(())), state):
            return True
        share = self._recorded.proven_in_full(tool)
        right, tried = self._remit.archive.tried(tool)
        return share is None or share * tried < right

    def is_compared(self, tool: str) -> bool:
        """Whether calls of the tool are recorded in several episodes."""
        return tool in self._several

    def tell(self, call: ToolCall, context: Context) -> Told | None:
        """What is answered after a precedent; None where there is none."""
        if call.name not in self._remit.told:
            return None
        latest = self._latest
        if latest is not None and latest[0] is context.state and latest[1] == call:
            return latest[2]
        rule = self._dynamics.tools.get(call.name)
        arguments = self._essence(call)
        scene = Scene(call.name, arguments, read_journal(context.state), context.state)
        succeeds = rule is not None and is_silent(rule) and bool(rule.requires)
        told = self._remit.archive.tell(scene, str(context.state.seed), succeeds=succeeds)
        self._latest = context.state, call, told
        return told

    def rehearse(self, call: ToolCall, context: Context) -> Rehearsal | None:
        """Answer after a precedent; None where there is none.

        Raises:
            UnsatisfiableError: the tool's output schema admits nothing.
        """
        told = self.tell(call, context)
        if told is None:
            return None
        result, state = told.result, context.state
        confidence = self._remit.archive.confidence(call.name, told)
        if result.is_error:
            outcome = status_of(_said(result))
            return Rehearsal(result, state, "precedent", outcome, confidence, told.reason, told=told.episode)
        rule = self._dynamics.tools.get(call.name)
        value = grounded(result.value(), rule, self._dynamics, state)
        if value is not UNSET:
            result = with_value(result, value)
        fitted = _fitted(result, call, context)
        if fitted is not result:
            result, confidence = fitted, min(confidence, REWRITTEN)
        if rule is None or is_silent(rule):
            state = absorb(result.value(), rule, self._dynamics, state, only_new=True, only_open=True)
        else:
            state = self._recorded.after(Fixture(call, result), state)
        return Rehearsal(result, state, "precedent", "success", confidence, told.reason, told=told.episode)

    def note(self, state: State, call: ToolCall, result: ToolResult, told: str = "") -> State:
        """The state that remembers the call and its answer, if later answers may depend on it.

        `told` is the episode that the answer followed, if it followed one.
        """
        if not self._recorded.fixtures or call.name not in self._remit.noted:
            return state
        key = call_key(call.name, self._essence(call))
        event = Event(call.name, call.arguments, None, is_error=result.is_error, key=key, told=told)
        return noted(state, event, result, self._matching.redacted)

    def _essence(self, call: ToolCall) -> Mapping[str, Json]:
        """The arguments as far as they matter, and as they were recorded: a recorder takes secrets out."""
        if not self._is_redacted and not self._matching.ignore:
            return call.arguments
        essence: Mapping[str, Json] = self._matching.essence(
            TOOL_CALL, {"name": call.name, "arguments": dict(call.arguments)}
        )["arguments"]
        return essence

    @cached_property
    def _remit(self) -> Remit:
        return remit_of(
            self._recorded,
            self._tools,
            self._dynamics,
            writing=self._writing,
            compared=self._several,
            essence=self._essence,
        )

    @cached_property
    def _several(self) -> frozenset[str]:
        episodes: dict[str, set[str]] = {}
        for fixture in self._recorded.fixtures:
            episodes.setdefault(fixture.call.name, set()).add(fixture.episode)
        return frozenset(tool for tool, found in episodes.items() if len(found) > 1)


def _fitted(result: ToolResult, call: ToolCall, context: Context) -> ToolResult:
    """The result itself where the output schema admits it (or there is none), else mended."""
    schema = context.tool.output_schema
    if schema is None:
        return result
    value = result.value()
    if compile_schema(schema, where=context.tool.name).is_valid(value):
        return result if result.structured is not UNSET else replace(result, structured=value)
    mended = generate(
        schema,
        random=context.random,
        clock=context.state.clock,
        known=value,
        hints=call.arguments,
        name=context.tool.name,
    )
    return with_value(result, mended) if result.structured is not UNSET else ToolResult.json(mended, structured=True)


def _said(result: ToolResult) -> str:
    value: Json = result.value()
    return value if isinstance(value, str) else result.first_text
