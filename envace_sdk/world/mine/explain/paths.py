"""Paths: every place of the scopes that an expression can name."""

from __future__ import annotations

from envace_sdk.json import UNSET

from .table import Table
from .term import Term

__all__ = ["inside", "paths"]

_MOST_PATHS = 240
_MAX_DEPTH = 6
_MAX_MEMBERS = 60
_MAX_INDEX = 1
"""Elements of a list that get a path each."""


def paths(table: Table) -> list[Term]:
    """Every path that leads somewhere, simplest first."""
    found: list[Term] = table.fact("paths", _paths)
    return found


def _paths(table: Table) -> list[Term]:
    names = dict.fromkeys(name for scope in table.scopes for name in scope)
    level = [
        Term(name, tuple(scope.get(name, UNSET) for scope in table.scopes), 0, leaves=(name,)) for name in sorted(names)
    ]
    # What holds everything else is worth no name of its own, unless it is a value.
    found = [_named(term) for term in level]
    for _ in range(_MAX_DEPTH):
        deeper: list[Term] = []
        for term in sorted(level, key=lambda term: term.order):
            if len(found) + len(deeper) < _MOST_PATHS:
                deeper.extend(inside(table, term))
        found.extend(deeper)
        level = deeper
    return sorted(found[:_MOST_PATHS], key=lambda term: term.order)


def _named(term: Term) -> Term:
    return Term(term.source, term.column, 1, term.level, term.leaves)


def inside(table: Table, term: Term) -> list[Term]:
    """What lies directly below a path."""
    kind = term.kind
    if kind == "object":
        counts: dict[str, int] = {}
        for value in term.column:
            if isinstance(value, dict):
                for name in value:
                    counts[name] = counts.get(name, 0) + 1
        # Names that hardly ever occur are data, not fields; what is optional in a call is still a field.
        rare = 1 if len(counts) <= _MAX_MEMBERS else max(2, table.size // 4)
        names = [name for name, count in counts.items() if count >= rare]
        if len(names) > _MAX_MEMBERS:
            # What never varies explains nothing.
            names.sort(key=lambda name: not _varies(term, name))
            names = names[:_MAX_MEMBERS]
        return [table.member(term, name) for name in names]
    if kind == "list":
        made = []
        for place in range(_MAX_INDEX):
            index = table.constant(place)
            if index is not None and any(isinstance(value, list) and len(value) > place for value in term.column):
                at = table.element(term, index)
                made.append(Term(at.source, at.column, term.cost + 1, at.level, (at.source,)))
        return made
    return []


def _varies(term: Term, name: str) -> bool:
    seen = [value.get(name, UNSET) for value in term.column if isinstance(value, dict)]
    return any(value != seen[0] for value in seen)
