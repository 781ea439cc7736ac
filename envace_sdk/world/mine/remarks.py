"""What trying a rule says of it, in a line: why to believe it, what speaks against it, what to record next."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from envace_sdk.world.dynamics import ToolRule
from envace_sdk.world.shown import shown

from .episodes import Episode, Step
from .rules import Learned
from .trial import Instance, Trial

__all__ = ["advice", "contradictions", "counted", "instance_text", "reason_of"]

_FEW: Final = 5
_NAMED: Final = 3
_SHOWN: Final = 80


def reason_of(rule: ToolRule, trial: Trial, learned: Learned | None = None) -> str:
    """Why a rule says what it says; one line."""
    if not trial.calls:
        return "no call of it is recorded"
    if rule.effect == "opaque":
        return f"no rule explains {counted(trial.calls, 'recorded call')}"
    if not trial.decided:
        return f"leaves the answers of {counted(trial.calls, 'recorded call')} to the next layer"
    parts = [f"as recorded in {trial.right} of {counted(trial.decided, 'call')}"]
    if trial.left:
        parts.append(f"{trial.left} left to the next layer")
    if trial.unexplained:
        parts.append(f"not explained: {_listed(trial.unexplained)}")
    if trial.passed:
        parts.append(f"{counted(trial.passed, 'error')} not foreseen")
    if trial.failed:
        parts.append(f"{trial.failed} cannot be computed")
    held = _held_out(learned)
    if held is not None:
        parts.append(f"its conditions are right in {held:.0%} of what was held out")
    return "; ".join(parts)


def contradictions(tool: str, trial: Trial) -> Iterator[str]:
    """Where a rule that a person wrote is not what was recorded."""
    wrong = trial.decided - trial.right
    if wrong and trial.mistaken is not None:
        often = f"{wrong} of {counted(trial.decided, 'recorded call')}"
        yield f"{tool}: your rule speaks against {often}, as {instance_text(trial.mistaken)}"


def instance_text(instance: Instance) -> str:
    """Where a rule is wrong, and how."""
    note = f" ({instance.note})" if instance.note else ""
    told = f"recorded {shown(instance.recorded, _SHOWN)}, the rule gives {shown(instance.given, _SHOWN)}"
    return f"in episode {instance.episode!r} at call {instance.position + 1}: {told}{note}"


def advice(episodes: Sequence[Episode], rules: Mapping[str, ToolRule], tools: Sequence[str]) -> dict[str, str]:
    """By tool of which too little is known, what to record next."""
    steps: dict[str, list[Step]] = {}
    last: Counter[str] = Counter()
    for episode in episodes:
        for number, step in enumerate(episode.steps):
            steps.setdefault(step.tool, []).append(step)
            last[step.tool] += all(later.tool == step.tool for later in episode.steps[number:])
    found: dict[str, str] = {}
    for tool in tools:
        said = _advice(steps.get(tool, []), last[tool], rules.get(tool))
        if said:
            found[tool] = said
    return found


def _advice(steps: Sequence[Step], last: int, rule: ToolRule | None) -> str:
    done = [step for step in steps if step.ok]
    if not steps:
        return "never called: record some calls"
    if not done:
        return f"{counted(len(steps), 'call')}, all of them errors: record calls that succeed"
    if len(done) < _FEW:
        return f"only {counted(len(done), 'successful call')}: record more"
    if rule is not None and rule.effect != "opaque":
        return ""
    if len({_text(step.args) for step in done}) == 1 and done[0].args:
        return "always the same arguments: record others"
    writes = len({_text(step.value) for step in done}) > 1
    if last > len(steps) / 2 and writes:
        return "mostly the last call of its episode: record what other tools show after it"
    if len(done) == len(steps):
        return "never failed: record calls with keys that do not exist and values that are not allowed"
    return "what it answers is not in arguments or earlier answers: record the tools that show what it reads"


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _held_out(learned: Learned | None) -> float | None:
    """Of the calls that conditions decide, the share that conditions learned without them got right."""
    if learned is None or learned.decisions is None:
        return None
    rules = [rule for rule in learned.decisions.rules if rule.held_out is not None and rule.right]
    whole = sum(rule.right for rule in rules)
    return sum(rule.right * (rule.held_out or 0.0) for rule in rules) / whole if whole else None


def _listed(names: Sequence[str]) -> str:
    named = ", ".join(name or "the answer" for name in names[:_NAMED])
    return named + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)
