"""The dynamics file: per tool, what a call does to the world and what it answers.

A YAML file beside `tools.json`, written by `envace-sdk infer`, read and edited by people.
Conditions and values are CEL expressions over `args`, `entity`, `world` and `now` (see `expressions`);
texts are templates, in which `{…}` holds such an expression and `{{` is a brace.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from envace_sdk.errors import DynamicsError
from envace_sdk.problems import first_of
from envace_sdk.yaml import YAMLError, load_yaml

from .minttemplate import template_shape
from .ruletext import section_text

__all__ = [
    "FORMAT",
    "Change",
    "CollectionRule",
    "Dynamics",
    "Effect",
    "Filter",
    "Requirement",
    "Returns",
    "Status",
    "ToolRule",
]

FORMAT = 1
"""Version of the file format; a file of a newer one is refused."""

Effect = Literal["read", "search", "create", "update", "delete", "compute", "opaque"]
Status = Literal["permission_error", "validation_error", "not_found", "rate_limited", "conflict", "unknown"]
Operator = Literal["equals", "iequals", "contains", "gt", "gte", "lt", "lte", "in", "has", "prefix"]


def _text(value: Any) -> Any:
    """YAML reads `set: {quantity: 1, active: true}` as values; as CEL source they mean the same."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    return str(value) if isinstance(value, int | float) else value


Expression = Annotated[str, BeforeValidator(_text)]
"""CEL source."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CollectionRule(_Model):
    """One kind of entity: how it is keyed, and how new keys are minted."""

    key: str | list[str]
    """The entity's key field, or the fields of a composite key, outermost first. Dotted paths reach into objects."""
    noun: str = ""
    """What one entity is called in error texts ("order"); default: the collection's name in the singular."""
    mint: str = ""
    """How a new key looks: literal text with one of `{n}`, `{n:05}`, `{hex:8}`, `{alnum:6}`, `{uuid}` in it.
    "" derives it from the keys already there, else from the schema. `{n}` alone mints integers when the schema
    wants them, `{int}` always."""
    start_at: int = 1
    """The first `{n}`."""
    counts_apart: bool = False
    """Whether new numbers count from `start_at` on whatever higher ones there are, and only pass over taken keys."""
    open: bool = False
    """Whether keys that the world has not seen may exist in the real one: reading one then falls through to the
    next layer of the ladder instead of being a not-found error."""
    keep: bool = False
    """Whether `envace-sdk learn` leaves it as it is, whatever recordings say."""

    @model_validator(mode="after")
    def _workable(self) -> Self:
        fields = self.key_fields
        if not fields or any(not field.strip() for field in fields):
            raise ValueError("key: expected the name of a field, or a list of such names")
        if len(set(fields)) < len(fields):
            raise ValueError(f"key: the fields of a composite key differ, and these do not: {', '.join(fields)}")
        if self.mint:
            template_shape(self.mint)
        return self

    @property
    def key_fields(self) -> list[str]:
        """The key's fields, as a list also where there is one."""
        return [self.key] if isinstance(self.key, str) else self.key


class Requirement(_Model):
    """A precondition: `that` must hold, or the call ends with `error` and changes nothing.

    Where one of them is `entity != null`, it says when the entity is looked for; otherwise that comes first.
    """

    that: Expression
    error: str
    """Template of the error text."""
    status: Status | Literal["success"] = "validation_error"
    """`success`: the server says so in an answer that is no error; where `error` is JSON, in that."""
    support: int | None = Field(default=None, ge=0)
    """How many recorded calls ended in this error where it says so."""

    @property
    def wants_entity(self) -> bool:
        """Whether this asks for the tool's own entity."""
        return self.that.replace(" ", "") == "entity!=null"


class Filter(_Model):
    """How one argument of a search narrows the result; ignored when the argument is absent or null."""

    field: str
    """Dotted path into the entity."""
    op: Operator = "equals"
    """`has`: the field is a list that holds the argument; `in`: the argument is a list that holds the field.
    The field is on the left: `gte` keeps entities whose field is at or above the argument. `contains` and
    `iequals` and `prefix` ignore case; on a list field, `contains` looks into its texts."""
    any_of: list[str] = Field(default_factory=list)
    """For free-text search: further fields, any of which may match."""


