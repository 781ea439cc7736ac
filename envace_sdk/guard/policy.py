"""Policies: the first rule that is about an action says what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from envace_sdk.errors import PolicyError

from .case import Case
from .match import Match
from .record import Requirement
from .risk import RiskLevel
from .verdict import VerdictKind

__all__ = ["AskPeople", "Decision", "Policy", "RiskRule", "Rule", "RulePolicy"]


@dataclass(frozen=True, slots=True)
class AskPeople:
    """Who may approve, and how many must."""

    roles: tuple[str, ...] = ()
    """The approver must have one of them; empty: anybody that the guard knows, or anybody where it knows no one."""
    count: int = 1
    """How many different people must approve."""
    four_eyes: bool = False
    """Whether whoever the agent acts for may not be among them."""
    expires: float = 3600.0
    """Seconds until a request that nobody has answered, or an approval that nobody has used, is void."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy says of one action."""

    kind: VerdictKind
    reasons: tuple[str, ...] = ()
    rule: str = ""
    explicit: bool = False
    """Whether the rule names the tool in full and bounds every argument: only such a one, or a person, lets a high risk
    commit."""
    people: AskPeople = field(default_factory=AskPeople)
    missing: tuple[str, ...] = ()
    """What keeps the rule from being explicit, in words."""


class Policy(Protocol):
    """Anything that judges actions."""

    def judge(self, case: Case) -> Decision | None:
        """Decide, or pass with None; where nobody decides, a person is asked.

        It may be called more than once for one action, and must say the same as long as the case is the same.
        What it raises blocks the action.
        """
        ...


@dataclass(frozen=True)
class Rule:
    """One rule of a policy.

    Raises:
        PolicyError: the match is wrong.
    """

    then: VerdictKind
    match: Match = field(default_factory=Match)
    name: str = ""
    reason: str = ""
    record: Requirement | None = None
    """With it, the rule is only about tools whose predictions have this track record."""
    people: AskPeople = field(default_factory=AskPeople)


@dataclass(frozen=True)
class RiskRule:
    """What a user says of a risk. It raises any; it lowers a high one only if it is explicit, as `Decision` has it."""

    level: RiskLevel
    match: Match = field(default_factory=Match)
    name: str = ""
    reason: str = ""


@dataclass(frozen=True)
class RulePolicy:
    """Rules in order: the first that is about an action decides; where none is, `default` does.

    A rule whose condition cannot be evaluated counts as a match, and never commits: it blocks if that is what it was
    there for, and asks otherwise.

    Raises:
        PolicyError: two rules have the same name.
    """

    rules: Sequence[Rule] = ()
    default: Literal["ask", "block"] = "ask"
    risks: Sequence[RiskRule] = ()
    """The first that is about an action sets its risk."""
    trusted: frozenset[str] = frozenset()
    """Servers whose annotations are believed."""
    approvers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Who may approve: name to roles; empty: anybody, and rules may not ask for roles."""
    source: str = "policy"
    """What messages call it, such as its file."""

    def __post_init__(self) -> None:
        names = [rule.name for rule in self.rules if rule.name]
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise PolicyError(f"{self.source}: two rules have the name {doubled[0]!r}")
        for number, rule in enumerate(self.rules, 1):
            if lack := self._lack(rule.people):
                raise PolicyError(f"{self.source}: {_name(rule.name, number)}: {lack}")

    def judge(self, case: Case) -> Decision:
        """The decision of the first rule that is about the case."""
        passed: list[str] = []
        for number, rule in enumerate(self.rules, 1):
            name, called = _name(rule.name, number), rule.name or f"rule {number}"
            try:
                if not rule.match(case):
                    continue
            except PolicyError as error:
                kind: VerdictKind = "block" if rule.then == "block" else "ask"
                reason = f"{self.source}: {name} could not be evaluated: {error}"
                return Decision(kind, (reason,), called, people=rule.people)
            if rule.record is not None and (unmet := rule.record.unmet(case.record)):
                passed.append(f"{name} does not apply: {unmet}")
                continue
            missing = tuple(rule.match.missing(case.action.arguments))
            reasons = (rule.reason or f"{name} says so", *passed)
            return Decision(rule.then, reasons, called, not missing, rule.people, missing)
        return Decision(self.default, ("no rule is about it", *passed))

    def risk(self, case: Case) -> tuple[RiskLevel, str] | None:
        """The level that a user gives an action, and why; None where no risk rule is about it.

        A rule that cannot be evaluated makes the risk high.
        """
        for number, rule in enumerate(self.risks, 1):
            name = rule.name or f"risk rule {number}"
            try:
                if not rule.match(case):
                    continue
            except PolicyError as error:
                return "high", f"{self.source}: {name} could not be evaluated: {error}"
            lowers = case.risk.level == "high" and rule.level != "high"
            if lowers and (missing := rule.match.missing(case.action.arguments)):
                return "high", f"{name} cannot lower a high risk: {'; '.join(missing)}"
            return rule.level, rule.reason or f"{name} says so"
        return None

    def _lack(self, people: AskPeople) -> str:
        """Why nobody could ever approve what the rule asks for."""
        if not self.approvers and not people.roles:
            return ""
        able = [name for name, roles in self.approvers.items() if not people.roles or {*roles} & {*people.roles}]
        if len(able) >= people.count:
            return ""
        role = f" with the role {' or '.join(people.roles)}" if people.roles else ""
        return f"it wants {people.count} approvers{role}, and `approvers` has {len(able)}"


def _name(name: str, number: int) -> str:
    return f"rule {name!r}" if name else f"rule {number}"
