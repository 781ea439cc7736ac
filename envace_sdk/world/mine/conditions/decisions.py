"""`decide`: which of several outcomes a call has, as an ordered list of conditions, in the way code checks them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2

from envace_sdk.json import Json

from .columns import Table, unpacked
from .formula import Formula
from .polishing import polished
from .pool import Pool
from .search import ERROR_COST, Goal, best_term
from .separation import STAGES, formulas_of
from .verifying import holds

__all__ = ["DecisionList", "Rule", "decide"]

MAX_ROWS = 300
MAX_RULES = 12
FOLDS = 4
LEAST_BITS = 2.5
RULE_BITS = 1.5
"""What a case that a rule explains is worth at least, and what each unit of a rule's cost takes away."""
PLAIN = 2
"""The cost up to which a condition is taken without looking at other labels."""
PARTIAL = 2
"""The stage of the search at which conditions for only some of the cases are tried."""
_LEAST_COSTS = (0, 0, 6, 6, 8)
"""What a condition of each stage costs at least: where that is more than the cases are worth, none is looked for."""

Scope = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Rule:
    """Where `source` holds, and no earlier rule's did, the outcome is `label`."""

    source: str
    """CEL over the names of the scopes."""
    label: str
    cost: int
    right: int
    """Different cases that it decides and gets right."""
    wrong: int
    """Different cases that it decides and gets wrong, or for which it cannot be computed."""
    held_out: float | None = None
    """Of the cases that it decides, or that lists learned without them decided in its way, the share that those lists
    got right; None where there are too few cases to hold any out."""

    @property
    def support(self) -> int:
        """The different cases that speak for it."""
        return self.right

    @property
    def confidence(self) -> float:
        """How far to trust it: cautious where the cases are few, 0 where there is but one."""
        if self.right < 2:
            return 0.0
        seen = (self.right + 1) / (self.right + self.wrong + 2)
        return seen if self.held_out is None else min(seen, self.held_out)


@dataclass(frozen=True, slots=True)
class DecisionList:
    """Rules in order, and the outcome where none of them holds."""

    rules: tuple[Rule, ...]
    default: str
    right: int
    """Of all cases, those that the list gets right."""
    wrong: int
    unexplained: Mapping[str, int]
    """By label, the different cases that no rule for it decides."""

    def __call__(self, scope: Scope) -> str:
        """The outcome in a scope; a condition that cannot be computed does not hold."""
        for rule in self.rules:
            if holds(rule.source, scope) is True:
                return rule.label
        return self.default


def decide(cases: Sequence[tuple[Scope, str]], *, default: str | None = None, folds: int = FOLDS) -> DecisionList:
    """The smallest list of conditions that gives each case its label.

    `default` is the label where no condition holds, usually that of success: the most frequent one unless given. Each
    condition is right given that those before it did not hold, and none needs to repeat them. A few wrong labels do
    no harm: a rule that takes more words than the cases it explains are worth is not made. Cases that no rule
    explains are counted in `unexplained`. Deterministic; every rule was tested with the evaluator on all cases.
    """
    counted = Counter(label for _, label in cases)
    if default is None:
        default = max(sorted(counted), key=lambda label: counted[label]) if counted else ""
    distinct = list({(repr(scope), label): (scope, label) for scope, label in cases}.values())
    sample = _sampled(distinct)
    learner = _Learner(sample, default)
    everything = learner.table.all
    found = learner.learned(everything)
    rules = _measured(found, distinct)
    if rules and folds > 1:
        rules = _held_out(rules, learner, found, folds)
    made = DecisionList(tuple(rules), default, 0, 0, {})
    right = 0
    unexplained: Counter[str] = Counter()
    for scope, label in cases:
        right += made(scope) == label
    for scope, label in distinct:
        if label != default and made(scope) != label:
            unexplained[label] += 1
    return replace(made, right=right, wrong=len(cases) - right, unexplained=dict(sorted(unexplained.items())))