class Change(_Model):
    """A change to one entity besides the tool's own, applied in order after it.

    With `each`, the change is applied for every element of that list, which is bound to `item`. `target` is the
    entity that is changed, as it was, and `entity` the tool's own after its changes. An entity that an open
    collection has not seen is left out of it; any other that is not there makes the call fail.
    """

    effect: Literal["create", "update", "delete"]
    collection: str
    key: Expression | list[Expression] | None = None
    each: Expression | None = None
    when: Expression | None = None
    take: Literal["*"] | list[str] | dict[str, str] = Field(default_factory=list)
    """With `each`: members copied from `item` when it has them, as a tool's `take` copies arguments."""
    upsert: bool = False
    like: Expression | None = None
    """An object, as another entity is: its fields, but for those of the key, are copied first."""
    set: dict[str, Expression] = Field(default_factory=dict)
    append: dict[str, Expression] = Field(default_factory=dict)
    remove: dict[str, Expression] = Field(default_factory=dict)


class Returns(_Model):
    """What a successful call answers. At most one of `value`, `object`, `text`; otherwise the entity or the list.
    In the expressions of a search, `items` is the page that was found, and `total` the count if `count` asks for it.

    Whatever it is, an answer is completed to the tool's output schema where there is one: fields that the schema
    requires and the world does not know are generated, and remembered.
    """

    fields: list[str] | None = None
    """Projection: only these fields of the entity (or of each list item), in this order; absent ones are left out.
    Dotted paths keep their nesting."""
    wrap: str | None = None
    """Put the entity, or the list, under this name instead of answering it bare."""
    count: str | None = None
    """List answers: the name under which the number of matches before paging is given."""
    next: str | None = None
    """List answers: the name under which the cursor of the next page is given (null at the end)."""
    extra: dict[str, Expression] = Field(default_factory=dict)
    """Further fields beside the wrapped entity or list, or added to the bare entity."""
    value: Expression | None = None
    object: dict[str, Expression] | None = None
    text: str | None = None
    """Template; the answer is then plain text."""
    item_key: Expression | None = None
    """List answers that `value` or `object` forms: the key of the entity that `item` of the list stands for. By this,
    a list that was observed tells what there is."""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if sum(form is not None for form in (self.value, self.object, self.text)) > 1:
            raise ValueError("give at most one of value, object and text")
        return self


