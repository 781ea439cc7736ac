"""Explaining examples: a search on a few of them, checked on all, until the two agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from envace_sdk.json import UNSET, Json

from .column import column_key, value_key
from .evidence import complexity, evidence, signatures
from .example import Example, Explanation
from .families import STAGES
from .goal import Goal
from .paths import paths
from .sample import SAMPLE, sample, spread
from .solver import Solver
from .table import Table, timed
from .term import Term
from .verify import Trial, tried, values

__all__ = ["Explainer", "explain"]

_ROUNDS = 5
_TRIES = 8
_COUNTEREXAMPLES = 12
_FEW = 6
_LEAST = 2
_MOST_BALANCED = 240
_SCARCE = 2
"""Only of so many times the examples in a sample, it may show too little."""
_PLAIN_STAGES = 6
"""What some examples contradict is believed if it is plain: an elaborate expression fits the rest by chance."""
_MOST_WORK = 300_000
"""Values computed for one target in all rounds, about."""


def explain(examples: Sequence[Example], *, limit: int = 5, tolerance: float = 0.0) -> list[Explanation]:
    """The smallest expressions that give the targets of all examples, best first.

    At most `tolerance` of the examples may be missed. An expression that the examples are too few to tell from chance
    comes after all others. Where the target never varies, a copy of a distinctive value comes first, then the
    constant. The same examples always give the same answer.
    """
    explainer = Explainer([example.scope for example in examples])
    return explainer.explain([example.target for example in examples], limit=limit, tolerance=tolerance)


class Explainer:
    """Explains several targets over the same scopes, which are then looked through only once."""

    def __init__(self, scopes: Sequence[Mapping[str, Json]]) -> None:
        self.scopes = [timed(scope) for scope in scopes]
        self.signatures = signatures(self.scopes)
        self._rows = spread(self.scopes)
        self._tables: dict[tuple[int, ...], Table] = {}
        self._answers: dict[tuple[object, ...], tuple[list[tuple[list[Term], int]], bool]] = {}
        """What the stages answered, and whether all were asked, by rows, targets and the bits that these carry."""

    def explain(self, targets: Sequence[Json], *, limit: int = 5, tolerance: float = 0.0) -> list[Explanation]:
        """As the function `explain` does; one target for each of the scopes.

        Raises:
            ValueError: there are more or fewer targets than scopes.
        """
        if len(targets) != len(self.scopes):
            raise ValueError(f"{len(targets)} targets for {len(self.scopes)} scopes")
        if all(target is UNSET for target in targets):
            return []
        return _Search(self, list(targets), limit, int(tolerance * len(targets))).found()

    def rows_for(self, targets: Sequence[Json]) -> list[int]:
        """The usual sample where it shows what the targets can be, else one of its own."""
        keys = column_key(targets)
        counts, shown = Counter(keys), Counter(keys[row] for row in self._rows)
        few = len(counts) <= _FEW
        enough = all(shown[key] >= min(count, 4) for key, count in counts.items()) if few else len(shown) >= _FEW
        return self._rows if enough else sample(self.scopes, targets)

    def answers(
        self, rows: Sequence[int], goal: Goal, bits: float, stages: int | None
    ) -> Iterator[tuple[list[Term], int]]:
        """After each stage, the terms that meet the goal and the work so far.

        Whoever asks again, allowing for more errors, is told what is known.
        """
        key = (tuple(rows), goal.key, bits, stages)
        known, complete = self._answers.get(key, ([], False))
        yield from known
        if complete:
            return
        told: list[tuple[list[Term], int]] = []
        table = self.table(rows)
        for found in Solver(STAGES, bits=bits).by_stage(table, goal, stages=stages):
            told.append((found, table.budget.used))
            self._answers[key] = (told, False)
            if len(told) > len(known):
                yield told[-1]
        self._answers[key] = (told, True)

    def table(self, rows: Sequence[int]) -> Table:
        """A table of some of the scopes; that of the usual sample is kept."""
        key = tuple(rows)
        table = self._tables.get(key)
        if table is None:
            table = Table([self.scopes[row] for row in rows])
            if list(rows) == self._rows:
                self._tables[key] = table
        table.budget.renew()
        return table


def _thinned(rows: list[int], most: int) -> list[int]:
    return rows if len(rows) <= most else [rows[place * len(rows) // most] for place in range(most)]


class _Search:
    """The targets, and what is allowed to go wrong."""

    def __init__(self, explainer: Explainer, targets: list[Json], limit: int, allowed: int) -> None:
        self.explainer = explainer
        self.scopes = explainer.scopes
        self.targets = targets
        self.limit = limit
        self.allowed = allowed
        self.bits = evidence(explainer.signatures, targets)
        self.work = 0
        self._trials: dict[str, Trial] = {}

    def found(self) -> list[Explanation]:
        """What holds, best first."""
        rows = self.explainer.rows_for(self.targets)
        good: list[Term] = []
        for turn in range(_ROUNDS):
            terms = self._solved(rows)
            good = self._holding(terms)
            # What is plainer than all that holds may need no more than another constant.
            plainer = terms[: terms.index(good[0])] if good else terms
            more = self._counterexamples(plainer, set(rows))
            if not more or (good and turn):
                break
            rows = sorted({*rows, *more})
        if not good and len(self.scopes) >= _SCARCE * SAMPLE:
            balanced = self._balanced()
            good = self._holding(self._solved(balanced)) if balanced else []
        if not good and self.allowed:
            good = self._despite_errors(rows)
        return [self._explanation(term) for term in good[: self.limit]]

    def _balanced(self) -> list[int]:
        """As many rows that the most successful path or constant explains as rows that it does not.

        Where a choice is hardly ever made otherwise, a sample shows too little of it.
        """
        rows = spread(self.scopes, _MOST_BALANCED)
        goal = Goal([self.targets[row] for row in rows])
        columns = [term.key for term in paths(Table([self.scopes[row] for row in rows]))]
        columns.extend((key,) * len(rows) for key, _ in Counter(goal.key).most_common(2))
        hits = [{at for at, (a, b) in enumerate(zip(column, goal.key, strict=True)) if a == b} for column in columns]
        best = max(hits, key=lambda found: len(found) if len(found) < len(rows) else 0)
        missed = [at for at in range(len(rows)) if at not in best]
        if len(missed) < _LEAST or len(best) < max(_LEAST, len(rows) // 8):
            return []
        half = SAMPLE * 2 // 3
        return sorted(rows[at] for at in [*_thinned(sorted(best), half), *_thinned(missed, half)])

    def _holding(self, terms: list[Term]) -> list[Term]:
        return [term for term in terms if self._holds(term)]

    def _despite_errors(self, rows: list[int]) -> list[Term]:
        """Some of the examples may be wrong: perhaps not all of a few."""
        random = Random(0)
        size = min(len(rows), max(4, len(self.scopes) // 2))
        for turn in range(_TRIES):
            taken = min(len(self.scopes), max(4, size - turn * size // (2 * _TRIES)))
            chosen = sorted(random.sample(range(len(self.scopes)), taken))
            good = self._holding(self._solved(chosen, _PLAIN_STAGES))
            if good:
                return good
        return []

    def _solved(self, rows: list[int], stages: int | None = None) -> list[Term]:
        goal = Goal([self.targets[row] for row in rows])
        if self.work > _MOST_WORK:
            return []
        met: list[Term] = []
        before = self.work
        for met, work in self.explainer.answers(rows, goal, self.bits, stages):
            self.work = before + work
            if any(complexity(term) <= self.bits and self._holds(term) for term in met):
                break
        found = Solver.ranked(met, goal, self.bits)
        return found[: 2 * self.limit] + [term for term in found[2 * self.limit :] if term.source in self._trials]

    def _holds(self, term: Term) -> bool:
        return len(self._trial(term).missed) <= self.allowed

    def _trial(self, term: Term) -> Trial:
        found = self._trials.get(term.source)
        if found is None:
            found = self._trials[term.source] = tried(term.source, self.scopes, self.targets, most=self.allowed)
        return found

    def _counterexamples(self, terms: list[Term], known: set[int]) -> list[int]:
        """The first examples that refute the terms and were not searched on."""
        found: dict[int, None] = {}
        for term in terms:
            fresh = [row for row in self._trial(term).missed if row not in known]
            found.update(dict.fromkeys(fresh[:3]))
        return list(found)[:_COUNTEREXAMPLES]

    def _explanation(self, term: Term) -> Explanation:
        missed = self._trial(term).missed
        hits = [row for row in range(len(self.scopes)) if row not in set(missed)]
        seen = {(self._read(term, row), value_key(self.targets[row])) for row in hits}
        return Explanation(term.source, term.cost, len(hits), len(missed), len(seen))

    def _read(self, term: Term, row: int) -> tuple[object, ...]:
        """The values of the paths that the term reads."""
        return tuple(value_key(values(leaf, [self.scopes[row]])[0]) for leaf in term.leaves)
