"""The edits of one document: what is taken from the arguments, set, appended and removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from envace_sdk.errors import DynamicsError, WorldError
from envace_sdk.json import UNSET, Json

from .expressions import Scope, equal
from .formula import Formula
from .keys import Document, get_path, set_path
from .plain import MAX_VALUE_DEPTH
from .shown import shown

__all__ = ["Edits"]

_MAX_NODES = 100_000
"""Values within one value that is written into a document."""

Take = Literal["*"] | list[str] | dict[str, str]


class Edits:
    """The compiled `take`, `set`, `append` and `remove` of a rule or a change.

    All values are computed before the first is written, so that every expression sees the document as it was.
    """

    __slots__ = ("_always", "_append", "_key", "_like", "_place", "_remove", "_set", "_take", "_without", "empty")

    def __init__(
        self,
        take: Take,
        fields: Mapping[str, str],
        append: Mapping[str, str],
        remove: Mapping[str, str],
        *,
        without: frozenset[str],
        place: str,
        like: str | None = None,
        key: Sequence[str] = (),
    ) -> None:
        self._place = place
        self._take: dict[str, str] | None
        if isinstance(take, dict):
            self._take = take
        else:
            self._take = None if take == "*" else {name: name for name in take}
        self._without = without  # arguments that name the entity, which "*" leaves out
        self._set = [(path, Formula(source, f"{place}.set.{path}")) for path, source in fields.items()]
        self._always = frozenset(fields)
        self._append = [(path, Formula(source, f"{place}.append.{path}")) for path, source in append.items()]
        self._remove = [(path, Formula(source, f"{place}.remove.{path}")) for path, source in remove.items()]
        self._like = Formula(like, f"{place}.like") if like is not None else None
        self._key = frozenset(path.split(".")[0] for path in key)
        self.empty = not (take or fields or append or remove or like)

    def gives(self, field: str, source: Json) -> bool:
        """Whether they give this field a value, when values are taken from `source`."""
        if field in self._always:
            return True
        if self._take is None:
            return isinstance(source, dict) and field in source and field not in self._without
        return field in self._take and get_path(source, self._take[field]) is not UNSET

    def _taken(self, source: Json) -> dict[str, Json]:
        if not isinstance(source, dict):
            return {}
        if self._take is None:
            return {name: value for name, value in source.items() if name not in self._without}
        found = [(field, get_path(source, path)) for field, path in self._take.items()]
        return {field: value for field, value in found if value is not UNSET}

    def apply(self, document: Document, source: Json, scope: Scope) -> Document:
        """The edited document; the document itself when nothing is edited.

        Raises:
            DynamicsError: a value cannot be computed, or does not fit into the document.
        """
        copied = self._copied(scope)
        taken = self._taken(source)
        values = [(path, formula(scope)) for path, formula in self._set]
        appended = [(path, formula(scope)) for path, formula in self._append]
        removed = [(path, formula(scope)) for path, formula in self._remove]
        if not (copied or taken or values or appended or removed):
            return document
        if copied:
            self._measure("like", copied, scope)
            document = {**document, **copied}
        for path, value in (*values, *appended):
            if isinstance(value, list | dict):
                self._measure(path, value, scope)
        try:
            edited = self._with_taken(document, taken, source)
            for path, value in values:
                if "." not in path or path in edited:
                    edited[path] = value
                else:
                    edited = set_path(edited, path, value)
            for path, value in appended:
                edited = set_path(edited, path, [*self._list(edited, path), value])
            for path, value in removed:
                old = self._list(edited, path)
                if old:
                    edited = set_path(edited, path, [item for item in old if not equal(item, value)])
        except WorldError as error:
            raise DynamicsError(f"{self._place}: {error}") from None
        return edited

    def _copied(self, scope: Scope) -> Document:
        """The fields of the object that the document becomes like."""
        if self._like is None:
            return {}
        found = self._like(scope)
        if found is None:
            return {}
        if not isinstance(found, dict):
            raise DynamicsError(f"{self._place}.like: an object is needed, and this is {shown(found)}")
        return {name: value for name, value in found.items() if name not in self._key}

    def _with_taken(self, document: Document, taken: dict[str, Json], source: Json) -> Document:
        edited = dict(document)
        for field, value in taken.items():
            # A dot in an argument's own name is no path.
            if "." not in field or field in edited or field in source:
                edited[field] = value
            else:
                edited = set_path(edited, field, value)
        return edited

    def _measure(self, path: str, value: Json, scope: Scope) -> None:
        """Keep documents that are put into themselves from growing without measure."""
        waiting = [(value, 1)]
        left = _MAX_NODES
        while waiting:
            found, depth = waiting.pop()
            inner = found.values() if isinstance(found, dict) else found
            left -= len(found)
            if left < 0 or depth > MAX_VALUE_DEPTH:
                raise DynamicsError(f"{self._place}: the value for {path!r} is too large, or nested too deeply")
            waiting.extend((item, depth + 1) for item in inner if isinstance(item, list | dict))
        scope.spend((_MAX_NODES - left) // 8)

    def _list(self, document: Document, path: str) -> list[Json]:
        found = get_path(document, path)
        if found is UNSET or found is None:
            return []
        if isinstance(found, list):
            return found
        raise DynamicsError(f"{self._place}: {path!r} is not a list but {shown(found)}")
