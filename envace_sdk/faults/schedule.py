"""A plan at work: decides for each call whether a fault strikes it, by counters that the state carries."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from random import Random

import immutables

from envace_sdk.errors import ExpressionError, FaultError
from envace_sdk.tools.model import ToolCall
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.expressions import Scope, compile_expression, compile_template
from envace_sdk.world.state import State

from .kinds import Fault, RateLimit
from .plan import FaultPlan

__all__ = ["Schedule", "Strike", "forget"]

PREFIX = "faults/"
"""Of the counters in a state that belong to plans."""


@dataclass(frozen=True, slots=True)
class Strike:
    """What a plan has decided for one call."""

    state: State
    """With the call counted; otherwise as it was."""
    fault: Fault | None = None
    nth: int = 0
    """The how manieth call it is that the fault's own selection matches."""
    text: str = ""
    delay: float = 0.0
    plan: str = ""

    @property
    def reason(self) -> str:
        """For the label."""
        return "" if self.fault is None else f"injected by fault plan {self.plan!r}: {self.fault.kind}"


class Schedule:
    """A plan for the worlds of one toolset. It holds no state: the counters lie in the world's.

    So the same seed and calls meet the same faults; forks go on counting for themselves, and snapshots and resets
    lead back to the counts of their time.
    """

    def __init__(self, plan: FaultPlan, dynamics: Dynamics) -> None:
        self.plan = plan
        self._dynamics = dynamics
        self._prefix = f"{PREFIX}{plan.digest}/"

    def strike(self, call: ToolCall, state: State, *, writes: bool) -> Strike:
        """Count the call, and say which fault strikes it, if one does.

        Args:
            call: to a tool of the toolset, with valid arguments.
            state: that it meets.
            writes: whether the tool may change the world.

        Raises:
            FaultError: a condition or a text of the plan cannot be computed on these arguments.
        """
        counted, struck = state, None
        for position, fault in enumerate(self.plan.faults):
            if not self._matches(fault, position, call, state, writes):
                continue
            seen = f"{self._prefix}{position}/seen"
            nth = state.counters.get(seen, 0) + 1
            counted = counted.counted(seen, nth)
            random = self._random(state, position, nth)
            if struck is None and (left := self._due(fault, position, nth, state, random)) is not None:
                given, remaining = f"{self._prefix}{position}/given", f"{self._prefix}{position}/left"
                counted = counted.counted(given, state.counters.get(given, 0) + 1)
                if left != state.counters.get(remaining, 0):
                    counted = counted.counted(remaining, left)
                struck = (fault, position, nth, _drawn(fault, random))
        if struck is None:
            return Strike(counted)
        fault, position, nth, delay = struck
        return Strike(counted, fault, nth, self._text(fault, position, nth, call, state), delay, self.plan.name)

    def counts(self, state: State) -> list[dict[str, int]]:
        """Per fault of the plan: how many calls it matched in this state's past, and how many it struck."""
        return [
            {name: state.counters.get(f"{self._prefix}{position}/{name}", 0) for name in ("seen", "given")}
            for position in range(len(self.plan.faults))
        ]

    def _matches(self, fault: Fault, position: int, call: ToolCall, state: State, writes: bool) -> bool:
        if fault.calls != "any" and (fault.calls == "writes") is not writes:
            return False
        if not any(fnmatchcase(call.name, pattern) for pattern in fault.tools):
            return False
        if fault.when is None:
            return True
        try:
            holds = compile_expression(fault.when)(self._scope(call, state))
        except ExpressionError as error:
            raise self._wrong(position, "when", error) from error
        if holds is True or holds is False:
            return holds is True
        raise self._wrong(position, "when", f"`{fault.when}` must be true or false, not {holds!r:.60}")

    def _due(self, fault: Fault, position: int, nth: int, state: State, random: Random) -> int | None:
        """None if the fault does not strike, else how many further calls it is to strike in a row."""
        given = state.counters.get(f"{self._prefix}{position}/given", 0)
        if fault.limit is not None and given >= fault.limit:
            return None
        left = state.counters.get(f"{self._prefix}{position}/left", 0)
        if left:
            return left - 1
        if nth <= fault.skip:
            return None
        if fault.every is not None:
            due = (nth - fault.skip) % fault.every == 0
        else:
            due = fault.probability is None or random.random() < fault.probability
        return fault.in_a_row - 1 if due else None

    def _random(self, state: State, position: int, nth: int) -> Random:
        seed = state.seed if self.plan.seed is None else self.plan.seed
        return Random(f"{seed}/{self._prefix}{position}/{nth}")

    def _scope(self, call: ToolCall, state: State, **names: int | float) -> Scope:
        bound = {"args": dict(call.arguments), "tool": call.name, **names}
        return Scope(bound, state, dynamics=self._dynamics)

    def _text(self, fault: Fault, position: int, nth: int, call: ToolCall, state: State) -> str:
        text = getattr(fault, "text", "")
        names: dict[str, int | float] = {"nth": nth}
        if isinstance(fault, RateLimit):
            names["retry_after"] = fault.retry_after
        try:
            return compile_template(text)(self._scope(call, state, **names))
        except ExpressionError as error:
            raise self._wrong(position, "text", error) from error

    def _wrong(self, position: int, field: str, error: object) -> FaultError:
        return FaultError(f"fault plan {self.plan.name!r}: faults[{position}].{field}: {error}")


def forget(state: State) -> State:
    """The state without any plan's counts."""
    kept = {name: number for name, number in state.counters.items() if not name.startswith(PREFIX)}
    return state if len(kept) == len(state.counters) else state.replace(counters=immutables.Map(kept))


def _drawn(fault: Fault, random: Random) -> float:
    return random.uniform(*fault.delay) if isinstance(fault.delay, tuple) else float(fault.delay)
