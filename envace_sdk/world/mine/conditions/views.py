"""Tests of what a text says in another form: without regard to case, and the parts of a path."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator

from ...expressions.paths import base_name, dir_name, extension
from .atoms import Atom, both
from .columns import Column, Table, packed

__all__ = ["view_pair_atoms", "views"]

MAX_VIEWED = 10
MAX_TEXT = 1000
"""Longer texts are contents, not names."""
_PATH = re.compile(r"[^\s/]*/[^\n]*")
_PARTS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("dirname", dir_name),
    ("basename", base_name),
    ("extname", extension),
)


def views(table: Table) -> Table:
    """Columns of lower-case texts and of the parts of paths; they have a value in every row."""
    made: list[Column] = []
    for column in [column for column in table.columns if column.kind == "text"][:MAX_VIEWED]:
        if any(len(text) > MAX_TEXT for text in column.texts):
            continue
        if any(_PATH.fullmatch(text) for text in column.texts):
            made += [_view(column, name, [apply(text) for text in column.texts]) for name, apply in _PARTS]
        lowered = [_lower(text) for text in column.texts]
        if len(set(lowered)) < len(set(column.texts)):
            made.append(_view(column, "lowerAscii", lowered))
    return _Views(table, made)


class _Views(Table):
    """A table of computed columns over the rows of another."""

    def __init__(self, table: Table, columns: list[Column]) -> None:
        super().__init__(table.rows)
        self.__dict__["columns"] = columns


def _view(column: Column, name: str, values: list[str]) -> Column:
    return Column((*column.path, name), list(values), f"{name}({column.value(repr(''))})")


def _lower(text: str) -> str:
    return "".join(sign.lower() if sign.isascii() else sign for sign in text)


def view_pair_atoms(table: Table, viewed: Table) -> Iterator[Atom]:
    """`dirname(path) == path` and its kin: of a view and a text, and of two views of the same kind."""
    plain = [column for column in table.columns if column.kind == "text"][: 2 * MAX_VIEWED]
    for place, view in enumerate(viewed.columns):
        others = [column for column in plain if column.path != view.path[:-1] and view.path[-1] != "lowerAscii"]
        same = [other for other in viewed.columns[place + 1 :] if other.path[-1] == view.path[-1]]
        for other in (*others, *same):
            rows = packed(map(operator.eq, view.keys, other.keys))
            cost = 2 + view.cost + other.cost - bool(set(view.path[-2:-1]) & set(other.path))
            sides = f"{view.source} == {other.plain}", f"{view.source} != {other.plain}"
            yield from both(table.all, *sides, rows, cost)
