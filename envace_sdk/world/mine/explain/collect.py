"""Terms of one kind, without repetitions."""

from __future__ import annotations

from collections.abc import Iterable

from .column import FAILED, Kind
from .term import Term

__all__ = ["Collection"]


class Collection:
    """Keeps the first term for each column; those of another kind, or that fail somewhere, are not let in."""

    def __init__(self, kind: Kind, most: int) -> None:
        self._kind = kind
        self._most = most
        self._by_key: dict[object, Term] = {}

    def add(self, term: Term) -> bool:
        """Whether the term is new."""
        if len(self._by_key) >= self._most or term.kind != self._kind or FAILED in term.column:
            return False
        if term.key in self._by_key:
            return False
        self._by_key[term.key] = term
        return True

    def extend(self, terms: Iterable[Term]) -> list[Term]:
        """Those of the terms that are new."""
        return [term for term in terms if self.add(term)]

    def terms(self) -> list[Term]:
        """All of them, simplest first."""
        return sorted(self._by_key.values(), key=lambda term: term.order)
