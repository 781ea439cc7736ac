"""Finding the simplest formulas over given atoms that hold for some rows and not for others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from math import comb, log2
from operator import itemgetter
from typing import Literal

from .atoms import Atom
from .formula import Formula

__all__ = ["Goal", "Search"]

ERROR_COST = 4
"""What a row on the wrong side weighs against the size of a formula."""
MAX_PAIRED = 200
MAX_TRIPLED = 44
MAX_LEADS = 24
MAX_FOLLOWERS = 50
MAX_LARGE = 400
BEAM = 8
MAX_TELLING = 120
MAX_TERMS = 8
ENOUGH = 4
"""The cost up to which one atom is taken without looking at two."""
COST_BITS = 2.5
"""The bits that a formula takes, for each unit of its cost."""


_RANK = itemgetter(0, 1)


@dataclass(frozen=True, slots=True)
class Goal:
    """The rows for which a formula is to hold, those for which it is not to, and how many may be wrong."""

    yes: int
    no: int
    allowed: int = 0

    def wrong(self, rows: int) -> int:
        """How many rows are on the wrong side."""
        return (self.yes & ~rows).bit_count() + (self.no & rows).bit_count()

    def missed(self, rows: int) -> int:
        """How many rows of `yes` are left out."""
        return (self.yes & ~rows).bit_count()

    def caught(self, rows: int) -> int:
        """How many rows of `no` are held for ones of `yes`."""
        return (self.no & rows).bit_count()

    @property
    def evidence(self) -> float:
        """The bits it takes to say which rows are which: a formula that takes more explains nothing."""
        yes, no = self.yes.bit_count(), self.no.bit_count()
        return log2(comb(yes + no, yes))

    def key(self, formula: Formula) -> tuple[int, int]:
        """By which formulas are ordered."""
        wrong = self.wrong(formula.rows)
        return formula.cost + ERROR_COST * wrong, wrong


class Search:
    """One search over one list of atoms, which are ordered by cost."""

    def __init__(self, atoms: Sequence[Atom], goal: Goal, limit: int) -> None:
        self.goal = goal
        self.limit = limit
        self.atoms = list(atoms)

    @cached_property
    def distinct(self) -> list[Atom]:
        """One atom for each set of rows."""
        found: dict[int, Atom] = {}
        looked = self.goal.yes | self.goal.no
        for atom in self.atoms:
            found.setdefault(atom.rows & looked, atom)
        return list(found.values())

    @cached_property
    def few(self) -> list[Atom]:
        """Of the distinct atoms, the cheapest and the most telling."""
        return [atom for atom, _ in _chosen([(atom, atom.rows) for atom in self.distinct], self.goal, MAX_LARGE)]

    def single(self) -> list[Formula]:
        """The best formulas of one atom, best first."""
        goal = self.goal
        fitting = [Formula((atom,)) for atom in self.atoms if goal.wrong(atom.rows) <= goal.allowed]
        return sorted(fitting, key=goal.key)[: self.limit]

    def small(self) -> list[Formula]:
        """The best formulas of one or two atoms, best first."""
        found = self.single()
        if found and self.goal.key(found[0])[0] <= ENOUGH:
            return found
        return self._best(found, self._joined(2))[: self.limit]

    def large(self) -> list[Formula]:
        """The best formulas of three atoms, or of more where three are not enough."""
        found = self._best(self._joined(3), self._mixed())
        if not found:
            found = sorted(self._covers(), key=self.goal.key)
        return found[: self.limit]

    def _best(self, found: list[Formula], more: Iterable[Formula]) -> list[Formula]:
        return sorted([*found, *more], key=self.goal.key)[: 4 * self.limit]

    def _sides(self, allowed: int) -> Iterator[tuple[Literal["&&", "||"], Goal, list[tuple[Atom, int]]]]:
        """Conjunctions, and disjunctions as conjunctions upside down: an atom of one must hold for all of `yes`."""
        goal = self.goal
        looked = goal.yes | goal.no
        yes, no = goal.yes, goal.no
        yield "&&", goal, [(atom, atom.rows) for atom in self.distinct if (yes & ~atom.rows).bit_count() <= allowed]
        flipped = Goal(goal.no, goal.yes, goal.allowed)
        yield (
            "||",
            flipped,
            [(atom, looked & ~atom.rows) for atom in self.distinct if (no & atom.rows).bit_count() <= allowed],
        )

    def _joined(self, size: int) -> list[Formula]:
        """All good formulas of so many atoms with one kind of joint."""
        found: list[Formula] = []
        for join, goal, able in self._sides(self.goal.allowed):
            chosen = _chosen(able, goal, MAX_PAIRED if size == 2 else MAX_TRIPLED)
            found += [Formula(parts, join) for parts in _conjunctions(chosen, goal, size)]
        return sorted(found, key=self.goal.key)[: 4 * self.limit]

    def _mixed(self) -> list[Formula]:
        """`a || b && c`, and `a && (b || c)`."""
        found: list[Formula] = []
        goal = self.goal
        for join, inner_join, upright in (("||", "&&", True), ("&&", "||", False)):
            yes, no = (goal.yes, goal.no) if upright else (goal.no, goal.yes)
            able = [(atom, atom.rows if upright else ~atom.rows) for atom in self.few]
            leads = [(atom, rows) for atom, rows in able if (no & rows).bit_count() <= goal.allowed and yes & rows]
            leads.sort(key=lambda pair: pair[0].cost - 2 * (yes & pair[1]).bit_count() / max(yes.bit_count(), 1) * 4)
            for lead, rows in leads[:MAX_LEADS]:
                rest = Goal(yes & ~rows, no, goal.allowed)
                left = rest.yes
                followers = [pair for pair in able if (left & ~pair[1]).bit_count() <= goal.allowed]
                for pair in _conjunctions(_chosen(followers, rest, MAX_FOLLOWERS), rest, 2)[:2]:
                    inner = Formula(pair, "&&" if inner_join == "&&" else "||")
                    found.append(Formula((lead, inner), "||" if join == "||" else "&&"))
        return [formula for formula in sorted(found, key=goal.key) if goal.wrong(formula.rows) <= goal.allowed]

    def _covers(self) -> Iterator[Formula]:
        """Large formulas, term by term: each holds for as much of what is left as it can.

        None costs more bits than it takes to say which rows are which.
        """
        most = self.goal.evidence / COST_BITS
        cheapest = min((atom.cost for atom in self.few), default=0)
        for join in ("||", "&&"):
            upright = join == "||"
            yes, no = (self.goal.yes, self.goal.no) if upright else (self.goal.no, self.goal.yes)
            able = [(atom, atom.rows if upright else ~atom.rows) for atom in self.few]
            terms: list[Atom | Formula] = []
            left, spare, cost = yes, self.goal.allowed, 0
            while left.bit_count() > spare and len(terms) < MAX_TERMS and cost + cheapest <= most:
                term = best_term(able, left, no)
                if term is None:
                    break
                atoms, rows = term
                left &= ~rows
                made = atoms[0] if len(atoms) == 1 else Formula(atoms, "&&" if upright else "||")
                terms.append(made)
                cost += made.cost + 1
            if left.bit_count() <= spare and terms and cost - 1 <= most:
                yield Formula(tuple(terms), "||" if upright else "&&")


def _chosen(able: list[tuple[Atom, int]], goal: Goal, most: int) -> list[tuple[Atom, int]]:
    """The cheapest and the most telling."""
    if len(able) <= most:
        return able
    yes, no = goal.yes, goal.no
    wrong = [(yes & ~rows).bit_count() + (no & rows).bit_count() for _, rows in able]
    telling = sorted(range(len(able)), key=wrong.__getitem__)[: most // 2]
    places = sorted({*range(most // 2), *telling})
    return [able[place] for place in places]


def _conjunctions(able: list[tuple[Atom, int]], goal: Goal, size: int) -> list[tuple[Atom, ...]]:
    """The cheapest of those that leave no more rows on the wrong side than are allowed."""
    yes, no, allowed = goal.yes, goal.no, goal.allowed
    atoms = [atom for atom, _ in able]
    rows = [rows for _, rows in able]
    caught = [every & no for every in rows]
    counts = [held.bit_count() for held in caught]
    places = sorted(range(len(able)), key=counts.__getitem__)
    ranked = [counts[place] for place in places]
    # Sets of a rows and of b rows, out of n, share a + b - n at least.
    room = no.bit_count() + allowed
    found: list[tuple[int, ...]] = []

    def join(chosen: tuple[int, ...], inside: int, held: int) -> None:
        """Add one more to those that are chosen, which catch the rows `held` together."""
        for place in places[: bisect_right(ranked, room - held.bit_count())]:
            if place > chosen[-1] and (held & caught[place]).bit_count() <= allowed:
                both = inside & rows[place]
                if (yes & ~both).bit_count() + (no & both).bit_count() <= allowed:
                    found.append((*chosen, place))

    for one in range(len(able)):
        if size == 2:
            join((one,), rows[one], caught[one])
        else:
            for two in range(one + 1, len(able)):
                join((one, two), rows[one] & rows[two], caught[one] & caught[two])
    found.sort(key=lambda chosen: (sum(atoms[place].cost for place in chosen), chosen))
    return [tuple(atoms[place] for place in chosen) for chosen in found[:40]]


def best_term(
    able: Sequence[tuple[Atom, int]], yes: int, no: int, *, most_caught: int = 0
) -> tuple[tuple[Atom, ...], int] | None:
    """The conjunction of at most three that holds for no row of `no` and for most of `yes`, for what it costs."""
    looked = [(atom, rows, rows & yes, rows & no, atom.cost) for atom, rows in _telling(able, yes, no)]
    total = yes.bit_count()
    least = min((cost for *_, cost in looked), default=0)
    beam: list[tuple[tuple[Atom, ...], int, int]] = [((), -1, 0)]
    best: tuple[tuple[float, int], tuple[Atom, ...], int] | None = None
    for last in (False, False, True):
        grown: list[tuple[float, int, tuple[Atom, ...], int, Atom, int]] = []
        for atoms, rows, cost_before in beam:
            wanted, unwanted = rows & yes, rows & no
            if last and best is not None and (cost_before + least) / wanted.bit_count() > best[0][0]:
                continue
            for atom, others, others_wanted, others_unwanted, own in looked:
                wrong = unwanted & others_unwanted
                if last and wrong and wrong.bit_count() > most_caught:
                    continue
                right = wanted & others_wanted
                if not right:
                    continue
                if right == wanted and wrong == unwanted and rows & others == rows:
                    continue
                covered, caught, cost = right.bit_count(), wrong.bit_count(), cost_before + own
                if caught <= most_caught:
                    if best is None or (cost / covered, cost) < best[0]:
                        best = (cost / covered, cost), (*atoms, atom), rows & others
                else:
                    grown.append((-covered / (covered + caught) - covered / total, cost, atoms, rows, atom, others))
        chosen = nsmallest(BEAM, grown, key=_RANK)
        beam = [((*atoms, atom), rows & others, cost) for _, cost, atoms, rows, atom, others in chosen]
    return None if best is None else best[1:]


def _telling(able: Sequence[tuple[Atom, int]], yes: int, no: int) -> list[tuple[Atom, int]]:
    """The atoms that, on their own, hold more often for `yes` than for `no`."""
    wide = max(yes.bit_count(), 1), max(no.bit_count(), 1)
    scored = [
        ((no & rows).bit_count() / wide[1] - (yes & rows).bit_count() / wide[0], place)
        for place, (_, rows) in enumerate(able)
    ]
    return [able[place] for place in sorted(place for _, place in sorted(scored)[:MAX_TELLING])]
