"""Objects member by member, and objects with members changed, added or left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from envace_sdk.json import UNSET

from .forms import choice, has, keyed, record
from .goal import Goal
from .lookups import places
from .paths import paths
from .pieces import texts
from .solver import Solver
from .table import Table
from .term import Term
from .writing import Level

__all__ = ["changes", "records", "removals"]

_MOST_MEMBERS = 40
_MOST_BASES = 8


def records(table: Table, goal: Goal, solver: Solver) -> Iterator[Term]:
    """`{'name': …, …}`; a member that is there only sometimes is there when the path is that it copies."""
    if goal.kind != "object" or not goal.whole or goal.distinct < 2:
        return
    made = _record(table, goal.column, solver.deeper())
    if made is not None and goal.met(made):
        yield made


def _record(table: Table, column: Sequence[dict[str, Any]], inner: Solver | None) -> Term | None:
    names = list(dict.fromkeys(name for value in column for name in value))
    if not 0 < len(names) <= _MOST_MEMBERS or inner is None:
        return None
    members: dict[str, Term] = {}
    optional: list[Term] = []
    for name in names:
        goal = Goal([value.get(name, UNSET) for value in column])
        if UNSET not in goal.column:
            best = inner.best(table, goal)
            if best is None:
                return None
            members[name] = best
        else:
            copy = next((term for term in paths(table) if goal.met(term)), None)
            nothing = table.constant({})
            if copy is None or nothing is None:
                return None
            optional.append(choice(table, has(table, copy), _lenient(table, name, copy), nothing))
    if not optional:
        return record(table, members)
    return table.call("merge", *([record(table, members)] if members else []), *optional)


def _lenient(table: Table, name: str, copy: Term) -> Term:
    """`{name: copy}`, whose value does not matter where the choice does not ask for it."""
    made = record(table, {name: copy})
    column = tuple({} if value is UNSET else value for value in made.column)
    return Term(made.source, column, made.cost, made.level, made.leaves, made.fitted)


def changes(table: Table, goal: Goal, solver: Solver) -> Iterator[Term]:
    """`merge(object, {'name': …})`: some members are new or other than they were."""
    inner = solver.deeper()
    if goal.kind != "object" or not goal.whole or inner is None:
        return
    for base in _bases(table):
        pairs = list(zip(base.column, goal.column, strict=True))
        if any(not have.keys() <= want.keys() for have, want in pairs):
            continue
        differing = [
            {name: item for name, item in want.items() if Goal([item]).key != Goal([have.get(name, UNSET)]).key}
            for have, want in pairs
        ]
        if not any(differing) or all(len(new) == len(want) for new, (_, want) in zip(differing, pairs, strict=True)):
            continue
        yield from (made for made in _changed(table, base, goal, differing, inner) if goal.met(made))


def _bases(table: Table) -> list[Term]:
    found = [term for term in places(table) if term.kind == "object" and all(isinstance(v, dict) for v in term.column)]
    return found[:_MOST_BASES]


def _changed(table: Table, base: Term, goal: Goal, differing: list[dict[str, Any]], inner: Solver) -> Iterator[Term]:
    names = dict.fromkeys(name for new in differing for name in new)
    if len(names) <= _MOST_MEMBERS:
        part = _record(table, [{name: want[name] for name in names if name in want} for want in goal.column], inner)
        if part is not None:
            yield table.call("merge", base, part)
    if len(names) > 1 and all(len(new) == 1 for new in differing):
        name = Goal([next(iter(new)) for new in differing])
        for key in texts(table):
            if name.met(key):
                value = inner.best(table, Goal([next(iter(new.values())) for new in differing]))
                if value is not None:
                    yield table.call("merge", base, keyed(table, key, value))
                return


def removals(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """`object.filter(k, v, k != name)`: a member is left out."""
    if goal.kind != "object" or not goal.whole:
        return
    for base in _bases(table):
        left = [_left(have, want) for have, want in zip(base.column, goal.column, strict=True)]
        if None in left or not any(left):
            continue
        names = {tuple(found) for found in left if found}
        if len(names) == 1:
            only = next(iter(names))
            constant = table.constant(only[0] if len(only) == 1 else list(only), fitted=6 * len(only))
            if constant is not None:
                yield from (made for made in [_without(table, base, constant, len(only) > 1)] if goal.met(made))
        for key in texts(table):
            if all(found == [name] or not found for found, name in zip(left, key.column, strict=True)):
                made = _without(table, base, key, False)
                if goal.met(made):
                    yield made


def _left(have: dict[str, Any], want: dict[str, Any]) -> list[str] | None:
    """The names that are in the one only, if all else is equal."""
    if any(name not in have for name in want):
        return None
    left = [name for name in have if name not in want]
    kept = {name: item for name, item in have.items() if name in want}
    return left if Goal([kept]).key == Goal([want]).key else None


def _without(table: Table, base: Term, key: Term, several: bool) -> Term:
    def run(value: dict[str, Any], names: Any) -> dict[str, Any]:
        return {name: item for name, item in value.items() if not (name in names if several else name == names)}

    taken = {name for scope in table.scopes for name in scope}
    variable, other = next(pair for pair in ("kv", "nw", "pq") if taken.isdisjoint(pair))
    test = f"!({variable} in {key.source})" if several else f"{variable} != {key.at(Level.SUM)}"
    column = table.rows(run, [base.column, key.column])
    source = f"{base.at(Level.MEMBER)}.filter({variable}, {other}, {test})"
    return table.made(source, column, (base, key), Level.MEMBER, 3)
