"""A table: one row per example, one column per expression; it computes what the language itself would."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from envace_sdk.errors import EnvaceError
from envace_sdk.json import UNSET, Json

from ...clock import parse_time
from ...expressions.access import contains, element, member
from ...expressions.arithmetic import ARITHMETIC, COMPARISONS
from ...expressions.failure import AbsentError
from ...expressions.functions import FUNCTIONS
from ...expressions.scope import MAX_STEPS, Scope
from ...expressions.values import equal
from ...state import State
from .budget import Budget
from .column import FAILED, Column, taking
from .evidence import signatures
from .term import Term
from .writing import Level, literal, literal_cost, select

__all__ = ["Table", "joined_leaves"]

_NOWHERE = State()
_SHARED = ("paths", "lookups", "places", "sequences", "numbers", "texts", "times")
"""Facts that are terms, whose values are as well known in some of the rows."""
_NAMES = "xyzuvwpqrst"
_LEVELS = {"+": Level.SUM, "-": Level.SUM, "*": Level.PRODUCT, "/": Level.PRODUCT, "%": Level.PRODUCT}
_METHODS = frozenset({
    "contains", "startsWith", "endsWith", "lowerAscii", "upperAscii", "trim", "capitalize", "split", "join", "replace",
    "substring", "indexOf", "lastIndexOf", "getFullYear", "getMonth", "getDate", "getDayOfWeek", "getHours",
    "getMinutes",
})  # fmt: skip
"""Functions that read better after a dot."""


class Table:
    """The scopes of the examples, and terms over them."""

    def __init__(
        self, scopes: Sequence[Mapping[str, Json]], budget: Budget | None = None, focus: str | None = None
    ) -> None:
        self.scopes = [timed(scope) for scope in scopes]
        self.budget = budget or Budget()
        self.focus = focus
        """The name that it is all about, if there is one: that of the elements, in a table of them."""
        self.facts: dict[str, Any] = {}
        """What the families have found out about these scopes, by the name of the family."""
        self._scope = Scope({}, _NOWHERE)

    @cached_property
    def distinct(self) -> int:
        """How many rows differ from each other."""
        return len(set(self.signatures))

    @cached_property
    def signatures(self) -> list[Hashable]:
        """What tells the rows apart, besides the time, as far as it lies at hand."""
        return signatures(self.scopes)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.scopes)

    def narrowed(self, rows: Sequence[int]) -> Table:
        """Some of the rows as a table."""
        made = Table([self.scopes[row] for row in rows], self.budget, self.focus)
        known = self.signatures
        made.signatures = [known[row] for row in rows]
        taken = taking(rows)
        # A term that is in several facts stays one, and its key is made once.
        same: dict[int, Term] = {}
        for name in _SHARED:
            if name in self.facts:
                self.budget.spend(len(self.facts[name]) * len(rows) // 8)
                for term in self.facts[name]:
                    if id(term) not in same:
                        same[id(term)] = term.of_rows(taken)
                made.facts[name] = [same[id(term)] for term in self.facts[name]]
        return made

    def fact(self, name: str, find: Callable[[Table], Any]) -> Any:
        """Something about the scopes that is found once."""
        if name not in self.facts:
            self.facts[name] = find(self)
        return self.facts[name]

    def concerns(self, *terms: Term) -> bool:
        """Whether one of the terms reads what the table is about."""
        focus = self.focus
        if focus is None:
            return True
        return any(leaf == focus or leaf.startswith((f"{focus}.", f"{focus}[")) for t in terms for leaf in t.leaves)

    def unused_name(self) -> str:
        """A short name that the scopes do not have."""
        taken = {name for scope in self.scopes for name in scope}
        return next((name for name in _NAMES if name not in taken), "element")

    def constant(self, value: Json, *, fitted: int = 0) -> Term | None:
        """A literal; None for a number that has none."""
        source = literal(value)
        if source is None:
            return None
        level = Level.UNARY if source.startswith("-") else Level.MEMBER
        return Term(source, (value,) * self.size, literal_cost(value), level, (), fitted)

    def rows(self, run: Callable[..., Any], columns: Sequence[Column]) -> Column:
        """A function of the language on each row: what it needs that is absent makes its value absent."""
        first = columns[0][0] if columns and columns[0] else None
        self.budget.spend(self.size * (1 + (len(first) >> 11 if isinstance(first, str | list) else 0)))
        self._scope.steps = MAX_STEPS
        made: list[Any] = []
        if len(columns) == 1:
            for value in columns[0]:
                if value is UNSET or value is FAILED:
                    made.append(value)
                    continue
                try:
                    made.append(run(value))
                except AbsentError:
                    made.append(UNSET)
                except EnvaceError:
                    made.append(FAILED)
            return tuple(made)
        for values in zip(*columns, strict=True):
            for value in values:
                if value is UNSET or value is FAILED:
                    made.append(value)
                    break
            else:
                try:
                    made.append(run(*values))
                except AbsentError:
                    made.append(UNSET)
                except EnvaceError:
                    made.append(FAILED)
        return tuple(made)

    def call(self, name: str, *terms: Term, cost: int = 1) -> Term:
        """A function of the language."""
        column = self.rows(partial(FUNCTIONS[name].run, self._scope), [term.column for term in terms])
        first, *rest = terms
        if name in _METHODS:
            inner = ", ".join(term.source for term in rest)
            source = f"{first.at(Level.MEMBER)}.{name}({inner})"
        else:
            source = f"{name}({', '.join(term.source for term in terms)})"
        return self.made(source, column, terms, Level.MEMBER, cost)

    def infix(self, operator: str, left: Term, right: Term) -> Term:
        """Arithmetic and comparison."""
        if operator in _LEVELS:
            run, level = ARITHMETIC[operator], _LEVELS[operator]
        else:
            run, level = _comparison(operator), Level.RELATION
        column = self.rows(run, [left.column, right.column])
        tighter = Level(level + 1)
        associative = operator == "+" and right.level == Level.SUM and right.kind in {"text", "list"}
        last = right.at(level if associative else tighter)
        source = f"{left.at(level if level != Level.RELATION else tighter)} {operator} {last}"
        return self.made(source, column, (left, right), level, 1)

    def member(self, base: Term, name: str) -> Term:
        """A member of an object, as a path of its own where the object is one."""
        source = select(base.at(Level.MEMBER), name)
        column = self.rows(lambda value: member(value, name, ""), [base.column])
        leaves = (source,) if base.leaves == (base.source,) else base.leaves
        return Term(source, column, base.cost + 1, Level.MEMBER, leaves, base.fitted)

    def element(self, base: Term, index: Term) -> Term:
        """An element of a list, or a member of an object by a computed name."""
        source = f"{base.at(Level.MEMBER)}[{index.source}]"
        column = self.rows(lambda value, place: element(value, place, ""), [base.column, index.column])
        return self.made(source, column, (base, index), Level.MEMBER, 0)

    def made(self, source: str, column: Column, parts: Sequence[Term], level: Level, cost: int) -> Term:
        """A term of parts: its own cost is added to theirs."""
        fitted = 0
        for part in parts:
            cost += part.cost
            fitted += part.fitted
        return Term(source, column, cost, level, joined_leaves(parts), fitted)


def joined_leaves(parts: Sequence[Term]) -> tuple[str, ...]:
    """The paths that the parts read."""
    if len(parts) == 1:
        return parts[0].leaves
    return tuple(dict.fromkeys([leaf for part in parts for leaf in part.leaves]))


def _comparison(operator: str) -> Callable[[Any, Any], bool]:
    if operator == "==":
        return equal
    if operator == "in":
        return _inside
    if operator == "!=":
        return lambda left, right: not equal(left, right)
    return COMPARISONS[operator]


def _inside(item: Any, container: Any) -> bool:
    return contains(item, container, Scope({}, _NOWHERE))


def timed(scope: Mapping[str, Json]) -> Mapping[str, Any]:
    """The names as expressions see them: "now" is a time, not a text."""
    now = scope.get("now")
    time = parse_time(now) if isinstance(now, str) else None
    return scope if time is None else {**scope, "now": time}
