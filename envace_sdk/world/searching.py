"""Searches: filters, order and pages over one collection."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import TypeAlias

from envace_sdk.json import UNSET, Json

from .collection import Collection
from .dynamics import Filter, ToolRule
from .expressions import Scope
from .filtering import Test, alternatives, effort, is_time, test
from .formula import Formula
from .index import Entry
from .keys import get_path
from .ordering import Order, parse_order
from .refusal import RefusedError
from .shown import shown

__all__ = ["Page", "Search"]

_Active: TypeAlias = tuple[Filter, Json]
"""A filter, and the argument that was given for it."""
_Chosen: TypeAlias = tuple[_Active, list[Json], int]
"""The filter that an index answers with the fewest entities, the values to look up, and how many there are."""
_Tests: TypeAlias = list[tuple[Test, int]]

_MAX_ALTERNATIVES = 100
"""Values that are looked up in an index for one filter; more are compared with every entity instead."""
_CURSOR = re.compile(r"([so]):(\d{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Page:
    """What a search found."""

    entries: list[Entry]
    total: int | None
    """How many match before paging; None when nobody asked."""
    next: str | None
    """The cursor of what follows, if anything does and somebody asked."""


class Search:
    """The compiled search of a tool's rule."""

    def __init__(self, rule: ToolRule, place: str) -> None:
        self._filters = [(argument, narrowing) for argument, narrowing in rule.filters.items()]
        self._where = Formula(rule.where, f"{place}.where") if rule.where is not None else None
        self._order = Order(rule.order_by)
        self._sort = _maybe(rule.sort, f"{place}.sort")
        self._limit = _maybe(rule.limit, f"{place}.limit")
        self._offset = _maybe(rule.offset, f"{place}.offset")
        self._cursor = _maybe(rule.cursor, f"{place}.cursor")
        self._counted = rule.returns.count is not None
        self._continued = rule.returns.next is not None

    def run(self, name: str, scope: Scope, arguments: Json) -> Page:
        """The page that the arguments ask for.

        Raises:
            DynamicsError: an expression cannot be computed.
            RefusedError: the cursor, the limit or the offset makes no sense.
            ExhaustedError: it would look at too much.
        """
        collection = scope.collection(name)
        scope.reads.add((name, None))
        active = [
            (narrowing, value)
            for argument, narrowing in self._filters
            if _given(value := get_path(arguments, argument))
        ]
        wish = self._sort.optional(scope) if self._sort is not None else None
        order = parse_order(wish).before(self._order, collection) if _given(wish) else self._order
        limit = _count(self._limit, scope, "limit")
        after, skip = self._position(scope, ordered=bool(order))
        if order:
            return self._ordered(collection, active, order, scope, limit, skip)
        return self._unordered(collection, active, scope, limit, after, skip)

    def _position(self, scope: Scope, *, ordered: bool) -> tuple[int, int]:
        """The sequence number after which to go on, and how many to leave out."""
        skip = _count(self._offset, scope, "offset") or 0
        given = self._cursor.optional(scope) if self._cursor is not None else None
        if not _given(given) or given == "":
            return -1, skip
        kind, number = _decoded(given)
        if kind != ("o" if ordered else "s"):
            raise RefusedError("validation_error", f"Invalid cursor {shown(given)}")
        return (-1, skip + number) if ordered else (number, skip)

    def _unordered(
        self,
        collection: Collection,
        active: list[_Active],
        scope: Scope,
        limit: int | None,
        after: int,
        skip: int,
    ) -> Page:
        chosen = _indexed(collection, active)
        tests = _tests(active, chosen)
        plain = not tests and self._where is None
        total: int | None = None
        if self._counted and plain:
            total = len(collection) if chosen is None else chosen[2]
        if self._counted and not plain:
            everything = list(self._matching(_candidates(collection, chosen, -1, 0), tests, scope))
            total = len(everything)
            found: Iterator[Entry] = (entry for entry in everything if entry.sequence > after)
        elif plain and chosen is None:
            found, skip = self._matching(_candidates(collection, None, after, skip), tests, scope), 0
        else:
            found = self._matching(_candidates(collection, chosen, after, 0), tests, scope)
        entries = list(islice(found, skip, None if limit is None else skip + limit + self._continued))
        more = limit is not None and len(entries) > limit
        entries = entries[:limit]
        following = _encoded("s", entries[-1].sequence) if more and entries else None
        return Page(entries, total, following)

    def _ordered(
        self,
        collection: Collection,
        active: list[_Active],
        order: Order,
        scope: Scope,
        limit: int | None,
        skip: int,
    ) -> Page:
        if not active and self._where is None:
            total, listing = len(collection), order.listing(collection)
        else:
            chosen = _indexed(collection, active)
            tests = _tests(active, chosen)
            found = order.sorted(list(self._matching(_candidates(collection, chosen, -1, 0), tests, scope)))
            total, listing = len(found), iter(found)
        end = total if limit is None else min(skip + limit, total)
        entries = list(islice(listing, min(skip, total), end))
        scope.spend(len(entries))
        more = self._continued and limit is not None and end < total and limit > 0
        return Page(entries, total if self._counted else None, _encoded("o", end) if more else None)

    def _matching(self, candidates: Iterator[Entry], tests: _Tests, scope: Scope) -> Iterator[Entry]:
        where, names = self._where, scope.names
        before = names.get("entity")
        cost = 1 + sum(cost for _, cost in tests)
        checks = [passes for passes, _ in tests]
        for entry in candidates:
            scope.spend(cost)
            document = entry.document
            if not all(passes(document) for passes in checks):
                continue
            if where is not None:
                names["entity"] = document
                holds = where.holds(scope)
                names["entity"] = before
                if not holds:
                    continue
            yield entry


