"""A goal: the column that an expression must have."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

from envace_sdk.json import UNSET

from ...expressions.values import to_json_like
from .column import Column, Kind, column_key, kind_of, places_of, value_key
from .term import Term

__all__ = ["Goal"]

_TIMES: Final = (datetime, timedelta)
_TYPES_OF_TIME: Final = frozenset(_TIMES)


class Goal:
    """The targets of the rows of a table."""

    def __init__(self, column: Sequence[Any]) -> None:
        self.column: Column = tuple(column)

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Equal for goals that the same terms meet."""
        return column_key(self.column)

    @cached_property
    def kind(self) -> Kind:
        """What the targets have in common."""
        return kind_of(self.column)

    @cached_property
    def there(self) -> list[int]:
        """The rows that have a target other than null."""
        return [row for row, value in enumerate(self.column) if value is not UNSET and value is not None]

    @cached_property
    def whole(self) -> bool:
        """Whether every row has a target other than null."""
        return len(self.there) == len(self.column)

    @cached_property
    def places(self) -> dict[Hashable, int]:
        """For each of the targets, by key, the rows that have it: a bit each."""
        return places_of(self.key)

    @cached_property
    def distinct(self) -> int:
        """How many different targets there are."""
        return len(set(self.key))

    def met(self, term: Term) -> bool:
        """Whether the term has the targets as its values, once they are JSON."""
        first = term.column[0] if term.column else None
        # Most terms end here.
        if self.key and not isinstance(first, _TIMES) and value_key(first) != self.key[0]:
            return False
        return settled(term.column) == self.key if _timely(term.column) else term.key == self.key


def settled(column: Column) -> tuple[object, ...]:
    """The key of a column after times have become text."""
    return tuple([value_key(to_json_like(value) if isinstance(value, _TIMES) else value) for value in column])


def _timely(column: Column) -> bool:
    return not _TYPES_OF_TIME.isdisjoint({type(value) for value in column})
