"""The answer of a successful call, in the form that the rule's `returns` asks for."""

from __future__ import annotations

from dataclasses import dataclass

from envace_sdk.json import UNSET, Json

from .answer import Emitted
from .dynamics import Returns, ToolRule
from .expressions import Scope
from .formula import Formula, Wording
from .index import Entry
from .keys import Document, get_path, set_path
from .searching import Page

__all__ = ["Answering", "Given"]

_DEPTH, _BREADTH = 4, 1000
"""How far entities are looked for in an answer that expressions made."""


@dataclass(frozen=True, slots=True)
class Given:
    """An answer's value, whether it is a text, and the entities in it."""

    value: Json
    is_text: bool = False
    entities: tuple[Emitted, ...] = ()


class Answering:
    """The compiled `returns` of a rule."""

    def __init__(self, rule: ToolRule, place: str) -> None:
        returns: Returns = rule.returns
        place = f"{place}.returns"
        self._fields = returns.fields
        self._wrap = returns.wrap
        self._count, self._next = returns.count, returns.next
        self._extra = [(name, Formula(source, f"{place}.extra.{name}")) for name, source in returns.extra.items()]
        if rule.effect == "search" and self._wrap is None and (self._count or self._next or self._extra):
            self._wrap = rule.collection  # a bare list has no room for more than its items
        self._value = Formula(returns.value, f"{place}.value") if returns.value is not None else None
        self._object = (
            [(name, Formula(source, f"{place}.object.{name}")) for name, source in returns.object.items()]
            if returns.object is not None
            else None
        )
        self._text = Wording(returns.text, f"{place}.text") if returns.text is not None else None

    def special(self, scope: Scope) -> Given | None:
        """The answer where `value`, `object` or `text` says what it is.

        Raises:
            DynamicsError: an expression cannot be computed.
        """
        if self._text is not None:
            return Given(self._text(scope), is_text=True)
        if self._value is not None:
            value = self._value(scope)
        elif self._object is not None:
            value = {name: formula(scope) for name, formula in self._object}
        else:
            return None
        if self._extra and isinstance(value, dict):
            value = {**value, **{name: formula(scope) for name, formula in self._extra}}
        found: list[Emitted] = []
        _entities(value, (), scope, found)
        return Given(value, entities=tuple(found))

    def entity(self, collection: str, key: str, document: Document, scope: Scope) -> Given:
        """The entity, projected and wrapped. Raises: DynamicsError as `special`."""
        value: Json = self._projected(document)
        extra = {name: formula(scope) for name, formula in self._extra}
        if self._wrap is not None:
            value = {self._wrap: value, **extra}
            return Given(value, entities=(Emitted((self._wrap,), collection, key),))
        return Given({**value, **extra} if extra else value, entities=(Emitted((), collection, key),))

    def page(self, collection: str, page: Page, scope: Scope) -> Given:
        """The list, with what stands beside it. Raises: DynamicsError as `special`."""
        items = [self._projected(entry.document) for entry in page.entries]
        if self._wrap is None:
            return Given(items, entities=_listed(page.entries, (), collection))
        value: dict[str, Json] = {self._wrap: items}
        if self._count is not None:
            value[self._count] = page.total
        if self._next is not None:
            value[self._next] = page.next
        value |= {name: formula(scope) for name, formula in self._extra}
        return Given(value, entities=_listed(page.entries, (self._wrap,), collection))

    def nothing(self, scope: Scope) -> Given:
        """The answer of a rule that is about no entity. Raises: DynamicsError as `special`."""
        return Given({name: formula(scope) for name, formula in self._extra})

    def _projected(self, document: Document) -> Document:
        if self._fields is None:
            return document
        made: Document = {}
        for path in self._fields:
            value = get_path(document, path)
            if value is not UNSET:
                made = set_path(made, path, value) if "." in path and path not in document else {**made, path: value}
        return made


def _listed(entries: list[Entry], at: tuple[str, ...], collection: str) -> tuple[Emitted, ...]:
    return tuple(Emitted((*at, place), collection, entry.key) for place, entry in enumerate(entries))


def _entities(value: Json, at: tuple[str | int, ...], scope: Scope, found: list[Emitted]) -> None:
    """The very documents of the world that an expression's value holds."""
    if len(at) > _DEPTH or len(found) >= _BREADTH or not isinstance(value, dict | list):
        return
    seen = scope.seen.get(id(value))
    if seen is not None:
        found.append(Emitted(at, seen[0], seen[1]))
        return
    members = value.items() if isinstance(value, dict) else enumerate(value[:_BREADTH])
    for step, item in members:
        _entities(item, (*at, step), scope, found)
