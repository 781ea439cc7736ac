"""The evidence for and against each part of a rule, as a text for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from envace_sdk.errors import EnvaceError
from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.world.dynamics import ToolRule
from envace_sdk.world.shown import shown

from .answering import Part
from .conditions import separate
from .explain import Example, explain
from .failures import Failure
from .remarks import counted, instance_text
from .rules import Learned
from .tracking import Moment
from .trial import Instance, Tally, Trial

__all__ = ["account_of"]

_CASES: Final = 150
_LOOSE_CONDITION: Final = 0.35
_LOOSE_EXPRESSION: Final = 0.7
_WIDTH: Final = 100
_KINDS: Final = 6
_LEAVES: Final = 40


def account_of(tool: str, rule: ToolRule | None, trial: Trial | None, learned: Learned | None) -> str:
    """What speaks for a rule and against it, part by part, and what it leaves unexplained.

    Args:
        tool: the tool.
        rule: its rule as it is in the file.
        trial: what came of trying it.
        learned: what was learned of the tool, which need not be what the rule says.
    """
    if trial is None or rule is None:
        return f"{tool}: no call of it is recorded\n"
    about = " of ".join(filter(None, (rule.effect, rule.collection)))
    key = f" by {rule.key if isinstance(rule.key, str) else ', '.join(rule.key)}" if rule.key else ""
    failed = f", {counted(trial.errors, 'error')}" if trial.errors else ""
    lines = [f"{tool}: {about}{key}", f"  {counted(trial.calls, 'recorded call')}{failed}"]
    if trial.decided and rule.effect != "opaque":
        lines.append(f"  {trial.right} of {trial.decided} end as the rule says; confidence {rule.confidence:.2f}")
    if trial.left and rule.effect != "opaque":
        lines.append(f"  {trial.left} are left to the next layer")
    sections = [
        ("requires", _requirements(rule, trial)),
        ("changes", _changes(rule, trial)),
        ("answers", _answers(rule, trial)),
        ("cannot be computed", _broken(trial)),
        ("errors that the rule does not foresee", _unforeseen(trial, learned)),
        ("not explained", _unexplained(trial, learned)),
        ("found, and not good enough for a rule", _parts(learned) if rule.effect == "opaque" else iter(())),
    ]
    for title, section in sections:
        found = list(section)
        if found:
            lines += ["", f"  {title}", *(f"    {line}" for line in found)]
    return "\n".join(lines) + "\n"


def _requirements(rule: ToolRule, trial: Trial) -> Iterator[str]:
    for place, requirement in enumerate(rule.requires):
        yield from _part(f"{requirement.that}  else  {requirement.error}", trial.requirements.get(place, Tally()))
    if trial.absence.total:
        missing = rule.exists if rule.effect == "create" else rule.missing
        yield from _part(f"the entity itself  else  {missing or 'the usual error'}", trial.absence)


def _changes(rule: ToolRule, trial: Trial) -> Iterator[str]:
    for label, source in _changed(rule):
        tally = trial.fields.get(label, Tally())
        yield from _part(f"{label} = {source}" + ("" if tally.total else "  (shown by no later call)"), tally)


def _changed(rule: ToolRule) -> Iterator[tuple[str, str]]:
    """The parts of a rule that change fields: how a trial calls them, and what they say."""
    if isinstance(rule.take, str):
        yield "take.*", "every argument"
    else:
        pairs = rule.take if isinstance(rule.take, dict) else {name: name for name in rule.take}
        yield from ((f"take.{field}", f"args.{path}") for field, path in pairs.items())
    for name in ("set", "append", "remove"):
        yield from ((f"{name}.{path}", source) for path, source in getattr(rule, name).items())
    for number, change in enumerate(rule.also):
        for name in ("set", "append", "remove"):
            for path, source in getattr(change, name).items():
                yield f"also[{number}].{name}.{path}", source


def _answers(rule: ToolRule, trial: Trial) -> Iterator[str]:
    told = rule.returns
    whole = told.text if told.text is not None else told.value
    for path, tally in list(trial.answer.items())[:_LEAVES]:
        source = (told.object or {}).get(path) or told.extra.get(path) or (whole if not path else None)
        yield from _part(f"{path or 'the answer'}" + (f" = {source}" if source else ""), tally)
    if len(trial.answer) > _LEAVES:
        yield f"and {len(trial.answer) - _LEAVES} more"


def _part(text: str, tally: Tally) -> Iterator[str]:
    yield f"{tally.right:>5} right {tally.wrong:>5} wrong   {_short(text)}"
    if tally.first is not None:
        yield f"{' ' * 26}wrong {_short(instance_text(tally.first), 2 * _WIDTH)}"
        yield f"{' ' * 26}called with {_arguments(tally.first.arguments)}"


def _broken(trial: Trial) -> Iterator[str]:
    for note in dict.fromkeys(instance.note for instance in trial.broken):
        first = next(instance for instance in trial.broken if instance.note == note)
        times = sum(instance.note == note for instance in trial.broken)
        yield f"{counted(times, 'call')}: {_short(note, 2 * _WIDTH)}"
        yield f"  first {_place(first)}"


def _unforeseen(trial: Trial, learned: Learned | None) -> Iterator[str]:
    moments = {(m.step.episode, m.step.index): m for m in learned.moments} if learned is not None else {}
    kinds: dict[str, list[Instance]] = {}
    for instance in trial.unforeseen:
        moment = moments.get((instance.episode, instance.position))
        failure = moment.failure if moment is not None else None
        name = failure.label if failure is not None else shown(instance.recorded, _WIDTH)
        kinds.setdefault(name, []).append(instance)
    for name, instances in list(kinds.items())[:_KINDS]:
        yield f"{len(instances):>5} like {shown(instances[0].recorded, _WIDTH)}"
        yield f"      first {_place(instances[0])}"
        failure = learned.failures.get(name) if learned is not None else None
        if learned is not None and failure is not None:
            yield f"      closest: {_closest_condition(learned, failure)}"
    if len(kinds) > _KINDS:
        yield f"and {len(kinds) - _KINDS} kinds more"


def _closest_condition(learned: Learned, failure: Failure) -> str:
    """The condition that comes closest to telling an error from success."""
    yes = [moment.scope for moment in learned.moments if moment.failure is failure][:_CASES]
    no = [moment.scope for moment in learned.moments if moment.step.ok][:_CASES]
    try:
        found = separate(yes, no, limit=1, tolerance=_LOOSE_CONDITION) if yes and no else []
    except EnvaceError:
        found = []
    if not found:
        return "no condition tells them from the calls that succeed"
    one = found[0]
    right, wrong = len(yes) - one.wrong_no, one.wrong_yes
    good = f"{wrong} of {counted(len(no), 'call')} that succeed"
    return f"{_short(one.source)}  (of {len(yes)} such errors {right}, and {good})"


def _unexplained(trial: Trial, learned: Learned | None) -> Iterator[str]:
    done = [moment for moment in learned.moments if moment.step.ok][:_CASES] if learned is not None else []
    for path in trial.unexplained[:_LEAVES]:
        tally = trial.answer[path]
        yield f"{path or 'the answer'}: right in {tally.right} of {tally.total}"
        found = _closest_expression(done, path)
        if found:
            yield f"  closest: {found}"


def _closest_expression(moments: Sequence[Moment], path: str) -> str:
    """The expression that comes closest to giving a leaf."""
    values = [(moment, _leaf(moment.step.value, path)) for moment in moments]
    examples = [Example(dict(moment.after), value) for moment, value in values if value is not UNSET]
    if len(examples) < 2 or "[" in path:
        return ""
    try:
        found = explain(examples, limit=1, tolerance=_LOOSE_EXPRESSION)
    except EnvaceError:
        found = []
    if not found:
        return "nothing in arguments, entity or session"
    return f"{_short(found[0].source)}  (right in {found[0].hits} of {found[0].hits + found[0].misses})"


def _parts(learned: Learned | None) -> Iterator[str]:
    for condition, part in learned.answer.cases if learned is not None and learned.answer is not None else ():
        if condition:
            yield f"where {_short(condition)}"
        for path, inner in _flat(part, ""):
            if inner.source:
                yield f"{path or 'the answer'} = {_short(inner.source)}  (right in {inner.right} of {inner.total})"
            elif inner.listing is None:
                samples = ", ".join(shown(sample, 30) for sample in inner.samples[:3])
                yield f"{path or 'the answer'}: nothing; such as {samples}"


def _flat(part: Part, path: str) -> Iterator[tuple[str, Part]]:
    if part.is_object:
        for name, inner in part.members.items():
            yield from _flat(inner, f"{path}.{name}" if path else name)
    else:
        yield path, part


def _leaf(value: Json, path: str) -> Json | Unset:
    for name in path.split(".") if path else []:
        if not isinstance(value, dict) or name not in value:
            return UNSET
        value = value[name]
    return value


def _place(instance: Instance) -> str:
    return f"in episode {instance.episode!r} at call {instance.position + 1}, with {_arguments(instance.arguments)}"


def _arguments(arguments: Mapping[str, Json]) -> str:
    return _short(json.dumps(dict(arguments), ensure_ascii=False))


def _short(text: str, width: int = _WIDTH) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
