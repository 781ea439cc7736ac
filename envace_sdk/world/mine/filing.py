"""What was learned, put into a dynamics file without undoing what a person wrote there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from envace_sdk.errors import DynamicsError
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import CollectionRule, Dynamics, ToolRule
from envace_sdk.world.infer import infer
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.rulefile import RuleFile, Section, digest_of, fresh_text

from .remarks import contradictions, counted, reason_of
from .rules import Learned
from .trial import Trial

__all__ = ["Filer", "Filing", "Standing", "checked"]

Standing = Literal["yours", "new", "changed", "same", "kept", "gone"]
"""Of a rule in the new file. `kept`: no recorded call tells of it. `gone`: its tool is no longer there."""

_HEADER: Final = (
    "# What each tool does to the world, learned by `envace-sdk learn` from {}. Yours to edit:\n"
    "# a rule that you change, or that says `keep: true`, stays as it is when more is learned.\n"
)
_HALF: Final = 0.5


@dataclass(frozen=True, slots=True)
class Filing:
    """The new file."""

    dynamics: Dynamics
    text: str
    standing: Mapping[str, Standing]
    """By tool."""
    findings: tuple[str, ...]
    """What a person who edited the file should look at."""


class Filer:
    """Puts learned rules into a file.

    Args:
        toolset: the tools.
        file: the file as it is; None where there is none.
        force: whether rules that a person changed are written anew too.
    """

    def __init__(self, toolset: Toolset, file: RuleFile | None, *, force: bool = False) -> None:
        self._toolset = toolset
        self._file = file
        self._force = force
        self._inferred = infer(toolset)
        self._old = file.dynamics if file is not None else Dynamics()
        self._tools = {name for name in self._old.tools if self._is_kept("tools", name)}
        self._collections = {name for name in self._old.collections if self._is_kept("collections", name)}

    @property
    def kept(self) -> Dynamics:
        """What a person wrote or pinned, with the collections that it needs."""
        tools = {name: self._old.tools[name] for name in self._old.tools if name in self._tools}
        names = self._collections | {name for rule in tools.values() for name in _used(rule)}
        return Dynamics(
            collections={name: rule for name, rule in self._old.collections.items() if name in names}, tools=tools
        )

    def with_learned(self, learned: Dynamics, calls: Mapping[str, int], needed: Iterable[str] = ()) -> Dynamics:
        """The rules of the new file: a person's own, else learned ones, else those that were there.

        Args:
            learned: what was learned.
            calls: by tool, how many calls were recorded.
            needed: further collections that there must be, where they are known.
        """
        tools: dict[str, ToolRule] = {}
        for tool in self._toolset:
            name = tool.name
            if name in self._tools or (not calls.get(name) and name in self._old.tools and not self._force):
                tools[name] = self._old.tools[name]
            elif name in learned.tools:
                tools[name] = _storable(learned.tools[name])
        for name in self._tools - tools.keys():
            tools[name] = self._old.tools[name]
        collections: dict[str, CollectionRule] = {}
        wanted = self._wanted(tools, needed)
        for name in dict.fromkeys([*self._old.collections, *learned.collections, *self._inferred.collections]):
            if name in learned.collections and name not in self._collections:
                collections[name] = learned.collections[name]
            elif name in wanted:
                found = self._old.collections.get(name) or self._inferred.collections.get(name)
                collections |= {} if found is None else {name: found}
        order = [*(tool.name for tool in self._toolset), *tools]
        return Dynamics(collections=collections, tools={name: tools[name] for name in order if name in tools})

    def _wanted(self, tools: Mapping[str, ToolRule], needed: Iterable[str]) -> set[str]:
        """The collections that there must be besides those that were learned."""
        old = [name for name in self._old.collections if any(_mentions(rule, name) for rule in tools.values())]
        return {*old, *self._collections, *needed, *(name for rule in tools.values() for name in _used(rule))}

    def filed(
        self,
        dynamics: Dynamics,
        trials: Mapping[str, Trial],
        learned: Mapping[str, Learned],
        *,
        told: str,
        world: Mapping[str, str] | None = None,
    ) -> Filing:
        """The file with rules, as `with_learned` gives them, and what trying them says of each.

        Args:
            dynamics: the rules.
            trials: what came of trying them, by tool.
            learned: what is behind them, by tool.
            told: what they were learned from, for the header.
            world: digests of the initial world.
        """
        standing: dict[str, Standing] = {}
        tools: dict[str, ToolRule] = {}
        for name, rule in dynamics.tools.items():
            trial, old = trials.get(name), self._old.tools.get(name)
            if name in self._tools:
                standing[name], tools[name] = "yours", rule
            elif trial is None and old == rule:
                standing[name], tools[name] = "kept", rule
            else:
                tools[name] = _annotated(rule, trial or Trial(), learned.get(name))
                standing[name] = "new" if old is None else "same" if old == tools[name] else "changed"
        standing |= {name: "gone" for name in self._old.tools if name not in dynamics.tools}
        filed = Dynamics(
            collections=dynamics.collections,
            tools=tools,
            learned=self._digests(dynamics.collections, tools, world or {}),
        )
        text, findings = self._text(filed, _HEADER.format(told))
        return Filing(filed, text, standing, (*findings, *self._contradictions(filed, trials)))

    def _is_kept(self, section: Section, name: str) -> bool:
        """Whether a rule is a person's: pinned, changed since it was learned, or neither learned nor inferred."""
        if self._file is None:
            return False
        rule = self._file.rule(section, name)
        if rule is None or rule.keep:
            return rule is not None
        if self._force:
            return False
        as_learned = self._file.is_as_learned(section, name)
        if as_learned is not None:
            return not as_learned
        inferred = self._inferred.tools.get(name) if section == "tools" else self._inferred.collections.get(name)
        return rule != inferred or bool(self._file.comments(section, name))

    def _digests(
        self,
        collections: Mapping[str, CollectionRule],
        tools: Mapping[str, ToolRule],
        world: Mapping[str, str],
    ) -> dict[str, dict[str, str]]:
        """Of what is learned the digest it has now, of a person's that which it had when it was learned."""
        made: dict[str, dict[str, str]] = {}
        old = self._old.learned
        for section, rules, kept in (
            ("collections", collections, self._collections),
            ("tools", tools, self._tools),
        ):
            known = old.get(section, {})
            made[section] = {
                name: known[name] if name in kept else digest_of(rule)
                for name, rule in rules.items()
                if name not in kept or name in known
            }
        made["world"] = dict(world)
        return {section: digests for section, digests in made.items() if digests}

    def _text(self, dynamics: Dynamics, header: str) -> tuple[str, list[str]]:
        if self._file is None:
            return fresh_text(dynamics, header), []
        text = self._file.with_rules(dynamics, header)
        if text is not None:
            return text, []
        lost = "the file is laid out anew: its rules share anchors, or stand on one line, and comments are lost"
        return fresh_text(dynamics, header), [lost] if self._tools or self._collections else []

    def _contradictions(self, dynamics: Dynamics, trials: Mapping[str, Trial]) -> Iterator[str]:
        for name in sorted(self._tools):
            if name not in self._toolset:
                yield f"{name}: your rule is kept, but there is no such tool"
                continue
            if name in trials:
                yield from contradictions(name, trials[name])
            used = set(_used(dynamics.tools[name]))
            others = {c for other, rule in dynamics.tools.items() if other not in self._tools for c in _used(rule)}
            if used and others and not used & others:
                yield f"{name}: your rule is about {', '.join(sorted(used))}, which no learned rule looks at"


