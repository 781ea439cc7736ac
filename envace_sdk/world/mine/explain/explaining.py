"""Explaining examples: a search on a few of them, checked on all, until the two agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from envace_sdk.json import UNSET, Json

from .budget import Budget
from .column import value_key
from .example import Example, Explanation
from .families import STAGES
from .goal import Goal
from .sample import sample
from .solver import Solver
from .table import Table, timed
from .term import Term
from .verify import Trial, tried, values

__all__ = ["explain"]

_ROUNDS = 4
_COUNTEREXAMPLES = 4


def explain(examples: Sequence[Example], *, limit: int = 5, tolerance: float = 0.0) -> list[Explanation]:
    """The smallest expressions that give the targets of all examples, best first.

    At most `tolerance` of the examples may be missed. An expression that the examples are too few to tell from chance
    comes after all others. Where the target never varies, a copy of a distinctive value comes first, then the
    constant. The same examples always give the same answer.
    """
    if not examples or all(example.target is UNSET for example in examples):
        return []
    scopes = [timed(example.scope) for example in examples]
    targets = [example.target for example in examples]
    return _Search(scopes, targets, limit, int(tolerance * len(examples))).found()


class _Search:
    """The examples, and what is allowed to go wrong."""

    def __init__(self, scopes: list[Mapping[str, Any]], targets: list[Json], limit: int, allowed: int) -> None:
        self.scopes = scopes
        self.targets = targets
        self.limit = limit
        self.allowed = allowed
        self._trials: dict[str, Trial] = {}

    def found(self) -> list[Explanation]:
        """What holds, best first."""
        random = Random(0)
        rows = sample(self.scopes, self.targets)
        for turn in range(_ROUNDS if not self.allowed else 2 * _ROUNDS):
            terms = self._solved(rows)
            good = [term for term in terms if len(self._trial(term).missed) <= self.allowed][: self.limit]
            if good:
                return [self._explanation(term) for term in good]
            more = self._counterexamples(terms, set(rows))
            if more and not self.allowed:
                rows = sorted({*rows, *more})
            elif self.allowed:
                # Some examples may be wrong: perhaps none of these.
                size = max(4, min(len(rows), len(self.scopes) // 2) - turn)
                rows = sorted(random.sample(range(len(self.scopes)), min(size, len(self.scopes))))
            else:
                break
        return []

    def _solved(self, rows: list[int]) -> list[Term]:
        table = Table([self.scopes[row] for row in rows], Budget())
        return Solver(STAGES).solve(table, Goal([self.targets[row] for row in rows]))[: 2 * self.limit]

    def _trial(self, term: Term) -> Trial:
        found = self._trials.get(term.source)
        if found is None:
            found = self._trials[term.source] = tried(term.source, self.scopes, self.targets)
        return found

    def _counterexamples(self, terms: list[Term], known: set[int]) -> list[int]:
        """The first examples that refute the terms and were not searched on."""
        found: dict[int, None] = {}
        for term in terms:
            fresh = [row for row in self._trial(term).missed if row not in known]
            found.update(dict.fromkeys(fresh[:2]))
        return list(found)[:_COUNTEREXAMPLES]

    def _explanation(self, term: Term) -> Explanation:
        missed = self._trial(term).missed
        hits = [row for row in range(len(self.scopes)) if row not in set(missed)]
        seen = {(self._read(term, row), value_key(self.targets[row])) for row in hits}
        return Explanation(term.source, term.cost, len(hits), len(missed), len(seen))

    def _read(self, term: Term, row: int) -> tuple[object, ...]:
        """The values of the paths that the term reads."""
        return tuple(value_key(values(leaf, [self.scopes[row]])[0]) for leaf in term.leaves)
