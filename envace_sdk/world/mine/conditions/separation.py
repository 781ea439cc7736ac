"""`separate`: the simplest conditions that hold for some scopes and not for others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from envace_sdk.json import Json

from .columns import Table
from .formula import Formula
from .polishing import polished
from .pool import Pool
from .search import ERROR_COST, Goal, Search
from .verifying import outcomes

__all__ = ["STAGES", "Condition", "formulas_of", "separate", "separated"]

MAX_ROWS = 240
"""Scopes of one side that are searched; all are then tested, and those that a condition got wrong are added."""
MAX_ROUNDS = 3
STAGES = (4, 8, 10, 12, 0)
"""The stages of the search, each with the cost up to which nothing is looked for in later ones: formulas of one atom of
depth 0; of one or two of depth 1; larger ones; the same at depth 2.
"""

Scope = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition, and how well it tells the scopes apart."""

    source: str
    """CEL over the names of the scopes."""
    cost: int
    """Its size: a plain test of one path costs 2 to 6, each further one adds its own and one."""
    wrong_yes: int
    """Scopes for which it should hold and does not, or cannot be computed."""
    wrong_no: int
    """Scopes for which it should not hold and does, or cannot be computed."""

    @property
    def wrong(self) -> int:
        """All scopes that it gets wrong."""
        return self.wrong_yes + self.wrong_no


def separate(yes: Sequence[Scope], no: Sequence[Scope], *, limit: int = 5, tolerance: float = 0.0) -> list[Condition]:
    """The simplest conditions that are true in the scopes of `yes` and false in those of `no`, best first.

    At most the share `tolerance` of all scopes may be wrong; a wrong scope weighs as much as a longer condition does.
    Ties are decided by a fixed order: what is known, then the entity, the arguments, the session. Every
    condition was tested with the evaluator on all scopes, and fails in none of them. [] where nothing is found.
    A scope's values must be plain JSON. Where one side is empty the condition is `true` or `false`.
    """
    return separated(yes, no, limit=limit, tolerance=tolerance, stages=len(STAGES))


def separated(
    yes: Sequence[Scope], no: Sequence[Scope], *, limit: int, tolerance: float, stages: int
) -> list[Condition]:
    """`separate`, which looks no further than some stages of the search."""
    if not yes or not no:
        return [Condition("true" if yes else "false", 1, 0, 0)]
    most = int(tolerance * (len(yes) + len(no)) + 1e-9)
    sample_yes, sample_no = _sample(distinct_scopes(yes)), _sample(distinct_scopes(no))
    best: list[Condition] = []
    for _ in range(MAX_ROUNDS):
        table = Table([*sample_yes, *sample_no])
        wanted = (1 << len(sample_yes)) - 1
        goal = Goal(wanted, table.all ^ wanted, int(tolerance * len(table.rows) + 1e-9))
        tested = [_tested(formula, yes, no) for formula in found_in(Pool(table), goal, limit=2 * limit, stages=stages)]
        fitting = [condition for condition, _ in tested if condition.wrong <= most]
        best = _merged([*best, *fitting])[:limit]
        wrong = tested[0][1] if tested else ([], [])
        if best or not any(wrong):
            return best
        sample_yes += wrong[0][:20]
        sample_no += wrong[1][:20]
    return best


def found_in(pool: Pool, goal: Goal, *, limit: int, stages: int) -> list[Formula]:
    """The best formulas over the atoms of a pool; larger ones are only looked for where small ones fail."""
    found: list[Formula] = []
    for stage, enough in enumerate(STAGES[:stages]):
        found += formulas_of(pool, goal, stage, limit=limit)
        if found and min(map(goal.key, found))[0] <= enough:
            break
    distinct = {formula.source: formula for formula in sorted(found, key=goal.key)}
    return list(distinct.values())[:limit]


def formulas_of(pool: Pool, goal: Goal, stage: int, *, limit: int) -> list[Formula]:
    """The best formulas of one stage."""
    depth = (stage + 1) // 2
    search = Search(pool.atoms(goal.yes, goal.no, depth), goal, limit)
    found = search.single() if stage == 0 else search.small() if stage % 2 else search.large()
    ready = [polished(formula, pool.table, goal.yes | goal.no) for formula in found]
    return sorted(ready, key=goal.key)[:limit]


def distinct_scopes(scopes: Iterable[Scope]) -> list[Scope]:
    """Each scope once: a call that is repeated is no further evidence."""
    return list({repr(scope): scope for scope in scopes}.values())


def _sample(scopes: list[Scope]) -> list[Scope]:
    if len(scopes) <= MAX_ROWS:
        return scopes
    return [scopes[place * len(scopes) // MAX_ROWS] for place in range(MAX_ROWS)]


def _tested(
    formula: Formula, yes: Sequence[Scope], no: Sequence[Scope]
) -> tuple[Condition, tuple[list[Scope], list[Scope]]]:
    source = formula.source
    wrong_yes = [scope for scope, held in zip(yes, outcomes(source, yes), strict=True) if held is not True]
    wrong_no = [scope for scope, held in zip(no, outcomes(source, no), strict=True) if held is not False]
    return Condition(source, formula.cost, len(wrong_yes), len(wrong_no)), (wrong_yes, wrong_no)


def _merged(conditions: list[Condition]) -> list[Condition]:
    distinct = {condition.source: condition for condition in conditions}
    return sorted(distinct.values(), key=lambda found: (found.cost + ERROR_COST * found.wrong, found.wrong))
