"""An environment while it is being invented: its style, and the tools it has so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from envace_sdk.json import Json
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import DEFAULT_CLOCK

from .environment import Invented, Play
from .kinds import Field, Kind
from .words import REFUSALS, VERBS

__all__ = ["Draft", "Rule", "quoted"]

Rule = dict[str, Any]

_NAMINGS = ["snake", "camel", "kebab", "reversed", "verb"]


def quoted(value: Json) -> str:
    """The value as CEL source."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, list):
        return "[" + ", ".join(map(quoted, value)) + "]"
    return repr(value)


@dataclass
class Draft:
    """What the makers of tools add to."""

    random: Random
    leaning: str
    """"plain", "odd" or "mixed": whether names say what they mean."""
    kinds: list[Kind]
    text_rate: float = 0.2
    """How many tools answer in texts."""
    schema_rate: float = 0.0
    """How many of those that answer an entity declare an output schema."""
    gate: tuple[str, str] | None = None
    """With a login: the condition under which a caller may write, and the error otherwise."""
    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    rules: dict[str, Rule] = field(default_factory=dict)
    values: dict[str, str | list[Json]] = field(default_factory=dict)
    strange: dict[str, list[Json]] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    openers: list[str] = field(default_factory=list)
    features: dict[str, frozenset[str]] = field(default_factory=dict)
    collections: dict[str, dict[str, Any]] = field(default_factory=dict)
    world: dict[str, list[dict[str, Json]]] = field(default_factory=dict)
    wordings: dict[str, str] = field(default_factory=dict)
    naming: str = ""

    def __post_init__(self) -> None:
        self.naming = self.random.choice(_NAMINGS)
        for kind in self.kinds:
            self.collections[kind.collection] = {"key": kind.key, "noun": kind.noun, "mint": kind.mint}
            self.world[kind.collection] = kind.documents

    def chance(self, rate: float) -> bool:
        return self.random.random() < rate

    def add(
        self,
        does: str,
        noun: str,
        rule: Rule,
        features: set[str],
        *,
        takes: Mapping[str, dict[str, Any]] | None = None,
        optional: Mapping[str, dict[str, Any]] | None = None,
        values: Mapping[str, str | list[Json]] | None = None,
        strange: Mapping[str, list[Json]] | None = None,
        gated: bool = False,
        answers: dict[str, Any] | None = None,
    ) -> str:
        """A tool; its name. `does`: what kind of verb names it. `gated`: where there is a login, it may need one."""
        name = self._name(does, noun)
        if gated and self.gate is not None and self.chance(0.7):
            that, error = self.gate
            refusal = {"that": that, "error": error, "status": "permission_error"}
            rule = {**rule, "requires": [refusal, *rule.get("requires", [])]}
            features = features | {"login"}
        self.tools[name] = {
            "name": name,
            "description": f"To {does} {noun or 'here'}." if self.leaning == "plain" else "See the handbook.",
            "inputSchema": {
                "type": "object",
                "properties": {**(takes or {}), **(optional or {})},
                "required": list(takes or {}),
            },
        }
        if answers is not None:
            self.tools[name]["outputSchema"] = answers
        self.rules[name] = rule
        self.features[name] = frozenset(features)
        self.values |= {f"{name}.{argument}": found for argument, found in (values or {}).items()}
        self.strange |= {f"{name}.{argument}": found for argument, found in (strange or {}).items()}
        return name

    def refusal(self, sort: str, **said: str) -> str:
        """The template of an error; the same wording all over the environment, most of the time."""
        if sort not in self.wordings or self.chance(0.15):
            self.wordings[sort] = self.random.choice(REFUSALS[sort])
        made = self.wordings[sort]
        if "Noun" not in said and "noun" in said:
            said["Noun"] = said["noun"].capitalize()
        for name, text in said.items():
            made = made.replace(f"{{{name}}}", text)
        return made

    def key_argument(self, kind: Kind) -> str:
        """How the next tool calls the argument that holds the kind's key."""
        return kind.argument if self.chance(0.85) else f"the_{kind.noun}"

    def missing(self, kind: Kind, argument: str) -> Rule:
        """Under `missing`, what is said where nothing has that key; nothing for the usual words."""
        if self.chance(0.25):
            return {}
        return {"missing": self.refusal("missing", noun=kind.noun, key=f"{{args.{argument}}}")}

    def entity_answer(self, kind: Kind, extra: Mapping[str, str] | None = None) -> tuple[Rule, set[str]]:
        """How a tool answers an entity, and the classes of that; `extra`: what it has to say besides."""
        random = self.random
        if self.chance(self.text_rate):
            told = random.sample(kind.plain_fields, min(len(kind.plain_fields), random.randint(1, 3)))
            parts = [f"{name}: {{entity.{name}}}" for name in told]
            parts += [f"{name}: {{{source}}}" for name, source in (extra or {}).items()]
            head = f"{kind.noun.capitalize()} {{entity.{kind.key}}}"
            text = "\n".join([head, *parts]) if self.chance(0.5) else f"{head} ({', '.join(parts)})"
            return {"returns": {"text": text}}, {"text"}
        more: Rule = {"extra": dict(extra)} if extra else {}
        form = random.choice(["entity", "fields", "wrap", "object"])
        if form == "entity":
            return ({"returns": more} if more else {}), {"whole"}
        if form == "wrap":
            return {"returns": {"wrap": random.choice([kind.noun, "data", "result"]), **more}}, {"envelope"}
        shown = [kind.key, *random.sample(kind.everything[1:], min(3, len(kind.everything) - 1))]
        if form == "fields":
            return {"returns": {"fields": shown, **more}}, {"projection"}
        object_ = {random.choice([name, f"the_{name}"]): f"entity.{name}" for name in shown}
        return {"returns": {"object": {**object_, **(extra or {})}}}, {"projection", "renamed"}

    def output_schema(self, kind: Kind, forms: set[str]) -> dict[str, Any] | None:
        """Of a tool that answers whole entities, if it declares one: then that is a class of its own."""
        if "whole" not in forms or not self.chance(self.schema_rate):
            return None
        forms.add("output_schema")
        return kind.schema()

    def given(self, kind: Kind, fields: list[Field]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Of these fields, the arguments that must and that may be given."""
        takes = {one.name: one.schema() for one in fields if not one.nullable and one.default is None}
        optional = {one.name: one.schema() for one in fields if one.name not in takes}
        return takes, optional

    def done(self, name: str) -> Invented:
        """The environment."""
        return Invented(
            name=name,
            tools=tuple(self.tools.values()),
            dynamics=Dynamics.model_validate({"collections": self.collections, "tools": self.rules}),
            collections=self.world,
            play=Play(self.values, self.strange, tuple(self.openers), self.weights),
            clock=DEFAULT_CLOCK,
            features=self.features,
        )

    def _name(self, does: str, noun: str) -> str:
        leaning = self.random.choice(["plain", "odd"]) if self.leaning == "mixed" else self.leaning
        verbs = VERBS[leaning][does]
        for attempt in range(40):
            verb = self.random.choice(verbs if attempt < 20 else [f"{one}{attempt}" for one in verbs])
            name = self._joined(verb, noun)
            if name not in self.tools:
                return name
        raise AssertionError("no name is left")

    def _joined(self, verb: str, noun: str) -> str:
        if not noun:
            return verb
        match self.naming:
            case "camel":
                return verb.split("_")[0] + "".join(map(str.capitalize, [*verb.split("_")[1:], noun]))
            case "kebab":
                return f"{verb}_{noun}".replace("_", "-")
            case "reversed":
                return f"{noun}_{verb}"
            case "verb" if verb not in self.tools and self.chance(0.5):
                return verb
        return f"{verb}_{noun}"
