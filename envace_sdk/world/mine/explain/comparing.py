"""Elementary conditions: what is there, what is equal, greater or contained, with each other and with marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

from envace_sdk.errors import EnvaceError
from envace_sdk.json import UNSET

from ...expressions.arithmetic import COMPARISONS
from .atoms import OPPOSITES, Atom, bits_of, later, told, with_constant
from .column import FAILED, kind_of, value_key
from .fitted import equalities
from .forms import has
from .lookups import places
from .numbers import numbers
from .paths import paths
from .pieces import texts
from .sequences import elements_of
from .table import Table
from .term import Term
from .timing import times
from .within import fixed_parts, within

__all__ = ["standing_atoms"]

_MOST_TEXTS = 24
_MOST_NUMBERS = 16
_MOST_ALIKE = 40


def standing_atoms(table: Table) -> list[Atom]:
    """Conditions that need no constants fitted to what is asked."""
    found: list[Atom] = table.fact("atoms", lambda table: _unique(_standing(table)))
    return found


def _unique(atoms: Iterable[Atom]) -> list[Atom]:
    """The plainest of those that say the same, and none that says the same everywhere."""
    found: dict[tuple[int, int], Atom] = {}
    for atom in atoms:
        if atom.yes or atom.no:
            key = (atom.yes, atom.no) if (atom.no, atom.yes) not in found else (atom.no, atom.yes)
            known = found.get(key)
            if known is None or atom.cost < known.cost:
                found[key] = atom
    return list(found.values())


def _standing(table: Table) -> Iterator[Atom]:
    known = places(table)
    for term in known:
        if term.kind == "boolean" and table.concerns(term):
            yield _of_term(table, term)
    yield from _presence(table)
    yield from _alike(table, known)
    yield from _members(table, known)
    plain = [term for term in known if term.kind == "text"][:_MOST_TEXTS]
    yield from within(table, plain)
    yield from equalities(table)
    for term in plain:
        if table.concerns(term):
            yield from fixed_parts(table, term)
    yield from _orders(table, numbers(table)[:_MOST_NUMBERS])
    yield from _orders(table, times(table))


def _of_term(table: Table, term: Term) -> Atom:
    yes, no = told(term.column)
    return Atom(table, yes, no, term.cost, lambda: term)


def _presence(table: Table) -> Iterator[Atom]:
    """What is there, and what is null."""
    everything = (1 << table.size) - 1
    for term in paths(table):
        absent = bits_of(row for row, value in enumerate(term.column) if value is UNSET or value is FAILED)
        empty = bits_of(row for row, value in enumerate(term.column) if value is None)
        if absent:
            yield Atom(table, everything & ~absent, absent, term.cost + 1, later(has, table, term))
        if not table.concerns(term):
            continue
        if empty:
            yield with_constant(table, term, "==", None, empty, everything & ~absent & ~empty)
        bare_values: tuple[Any, ...] = ("", [])
        for value in bare_values:
            kind = "list" if isinstance(value, list) else "text"
            bare = bits_of(row for row, item in enumerate(term.column) if item == value) if term.kind == kind else 0
            if bare:
                yield with_constant(table, term, "==", value, bare, everything & ~absent & ~bare)


def _alike(table: Table, known: Sequence[Term]) -> Iterator[Atom]:
    """Two of the same kind that are equal or not."""
    sources = {term.source for term in known}
    alike = [*known, *(term for term in texts(table) if term.source not in sources)]
    numeric = numbers(table)[: 2 * _MOST_NUMBERS]
    for group in (
        [term for term in alike if term.kind == "text"][:_MOST_ALIKE],
        numeric,
        [term for term in known if term.kind in {"list", "object"}][:8],
    ):
        for left, right in combinations(group, 2):
            if table.budget.spent:
                return
            if table.concerns(left, right):
                yield from _equal_pair(table, left, right)


def _equal_pair(table: Table, left: Term, right: Term) -> Iterator[Atom]:
    table.budget.spend(table.size // 4)
    ours, theirs = left.places, right.places
    yes = 0
    for key in ours.keys() & theirs.keys():
        if key is not UNSET:
            yes |= ours[key] & theirs[key]
    if yes:
        absent = ours.get(UNSET, 0) | theirs.get(UNSET, 0)
        yield from _pair_atom(table, "==", left, right, yes, ((1 << table.size) - 1) & ~absent & ~yes)


def _ordered_pair(table: Table, operator: str, left: Term, right: Term) -> Iterator[Atom]:
    table.budget.spend(table.size // 4)
    yes = no = 0
    compare = COMPARISONS[operator]
    for row, (a, b) in enumerate(zip(left.column, right.column, strict=True)):
        if a is UNSET or b is UNSET or a is None or b is None:
            continue
        try:
            holds = compare(a, b)
        except EnvaceError:
            continue
        if holds:
            yes |= 1 << row
        else:
            no |= 1 << row
    yield from _pair_atom(table, operator, left, right, yes, no)


def _pair_atom(table: Table, operator: str, left: Term, right: Term, yes: int, no: int) -> Iterator[Atom]:
    if yes and no:
        build = later(table.infix, operator, left, right)
        opposite = later(table.infix, OPPOSITES[operator], left, right)
        yield Atom(table, yes, no, left.cost + right.cost + 1, build, opposite)


def _orders(table: Table, known: Sequence[Term]) -> Iterator[Atom]:
    for left, right in combinations(known, 2):
        if table.budget.spent:
            return
        if table.concerns(left, right):
            yield from _ordered_pair(table, "<", left, right)
            yield from _ordered_pair(table, ">", left, right)


def _members(table: Table, known: Sequence[Term]) -> Iterator[Atom]:
    """What is an element of a list, or the name of a member."""
    scalars = [term for term in known if term.kind in {"text", "number"}]
    for container in known:
        if container.kind == "list" and kind_of(elements_of(container)) in {"text", "number"}:
            keys: list[Any] = [
                {value_key(item) for item in value} if isinstance(value, list) else None for value in container.column
            ]
        elif container.kind == "object":
            keys = [set(value) if isinstance(value, dict) else None for value in container.column]
        else:
            continue
        for term in scalars:
            if not table.concerns(term, container):
                continue
            table.budget.spend(table.size // 4)
            yes = no = 0
            for row, inside in enumerate(keys):
                if inside is not None and term.key[row] is not UNSET and term.key[row] is not None:
                    if term.key[row] in inside:
                        yes |= 1 << row
                    else:
                        no |= 1 << row
            if yes and no:
                yield Atom(table, yes, no, term.cost + container.cost + 1, later(table.infix, "in", term, container))