def checked(dynamics: Dynamics) -> Dynamics:
    """The rules that compile; the others are opaque."""
    try:
        Interpreter(dynamics).check()
    except DynamicsError:
        return dynamics.model_copy(update={"tools": dict(_compiling(dynamics))})
    return dynamics


def _compiling(dynamics: Dynamics) -> Iterator[tuple[str, ToolRule]]:
    for name, rule in dynamics.tools.items():
        try:
            Interpreter(dynamics.model_copy(update={"tools": {name: rule}})).check()
            yield name, rule
        except DynamicsError as error:
            yield name, ToolRule(effect="opaque", reason=f"what was learned does not compile: {error}"[:200])


def _annotated(rule: ToolRule, trial: Trial, learned: Learned | None) -> ToolRule:
    """The rule with its support, confidence and reason; one that mostly breaks down is opaque."""
    if trial.failed > _HALF * trial.decided:
        found = f"what was learned cannot be computed in {trial.failed} of {counted(trial.decided, 'recorded call')}"
        return ToolRule(effect="opaque", support=trial.calls, reason=found)
    if rule.effect == "opaque":
        return ToolRule(effect="opaque", support=trial.calls, reason=rule.reason or reason_of(rule, trial, learned))
    requires = [
        requirement.model_copy(update={"support": trial.requirements[place].right})
        if place in trial.requirements
        else requirement
        for place, requirement in enumerate(rule.requires)
    ]
    told = "confidence" in rule.model_fields_set
    return rule.model_copy(
        update={
            "requires": requires,
            "support": trial.calls,
            "confidence": rule.confidence if told else round(_confidence(trial, learned), 2),
            "reason": "; ".join(filter(None, (rule.reason, reason_of(rule, trial, learned)))),
        }
    )


def _confidence(trial: Trial, learned: Learned | None) -> float:
    """How far to trust a rule: as it does on what was recorded, less what its conditions lose on what was held out."""
    lost = 0.0
    for rule in learned.decisions.rules if learned is not None and learned.decisions is not None else ():
        if rule.held_out is not None:
            lost += rule.right * max(0.0, 1 - rule.held_out)
    return max(0.0, trial.confidence - lost / max(1, trial.calls))


def _storable(rule: ToolRule) -> ToolRule:
    """The rule, opaque where it holds text that no file can hold."""
    try:
        json.dumps(rule.model_dump(), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return ToolRule(effect="opaque")
    return rule


def _mentions(rule: ToolRule, collection: str) -> bool:
    text = json.dumps(rule.model_dump(exclude_defaults=True), ensure_ascii=False)
    return re.search(rf"(?<!\w){re.escape(collection)}(?!\w)", text) is not None


def _used(rule: ToolRule) -> Iterator[str]:
    if rule.collection is not None:
        yield rule.collection
    yield from (change.collection for change in rule.also)
