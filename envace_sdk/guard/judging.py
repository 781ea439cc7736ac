"""From a case to a verdict: the policy's word, and the rules that stand above every policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from envace_sdk.errors import PolicyError

from .case import Case
from .journal import Switch
from .policy import Decision, Policy
from .risk import LEVELS, Risk
from .verdict import VerdictKind

__all__ = ["assessed", "judged"]

_KINDS: tuple[VerdictKind, ...] = ("commit", "block", "ask", "revise")


def assessed(policy: Policy, case: Case) -> Case:
    """The case with the risk that the user's own rules give it, where the policy has some.

    What `Policy.risk` returns is `(level, reason)` or None, as `RulePolicy.risk` does.
    """
    told: Any = getattr(policy, "risk", None)
    found = told(case) if callable(told) else None
    if found is None:
        return case
    level, reason = found
    if level not in LEVELS:
        raise PolicyError(f"the policy gives the risk {level!r}; there are {', '.join(LEVELS)}")
    # A user's word stands for itself: what was found out about the tool is kept, and still told.
    reasons = (reason,) if level == case.risk.level else (reason, f"otherwise {case.risk}")
    return replace(case, risk=Risk(level, reasons, case.risk.writes, case.risk.undoable))


def judged(policy: Policy, case: Case, switch: Switch) -> Decision:
    """What becomes of a case. Whatever the policy says, these hold, in this order:

    1. while the kill switch is thrown, everything asks, or blocks;
    2. arguments that the tool's schema forbids are sent back, not shown to a person;
    3. what could not be predicted, and what is of high risk, commits only by an explicit rule: one that names the tool
       and bounds its arguments. No rehearsal, dry run or track record suffices.
    """
    if switch.mode == "block":
        return Decision("block", (f"everything is stopped by {switch.by}: {switch.reason}",), "kill switch")
    decision = policy.judge(case) or Decision("ask", ("no policy decides on it",))
    if decision.kind not in _KINDS:
        raise PolicyError(f"the policy answers {decision.kind!r}; there are {', '.join(_KINDS)}")
    if decision.kind == "block":
        return decision
    if case.tool is None and not decision.rule:
        return Decision("block", (f"there is no tool {case.action.tool!r}", *decision.reasons))
    if case.prediction.layer == "arguments" and not (decision.kind == "commit" and decision.explicit):
        return Decision("revise", (case.prediction.answer or "the arguments do not fit the tool's schema",), "schema")
    if decision.kind == "revise":
        return decision
    if switch.mode == "ask":
        return replace(
            decision, kind="ask", reasons=(f"everything is asked since {switch.by}: {switch.reason}",), explicit=False
        )
    if decision.kind == "ask" or decision.explicit:
        return decision
    if case.prediction.kind == "none":
        return replace(decision, kind="ask", reasons=(f"it could not be predicted: {case.prediction.reason}",))
    if case.risk.level == "high":
        lacks = f": {'; '.join(decision.missing)}" if decision.missing else ""
        reasons = (f"its risk is high, and the rule that would commit it is not explicit{lacks}", *case.risk.reasons)
        return replace(decision, kind="ask", reasons=reasons)
    return decision
