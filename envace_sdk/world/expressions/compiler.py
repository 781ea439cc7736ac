"""From a syntax tree to Python closures: what is known once is decided once, and a run only computes."""

from __future__ import annotations

from typing import Any

from envace_sdk.errors import ExpressionError
from envace_sdk.json import UNSET

from .access import element, member
from .arithmetic import multiply
from .failure import AbsentError, FailedError
from .functions import FUNCTIONS, Function
from .macros import MACROS
from .nodes import (
    Binary,
    Call,
    Conditional,
    Index,
    ListLiteral,
    Literal,
    Logic,
    MapLiteral,
    Name,
    Node,
    Select,
    Unary,
    path_text,
)
from .operators import Code, binary, conditional, logic, negation
from .scope import Scope, WorldView
from .values import describe, to_text

__all__ = ["Code", "Compiler"]


class Compiler:
    """Compiles trees; `extra` are the names of functions that scopes will bring along."""

    def __init__(self, extra: frozenset[str] = frozenset()) -> None:
        self._extra = extra

    def compile(self, node: Node) -> Code:
        """Code that fails where something is absent.

        Raises:
            ExpressionError: a function is not known, or called with too few or too many arguments.
        """
        match node:
            case Literal(value):
                return lambda _: value
            case Name() | Select() | Index():
                return self._access(node)
            case Call():
                return self._call(node)
            case ListLiteral(items):
                return self._list(items)
            case MapLiteral(pairs):
                return self._map(pairs)
            case Unary("!", operand):
                return negation(self.compile(operand))
            case Unary(_, operand):
                return self._minus(operand)
            case Logic(operator, items):
                return logic(operator, [self.compile(item) for item in items])
            case Conditional(condition, yes, no):
                return conditional(self.compile(condition), self.compile(yes), self.compile(no))
            case Binary(operator, left, right):
                return binary(operator, self.compile(left), self.compile(right))

    def optional(self, node: Node) -> Code:
        """Code that gives `UNSET` where something is absent."""
        match node:
            case Name("session"):
                return lambda scope: _session(scope) if _has_session(scope) else UNSET
            case Name(name) if name not in {"world", "now"}:
                return lambda scope: scope.names.get(name, UNSET)
            case Select(base, field):
                return _optional_select(self.optional(base), field, path_text(base))
            case Index(base, index):
                return _optional_index(self.optional(base), self.compile(index), path_text(base))
        code = self.compile(node)

        def tolerant(scope: Scope) -> Any:
            try:
                return code(scope)
            except AbsentError:
                return UNSET

        return tolerant

    def _access(self, node: Name | Select | Index) -> Code:
        path = path_text(node)
        match node:
            case Name("world"):
                return lambda scope: scope.names["world"] if "world" in scope.names else WorldView(scope)
            case Name("now"):
                return lambda scope: scope.names.get("now", scope.state.clock)
            case Name("session"):
                return _session
            case Name(name):
                return _name(name)
            case Select(base, field):
                return _select(self.compile(base), field, path_text(base), path)
            case Index(base, index):
                return _index(self.compile(base), self.compile(index), path_text(base))

    def _call(self, node: Call) -> Code:
        name, target, arguments = node.name, node.target, node.arguments
        if target is not None and name in MACROS and MACROS[name].fits(arguments):
            return MACROS[name].build(self.compile(target), arguments, self.compile)
        everything = arguments if target is None else (target, *arguments)
        if name == "has" and len(everything) == 1:
            return _has(self.optional(everything[0]))
        if name == "default" and len(everything) == 2:
            return _default(self.optional(everything[0]), self.compile(everything[1]))
        if name in self._extra:
            return _extra(name, [self.compile(argument) for argument in everything])
        function = FUNCTIONS.get(name)
        if function is None:
            raise ExpressionError(_unknown(name, self._extra))
        function.check(len(everything))
        return _apply(function, [self.compile(argument) for argument in everything])

    def _list(self, items: tuple[Node, ...]) -> Code:
        codes = [self.compile(item) for item in items]
        return lambda scope: [code(scope) for code in codes]

    def _map(self, pairs: tuple[tuple[Node, Node], ...]) -> Code:
        codes = [(self.compile(name), self.compile(value)) for name, value in pairs]

        def build(scope: Scope) -> Any:
            made: dict[str, Any] = {}
            for name_code, value_code in codes:
                name = name_code(scope)
                if isinstance(name, list | dict):
                    raise FailedError(f"{describe(name)} cannot be the name of a member")
                text = to_text(name)
                if text in made:
                    raise FailedError(f"the name {text!r} is given twice")
                made[text] = value_code(scope)
            return made

        return build

    def _minus(self, operand: Node) -> Code:
        code = self.compile(operand)
        return lambda scope: multiply(code(scope), -1)


