"""Lists: parts of others, sorted, turned, put together, made of values, or with something done to each element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from envace_sdk.json import UNSET

from .column import column_key, kind_of
from .forms import everywhere, listed
from .goal import Goal
from .lookups import places
from .loops import Loop, loop
from .selecting import Selection, aligned, selected
from .sequences import sequences
from .solver import Solver
from .table import Table
from .term import Term

__all__ = ["extensions", "literals", "pipelines", "unions", "whole_lists"]

_MOST_SOURCES = 24
_MOST_LITERAL = 6
_MOST_ROWS = 60
_MOST_FOUND = 1
_ELEMENT_STAGES = 4
_BODY_STAGES = 8


def whole_lists(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """A list as it is, sorted, turned around, or without repetitions."""
    if goal.kind != "list" or not goal.whole:
        return
    for term in sequences(table):
        if goal.met(term):
            yield term
        elif table.budget.spent:
            return
        elif any(len(value) > 1 for value in goal.column):
            sizes = [(len(a), len(b)) for a, b in zip(term.column, goal.column, strict=True) if isinstance(a, list)]
            if len(sizes) == table.size and all(have >= want for have, want in sizes):
                yield from _rearranged(table, goal, term)


def _rearranged(table: Table, goal: Goal, term: Term) -> Iterator[Term]:
    distinct = table.call("distinct", term)
    made = [distinct] if distinct.key != term.key else []
    for base in [term, *made]:
        if any(len(a) != len(b) for a, b in zip(base.column, goal.column, strict=True)):
            continue
        mark = table.constant("-")
        candidates = [base, table.call("sort", base), table.call("reverse", base)]
        if mark is not None:
            candidates.append(table.call("sort", base, mark))
        yield from (candidate for candidate in candidates if goal.met(candidate))


def extensions(table: Table, goal: Goal, solver: Solver) -> Iterator[Term]:
    """A list with something added before or behind: `list + [value]`, `list + list`."""
    inner = solver.deeper()
    if goal.kind != "list" or not goal.whole or inner is None or not any(goal.column):
        return
    known = [term for term in sequences(table)[:_MOST_SOURCES] if all(isinstance(v, list) for v in term.column)]
    for term in known:
        sizes = [len(value) for value in term.column]
        if not any(sizes) or any(size > len(value) for size, value in zip(sizes, goal.column, strict=True)):
            continue
        pairs = list(zip(goal.column, sizes, strict=True))
        if column_key([value[:size] for value, size in pairs]) == term.key:
            for rest in _rest(table, [value[size:] for value, size in pairs], known, inner):
                yield table.infix("+", term, rest)
        if column_key([value[len(value) - size :] for value, size in pairs]) == term.key:
            for rest in _rest(table, [value[: len(value) - size] for value, size in pairs], known, inner):
                if rest.source.startswith("["):
                    yield table.infix("+", rest, term)


def unions(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """`distinct(list + list)`: what is there already is not added again."""
    if goal.kind != "list" or not goal.whole or goal.distinct < 2:
        return
    known = [term for term in sequences(table)[:_MOST_SOURCES] if all(isinstance(v, list) for v in term.column)]
    first = [term for term in known if any(term.column) and _begins(goal, term)]
    single = [listed(table, [term]) for term in places(table) if term.kind in {"text", "number"}]
    for base in first:
        for more in [*known, *single]:
            if more is not base and not table.budget.spent:
                made = table.call("distinct", table.infix("+", base, more))
                if goal.met(made):
                    yield made


def _begins(goal: Goal, term: Term) -> bool:
    return all(
        column_key(want[:1]) == column_key(have[:1]) and len(have) <= len(want) + 2
        for have, want in zip(term.column, goal.column, strict=True)
        if have
    )


def _rest(table: Table, rests: list[list[Any]], known: list[Term], inner: Solver) -> Iterator[Term]:
    goal = Goal(rests)
    if any(rests):
        yield from (term for term in known if goal.met(term))
    if all(len(rest) == 1 for rest in rests):
        one = inner.best(table, Goal([rest[0] for rest in rests]), stages=_ELEMENT_STAGES)
        if one is not None:
            yield listed(table, [one])


def literals(table: Table, goal: Goal, solver: Solver) -> Iterator[Term]:
    """`[a, b]` where all targets are as long."""
    inner = solver.deeper()
    if goal.kind != "list" or not goal.whole or inner is None or goal.distinct < 2:
        return
    size = len(goal.column[0])
    if not 0 < size <= _MOST_LITERAL or any(len(value) != size for value in goal.column):
        return
    parts = []
    for place in range(size):
        best = inner.best(table, Goal([value[place] for value in goal.column]), stages=_ELEMENT_STAGES)
        if best is None:
            return
        parts.append(best)
    yield listed(table, parts)


def pipelines(table: Table, goal: Goal, solver: Solver) -> Iterator[Term]:
    """Elements chosen by a condition, in an order, the first of them, and something made of each."""
    if goal.kind != "list" or not goal.whole or not any(goal.column) or goal.distinct < 2:
        return
    found = 0
    for term in sequences(table)[:_MOST_SOURCES]:
        if table.budget.spent or found >= _MOST_FOUND:
            return
        if not all(isinstance(value, list) for value in term.column):
            continue
        if any(len(have) < len(want) for have, want in zip(term.column, goal.column, strict=True)):
            continue
        for made in _from(table, goal, term, solver):
            if goal.met(made):
                found += 1
                yield made
                break


def _from(table: Table, goal: Goal, over: Term, solver: Solver) -> Iterator[Term]:
    inside = loop(table, over)
    if inside is None:
        return
    tried: set[object] = set()
    for selection in _selections(goal, inside):
        meant = (selection.wanted, selection.unsure)
        if meant in tried:
            continue
        tried.add(meant)
        for chosen in selected(table, selection):
            if goal.met(chosen):
                yield chosen
                return
            mapped = _mapped(table, goal, chosen, solver)
            if mapped is not None:
                yield mapped
                return


def _mapped(table: Table, goal: Goal, chosen: Term, solver: Solver) -> Term | None:
    """`chosen.map(x, …)` with what makes the targets' elements of its own."""
    inner, inside = solver.deeper(), loop(table, chosen)
    if inner is None or inside is None:
        return None
    if any(len(have) != len(want) for have, want in zip(chosen.column, goal.column, strict=True)):
        return None
    wanted = [element for value in goal.column for element in value]
    step = max(1, -(-len(wanted) // _MOST_ROWS))
    rows = list(range(0, len(wanted), step))
    narrow = inside.inner.narrowed(rows)
    part = Goal([wanted[row] for row in rows])
    for body in inner.solve(narrow, part, stages=None if part.kind == "object" else _BODY_STAGES)[:3]:
        if not any(inside.owns(leaf) for leaf in body.leaves):
            continue
        whole = everywhere(inside.inner, body)
        if whole.key == column_key(wanted):
            return inside.map(whole)
    return None


def _selections(goal: Goal, inside: Loop) -> Iterator[Selection]:
    """The ways in which targets can be elements of the list, or tell which element they were made of."""
    over = inside.over
    looks = [term for term in inside.own if term.kind in {"text", "number"} or term.source == inside.variable]
    for look in looks:
        among = [keys or [] for keys in inside.regrouped(look.key)]
        whole = look.source == inside.variable
        for member in _members_of(goal):
            found = _keys(goal, member)
            wanted = [aligned(a, b) for a, b in zip(found, among, strict=True)] if found is not None else [None]
            if None in wanted:
                continue
            chosen = tuple(places for places in wanted if places is not None)
            alike = [row for row, keys in enumerate(among) if _alike(keys)]
            if len(alike) < len(among):
                yield Selection(over, chosen, frozenset(alike))
            if alike and whole and member is None:
                # Equal elements are all taken or none of them, unless they are counted.
                yield Selection(over, chosen)
    yield from _named(goal, inside, looks)
    if all(len(have) == len(want) for have, want in zip(over.column, goal.column, strict=True)):
        yield Selection(over, tuple(tuple(range(len(value))) for value in over.column))


def _named(goal: Goal, inside: Loop, looks: list[Term]) -> Iterator[Selection]:
    """Targets that are texts in which the elements that they were made of are named."""
    if kind_of(element for value in goal.column for element in value) != "text":
        return
    for look in looks:
        if look.kind == "text":
            among = [keys or [] for keys in inside.regrouped(look.column)]
            wanted = [_mentioned(want, names) for want, names in zip(goal.column, among, strict=True)]
            alike = [row for row, names in enumerate(among) if _alike(names)]
            if None not in wanted and len(alike) < len(among):
                chosen = tuple(places for places in wanted if places is not None)
                yield Selection(inside.over, chosen, frozenset(alike))


def _mentioned(found: list[str], names: list[Any]) -> tuple[int, ...] | None:
    """The elements that the texts name, each another one."""
    free = dict(enumerate(names))
    places = []
    for text in found:
        fitting = [place for place, name in free.items() if isinstance(name, str) and name and name in text]
        if not fitting:
            return None
        best = max(fitting, key=lambda place: len(free[place]))
        places.append(best)
        del free[best]
    return tuple(places)


def _alike(keys: list[Any]) -> bool:
    """Whether some elements cannot be told from each other."""
    return len(set(keys)) < len(keys)


def _members_of(goal: Goal) -> list[str | None]:
    """Whether the targets' elements are to be compared themselves, or by one of their members."""
    elements = [element for value in goal.column for element in value]
    if kind_of(elements) != "object":
        return [None]
    return [None, *[name for name in elements[0] if all(isinstance(e, dict) and name in e for e in elements)]]


def _keys(goal: Goal, member: str | None) -> list[list[Any]] | None:
    made = []
    for value in goal.column:
        parts = value if member is None else [element.get(member, UNSET) for element in value]
        if member is not None and any(isinstance(part, bool | list | dict) or part is None for part in parts):
            return None
        made.append(list(column_key(parts)))
    return made
