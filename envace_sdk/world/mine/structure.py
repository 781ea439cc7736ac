"""What the answers are about: kinds of things and how they are named, and what belongs to the session itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from envace_sdk.json import UNSET, Json
from envace_sdk.world.keys import get_path

from .episodes import Step
from .links import can_name
from .phrasing import FORM
from .positions import Position

__all__ = ["SESSION", "Kind", "Reference", "Site", "Structure", "parts_at", "records"]

SESSION: Final = "session"
"""The collection that holds the one document of what is true of the session as a whole."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An argument that names a thing of a kind. `[]` in its path: it names several."""

    tool: str
    path: str
    kind: str

    @property
    def many(self) -> bool:
        """Whether it names several."""
        return "[]" in self.path


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a tool's answers where things are shown.

    `path` leads to the record, or with `[]` to each of several. A record is an object, or with `bare` just the key.
    The key is its field `key`, or the call's argument `argument`.
    """

    tool: str
    path: str
    kind: str
    key: str = ""
    argument: str = ""
    fresh: bool = False
    """Whether the thing shown is new."""
    bare: bool = False
    join: str = ""
    """The CEL expression of the whole key, over `args`, `session` and `item`, where what is shown is only its end."""

    @property
    def many(self) -> bool:
        """Whether several things are shown."""
        return self.path.endswith("[]")


@dataclass(slots=True)
class Kind:
    """A kind of thing, or the session."""

    name: str
    noun: str
    key: str
    positions: list[Position] = field(default_factory=list)
    """Where its things are named."""
    label: str = ""
    """The field that holds the last part of a key that is a path."""


@dataclass(slots=True)
class Structure:
    """Kinds, references to things and sites, by tool."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    references: dict[str, list[Reference]] = field(default_factory=dict)
    sites: dict[str, list[Site]] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    """Fields of the session that are followed by what sets them."""

    def references_of(self, tool: str) -> list[Reference]:
        """What the arguments of a tool name."""
        return self.references.get(tool, [])

    def sites_of(self, tool: str) -> list[Site]:
        """Where the answers of a tool show things."""
        return self.sites.get(tool, [])


def records(site: Site, step: Step) -> Iterator[tuple[Json, Mapping[str, Json]]]:
    """The key and the fields of each thing that a step shows at a site."""
    for record in parts_at(step.value, site.path):
        if site.bare:
            if can_name(record):
                yield record, {site.key: record}
        elif isinstance(record, dict):
            key = get_path(step.args, site.argument) if site.argument else record.get(site.key) if site.key else ""
            if key is not UNSET and key is not None and (site.kind == SESSION or can_name(key)):
                yield key, {name: value for name, value in record.items() if name != FORM}


def parts_at(value: Json, path: str) -> list[Json]:
    """What stands at a path of a value, of which `[]` leads to all elements of a list."""
    found = [value]
    for part in path.split(".") if path else []:
        if part == "[]":
            found = [element for item in found if isinstance(item, list) for element in item]
        else:
            found = [item[part] for item in found if isinstance(item, dict) and part in item]
    return found
