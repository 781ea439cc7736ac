"""Everything about a schema that one generation can leave to the next."""

from __future__ import annotations

from functools import cached_property
from threading import Lock

from ..validator import Validator
from .graph import Graph
from .judge import Judge
from .loops import Loops

__all__ = ["Plan", "plan_of"]


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


def plan_of(validator: Validator) -> Plan:
    """The plan of a compiled schema, kept with it."""
    found = validator.memo.get("plan")
    if not isinstance(found, Plan):
        found = validator.memo["plan"] = Plan(validator)
    return found
