"""What a policy says of sample actions, before it stands in front of anything real."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from envace_sdk.errors import SchemaError
from envace_sdk.json import Json
from envace_sdk.jsonschema import generate
from envace_sdk.rehearse import Environment

from .action import Action
from .budget import Budget
from .case import Case
from .forecast import Forecaster
from .journal import Switch
from .judging import assessed, judged
from .known import KnownWorld
from .policy import Decision, RiskRule, Rule, RulePolicy
from .risk import Risks

__all__ = ["Sample", "check_policy", "findings", "samples_of"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample action, and what the policy says of it."""

    case: Case
    decision: Decision

    def as_json(self) -> dict[str, Json]:
        """The sample for other programs."""
        return {
            "tool": self.case.action.tool,
            "arguments": dict(self.case.action.arguments),
            "verdict": self.decision.kind,
            "rule": self.decision.rule,
            "reasons": list(self.decision.reasons),
            "risk": self.case.risk.as_json(),
            "prediction": self.case.prediction.as_json(),
        }


def samples_of(environment: Environment, tools: Iterable[str] = ()) -> list[Action]:
    """A sample action for each tool: a recorded call where there is one that succeeded, else one made from its schema.

    A tool whose schema no instance satisfies is left out.
    """
    wanted = list(tools)
    recorded = {
        fixture.call.name: fixture.call for fixture in reversed(environment.seen) if not fixture.result.is_error
    }
    made: list[Action] = []
    state = environment.start
    for tool in environment.toolset:
        if wanted and tool.name not in wanted:
            continue
        if tool.name in recorded:
            made.append(Action(tool.name, recorded[tool.name].arguments))
            continue
        try:
            arguments = generate(tool.input_schema, random=state.random(tool.name), clock=state.clock, name=tool.name)
        except SchemaError:
            continue
        made.append(Action(tool.name, arguments if isinstance(arguments, dict) else {}))
    return made


async def check_policy(policy: RulePolicy, environment: Environment, actions: Sequence[Action]) -> list[Sample]:
    """Rehearse and judge actions in the environment's start state. Nothing is executed or written down.

    Raises:
        PolicyError: the policy cannot judge at all.
    """
    forecaster = Forecaster(environment, budget=Budget())
    world = KnownWorld(environment)
    risks = Risks(environment, trusted=policy.trusted)
    return [await _sample(policy, world, forecaster, risks, action) for action in actions]


async def _sample(
    policy: RulePolicy, world: KnownWorld, forecaster: Forecaster, risks: Risks, action: Action
) -> Sample:
    environment = world.environment
    prediction = world.doubted(await forecaster.predict(action, world.state))
    known = action.tool in environment.toolset
    case = Case(
        action,
        prediction,
        risks.assess(action, prediction),
        tool=environment.toolset[action.tool] if known else None,
        state=world.state,
        dynamics=environment.dynamics,
    )
    case = assessed(policy, case)
    decision = judged(policy, case, Switch())
    return Sample(replace(case, prediction=replace(prediction, risk=case.risk.level)), decision)


def findings(policy: RulePolicy, environment: Environment) -> list[str]:
    """What is likely to be a mistake: patterns that no tool matches, and rules that are never reached."""
    tools = [tool.name for tool in environment.toolset]
    found: list[str] = []
    open_to_all = ""
    sections: list[tuple[str, Sequence[Rule | RiskRule]]] = [("rule", policy.rules), ("risk rule", policy.risks)]
    for section, rules in sections:
        for number, rule in enumerate(rules, 1):
            name = f"{section} {number}{f' ({rule.name})' if rule.name else ''}"
            found += [
                f"{name}: no tool of {environment.toolset.name} matches {pattern!r}"
                for pattern in rule.match.tools
                if not any(fnmatchcase(tool, pattern) for tool in tools)
            ]
            if section == "rule" and open_to_all:
                found.append(f"{name}: never reached, since {open_to_all} is about everything")
            if section == "rule" and not open_to_all and _is_open(rule):
                open_to_all = name
    return found


def _is_open(rule: Rule | RiskRule) -> bool:
    """Whether a rule is about every action."""
    match = rule.match
    narrows = match.annotations or match.arguments or match.when is not None or getattr(rule, "record", None)
    return "*" in match.tools and "*" in match.servers and not narrows