def _sampled(cases: list[tuple[Scope, str]]) -> list[tuple[Scope, str]]:
    """All cases of rare labels, and evenly spaced ones of the others."""
    if len(cases) <= MAX_ROWS:
        return cases
    places: dict[str, list[int]] = {}
    for place, (_, label) in enumerate(cases):
        places.setdefault(label, []).append(place)
    room, chosen = MAX_ROWS, []
    for left, label in zip(range(len(places), 0, -1), sorted(places, key=lambda name: len(places[name])), strict=True):
        mine = places[label]
        most = min(len(mine), room // left)
        chosen += [mine[step * len(mine) // most] for step in range(most)]
        room -= most
    return [cases[place] for place in sorted(chosen)]


class _Learner:
    """Learns lists from subsets of the same cases."""

    def __init__(self, cases: list[tuple[Scope, str]], default: str) -> None:
        self.cases = cases
        self.default = default
        self.table = Table([scope for scope, _ in cases])
        self.pool = Pool(self.table)
        self.rows: dict[str, int] = {}
        for place, (_, label) in enumerate(cases):
            self.rows[label] = self.rows.get(label, 0) | 1 << place
        self.deepest = 0
        """The last stage of the search that has given a rule."""
        self._found: dict[tuple[int, int, int], list[Formula]] = {}

    def learned(self, looked: int, stages: int = len(STAGES)) -> list[tuple[Formula, str]]:
        """The list for these rows: again and again the simplest condition that explains all of a label; where there is
        none, the one that explains most for its size. Labels of a single case come last.
        """
        rules: list[tuple[Formula, str]] = []
        left = looked
        labels = [label for label in sorted(self.rows) if label != self.default]
        repeated = [label for label in labels if (self.rows[label] & looked).bit_count() > 1]
        for chosen in (repeated, labels):
            while len(rules) < MAX_RULES:
                best = self._next(chosen, left, stages)
                if best is None:
                    break
                rules.append(best)
                left &= ~best[0].rows
        return rules

    def _next(self, labels: list[str], left: int, stages: int) -> tuple[Formula, str] | None:
        """The rule that comes first: larger conditions are only looked for where no label has a small one."""
        best: tuple[tuple[float, ...], Formula, str] | None = None
        for stage, enough in enumerate(STAGES[:stages]):
            for label in labels:
                yes = self.rows[label] & left
                goal = _goal(yes, left ^ yes)
                for formula in self._candidates(goal, stage):
                    gain = _gain(formula, goal)
                    wrong = goal.wrong(formula.rows)
                    rank = 0 if not wrong else 1 if wrong <= goal.allowed else 2
                    key = (rank, formula.cost + ERROR_COST * wrong if rank < 2 else 0, -gain)
                    if gain > 0 and (best is None or key < best[0]):
                        best = key, formula, label
                        self.deepest = max(self.deepest, stage)
                if best is not None and best[0][0] == 0 and best[0][1] <= PLAIN:
                    break
            worst_rank = 0 if stage < PARTIAL else 1
            if best is not None and best[0][0] <= worst_rank and best[0][1] <= enough:
                break
        return None if best is None else best[1:]

    def _candidates(self, goal: Goal, stage: int) -> list[Formula]:
        """Conditions for all of the cases, and in the end for some of them."""
        yes, no = goal.yes, goal.no
        if not yes or not no or yes.bit_count() * _worth(goal) <= _LEAST_COSTS[stage] * RULE_BITS:
            return []
        known = self._found.get((yes, no, stage))
        if known is not None:
            return known
        found = formulas_of(self.pool, goal, stage, limit=3)
        if stage == PARTIAL and yes.bit_count() > 2:
            part = best_term([(atom, atom.rows) for atom in self.pool.atoms(yes, no, 1)], yes, no)
            if part is not None:
                found.append(polished(Formula(part[0]), self.table, yes & part[1] | no))
        self._found[yes, no, stage] = found
        return found

    def outcomes(self, rules: list[tuple[Formula, str]], looked: int) -> dict[str, int]:
        """The rows that the rules give each label; those of the default are left out."""
        found: dict[str, int] = {}
        for formula, label in rules:
            found[label] = found.get(label, 0) | (formula.rows & looked)
            looked &= ~formula.rows
        return found


def _goal(yes: int, no: int) -> Goal:
    """A few cases may be wrong, but not many of those that are to be explained."""
    few = yes.bit_count()
    return Goal(yes, no, min((few + no.bit_count()) // 50, 1 + few // 10))


def _worth(goal: Goal) -> float:
    """The bits that each case to be explained is worth: the rarer, the more."""
    return max(LEAST_BITS, log2(1 + goal.no.bit_count() / goal.yes.bit_count()))


def _gain(formula: Formula, goal: Goal) -> float:
    """Bits that a rule saves: those of the cases it explains, less its own and those of the cases it spoils."""
    right = (formula.rows & goal.yes).bit_count()
    return (right - 2 * goal.caught(formula.rows)) * _worth(goal) - formula.cost * RULE_BITS


def _measured(found: list[tuple[Formula, str]], cases: list[tuple[Scope, str]]) -> list[Rule]:
    rules = []
    left = cases
    for formula, label in found:
        source = formula.source
        decided: list[bool | None] = [holds(source, scope) for scope, _ in left]
        right = sum(held is True and truth == label for held, (_, truth) in zip(decided, left, strict=True))
        wrong = sum(held is not False for held in decided) - right
        rules.append(Rule(source, label, formula.cost, right, wrong))
        left = [case for held, case in zip(decided, left, strict=True) if held is not True]
    return rules


def _held_out(rules: list[Rule], learner: _Learner, found: list[tuple[Formula, str]], folds: int) -> list[Rule]:
    """With the precision of each rule on cases that it was not learned from."""
    everything = learner.table.all
    right, wrong = [0] * len(rules), [0] * len(rules)
    deciding, left = [], everything
    for formula, _ in found:
        deciding.append(formula.rows & left)
        left &= ~formula.rows
    stages = learner.deepest + 1  # No fold looks where all cases together have found nothing.
    for held in _fold_rows(learner, folds):
        said = learner.outcomes(learner.learned(everything & ~held, stages), held)
        for place, (rule, mine) in enumerate(zip(rules, deciding, strict=True)):
            truth, told = learner.rows.get(rule.label, 0), said.get(rule.label, 0)
            if (mine & truth & ~held).bit_count() < 2:
                continue  # Nobody learns a rule from a single case.
            right[place] += (mine & held & truth & told).bit_count()
            wrong[place] += (mine & held & ~(truth & told)).bit_count()
            if rule.label not in [earlier.label for earlier in rules[:place]]:
                others = sum(rows for rows, other in zip(deciding, rules, strict=True) if other.label == rule.label)
                wrong[place] += (told & ~truth & ~others).bit_count()
    return [
        replace(rule, held_out=right[place] / (right[place] + wrong[place])) if right[place] + wrong[place] else rule
        for place, rule in enumerate(rules)
    ]


def _fold_rows(learner: _Learner, folds: int) -> list[int]:
    """The rows of each fold: of every label, every so manieth."""
    found = [0] * folds
    for label in sorted(learner.rows):
        members = [place for place, inside in enumerate(unpacked(learner.rows[label], len(learner.cases))) if inside]
        for number, place in enumerate(members):
            found[number % folds] |= 1 << place
    return [rows for rows in found if rows]
