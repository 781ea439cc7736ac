"""An environment made up for a test: its tools, its true dynamics, its first world, and how to play it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from envace_sdk.json import Json
from envace_sdk.rehearse import Environment
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.clock import parse_time
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import DEFAULT_CLOCK, State
from envace_sdk.yaml import load_yaml

__all__ = ["Invented", "Play"]


@dataclass(frozen=True)
class Play:
    """What a sensible caller knows of an environment.

    `values`: by argument (`name`, or `tool.name` where it differs), where its values come from: a list to pick from, or
    CEL for such a list over the world and the arguments chosen so far; `people.id` is short for that field of all. What
    it does not name is made up from the argument's schema. `strange`: by the same names, values nothing is known by;
    without them, known ones are bent. `openers`: tools that a session begins with. `weights`: how often a tool is
    called, where not as often as others.
    """

    values: Mapping[str, str | list[Json]] = field(default_factory=dict)
    strange: Mapping[str, list[Json]] = field(default_factory=dict)
    openers: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Invented:
    """The truth that is to be learned. `features`: by tool, the classes of rules that its rule belongs to."""

    name: str
    tools: tuple[dict[str, Any], ...]
    dynamics: Dynamics
    collections: Mapping[str, list[dict[str, Any]]]
    play: Play = field(default_factory=Play)
    clock: datetime = DEFAULT_CLOCK
    features: Mapping[str, frozenset[str]] = field(default_factory=dict)
    expect: tuple[Mapping[str, Json], ...] = ()
    """Of the environments written by hand: what a rule that was learned well says."""

    @classmethod
    def load(cls, path: Path) -> Invented:
        """From a YAML file as they lie in `tests/world_mine/data`."""
        data = load_yaml(path.read_text(encoding="utf-8"))
        play = data.get("play", {})
        return cls(
            name=path.stem,
            tools=tuple(_definition(name, said) for name, said in data["tools"].items()),
            dynamics=Dynamics.model_validate({"collections": data["collections"], "tools": data["rules"]}),
            collections=data["world"],
            play=Play(**{**play, "openers": tuple(play.get("openers", ()))}),
            clock=parse_time(data["clock"]) or DEFAULT_CLOCK if "clock" in data else DEFAULT_CLOCK,
            features={name: frozenset(found) for name, found in data.get("features", {}).items()},
            expect=tuple(data.get("expect", ())),
        )

    @cached_property
    def toolset(self) -> Toolset:
        return Toolset.from_definitions(self.tools, name=self.name)

    @cached_property
    def environment(self) -> Environment:
        """The original, answering by its true rules."""
        start = State.start(dynamics=self.dynamics, collections=self.collections, clock=self.clock)
        return Environment(self.toolset, dynamics=self.dynamics, start=start, source=self.name)

    def day(self, number: int) -> datetime:
        """When the session of that number takes place."""
        return self.clock + timedelta(hours=26 * number, minutes=7 * number)


def _definition(name: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """A tool from its short form: `does`, `takes` (argument to a type or a schema; optional with a "?"), `answers`."""
    properties = {argument.rstrip("?"): _schema(schema) for argument, schema in said.get("takes", {}).items()}
    required = [argument for argument in said.get("takes", {}) if not argument.endswith("?")]
    made: dict[str, Any] = {
        "name": name,
        "description": said.get("does", ""),
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
    }
    if "answers" in said:
        made["outputSchema"] = said["answers"]
    return made


def _schema(short: Any) -> Any:
    if isinstance(short, str):
        return {"type": short}
    return {"enum": short} if isinstance(short, list) else short
