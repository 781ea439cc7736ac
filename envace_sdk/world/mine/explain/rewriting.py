"""Texts rewritten: parts replaced, cut out between marks, cut to a length; lists joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .concatenation import common_start
from .goal import Goal
from .pieces import plain_texts
from .selecting import Selection, ends
from .solver import Solver
from .table import Table
from .term import Term

__all__ = ["cuts", "edits", "joins", "parts_between", "replacements", "wrapped"]

_MOST = 16
_MARKS = (" ", "_", "-", "/", ".", ",", ":", "\n", "\t", "&", "'", '"')
_SEPARATORS = ("\n", ", ", ",", " ", "; ", ";", " | ", "|", "/", "-", " -> ", "\n\n", " and ", "', '", '", "')
_JOIN_STAGES = 4
_LONG = 20_000
_MOST_CONTEXT = 24


def _subjects(table: Table, goal: Goal) -> list[Term]:
    """Texts that are there wherever the targets are."""
    if goal.kind != "text" or goal.distinct < 2:
        return []
    return [term for term in plain_texts(table) if all(isinstance(term.column[row], str) for row in goal.there)][:_MOST]


def replacements(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """`text.replace(' ', '_')`."""
    for term in _subjects(table, goal):
        yield from _fixed(table, goal, term)
        lower = table.call("lowerAscii", term)
        if lower.key != term.key:
            yield from _fixed(table, goal, lower)


def edits(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """`text.replace(old, new)` with what is replaced given, and perhaps what replaces it."""
    subjects = _subjects(table, goal)
    for term in subjects:
        for old in subjects:
            if old is not term and not table.budget.spent:
                yield from _given(table, goal, term, old, subjects)


def _fixed(table: Table, goal: Goal, base: Term) -> Iterator[Term]:
    pairs = [(base.column[row], goal.column[row]) for row in goal.there]
    for mark in _MARKS:
        if not any(mark in whole for whole, _ in pairs):
            continue
        new = _replacement(pairs, [mark] * len(pairs))
        if new is not None and new != mark:
            old, constant = table.constant(mark, fitted=4), table.constant(new, fitted=4)
            if old is not None and constant is not None:
                made = table.call("replace", base, old, constant)
                if goal.met(made):
                    yield made


def _given(table: Table, goal: Goal, term: Term, old: Term, subjects: Sequence[Term]) -> Iterator[Term]:
    rows = [row for row in goal.there if old.column[row] and old.column[row] in term.column[row]]
    if len(rows) < 2:
        return
    table.budget.spend(len(goal.there))
    pairs = [(term.column[row], goal.column[row]) for row in goal.there]
    fixed = _replacement(pairs, [old.column[row] for row in goal.there])
    constant = table.constant(fixed, fitted=4) if fixed is not None else None
    first = rows[0]
    whole, before, target = term.column[first], old.column[first], goal.column[first]
    for new in [constant] if constant is not None else subjects:
        # Most candidates end here.
        if target in {whole.replace(before, new.column[first]), whole.replace(before, new.column[first], 1)}:
            one = table.constant(1)
            for made in (
                table.call("replace", term, old, new),
                *([table.call("replace", term, old, new, one)] if one is not None else []),
            ):
                if goal.met(made):
                    yield made
                    break


def _replacement(pairs: Sequence[tuple[str, str]], olds: Sequence[str]) -> str | None:
    """The text that must stand in the place of the old one, if there is one."""
    for (whole, target), old in zip(pairs, olds, strict=True):
        count = whole.count(old) if old else 0
        if count:
            size, rest = divmod(len(target) - len(whole) + count * len(old), count)
            at = whole.index(old)
            new = target[at : at + size]
            if rest or size < 0 or whole.replace(old, new) != target:
                return None
            return new if all(a.replace(o, new) == b for (a, b), o in zip(pairs, olds, strict=True) if o) else None
    return None


def cuts(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """The first or last so many characters of a text, or all but the first."""
    for term in _subjects(table, goal):
        if not goal.whole:
            return
        pairs = list(zip(term.column, goal.column, strict=True))
        for chosen in (
            [tuple(range(len(target))) if whole.startswith(target) else None for whole, target in pairs],
            [_tail(len(whole), len(target)) if whole.endswith(target) else None for whole, target in pairs],
        ):
            if None not in chosen and term.key != goal.key:
                selection = Selection(term, tuple(places for places in chosen if places is not None))
                yield from (made for made in ends(table, term, selection) if goal.met(made))


def _tail(size: int, count: int) -> tuple[int, ...]:
    return tuple(range(size - count, size))


def parts_between(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """What stands between two marks: `text.split('name: ', 2)[1].split('\\n')[0]`."""
    for term in _subjects(table, goal):
        triples = []
        for row in goal.there:
            whole, target = term.column[row], goal.column[row]
            at = whole.find(target) if target and len(whole) <= _LONG else -1
            if at < 0:
                break
            triples.append((whole[:at], whole[at + len(target) :]))
        else:
            if table.budget.spent:
                return
            table.budget.spend(len(triples))
            yield from _between(table, goal, term, triples)


def _between(table: Table, goal: Goal, term: Term, contexts: Sequence[tuple[str, str]]) -> Iterator[Term]:
    befores, afters = [before for before, _ in contexts], [after for _, after in contexts]
    lead = _common_end(befores)[-_MOST_CONTEXT:]
    tail = _common_end([after[::-1] for after in afters])[::-1][:_MOST_CONTEXT]
    for begin in _ways(lead, begin=True) if any(befores) else [""]:
        for end in _ways(tail, begin=False) if any(afters) else [""]:
            made = _cut(table, term, begin, end)
            if made is not None and made is not term and goal.met(made):
                yield made
                return


def _ways(context: str, *, begin: bool) -> list[str]:
    """Marks from the common context, shortest first."""
    sizes = sorted({1, 2, 3, len(context)} | set(range(4, len(context) + 1, 4)))
    return [context[-size:] if begin else context[:size] for size in sizes if 0 < size <= len(context)]


def _common_end(texts: Sequence[str]) -> str:
    least = min(texts, key=len)
    for size in range(min(len(least), _MOST_CONTEXT), 0, -1):
        if all(text.endswith(least[len(least) - size :]) for text in texts):
            return least[len(least) - size :]
    return ""


def _cut(table: Table, term: Term, begin: str, end: str) -> Term | None:
    zero, one, two = table.constant(0), table.constant(1), table.constant(2)
    if zero is None or one is None or two is None:
        return None
    made = term
    if begin:
        mark = table.constant(begin, fitted=4)
        if mark is None:
            return None
        made = table.element(table.call("split", made, mark, two), one)
    if end:
        mark = table.constant(end, fitted=4)
        if mark is None:
            return None
        made = table.element(table.call("split", made, mark), zero)
    return made


def joins(table: Table, goal: Goal, solver: Solver) -> Iterator[Term]:
    """`list.join(', ')`: what the targets are when taken apart is a list that can be explained."""
    inner = solver.deeper()
    if goal.kind != "text" or not goal.whole or inner is None or goal.distinct < 2:
        return
    for mark in _SEPARATORS:
        often = sum(mark in text for text in goal.column)
        if often < (1 if mark == "\n" else max(1, table.size // 4)):
            continue
        if table.budget.spent or max(map(len, goal.column)) > _LONG:
            return
        for end in ("", mark):
            if end and not all(text.endswith(end) for text in goal.column if text):
                continue
            parts = [text.removesuffix(end).split(mark) if text else [] for text in goal.column]
            found = inner.best(table, Goal(parts), stages=_JOIN_STAGES)
            separator = table.constant(mark)
            if found is None or separator is None or found.source.startswith("["):
                continue
            made = table.call("join", found, separator)
            if end:
                made = table.infix("+", made, separator)
            if goal.met(made):
                yield made
                return


def wrapped(table: Table, goal: Goal, solver: Solver) -> Iterator[Term]:
    """`'wording' + text + 'wording'`, where the text in between needs more than putting together."""
    inner = solver.deeper()
    if goal.kind != "text" or not goal.whole or inner is None or goal.distinct < 3:
        return
    texts = goal.column
    begin, end = common_start(texts), _common_end(texts)
    size = min(map(len, texts))
    if len(begin) + len(end) > size or not begin + end:
        return
    middle = Goal([text[len(begin) : len(text) - len(end)] for text in texts])
    for term in inner.solve(table, middle, stages=_JOIN_STAGES)[:2]:
        made = term
        for wording, before in ((begin, True), (end, False)):
            constant = table.constant(wording, fitted=min(3 * len(wording), 9)) if wording else None
            if constant is not None:
                made = table.infix("+", constant, made) if before else table.infix("+", made, constant)
        if goal.met(made):
            yield made
