"""Elementary conditions: comparisons of what the scopes hold, with each other and with constants."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from envace_sdk.errors import EnvaceError
from envace_sdk.json import UNSET, Json

from ...expressions.arithmetic import COMPARISONS
from .column import FAILED, value_key
from .evidence import information
from .fitting import roundest
from .forms import has, negated
from .lookups import places
from .numbers import numbers
from .paths import paths
from .pieces import texts
from .table import Table
from .term import Term
from .timing import times

__all__ = ["Atom", "bits_of", "fitted_atoms", "rows_of", "standing_atoms"]

_MOST_TEXTS = 24
_MOST_NUMBERS = 16
_MOST_MEASURED = 60
_MOST_ALIKE = 40
_FEW = 6
_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass(frozen=True, slots=True)
class Atom:
    """A condition by where it holds and where it does not; elsewhere it cannot be told."""

    table: Table
    yes: int
    no: int
    cost: int
    build: Callable[[], Term]
    build_opposite: Callable[[], Term] | None = None

    def tells(self, wanted: int, unwanted: int) -> bool:
        """Whether it holds in all of some rows (a bit each) and fails in all of others."""
        return not wanted & ~self.yes and not unwanted & ~self.no

    def opposite(self) -> Atom:
        """The atom that holds where this one does not."""
        build = self.build_opposite
        if build is not None:
            return Atom(self.table, self.no, self.yes, self.cost, build, self.build)
        return Atom(self.table, self.no, self.yes, self.cost + 1, lambda: negated(self.table, self.build()), self.build)


def bits_of(rows: Iterable[int]) -> int:
    """Rows as the bits of a number."""
    found = 0
    for row in rows:
        found |= 1 << row
    return found


def rows_of(bits: int) -> list[int]:
    """The bits of a number as rows."""
    return [row for row in range(bits.bit_length()) if bits >> row & 1]


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
    yield from _within(table, plain)
    yield from _equalities(table)
    for term in plain:
        if table.concerns(term):
            yield from _fixed_parts(table, term)
    yield from _orders(table, numbers(table)[:_MOST_NUMBERS])
    yield from _orders(table, times(table))


def _of_term(table: Table, term: Term) -> Atom:
    yes, no = _told(term.column)
    return Atom(table, yes, no, term.cost, lambda: term)


def _told(column: Sequence[Any]) -> tuple[int, int]:
    yes = no = 0
    for row, value in enumerate(column):
        if value is True:
            yes |= 1 << row
        elif value is False:
            no |= 1 << row
    return yes, no


def _presence(table: Table) -> Iterator[Atom]:
    """What is there, and what is null."""
    everything = (1 << table.size) - 1
    for term in paths(table):
        if not table.concerns(term):
            continue
        absent = bits_of(row for row, value in enumerate(term.column) if value is UNSET or value is FAILED)
        empty = bits_of(row for row, value in enumerate(term.column) if value is None)
        if absent:
            yield Atom(table, everything & ~absent, absent, term.cost + 1, _later(has, table, term))
        if empty:
            yield _with_constant(table, term, "==", None, empty, everything & ~absent & ~empty)
        for value in ("", []):
            kind = "list" if isinstance(value, list) else "text"
            bare = bits_of(row for row, item in enumerate(term.column) if item == value) if term.kind == kind else 0
            if bare:
                yield _with_constant(table, term, "==", value, bare, everything & ~absent & ~bare)


def _later(make: Callable[..., Term], *arguments: Any) -> Callable[[], Term]:
    return lambda: make(*arguments)


def _with_constant(table: Table, term: Term, operator: str, value: Json, yes: int, no: int) -> Atom:
    def build(sign: str) -> Term:
        constant = table.constant(value, fitted=int(information(value)))
        return table.infix(sign, term, constant) if constant is not None else term

    return Atom(table, yes, no, term.cost + 2, _later(build, operator), _later(build, _OPPOSITES[operator]))


def _alike(table: Table, known: Sequence[Term]) -> Iterator[Atom]:
    """Two of the same kind that are equal or not."""
    alike = [*known, *(term for term in texts(table) if term not in known)]
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
                yield from _pair_atom(table, "==", left, right)


def _pair_atom(table: Table, operator: str, left: Term, right: Term) -> Iterator[Atom]:
    table.budget.spend(table.size // 4)
    yes = no = 0
    if operator == "==":
        for row, (a, b) in enumerate(zip(left.key, right.key, strict=True)):
            if a is UNSET or b is UNSET:
                continue
            if a == b:
                yes |= 1 << row
            else:
                no |= 1 << row
    else:
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
    if yes and no:
        build = _later(table.infix, operator, left, right)
        opposite = _later(table.infix, _OPPOSITES[operator], left, right)
        yield Atom(table, yes, no, left.cost + right.cost + 1, build, opposite)


def _orders(table: Table, known: Sequence[Term]) -> Iterator[Atom]:
    for left, right in combinations(known, 2):
        if table.budget.spent:
            return
        if table.concerns(left, right):
            yield from _pair_atom(table, "<", left, right)
            yield from _pair_atom(table, ">", left, right)


def _members(table: Table, known: Sequence[Term]) -> Iterator[Atom]:
    """What is an element of a list, or the name of a member."""
    scalars = [term for term in known if term.kind in {"text", "number"}]
    for container in known:
        if container.kind == "list":
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
                yield Atom(table, yes, no, term.cost + container.cost + 1, _later(table.infix, "in", term, container))


def _within(table: Table, plain: Sequence[Term]) -> Iterator[Atom]:
    """What is contained in, begins or ends another text, also without regard to case."""
    folded = {term.source: [v.lower() if isinstance(v, str) else None for v in term.column] for term in plain}
    for whole in plain:
        if max((len(value) for value in whole.column if isinstance(value, str)), default=0) < 3:
            continue
        for part in plain:
            if part is whole or table.budget.spent or not table.concerns(whole, part):
                continue
            table.budget.spend(table.size // 2)
            held = [
                a is not None and b is not None and b in a
                for a, b in zip(folded[whole.source], folded[part.source], strict=True)
            ]
            if True in held:
                yield from _parts_of(table, whole, part)


def _parts_of(table: Table, whole: Term, part: Term) -> Iterator[Atom]:
    pairs = list(zip(whole.column, part.column, strict=True))
    cost = whole.cost + part.cost + 1
    for name, holds in _WITHIN:
        yes, no = _told([holds(a, b) for a, b in pairs])
        if yes and no:
            yield Atom(table, yes, no, cost, _later(table.call, name, whole, part))
    yes, no = _told([_folded(a, b) for a, b in pairs])
    if yes and no:
        yield Atom(table, yes, no, cost + 2, _later(_folded_term, table, whole, part))


def _both(holds: Callable[[str, str], bool]) -> Callable[[Any, Any], bool | None]:
    return lambda a, b: holds(a, b) if isinstance(a, str) and isinstance(b, str) else None


_WITHIN: tuple[tuple[str, Callable[[Any, Any], bool | None]], ...] = (
    ("contains", _both(lambda whole, part: part in whole)),
    ("startsWith", _both(lambda whole, part: whole.startswith(part))),
    ("endsWith", _both(lambda whole, part: whole.endswith(part))),
)
_folded = _both(lambda whole, part: part.lower() in whole.lower())


def _folded_term(table: Table, whole: Term, part: Term) -> Term:
    return table.call("contains", table.call("lowerAscii", whole), table.call("lowerAscii", part))


def fitted_atoms(table: Table, yes: Sequence[int], no: Sequence[int]) -> Iterator[Atom]:
    """Comparisons with constants that these rows suggest."""
    table.budget.spend((len(yes) + len(no)) * _MOST_MEASURED // 2)
    for term in [term for term in numbers(table) if table.concerns(term)][:_MOST_MEASURED]:
        yield from _threshold(table, term, yes, no)
    for groups in _grouped(table):
        yield from _choices(table, groups, yes, no)


def _threshold(table: Table, term: Term, yes: Sequence[int], no: Sequence[int]) -> Iterator[Atom]:
    above = [term.column[row] for row in yes if _is_number(term.column[row])]
    below = [term.column[row] for row in no if _is_number(term.column[row])]
    if not above or not below:
        return
    for highs, lows, closed, opened in ((above, below, ">=", ">"), (below, above, "<", "<=")):
        low, high = max(lows), min(highs)
        if low >= high:
            continue
        value = roundest(low, high)
        # A number that was met above the gap belongs to what is above it.
        operator = opened if value == low else closed
        compare = COMPARISONS[operator]
        told = [compare(item, value) if _is_number(item) else None for item in term.column]
        yield _with_constant(table, term, operator, value, *_told(told))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class _Groups:
    """The rows by the value of a term that has few values."""

    term: Term
    rows: tuple[tuple[int, ...], ...]
    there: int


def _grouped(table: Table) -> list[_Groups]:
    found: list[_Groups] = table.fact("groups", _group)
    return found


def _group(table: Table) -> list[_Groups]:
    found = []
    for term in [*places(table), *texts(table)[:_MOST_ALIKE]]:
        if term.kind not in {"text", "number"} or not table.concerns(term):
            continue
        groups: dict[Hashable, list[int]] = {}
        for row, key in enumerate(term.key):
            if key is not UNSET and key is not None:
                groups.setdefault(key, []).append(row)
        if len(groups) >= 2 and (len(groups) <= _FEW or len(groups) * 3 <= table.size):
            there = bits_of(row for rows in groups.values() for row in rows)
            found.append(_Groups(term, tuple(tuple(rows) for rows in groups.values()), there))
    return found


def _equalities(table: Table) -> Iterator[Atom]:
    """A value that is met more than once among few."""
    for groups in _grouped(table):
        for rows in groups.rows:
            if len(rows) >= 2:
                bits = bits_of(rows)
                value = groups.term.column[rows[0]]
                yield _with_constant(table, groups.term, "==", value, bits, groups.there & ~bits)


def _choices(table: Table, groups: _Groups, yes: Sequence[int], no: Sequence[int]) -> Iterator[Atom]:
    """One of a few values, which only one side has."""
    for side in (set(yes), set(no)):
        chosen = [rows for rows in groups.rows if not side.isdisjoint(rows)]
        if 2 <= len(chosen) <= _FEW and len(chosen) < len(groups.rows) and all(len(rows) >= 2 for rows in chosen):
            bits = bits_of(row for rows in chosen for row in rows)
            values = [groups.term.column[rows[0]] for rows in chosen]
            yield _one_of(table, groups.term, values, bits, groups.there & ~bits)


def _one_of(table: Table, term: Term, values: list[Json], yes: int, no: int) -> Atom:
    def build() -> Term:
        choices = table.constant(values, fitted=int(sum(map(information, values))))
        return table.infix("in", term, choices) if choices is not None else term

    return Atom(table, yes, no, term.cost + 2 + len(values), build)


_MARKS = ("/", "..", ".", " ", "@", "-", "_", ":", "*", "#", ",")


def _fixed_parts(table: Table, term: Term) -> Iterator[Atom]:
    """Marks that a text holds, and the way that some begin or end."""
    for name, holds in _WITHIN:
        for mark in _MARKS:
            told = _told([holds(value, mark) for value in term.column])
            if told[0] and told[1]:
                yield Atom(table, *told, term.cost + 2, _later(_marked, table, name, term, mark))


def _marked(table: Table, name: str, term: Term, mark: str) -> Term:
    constant = table.constant(mark, fitted=4)
    return table.call(name, term, constant) if constant is not None else term
