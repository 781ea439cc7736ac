"""A policy as a YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from envace_sdk.errors import PolicyError
from envace_sdk.json import Json
from envace_sdk.problems import first_of
from envace_sdk.yaml import YAMLError, load_yaml

from .match import Match
from .policy import AskPeople, RiskRule, Rule, RulePolicy
from .record import WINDOW, Requirement
from .risk import RiskLevel
from .verdict import VerdictKind

__all__ = ["FORMAT", "load_policy", "parse_policy"]

FORMAT: Final = 1
"""Version of the file format; a file of a newer one is refused."""

_MOST: Final = 1_000_000
"""Characters of a policy file."""


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _expression(value: Any) -> Any:
    """YAML reads `when: true` as a value; as CEL it means the same."""
    return str(value).lower() if isinstance(value, bool) else value


_Names = Annotated[list[str], BeforeValidator(_listed)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Matching(_Model):
    name: str = ""
    tools: _Names = Field(default_factory=lambda: ["*"], min_length=1)
    servers: _Names = Field(default_factory=lambda: ["*"], min_length=1)
    annotations: dict[str, Json] = Field(default_factory=dict)
    arguments: dict[str, Json] = Field(default_factory=dict)
    when: Annotated[str | None, BeforeValidator(_expression)] = None
    reason: str = ""

    def match(self) -> Match:
        return Match(tuple(self.tools), tuple(self.servers), self.annotations, self.arguments, self.when)


class _Record(_Model):
    calls: int = Field(default=WINDOW, ge=1)
    accuracy: float = Field(default=0.9, ge=0.0, le=1.0)


class _People(_Model):
    roles: _Names = Field(default_factory=list)
    count: int = Field(default=1, ge=1, le=10)
    four_eyes: bool = False
    expires: float = Field(default=3600.0, gt=0)


class _Rule(_Matching):
    then: VerdictKind
    record: _Record | None = None
    approval: _People = Field(default_factory=_People)

    def rule(self) -> Rule:
        record = None if self.record is None else Requirement(self.record.calls, self.record.accuracy)
        people = AskPeople(
            tuple(self.approval.roles), self.approval.count, self.approval.four_eyes, self.approval.expires
        )
        return Rule(self.then, self.match(), self.name, self.reason, record, people)


class _RiskRule(_Matching):
    level: RiskLevel

    def rule(self) -> RiskRule:
        return RiskRule(self.level, self.match(), self.name, self.reason)


class _File(_Model):
    format: int = FORMAT
    default: Literal["ask", "block"] = "ask"
    trusted_servers: _Names = Field(default_factory=list)
    approvers: dict[str, _Names] = Field(default_factory=dict)
    risk: list[_RiskRule] = Field(default_factory=list)
    rules: list[_Rule] = Field(default_factory=list)


def load_policy(path: str | Path) -> RulePolicy:
    """Read a policy file.

    Raises:
        PolicyError: it cannot be read, or is wrong; the message names the file, the rule and the field.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"{path}: cannot be read: {error}") from error
    return parse_policy(text, str(path))


def parse_policy(text: str, source: str = "policy") -> RulePolicy:
    """Read the text of a policy file. Raises: PolicyError as `load_policy`."""
    if len(text) > _MOST:
        raise PolicyError(f"{source}: {len(text)} characters; a policy has at most {_MOST}")
    try:
        data = load_yaml(text)
    except YAMLError as error:
        raise PolicyError(f"{source}: not YAML: {error}") from error
    if not isinstance(data, dict):
        raise PolicyError(f"{source}: expected a mapping with `rules`")
    if data.get("format", FORMAT) != FORMAT:
        raise PolicyError(f"{source}: format {data['format']!r} is not known; this version reads {FORMAT}")
    try:
        file = _File.model_validate(data)
    except ValidationError as error:
        places = first_of(f"{_place(e['loc'], data)}: {e['msg']}" for e in error.errors())
        raise PolicyError(f"{source}: {places}") from None
    rules = [_made(rule, f"{source}: {_called('rules', at, rule.name)}") for at, rule in enumerate(file.rules)]
    risks = [_made(rule, f"{source}: {_called('risk', at, rule.name)}") for at, rule in enumerate(file.risk)]
    return RulePolicy(
        [rule for rule in rules if isinstance(rule, Rule)],
        file.default,
        [rule for rule in risks if isinstance(rule, RiskRule)],
        frozenset(file.trusted_servers),
        {name: tuple(roles) for name, roles in file.approvers.items()},
        source,
    )


def _made(rule: _Rule | _RiskRule, where: str) -> Rule | RiskRule:
    try:
        return rule.rule()
    except PolicyError as error:
        raise PolicyError(f"{where}: {error}") from None


def _place(location: tuple[int | str, ...], data: Mapping[str, Any]) -> str:
    """`rules[2] (small refunds).then`."""
    if len(location) < 2 or not isinstance(location[1], int):
        return ".".join(map(str, location)) or "file"
    try:
        name = data[str(location[0])][location[1]]["name"]
    except (KeyError, TypeError, IndexError):
        name = ""
    return ".".join([_called(str(location[0]), location[1], name), *map(str, location[2:])])


def _called(section: str, at: int, name: object) -> str:
    """As people count: the first rule is 1."""
    kind = "rule" if section == "rules" else f"{section} rule"
    return f"{kind} {at + 1} ({name})" if name else f"{kind} {at + 1}"
