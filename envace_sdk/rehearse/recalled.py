"""What was recorded, where nobody can tell whether it is still true."""

from __future__ import annotations

from dataclasses import replace

from envace_sdk.tools.model import ToolCall

from .base import Context, Outcome, Rehearsal
from .fixtures import RECALLED, FixtureRehearser, place_of
from .precedents import Precedents

__all__ = ["RecalledRehearser"]


class RecalledRehearser:
    """Answers with what was recorded of a call, although nobody can tell whether it is still true.

    Args:
        fixtures: the recordings.
        over_rules: only where that is better evidence than the rule of the tool.
    """

    def __init__(
        self, fixtures: FixtureRehearser, *, over_rules: bool = False, precedents: Precedents | None = None
    ) -> None:
        self._precedents = precedents
        self._fixtures = fixtures
        self._over_rules = over_rules

    async def rehearse(self, call: ToolCall, context: Context) -> Rehearsal | None:
        """Answer as recorded; the world stays as it is, since what the call changes is not known."""
        precedents = self._precedents
        if precedents is not None and precedents.is_compared(call.name):
            if self._over_rules:
                return self._told(precedents, call, context) if precedents.outranks(call, context.state) else None
            told = precedents.tell(call, context)
            if told is not None:
                return None if told.kind == "told" else self._told(precedents, call, context)
        if self._over_rules and not self._fixtures.outranks_rule(call, context.state):
            return None
        fixture = self._fixtures.recall(call, context.state)
        if fixture is None:
            return None
        outcome: Outcome = "unknown" if fixture.result.is_error else "success"
        reason = f"observed as {place_of(fixture)}; calls of unknown effect came in another order there"
        return Rehearsal(fixture.result, context.state, "fixture", outcome, RECALLED, reason, fixture=fixture)

    def _told(self, precedents: Precedents, call: ToolCall, context: Context) -> Rehearsal | None:
        rehearsal = precedents.rehearse(call, context)
        if rehearsal is None or (rehearsal.outcome == "not_found" and self._fixtures.finds(call, context.state)):
            return None
        if not rehearsal.result.is_error and self._fixtures.has_lost(call, context.state):
            return None
        observed = self._fixtures.recall(call, context.state)
        if observed is None or observed.result != rehearsal.result:
            return rehearsal
        # The very answer that was recorded: what the server sent meanwhile belongs to it.
        return replace(rehearsal, fixture=observed)
