"""Choices: one expression where a condition holds, another one where it does not; a table of values."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import islice

from envace_sdk.json import UNSET

from .evidence import information
from .forms import choice, everywhere
from .goal import Goal
from .lookups import places
from .numbers import numbers
from .pieces import texts
from .sequences import sequences
from .solver import Solver
from .table import Table
from .term import Term
from .truths import conditions
from .writing import Level, literal

__all__ = ["cases", "choices", "nested", "tables"]

_MOST_VALUES = 8
_MOST_ENTRIES = 12
_MOST_PARTIAL = 24
_MOST_LEADS = 2
_NESTED_STAGES = 5
_MOST_NESTED = 2
_MOST_CASES = 4
_MOST_KEYS = 4
_CASE_STAGES = 4
_LEAST = 2
"""Rows on either side of a condition."""


def tables(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """`{'a': 1, 'b': 2}[path]`: a value for each of a few names, each met at least twice."""
    if goal.distinct < 2 or goal.kind in {"list", "object"} or UNSET in goal.column:
        return
    for key in places(table):
        if key.kind != "text" or not all(isinstance(name, str) for name in key.column):
            continue
        entries: dict[str, Hashable] = {}
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(key.column):
            entries.setdefault(name, goal.key[row])
            rows.setdefault(name, []).append(row)
        if not 2 < len(entries) <= _MOST_ENTRIES or any(len(found) < _LEAST for found in rows.values()):
            continue
        if all(entries[name] == goal.key[row] for row, name in enumerate(key.column)):
            yield _table(table, goal, key, {name: found[0] for name, found in rows.items()})


def _table(table: Table, goal: Goal, key: Term, first: dict[str, int]) -> Term:
    pairs = {name: goal.column[row] for name, row in sorted(first.items())}
    source = f"{literal(pairs)}[{key.source}]"
    fitted = int(sum(map(information, pairs.values())))
    made = table.made(source, goal.column, (key,), Level.MEMBER, 2 * len(pairs))
    return Term(source, made.column, made.cost, made.level, made.leaves, fitted)


def choices(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """`condition ? a : b`, both plain."""
    if not _may_choose(table, goal):
        return
    partial = _partial(table, goal)
    for first, hits in partial:
        for second, others in partial:
            if hits | others == (1 << table.size) - 1 and second is not first:
                yield from _chosen(table, goal, first, hits, second, others)
        if table.budget.spent:
            return


def _may_choose(table: Table, goal: Goal) -> bool:
    return goal.distinct > 1 and goal.kind != "boolean" and table.size >= 2 * _LEAST


def nested(table: Table, goal: Goal, solver: Solver) -> Iterator[Term]:
    """`condition ? a : b`, where `a` is plain and `b` is not: perhaps a choice again."""
    inner = solver.deeper()
    if _may_choose(table, goal) and inner is not None:
        yield from _nested(table, goal, inner, _MOST_NESTED)


def _nested(table: Table, goal: Goal, inner: Solver, levels: int) -> Iterator[Term]:
    for first, hits in islice(_partial(table, goal), _MOST_LEADS):
        rest = [row for row in range(table.size) if not hits >> row & 1]
        if len(rest) < _LEAST or table.budget.spent:
            continue
        found = False
        for second, others in _solved(table, goal, rest, inner, levels):
            for made in _chosen(table, goal, first, hits, second, others):
                found = True
                yield made
        if found:
            return


def _partial(table: Table, goal: Goal) -> list[tuple[Term, int]]:
    """Plain terms that meet the goal in some rows, those that meet it in most first."""
    found: dict[int, Term] = {}
    for term in _candidates(table, goal):
        hits = _hits(term, goal)
        if hits.bit_count() >= _LEAST:
            known = found.get(hits)
            if known is None or term.order < known.order:
                found[hits] = term
    ranked = sorted(found.items(), key=lambda pair: (-pair[0].bit_count(), pair[1].order))
    return [(term, hits) for hits, term in ranked[:_MOST_PARTIAL]]


def _hits(term: Term, goal: Goal) -> int:
    """The rows in which a term meets the goal."""
    given, wanted = term.places, goal.places
    hits = 0
    for key in given.keys() & wanted.keys():
        hits |= given[key] & wanted[key]
    return hits


def _candidates(table: Table, goal: Goal) -> Iterator[Term]:
    counts: dict[Hashable, list[int]] = {}
    for row, key in enumerate(goal.key):
        counts.setdefault(key, []).append(row)
    often = sorted(counts.values(), key=lambda rows: -len(rows))[:_MOST_VALUES]
    for rows in often:
        value = goal.column[rows[0]]
        if value is not UNSET and len(rows) >= _LEAST:
            constant = table.constant(value, fitted=int(information(value)))
            if constant is not None:
                yield constant
    yield from places(table)
    if goal.kind == "text":
        yield from texts(table)
    elif goal.kind == "number":
        yield from numbers(table)
    elif goal.kind == "list":
        yield from sequences(table)


def _solved(table: Table, goal: Goal, rows: list[int], inner: Solver, levels: int) -> Iterator[tuple[Term, int]]:
    """Explanations of some of the rows, with the rows they meet the goal in."""
    narrow, part = table.narrowed(rows), Goal([goal.column[row] for row in rows])
    found = inner.solve(narrow, part, stages=_NESTED_STAGES)[:2]
    if not found and levels > 1 and _may_choose(narrow, part):
        found = list(islice(_nested(narrow, part, inner, levels - 1), 2))
    for term in found:
        whole = everywhere(table, term)
        yield whole, _hits(whole, goal)


def _chosen(table: Table, goal: Goal, first: Term, hits: int, second: Term, others: int) -> Iterator[Term]:
    """The choice between two terms by the plainest condition that tells where which is right."""
    everything = (1 << table.size) - 1
    if hits | others != everything:
        return
    yes = [row for row in range(table.size) if not others >> row & 1]
    no = [row for row in range(table.size) if not hits >> row & 1]
    if len(yes) < _LEAST or len(no) < _LEAST:
        return
    for one, other, where, elsewhere in ((first, second, yes, no), (second, first, no, yes)):
        plain = [term for term in conditions(table, where, elsewhere, limit=3) if not _negative(term)]
        for condition in plain[:2]:
            made = choice(table, condition, one, other)
            if goal.met(made):
                yield made


def _negative(condition: Term) -> bool:
    return condition.source.startswith("!") or (" != " in condition.source and "&&" not in condition.source)


def cases(table: Table, goal: Goal, solver: Solver) -> Iterator[Term]:
    """`path == 'a' ? … : path == 'b' ? … : …`: each of a few cases has an explanation of its own."""
    inner = solver.deeper()
    if inner is None or goal.distinct < 2 or goal.kind == "boolean":
        return
    tried = 0
    for key in places(table):
        groups = _groups(key) if table.concerns(key) else None
        if groups is None or tried >= _MOST_KEYS or table.budget.spent:
            continue
        tried += 1
        parts = []
        for rows in groups:
            best = inner.best(table.narrowed(rows), Goal([goal.column[row] for row in rows]), stages=_CASE_STAGES)
            if best is None:
                break
            parts.append(best)
        if len(parts) == len(groups):
            made = _in_cases(table, key, groups, parts)
            if goal.met(made):
                yield made


def _groups(key: Term) -> list[list[int]] | None:
    """The rows by the value of a path that has few, the most frequent last."""
    if key.kind not in {"text", "boolean"}:
        return None
    groups: dict[Hashable, list[int]] = {}
    for row, value in enumerate(key.key):
        groups.setdefault(value, []).append(row)
    if not 2 <= len(groups) <= _MOST_CASES or UNSET in groups or None in groups:
        return None
    if any(len(rows) <= _LEAST for rows in groups.values()):
        return None
    return sorted(groups.values(), key=lambda rows: (len(rows), rows))


def _in_cases(table: Table, key: Term, groups: list[list[int]], parts: list[Term]) -> Term:
    whole = [everywhere(table, part) for part in parts]
    made = whole[-1]
    for rows, part in reversed(list(zip(groups[:-1], whole[:-1], strict=True))):
        value = key.column[rows[0]]
        constant = table.constant(value, fitted=int(information(value)))
        if key.kind == "boolean" or constant is None:
            condition = key
            made = choice(table, condition, part, made) if value is True else choice(table, condition, made, part)
        else:
            made = choice(table, table.infix("==", key, constant), part, made)
    return made