class ToolRule(_Model):
    """What one tool does. In expressions, `entity` is the entity that `key` names (before the changes in
    `requires` and `set`, after them in `returns`), and the names in `let` are bound in order.
    """

    effect: Effect
    """`compute` with neither `also` nor an answer in `returns` says that a call changes nothing, and leaves what it
    answers (unless `requires` refuses it) to the next layer of the ladder; `opaque` leaves both."""
    collection: str | None = None
    key: Expression | list[Expression] | None = None
    """The key of the entity the call is about; for `create`, only where the caller chooses the key."""
    upsert: bool = False
    """Update: a key that names nothing makes a new entity under it, instead of a not-found error."""
    let: dict[str, Expression] = Field(default_factory=dict)
    missing: str | None = None
    """Template of the not-found error when `key` names nothing; default: "{Noun} '{key}' not found"."""
    exists: str | None = None
    """Template of the conflict error when a created key is taken; default: "{Noun} '{key}' already exists"."""
    requires: list[Requirement] = Field(default_factory=list)
    take: Literal["*"] | list[str] | dict[str, str] = Field(default_factory=list)
    """Arguments copied into the entity when given: "*" for all but the key, a list of names, or
    {field: dotted path of the argument} where names differ. `set` comes after and wins."""
    like: Expression | None = None
    """An object, as another entity is: its fields, but for those of the key, are copied before all else."""
    set: dict[str, Expression] = Field(default_factory=dict)
    """Field (dotted path) to value. An update that changes a key field moves the entity to its new key (a conflict
    if that is taken)."""
    append: dict[str, Expression] = Field(default_factory=dict)
    """List field to the value appended to it."""
    remove: dict[str, Expression] = Field(default_factory=dict)
    """List field to the value removed from it (all equal elements)."""
    also: list[Change] = Field(default_factory=list)
    unless: Expression | None = None
    """Where this holds, the call only tries: it is answered as it would be, but changes nothing. `entity` is the entity
    before the changes."""
    where: Expression | None = None
    """Search: keep entities for which this holds, with `entity` bound to each."""
    filters: dict[str, Filter] = Field(default_factory=dict)
    """Search: dotted path of the argument to what it filters."""
    order_by: list[str] = Field(default_factory=list)
    """Search: dotted fields, "-" before one for descending; ties keep the order of creation."""
    sort: Expression | None = None
    """Search: the caller's wish, in the form of `order_by` (one field, or a list of them), put before it;
    null, "" and fields no entity has change nothing."""
    limit: Expression | None = None
    offset: Expression | None = None
    cursor: Expression | None = None
    """Search: the cursor a call passes (what `returns.next` gave), or null for the first page."""
    returns: Returns = Field(default_factory=Returns)
    support: int | None = Field(default=None, ge=0)
    """How many recorded calls the rule was learned from."""
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    reason: str = ""
    """Why the rule says so; one line."""
    keep: bool = False
    """Whether `envace-sdk learn` leaves the rule as it is, whatever recordings say."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.effect in {"read", "search", "create", "update", "delete"} and self.collection is None:
            raise ValueError(f"effect {self.effect} needs a collection")
        if self.effect in {"read", "update", "delete"} and self.key is None:
            raise ValueError(f"effect {self.effect} needs a key")
        return self


class Dynamics(_Model):
    """The dynamics of a toolset."""

    format: int = FORMAT
    collections: dict[str, CollectionRule] = Field(default_factory=dict)
    tools: dict[str, ToolRule] = Field(default_factory=dict)
    learned: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Digests of what `envace-sdk learn` wrote, by member and name: what no longer has its digest was edited."""

    @model_validator(mode="after")
    def _known_collections(self) -> Self:
        for name, rule in self.tools.items():
            for used in (rule.collection, *(change.collection for change in rule.also)):
                if used is not None and used not in self.collections:
                    raise ValueError(f"tool {name!r} uses collection {used!r}, which is not under `collections`")
        return self

    @classmethod
    def parse(cls, text: str, source: str = "dynamics.yaml") -> Dynamics:
        """Read a dynamics file's text.

        Raises:
            DynamicsError: it is not YAML, not of this format, or a field is wrong; the message names the place.
        """
        try:
            data = load_yaml(text)
        except YAMLError as error:
            raise DynamicsError(f"{source}: not YAML: {error}") from error
        if not isinstance(data, dict):
            raise DynamicsError(f"{source}: expected a mapping with `collections` and `tools`")
        if data.get("format", FORMAT) != FORMAT:
            raise DynamicsError(f"{source}: format {data['format']!r} is not known; this version reads {FORMAT}")
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            places = first_of(
                f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg'].removeprefix('Value error, ')}"
                for e in error.errors()
            )
            raise DynamicsError(f"{source}: {places}") from error

    @classmethod
    def load(cls, path: Path) -> Dynamics:
        """Read a dynamics file. Raises: DynamicsError as `parse`, and when the file cannot be read."""
        try:
            return cls.parse(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise DynamicsError(f"{path}: cannot be read: {error}") from error

    def completed(self, other: Dynamics) -> Dynamics:
        """With the rules of `other` for the tools that this one does not mention, and the collections they need."""
        added = {name: rule for name, rule in other.tools.items() if name not in self.tools}
        if not added:
            return self
        used = {c for rule in added.values() for c in (rule.collection, *(change.collection for change in rule.also))}
        collections = {name: rule for name, rule in other.collections.items() if name in used}
        return Dynamics(collections={**collections, **self.collections}, tools={**added, **self.tools})

    def dump(self) -> str:
        """The file's text: members in a stable order, defaults left out."""
        data = self.model_dump(exclude_defaults=True)
        sections = [
            section_text("collections", data["collections"]) if "collections" in data else "",
            section_text("tools", data["tools"], spaced=True) if "tools" in data else "",
            section_text("learned", data["learned"]) if "learned" in data else "",
        ]
        return "\n".join([f"format: {self.format}\n", *filter(None, sections)])
