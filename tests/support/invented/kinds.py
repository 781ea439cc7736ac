"""Kinds of entities that an invented environment has: their keys, their fields, and the first few of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID

from envace_sdk.json import Json

from .words import FIELDS, NOUNS, WORDS

__all__ = ["Field", "Kind", "draw_kinds"]

_MINTS = [
    "{prefix}-{{n:04}}",
    "{{int}}",
    "{prefix}_{{hex:8}}",
    "{{uuid}}",
    "{prefix}{{alnum:6}}",
    "{{n}}",
    "{{hex:12}}",
]
_STATES = [
    ("new", "open", "done"),
    ("draft", "sent", "paid", "void"),
    ("raw", "warm", "cold"),
    ("idle", "busy", "broken"),
    ("A", "B", "C", "D"),
]


@dataclass(frozen=True)
class Field:
    """A field that callers may give, with the values it takes."""

    name: str
    kind: str
    choices: tuple[Json, ...] = ()
    nullable: bool = False
    default: Json = None

    def schema(self) -> dict[str, Any]:
        """Of an argument that sets it."""
        return {
            "text": {"type": "string"},
            "word": {"enum": list(self.choices)},
            "integer": {"type": "integer", "minimum": 0, "maximum": 60},
            "number": {"type": "number", "minimum": 0, "maximum": 90},
            "flag": {"type": "boolean"},
            "list": {"type": "array", "items": {"enum": list(self.choices)}},
            "object": {
                "type": "object",
                "properties": {"city": {"enum": list(self.choices)}, "level": {"type": "integer", "maximum": 9}},
                "required": ["city", "level"],
            },
        }[self.kind]

    def value(self, random: Random) -> Json:
        """One of an entity that was always there."""
        if self.nullable and random.random() < 0.3:
            return None
        if self.kind == "text":
            return " ".join(random.sample(WORDS, random.randint(1, 3)))
        if self.kind == "word":
            return random.choice(self.choices)
        if self.kind == "integer":
            return random.randint(0, 60)
        if self.kind == "number":
            return round(random.uniform(0, 90), random.choice([0, 1, 2]))
        if self.kind == "flag":
            return random.random() < 0.5
        if self.kind == "list":
            return random.sample(self.choices, random.randint(0, 2))
        return {"city": random.choice(self.choices), "level": random.randint(0, 9)}


@dataclass
class Kind:
    """One collection. The fields named one by one are what rules change; `fields` are what callers give."""

    collection: str
    noun: str
    key: str
    mint: str
    """"" where the caller names what is created."""
    argument: str
    """How most tools call the argument that holds the key."""
    fields: list[Field]
    status: str = ""
    states: tuple[str, ...] = ()
    amount: str = ""
    tally: str = ""
    items: Field | None = None
    when: str = ""
    refers: str = ""
    """The field that holds the key of the other kind."""
    other: Kind | None = None
    documents: list[dict[str, Json]] = field(default_factory=list)

    @property
    def keys(self) -> str:
        """Where a caller finds keys."""
        return f"{self.collection}.{self.key}"

    @property
    def refers_as(self) -> str:
        """How others call its key."""
        return self.key if self.noun in self.key else f"{self.noun}_{self.key}"

    @property
    def key_schema(self) -> dict[str, Any]:
        return {"type": "integer" if self.mint == "{int}" else "string"}

    @property
    def plain_fields(self) -> list[str]:
        """Fields that print well in a text."""
        told = [one.name for one in self.fields if one.kind in ("text", "word", "integer", "number", "flag")]
        return [*told, *filter(None, (self.status, self.amount, self.tally))]

    @property
    def everything(self) -> list[str]:
        named = (self.refers, self.status, self.amount, self.tally, self.items.name if self.items else "", self.when)
        return [self.key, *(one.name for one in self.fields), *filter(None, named)]

    def schema(self) -> dict[str, Any]:
        """Of a whole entity."""
        properties: dict[str, Any] = {self.key: self.key_schema}
        for one in self.fields:
            schema = one.schema()
            properties[one.name] = {"anyOf": [schema, {"type": "null"}]} if one.nullable else schema
            if one.kind == "number":
                properties[one.name] = {"type": ["number", "null"]}
        for name, sort in (
            (self.status, "string"),
            (self.amount, "number"),
            (self.tally, "integer"),
            (self.when, "string"),
        ):
            if name:
                properties[name] = {"type": sort}
        if self.items:
            properties[self.items.name] = {"type": "array", "items": {"type": "string"}}
        if self.refers and self.other is not None:
            properties[self.refers] = self.other.key_schema
        return {"type": "object", "properties": properties, "required": list(properties)}

    def populate(self, random: Random, count: int) -> None:
        """Put the first entities there."""
        for number in range(1, count + 1):
            document: dict[str, Json] = {self.key: self._key(number, random)}
            document |= {one.name: one.value(random) for one in self.fields}
            if self.refers and self.other is not None:
                document[self.refers] = random.choice(self.other.documents)[self.other.key]
            if self.status:
                document[self.status] = random.choice(self.states[:2])
            if self.amount:
                document[self.amount] = random.choice([0, random.randint(5, 200), round(random.uniform(5, 200), 2)])
            if self.tally:
                document[self.tally] = 0
            if self.items:
                document[self.items.name] = self.items.value(random)
            if self.when:
                document[self.when] = f"2025-1{random.randint(0, 2)}-0{random.randint(1, 9)}T08:00:00Z"
            self.documents.append(document)

    def _key(self, number: int, random: Random) -> Json:
        mint = self.mint
        if not mint:
            return WORDS[(number * 7 + len(self.collection)) % len(WORDS)] + random.choice(["", "-x", "_2", " one"])
        if mint == "{int}":
            return number
        letters = "0123456789abcdef" if "hex" in mint else "abcdefghijklmnopqrstuvwxyz0123456789"
        filled = {
            "{uuid}": str(UUID(int=random.getrandbits(128), version=4)),
            "{n:04}": f"{number:04}",
            "{n}": str(number),
        }
        filled |= {f"{{{name}}}": "".join(random.choices(letters, k=int(name[-2:].strip(":")))) for name in _CHANCE}
        for place, text in filled.items():
            mint = mint.replace(place, text)
        return mint


_CHANCE = ["hex:8", "hex:12", "alnum:6"]


def draw_kinds(random: Random, count: int, leaning: str) -> list[Kind]:
    """Kinds of which later ones may refer to earlier ones. `leaning`: plain words, odd ones, or "mixed"."""
    taken: set[str] = set()
    kinds: list[Kind] = []
    for number in range(count):
        noun = _noun(random, leaning, taken)
        kinds.append(_draw_kind(random, noun, kinds[number - 1] if kinds and random.random() < 0.7 else None))
    return kinds


def _noun(random: Random, leaning: str, taken: set[str]) -> str:
    pool = NOUNS["plain"] + NOUNS["odd"] if leaning == "mixed" else NOUNS[leaning]
    free = [noun for noun in pool if noun not in taken] or [f"{random.choice(pool)}{len(taken)}"]
    noun = random.choice(free)
    taken.add(noun)
    return noun


def _draw_kind(random: Random, noun: str, other: Kind | None) -> Kind:
    mint = random.choice([*_MINTS, "", ""]).format(prefix=noun[:3] if random.random() < 0.5 else noun[:2].upper())
    word = random.choice(FIELDS["key"])
    key = f"{noun}_{word}" if random.random() < 0.6 else word
    if not mint:
        key = random.choice(["name", "path", f"{noun}_name", "slug"])
    kind = Kind(
        collection=f"{noun}s",
        noun=noun,
        key=key,
        mint=mint,
        argument=key if random.random() < 0.7 else random.choice([noun, f"{noun}_{word}", "target", "which"]),
        fields=_draw_fields(random, {key}),
    )
    if random.random() < 0.65:
        kind.status, kind.states = random.choice(FIELDS["status"]), random.choice(_STATES)
    if random.random() < 0.6:
        kind.amount = random.choice(FIELDS["amount"])
    if random.random() < 0.35:
        kind.tally = random.choice(FIELDS["tally"])
    if random.random() < 0.5:
        choices = tuple(random.sample(WORDS, 6))
        kind.items = Field(random.choice(FIELDS["list"]), "list", choices)
    if random.random() < 0.3:
        kind.when = random.choice(FIELDS["when"])
    if other is not None:
        kind.other, kind.refers = other, random.choice([other.key, f"{other.noun}_ref", other.noun])
        if kind.refers in kind.everything[:-1] and kind.everything.count(kind.refers) > 1:
            kind.refers = f"of_{other.noun}"
        if kind.argument == kind.refers:
            kind.argument = f"this_{noun}"
    return kind


def _draw_fields(random: Random, taken: set[str]) -> list[Field]:
    shapes: Sequence[str] = ["text", *random.sample(["word", "integer", "number", "flag", "object", "text"], 3)]
    made: list[Field] = []
    for shape in shapes:
        free = [name for name in FIELDS[shape] if name not in taken]
        name = random.choice(free)
        taken.add(name)
        choices = tuple(random.sample(WORDS, 4)) if shape in ("word", "object") else ()
        nullable = shape != "flag" and made != [] and random.random() < 0.35
        default: Json = None
        if not nullable and made and random.random() < 0.4 and shape in ("word", "integer", "flag", "number"):
            default = {"word": choices[0] if choices else "", "integer": 1, "flag": False, "number": 0.5}[shape]
        made.append(Field(name, shape, choices, nullable, default))
    return made
