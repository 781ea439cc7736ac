"""CEL's macros over lists, objects and collections.

With one name, a macro binds the elements of a list or the keys of an object, as CEL does; with two, positions and
elements, or keys and values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from envace_sdk.errors import ExpressionError
from envace_sdk.json import UNSET

from .access import elements
from .failure import FailedError
from .nodes import Name, Node
from .scope import CollectionView, Scope
from .values import describe, to_text

__all__ = ["MACROS", "Macro"]

_Code: TypeAlias = Callable[[Scope], Any]
_Build: TypeAlias = Callable[[_Code, tuple[Node, ...], Callable[[Node], _Code]], _Code]


@dataclass(frozen=True, slots=True)
class Macro:
    """How a macro is told from a function of the same name, and how it becomes code."""

    names: tuple[int, ...]
    """How many names it may bind."""
    bodies: tuple[int, ...]
    """How many expressions may follow the names."""
    run: Callable[[Scope, _Loop, list[_Code]], Any]

    def fits(self, arguments: tuple[Node, ...]) -> bool:
        """Whether these arguments are names and expressions as the macro wants them."""
        return self._shape(arguments) is not None

    def _shape(self, arguments: tuple[Node, ...]) -> tuple[int, int] | None:
        for names in self.names:
            for bodies in self.bodies:
                leads = arguments[:names]
                if len(arguments) == names + bodies and all(isinstance(lead, Name) for lead in leads):
                    return names, bodies
        return None

    def build(self, target: _Code, arguments: tuple[Node, ...], compile_node: Callable[[Node], _Code]) -> _Code:
        """The macro as code."""
        names, _ = self._shape(arguments) or (1, 1)
        bound = tuple(lead.name for lead in arguments[:names] if isinstance(lead, Name))
        if len(set(bound)) != names:
            raise ExpressionError(f"the name {bound[0]!r} is bound twice")
        bodies = [compile_node(body) for body in arguments[names:]]
        run = self.run
        return lambda scope: run(scope, _Loop(scope, bound, target(scope)), bodies)


class _Loop:
    """Goes over elements with their names bound, and puts back what the names meant before."""

    __slots__ = ("_before", "_scope", "bound", "over", "pairs")

    def __init__(self, scope: Scope, bound: tuple[str, ...], over: Any) -> None:
        self._scope = scope
        self.bound = bound
        self.over = over
        self.pairs = elements(over, scope)
        if len(bound) == 1:
            keyed = isinstance(over, dict | CollectionView)
            self.pairs = [(key if keyed else value, None) for key, value in self.pairs]
        self._before = [scope.names.get(name, UNSET) for name in bound]

    def bind(self, pair: tuple[Any, Any]) -> None:
        names = self._scope.names
        names[self.bound[0]] = pair[0]
        if len(self.bound) == 2:
            names[self.bound[1]] = pair[1]

    def __enter__(self) -> _Loop:
        return self

    def __exit__(self, *_: object) -> None:
        for name, value in zip(self.bound, self._before, strict=True):
            if value is UNSET:
                self._scope.names.pop(name, None)
            else:
                self._scope.names[name] = value


def _holds(scope: Scope, body: _Code) -> bool:
    value = body(scope)
    if value is not True and value is not False:
        raise FailedError(f"a macro's condition must be true or false, not {describe(value)}")
    return value is True


def _decides(scope: Scope, loop: _Loop, body: _Code, deciding: bool) -> bool:
    """Like `||` and `&&` over all elements: one that decides outweighs those that failed."""
    failure: FailedError | None = None
    with loop:
        for pair in loop.pairs:
            loop.bind(pair)
            try:
                if _holds(scope, body) is deciding:
                    return deciding
            except FailedError as error:
                failure = failure or error
    if failure is not None:
        raise failure
    return not deciding


def _all(scope: Scope, loop: _Loop, bodies: list[_Code]) -> bool:
    return _decides(scope, loop, bodies[0], False)


def _exists(scope: Scope, loop: _Loop, bodies: list[_Code]) -> bool:
    return _decides(scope, loop, bodies[0], True)


def _exists_one(scope: Scope, loop: _Loop, bodies: list[_Code]) -> bool:
    return len(_chosen(scope, loop, bodies[0])) == 1


def _chosen(scope: Scope, loop: _Loop, body: _Code) -> list[tuple[Any, Any]]:
    chosen = []
    with loop:
        for pair in loop.pairs:
            loop.bind(pair)
            if _holds(scope, body):
                chosen.append(pair)
    return chosen


def _filter(scope: Scope, loop: _Loop, bodies: list[_Code]) -> Any:
    chosen = _chosen(scope, loop, bodies[0])
    if len(loop.bound) == 2:
        keyed = isinstance(loop.over, dict | CollectionView)
        return dict(chosen) if keyed else [value for _, value in chosen]
    return [element for element, _ in chosen]


def _map(scope: Scope, loop: _Loop, bodies: list[_Code]) -> list[Any]:
    made = []
    with loop:
        for pair in loop.pairs:
            loop.bind(pair)
            if len(bodies) == 1 or _holds(scope, bodies[0]):
                made.append(bodies[-1](scope))
    return made


def _transform_map(scope: Scope, loop: _Loop, bodies: list[_Code]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    with loop:
        for pair in loop.pairs:
            loop.bind(pair)
            if len(bodies) == 1 or _holds(scope, bodies[0]):
                made[to_text(pair[0])] = bodies[-1](scope)
    return made


MACROS: dict[str, Macro] = {
    "all": Macro((1, 2), (1,), _all),
    "exists": Macro((1, 2), (1,), _exists),
    "exists_one": Macro((1, 2), (1,), _exists_one),
    "existsOne": Macro((1, 2), (1,), _exists_one),
    "filter": Macro((1, 2), (1,), _filter),
    "map": Macro((1,), (1, 2), _map),
    "transformList": Macro((2,), (1, 2), _map),
    "transformMap": Macro((2,), (1, 2), _transform_map),
}
