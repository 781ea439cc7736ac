"""A tool, read: its name taken apart, its description's first sentence, its arguments flattened."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from envace_sdk.tools.model import Tool

from . import verbs
from .arguments import Argument, arguments_of
from .descriptions import Telling, tell
from .names import Name, read_names
from .verbs import LOOKS, Sense, senses
from .words import bag, base_verbs, singular

__all__ = ["Reading", "read"]


_OFFERS = bag("sale rent auction lease hire trade")
_OFFERED = re.compile(rf"\bfor (?:{'|'.join(sorted(_OFFERS))})\b")


@dataclass(frozen=True, eq=False)
class Reading:
    """What one tool's definition says."""

    tool: Tool
    name: Name
    telling: Telling
    arguments: tuple[Argument, ...]
    elected: tuple[Sense, ...] = ()
    """What it means by elimination, among its siblings, rather than by its words."""

    @cached_property
    def senses(self) -> tuple[Sense, ...]:
        """What its verb may mean, likeliest first. The description decides between the senses of the name's verb,
        and speaks alone where the name has no general verb.
        """
        if self.elected:
            return self.elected
        if self.read_only:
            return tuple(sense for sense in self._meant if sense in LOOKS) or ("read", "search")
        return self._meant

    @cached_property
    def _meant(self) -> tuple[Sense, ...]:
        named, told = senses(self.name.verb), self.telling.senses
        if self.name.verb == "list" and self._offers:
            return ("create",)
        if not named:
            return told
        if self.name.verb in base_verbs(self.telling.opening):
            return named
        if told and self.name.verb not in verbs.CORE and not set(told) & set(named):
            return (*told, *named)  # `pull_lot`: "Withdraws the lot"
        if self.telling.verb != self.name.verb and named[0] != "put":
            agreed = next((sense for sense in told[:1] if sense in named), None)
            if agreed:
                return (agreed, *(sense for sense in named if sense != agreed))
        return named

    @property
    def _offers(self) -> bool:
        """Whether to list means to offer: `list_item_for_sale(title, price)`."""
        aimed = any(found == "for" and set(words) & _OFFERS for found, words in self.name.aims)
        told = self.telling.verb == "list" and _OFFERED.search(self.telling.text) is not None
        return not self.name.plural and bool(self.required) and (aimed or told)

    @property
    def sense(self) -> Sense | None:
        """The likeliest sense."""
        return self.senses[0] if self.senses else None

    @property
    def computing(self) -> str:
        """The verb that says what it works out."""
        return self.name.verb if senses(self.name.verb) else self.telling.verb

    @cached_property
    def required(self) -> tuple[Argument, ...]:
        """The arguments that every call gives."""
        return tuple(argument for argument in self.arguments if argument.required)

    def hint(self, name: str) -> bool | None:
        """An MCP annotation, if it is given as a boolean."""
        value = self.tool.annotations.get(name)
        return value if isinstance(value, bool) else None

    @property
    def read_only(self) -> bool:
        """Whether the tool says that it changes nothing."""
        return self.hint("readOnlyHint") is True


def read(tools: Sequence[Tool]) -> list[Reading]:
    """Read all tools of a toolset together."""
    tellings = [tell(tool.description) for tool in tools]
    openings, objects = [telling.opening for telling in tellings], [telling.object for telling in tellings]
    names = read_names([tool.name for tool in tools], openings, objects)
    readings = []
    for tool, name, telling in zip(tools, names, tellings, strict=True):
        nouns = frozenset(singular(word) for word in (*name.noun, name.verb, *name.owner))
        readings.append(Reading(tool, name, telling, arguments_of(tool.input_schema, nouns)))
    return readings
