"""Tests of texts: what they contain, start and end with, and whether they are numbers or blank."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import permutations
from typing import cast

from .atoms import Atom, both, guarded
from .columns import Column, Table, packed, unpacked
from .single import constant

__all__ = ["TextTests", "text_pair_atoms"]

MAX_TEXTS = 24
MAX_PIECES = 8
MAX_PIECE = 30
MAX_LOOKED = 400
"""Characters of a text in which pieces are looked for."""
_SIGNS = ("/", "..", ".", "@", " ", "-", "_", ":", "*", "\\", "~", ",", "\n", "?", "#", "$", "%", "&", "(", "[", "{")
_DIGITS = re.compile("[0-9]+")
_LETTERS = re.compile("[A-Za-z]+")
_TOKEN = re.compile(r"[^\W_]{2,}")
_HEAD = re.compile(r"[^\W_]*[\W_]|[^\W\d_]{2,}(?=\d)")
_TAIL = re.compile(r"[\W_][^\W_]*\Z")
TESTS: dict[str, Callable[[str, str], bool]] = {
    "contains": operator.contains,
    "startsWith": cast("Callable[[str, str], bool]", str.startswith),
    "endsWith": cast("Callable[[str, str], bool]", str.endswith),
}


def _columns(table: Table) -> list[Column]:
    return [column for column in table.columns if column.kind == "text"][:MAX_TEXTS]


class TextTests:
    """Tests of one text against constants; each is made once."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._columns = [column for column in _columns(table) if len(column.counts) > 1]
        self._texts = [[text[:MAX_LOOKED] for text in column.texts] for column in self._columns]
        self._made: dict[tuple[int, str, str], list[Atom]] = {}

    def atoms(self, yes: int, no: int) -> list[Atom]:
        """All that hang on no rows, and those of pieces by which these rows differ most."""
        found = list(self._fixed)
        for number, column in enumerate(self._columns):
            for name, cost, holders in self._holders[number]:
                for piece in _telling(holders, yes, no):
                    found += self._test(number, column, name, piece, cost)
            for name, piece in _ends_of(self._texts[number], (yes, no)):
                found += self._test(number, column, name, piece, 4)
        return found

    @cached_property
    def _fixed(self) -> list[Atom]:
        found: list[Atom] = []
        for number, column in enumerate(self._columns):
            everything = "\0".join(map(str, column.counts))
            for sign in _SIGNS:
                if sign in everything:
                    found += self._test(number, column, "contains", sign, 3)
            found += _classes(self._table, column)
        return found

    @cached_property
    def _holders(self) -> list[list[tuple[str, int, dict[str, int]]]]:
        """For each column and kind of test, the rows that have each piece."""
        return [
            [
                ("contains", 5, _rows_with(set(_TOKEN.findall(text)) for text in texts)),
                ("startsWith", 4, _rows_with(_short(_HEAD.match(text)) for text in texts)),
                ("endsWith", 4, _rows_with(_short(_TAIL.search(text)) for text in texts)),
            ]
            for texts in self._texts
        ]

    def _test(self, number: int, column: Column, name: str, piece: str, cost: int) -> list[Atom]:
        known = self._made.get((number, name, piece))
        if known is None:
            test = TESTS[name]
            rows = packed([test(text, piece) for text in column.texts])
            known = self._made[number, name, piece] = _constant(self._table, column, name, piece, rows, cost)
        return known


def _constant(table: Table, column: Column, name: str, piece: str, rows: int, cost: int) -> list[Atom]:
    test = f".{name}({constant(piece)})"
    source, bare = f"{column.value(repr(''))}{test}", f"{column.source}{test}"
    return both(
        table.all, source, f"!{source}", rows, cost + column.cost, bare=(bare, f"!{bare}"), there=column.present
    )


def _classes(table: Table, column: Column) -> list[Atom]:
    value = column.value("''")
    found: list[Atom] = []
    for pattern, source in ((_DIGITS, "[0-9]+"), (_LETTERS, "[A-Za-z]+")):
        rows = packed(pattern.fullmatch(text) is not None for text in column.texts)
        test = f"{value}.matches('^{source}$')"
        found += both(table.all, test, f"!{test}", rows, 4 + column.cost)
    blank = packed(not text.strip() for text in column.texts)
    empty = packed(not text for text in column.texts)
    if not column.solid:
        found += both(table.all, f"{value} == ''", f"{value} != ''", empty, 2 + column.cost)
    if blank != empty:
        found += both(table.all, f"trim({value}) == ''", f"trim({value}) != ''", blank, 3 + column.cost)
    return found


def _ends_of(texts: list[str], sides: Iterable[int]) -> Iterator[tuple[str, str]]:
    """What all texts of one side begin and end with."""
    for side in sides:
        inside = {text for text, is_in in zip(texts, unpacked(side, len(texts)), strict=True) if is_in}
        if len(inside) > 1:
            least, most = min(inside), max(inside)
            yield from _end("startsWith", _common(least, most))
            least, most = min(text[::-1] for text in inside), max(text[::-1] for text in inside)
            yield from _end("endsWith", _common(least, most)[::-1])


def _end(name: str, piece: str) -> Iterator[tuple[str, str]]:
    if 0 < len(piece) <= MAX_PIECE:
        yield name, piece


def _common(one: str, other: str) -> str:
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return one[:place]
    return min(one, other, key=len)


def _short(found: re.Match[str] | None) -> set[str]:
    return {found[0]} if found is not None and len(found[0]) <= MAX_PIECE else set()


def _rows_with(pieces: Iterable[set[str]]) -> dict[str, int]:
    """The rows that have each piece; without pieces that only one has."""
    places: dict[str, list[int]] = {}
    for place, found in enumerate(pieces):
        for piece in found:
            places.setdefault(piece, []).append(place)
    return {piece: sum(1 << place for place in places[piece]) for piece in sorted(places) if len(places[piece]) > 1}


def _telling(holders: dict[str, int], yes: int, no: int) -> list[str]:
    wide = max(yes.bit_count(), 1), max(no.bit_count(), 1)
    scored = [
        (-abs((rows & yes).bit_count() / wide[0] - (rows & no).bit_count() / wide[1]), piece)
        for piece, rows in holders.items()
    ]
    return [piece for _, piece in sorted(scored)[:MAX_PIECES]]


def text_pair_atoms(table: Table) -> Iterable[Atom]:
    """Tests of one text against another."""
    for left, right in permutations(_columns(table), 2):
        present = left.present & right.present
        if not present:
            continue
        cost = 3 + left.cost + right.cost - bool(left.words & right.words)
        for name, test in TESTS.items():
            rows = packed(map(test, left.texts, right.texts)) & present
            if not rows:
                break  # What is not in it is not at its ends either.
            if rows != present:
                yield from _pair(table, left, right, name, rows, cost)


def _pair(table: Table, left: Column, right: Column, name: str, rows: int, cost: int) -> list[Atom]:
    """The other text may be empty, and what is absent has even that neither inside nor at its ends."""
    bare = f"{left.source}.{name}({right.source})"
    source, guards = guarded([left, right], bare)
    present = left.present & right.present
    sides = bare, f"!{bare}"
    return both(table.all, source, f"!({source})", rows, cost + guards, bare=sides, there=present, spare=guards)
