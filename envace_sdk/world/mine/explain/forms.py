"""Forms of the language that are no functions: `default`, `has`, choices, logic, list and object literals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from envace_sdk.json import UNSET

from .column import FAILED, Column
from .table import Table
from .term import Term
from .verify import values
from .writing import Level, literal

__all__ = ["choice", "default", "everywhere", "has", "joined", "keyed", "listed", "negated", "record"]


def default(table: Table, term: Term, otherwise: Term) -> Term:
    """`default(term, otherwise)`."""
    column = tuple(
        other if value is UNSET or value is None else value
        for value, other in zip(term.column, otherwise.column, strict=True)
    )
    source = f"default({term.source}, {otherwise.source})"
    return table.made(source, column, (term, otherwise), Level.MEMBER, 1)


def everywhere(table: Table, term: Term) -> Term:
    """A term that was found in some of the rows, in all of them."""
    table.budget.spend(table.size)
    return term.with_column(tuple(values(term.source, table.scopes)))


def has(table: Table, term: Term) -> Term:
    """`has(term)`."""
    column = tuple(FAILED if value is FAILED else value is not UNSET for value in term.column)
    return table.made(f"has({term.source})", column, (term,), Level.MEMBER, 1)


def negated(table: Table, term: Term) -> Term:
    """`!term`."""
    column = tuple(value if value is UNSET or value is FAILED else not value for value in term.column)
    return table.made(f"!{term.at(Level.UNARY)}", column, (term,), Level.UNARY, 1)


def joined(table: Table, operator: str, terms: Sequence[Term]) -> Term:
    """`a && b`, `a || b`: what one side decides stands."""
    deciding = operator == "||"
    level = Level.OR if deciding else Level.AND
    column = tuple(_decided(values, deciding) for values in zip(*[term.column for term in terms], strict=True))
    source = f" {operator} ".join(term.at(Level(level + 1)) for term in terms)
    return table.made(source, column, terms, level, len(terms) - 1)


def _decided(values: tuple[Any, ...], deciding: bool) -> Any:
    if any(value is deciding for value in values):
        return deciding
    return next((value for value in values if value is UNSET or value is FAILED), not deciding)


def choice(table: Table, condition: Term, yes: Term, no: Term) -> Term:
    """`condition ? yes : no`."""
    column = tuple(
        test if test is UNSET or test is FAILED else one if test else other
        for test, one, other in zip(condition.column, yes.column, no.column, strict=True)
    )
    source = f"{condition.at(Level.OR)} ? {yes.at(Level.OR)} : {no.source}"
    return table.made(source, column, (condition, yes, no), Level.CHOICE, 1)


def listed(table: Table, terms: Sequence[Term]) -> Term:
    """`[a, b]`."""
    column = _whole(terms, list)
    return table.made(f"[{', '.join(term.source for term in terms)}]", column, terms, Level.MEMBER, 1)


def record(table: Table, members: dict[str, Term]) -> Term:
    """`{'name': term, …}`."""
    names = list(members)
    column = _whole(list(members.values()), lambda values: dict(zip(names, values, strict=True)))
    source = f"{{{', '.join(f'{literal(name)}: {term.source}' for name, term in members.items())}}}"
    return table.made(source, column, list(members.values()), Level.MEMBER, 1)


def keyed(table: Table, key: Term, value: Term) -> Term:
    """`{key: value}` with a computed name."""
    column = _whole([key, value], lambda pair: {str(pair[0]): pair[1]})
    return table.made(f"{{{key.source}: {value.source}}}", column, (key, value), Level.MEMBER, 1)


def _whole(terms: Sequence[Term], make: Callable[[tuple[Any, ...]], Any]) -> Column:
    return tuple(
        next((value for value in values if value is UNSET or value is FAILED), None)
        if any(value is UNSET or value is FAILED for value in values)
        else make(values)
        for values in zip(*[term.column for term in terms], strict=True)
    )