def _unknown(name: str, extra: frozenset[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, [*FUNCTIONS, *MACROS, *extra, "has", "default"], n=1)
    return f"there is no function {name}()" + (f"; did you mean {close[0]}()?" if close else "")


def _session(scope: Scope) -> Any:
    """The one document of the collection `session`, as it is at this moment."""
    if "session" in scope.names:
        return scope.names["session"]
    if not _has_session(scope):
        return _name("session")(scope)
    return scope.get("session", "session") or {}


def _has_session(scope: Scope) -> bool:
    known = scope.dynamics is not None and "session" in scope.dynamics.collections
    return "session" in scope.names or known


def _name(name: str) -> Code:
    def run(scope: Scope) -> Any:
        try:
            return scope.names[name]
        except KeyError:
            known = ", ".join(sorted({*scope.names, "world", "now"}))
            raise AbsentError(f"there is no {name!r} here (there are: {known})") from None

    return run


def _select(base: Code, field: str, base_path: str, path: str) -> Code:
    def run(scope: Scope) -> Any:
        value = base(scope)
        found = value.get(field, UNSET) if type(value) is dict else member(value, field, base_path)
        if found is UNSET:
            raise AbsentError(f"{path} is absent" if value is not None else f"{path} is absent: {base_path} is null")
        return found

    return run


def _index(base: Code, index: Code, base_path: str) -> Code:
    def run(scope: Scope) -> Any:
        value, place = base(scope), index(scope)
        found = element(value, place, base_path)
        if found is UNSET:
            raise AbsentError(f"{base_path} has no element {to_text(place)!r}")
        return found

    return run


def _optional_select(base: Code, field: str, base_path: str) -> Code:
    def run(scope: Scope) -> Any:
        value = base(scope)
        return UNSET if value is UNSET else member(value, field, base_path)

    return run


def _optional_index(base: Code, index: Code, base_path: str) -> Code:
    def run(scope: Scope) -> Any:
        value = base(scope)
        if value is UNSET:
            return UNSET
        try:
            place = index(scope)
        except AbsentError:
            return UNSET
        return element(value, place, base_path)

    return run


def _has(optional: Code) -> Code:
    return lambda scope: optional(scope) is not UNSET


def _default(optional: Code, otherwise: Code) -> Code:
    def run(scope: Scope) -> Any:
        value = optional(scope)
        return otherwise(scope) if value is UNSET or value is None else value

    return run


def _extra(name: str, codes: list[Code]) -> Code:
    def run(scope: Scope) -> Any:
        function = scope.functions.get(name)
        if function is None:
            raise FailedError(f"{name}() is not available here")
        try:
            return function(*[code(scope) for code in codes])
        except TypeError as error:
            raise FailedError(f"{name}(): {error}") from error

    return run


def _apply(function: Function, codes: list[Code]) -> Code:
    run = function.run
    if len(codes) == 1:
        (one,) = codes
        return lambda scope: run(scope, one(scope))
    if len(codes) == 2:
        first, second = codes
        return lambda scope: run(scope, first(scope), second(scope))
    return lambda scope: run(scope, *[code(scope) for code in codes])