def _tests(active: list[_Active], chosen: _Chosen | None) -> _Tests:
    """What is left to look at, each with its cost: a list of alternatives is gone through for every entity."""
    left = [pair for pair in active if chosen is None or pair is not chosen[0]]
    return [(test(*pair), effort(*pair)) for pair in left]


def _maybe(source: str | None, place: str) -> Formula | None:
    return Formula(source, place) if source is not None else None


def _given(value: Json) -> bool:
    return value is not UNSET and value is not None


def _count(formula: Formula | None, scope: Scope, name: str) -> int | None:
    """A limit or an offset: a whole number, also as text; none when absent or null."""
    value = formula.optional(scope) if formula is not None else None
    if not _given(value) or value == "":
        return None
    try:
        number = int(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else -1
    except (ValueError, OverflowError):
        number = -1
    if number < 0:
        raise RefusedError("validation_error", f"Invalid {name} {shown(value)}: it must be a whole number, 0 or more")
    return min(number, 2**53)


def _indexed(collection: Collection, active: list[_Active]) -> _Chosen | None:
    best: _Chosen | None = None
    for pair in active:
        narrowing, wanted = pair
        if narrowing.op not in {"equals", "in"} or narrowing.any_of:
            continue
        values = alternatives(narrowing, wanted)
        if len(values) > _MAX_ALTERNATIVES:
            continue
        total = sum(collection.count(narrowing.field, value) for value in values)
        if (total == 0 or isinstance(wanted, list)) and any(map(is_time, values)):
            continue  # the field may hold the same time in other words
        if best is None or total < best[2]:
            best = (pair, values, total)
    return best


def _candidates(collection: Collection, chosen: _Chosen | None, after: int, skip: int) -> Iterator[Entry]:
    if chosen is None:
        return collection.entries(after=after, skip=skip)
    (narrowing, _), values, _ = chosen
    found = [collection.find_entries(narrowing.field, value, after=after) for value in values]
    return found[0] if len(found) == 1 else merge(*found, key=_sequence)


def _sequence(entry: Entry) -> int:
    return entry.sequence


def _encoded(kind: str, number: int) -> str:
    return base64.urlsafe_b64encode(f"{kind}:{number}".encode()).decode().rstrip("=")


def _decoded(cursor: Json) -> tuple[str, int]:
    text = cursor if isinstance(cursor, str) and len(cursor) <= 40 else ""
    try:
        found = _CURSOR.fullmatch(base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True).decode())
    except (ValueError, UnicodeError):
        found = None
    if found is None:
        raise RefusedError("validation_error", f"Invalid cursor {shown(cursor)}")
    return found[1], int(found[2])
