"""Everything about a schema that one generation can leave to the next."""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import Final

from envace_sdk.json import Json

from ..equality import identity
from ..validator import Validator
from .graph import Graph
from .judge import Judge
from .loops import Loops

__all__ = ["Plan", "plan_of"]

_GUESSES: Final = 100


class Plan:
    """A schema's graph, judge and loops."""

    def __init__(self, validator: Validator) -> None:
        self.validator = validator
        self.graph = Graph(validator.schema)
        self.judge = Judge(validator, self.graph)
        self.lock = Lock()
        """Held while searching: what is found out about a schema is kept, and threads share it."""

    @cached_property
    def loops(self) -> Loops | None:
        """What recursion there is; None if there is no reference at all."""
        return Loops(self.graph) if self.graph.has_references else None

    @cached_property
    def guesses(self) -> tuple[Json, ...]:
        """Values that are worth a try where a search has failed: those that the schema mentions, and plain ones."""
        plain: list[Json] = [None, True, False, 0, 1, "", [], {}]
        found = {identity(value): value for value in plain}
        for source in self.graph.sources():
            said = self.graph.node(source).keywords
            for value in (*(said.values or ())[:_GUESSES], *said.examples[:_GUESSES]):
                found.setdefault(identity(value), value)
            if len(found) > _GUESSES:
                break
        alone = list(found.values())[:_GUESSES]
        return (*alone, *([value] for value in alone))


def plan_of(validator: Validator) -> Plan:
    """The plan of a compiled schema, kept with it."""
    found = validator.memo.get("plan")
    if not isinstance(found, Plan):
        found = validator.memo["plan"] = Plan(validator)
    return found
