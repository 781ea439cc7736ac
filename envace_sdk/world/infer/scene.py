"""All that is known of a group of tools when their rules are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from envace_sdk.json import Json

from .arguments import Argument
from .fields import Field, Fields, is_control
from .groups import Group, Member
from .keys import Key
from .pairs import is_former
from .reading import Reading
from .terms import NEW

__all__ = ["Scene"]


@dataclass(eq=False)
class Scene:
    """A group with its key and fields, and how its collection is called."""

    group: Group
    key: Key
    fields: Fields
    collection: str
    noun: str
    list_name: str
    """The name under which lists of such things are answered."""
    style: str
    """The toolset's naming style."""
    shown: bool = False
    """Whether an output schema says which fields there are."""
    makers: frozenset[int] = frozenset()
    """By identity, the readings that make such things."""
    removers: int = 0
    """How many tools do nothing but remove."""
    soft: frozenset[int] = frozenset()
    """By identity, the readings that remove one but keep it, marked as removed."""
    changes: bool = False
    """Whether a tool changes such things."""
    scenes: list[Scene] = field(default_factory=list, repr=False)
    """Those of the whole toolset, this one included."""
    starts: dict[str, object] = field(default_factory=dict)
    """What a new thing has in fields that only steps in its life set."""
    steps: dict[str, list[Json]] = field(default_factory=dict)
    """By field, what the steps in a thing's life set it to."""
    held: set[str] = field(default_factory=set)
    """The fields that a schema shows, or that the rules written so far give such things."""

    @property
    def title(self) -> str:
        """The noun as an error text opens with it."""
        return self.noun[:1].upper() + self.noun[1:]

    def takes_key(self, reading: Reading) -> bool:
        """Whether every call names one thing by its key."""
        found = self.key.of(reading)
        return bool(found) and all(argument.required for argument in found)

    def others(self, reading: Reading) -> list[Argument]:
        """The arguments besides the key and those that only say how to do the call."""
        key = {id(argument) for argument in self.key.of(reading)}
        looking = reading.sense in {"read", "search", "count", "exists"}
        return [
            a
            for a in reading.arguments
            if id(a) not in key and not is_control(a, looking=looking) and not is_former(a, reading)
        ]

    def field(self, argument: Argument) -> Field | None:
        """The field that an argument speaks of, if it is known: `newTitle`, `ticket_title` and `title` are one."""
        words = self.fields.bare(argument)
        found = self.fields.find(words, exact=True)
        while found is None and len(words) > 1 and words[0] in NEW:
            words = words[1:]
            found = self.fields.find(words)
        return found or self.fields.find(words)

    def field_name(self, argument: Argument) -> str:
        """The name of the entity's field that an argument gives."""
        found = self.field(argument)
        return found.name if found is not None and found.is_list == argument.is_list else argument.name

    def has(self, found: Field) -> bool:
        """Whether such things have the field, as far as tools make and show them; what no tool makes may have any."""
        return found.writable or found.name in self.held or not (self.makers or self.shown)

    def maker_arguments(self) -> Iterator[Argument]:
        """What the makers take."""
        for member in self.makers_():
            yield from member.reading.arguments

    def makers_(self) -> Sequence[Member]:
        """The makers."""
        return [member for member in self.group.members if id(member.reading) in self.makers]

    def readers(self) -> Sequence[Member]:
        """The tools that show one whole thing."""
        return [
            member
            for member in self.group.members
            if member.reading.sense == "read" and not member.aspect and self.takes_key(member.reading)
        ]
