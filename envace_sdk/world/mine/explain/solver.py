"""The search: families of hypotheses, from the plainest to the most elaborate, until one explains the goal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .evidence import PER_COST, SLACK, complexity, distinctive, evidence
from .goal import Goal
from .table import Table
from .term import Term

__all__ = ["Family", "Solver", "Stage"]

Family: TypeAlias = "Callable[[Table, Goal, Solver], Iterator[Term]]"
"""Terms over the table that meet the goal."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Families that are asked together."""

    families: tuple[Family, ...]
    least: int = 1
    """The cost of the plainest of their terms: where the targets say too little for that, nobody is asked."""


class Solver:
    """Asks one stage of families after the other."""

    def __init__(
        self,
        stages: Sequence[Stage],
        *,
        depth: int = 3,
        bits: float | None = None,
    ) -> None:
        self._stages = stages
        self._bits = bits
        self.depth = depth
        """How many more levels of parts may be explained on their own."""

    def deeper(self) -> Solver | None:
        """The solver for parts of a goal."""
        return Solver(self._stages, depth=self.depth - 1) if self.depth > 0 else None

    def solve(self, table: Table, goal: Goal, *, stages: int | None = None) -> list[Term]:
        """The terms that meet the goal, best first; of the first stage that has one the targets suffice to believe."""
        bits = self._evidence(table, goal)
        found: list[Term] = []
        for found in self.by_stage(table, goal, stages=stages):
            if any(complexity(term) <= bits for term in found):
                break
        return self.ranked(found, goal, bits)

    def _evidence(self, table: Table, goal: Goal) -> float:
        return evidence(table.signatures, goal.column) if self._bits is None else self._bits

    def by_stage(self, table: Table, goal: Goal, *, stages: int | None = None) -> Iterator[list[Term]]:
        """The terms that meet the goal, after each stage: whoever asks decides when to stop."""
        bits = self._evidence(table, goal)
        found: dict[str, Term] = {}
        # One case alone shows a value, and perhaps a copy, but not how anything hangs together.
        last = 1 if table.distinct < 2 else stages
        for stage in self._stages[:last]:
            if PER_COST * stage.least > bits + SLACK:
                return
            for family in stage.families:
                if table.budget.spent:
                    break
                for term in family(table, goal, self):
                    if term.cost <= 1 or not term.leaves or complexity(term) <= bits + SLACK:
                        found.setdefault(term.source, term)
            yield list(found.values())

    @staticmethod
    def ranked(found: Sequence[Term], goal: Goal, bits: float) -> list[Term]:
        """The terms, best first; those last that the targets do not suffice to believe."""
        return sorted(found, key=lambda term: (Solver._rank(term, goal, bits), term.order))

    @staticmethod
    def _rank(term: Term, goal: Goal, bits: float) -> int:
        if goal.distinct > 1:
            return int(complexity(term) > bits)
        # Nothing varies: only a value that is met nowhere by chance tells more than the constant does.
        if not term.leaves:
            return 1
        return 0 if term.leaves == (term.source,) and distinctive(goal.column[0]) else 2

    def best(self, table: Table, goal: Goal, *, stages: int | None = None) -> Term | None:
        """The simplest of the terms that meet the goal."""
        found = self.solve(table, goal, stages=stages)
        return found[0] if found else None
