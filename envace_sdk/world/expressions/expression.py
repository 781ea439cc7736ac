"""A compiled expression, and the text it came from."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from envace_sdk.errors import EnvaceError, ExpressionError
from envace_sdk.json import UNSET, Json

from ..plain import MAX_DEPTH
from .compiler import Compiler
from .failure import AbsentError, ExhaustedError, FailedError
from .nodes import Call, Index, ListLiteral, Literal, MapLiteral, Name, Node, Select, walk
from .scope import CollectionView, Scope, WorldView
from .syntax import parse
from .values import to_json_like

__all__ = ["Expression", "compile_expression"]

_SETTLED = frozenset({str, int, float, bool, type(None), type(UNSET)})
_FRESH = frozenset({"map", "filter", "transformList", "transformMap", "flatten", "sort", "distinct", "reverse"})
"""Macros and functions that make lists and objects, in which times may hide."""


class Expression:
    """A compiled expression: call it with a scope for its value as JSON."""

    __slots__ = ("_code", "_mixed", "_optional", "node", "source")

    def __init__(self, source: str, extra: frozenset[str] = frozenset()) -> None:
        self.source = source
        self.node: Node = parse(source)
        compiler = Compiler(extra)
        try:
            self._code = compiler.compile(self.node)
            self._optional = compiler.optional(self.node)
        except ExpressionError as error:
            raise ExpressionError(f"`{source}`: {error}") from None
        self._mixed = any(
            isinstance(node, ListLiteral | MapLiteral) or (isinstance(node, Call) and node.name in _FRESH)
            for node in walk(self.node)
        )

    def __call__(self, scope: Scope) -> Json:
        """The value, as JSON: times and durations become text.

        Raises:
            ExpressionError: it cannot be computed; the message has the expression and what went wrong.
        """
        try:
            value = self._code(scope)
            return value if type(value) in _SETTLED else self._json(value, scope)
        except (EnvaceError, RecursionError) as error:
            raise self._explained(error) from error

    def value(self, scope: Scope) -> Any:
        """The value as expressions see it, in which times are times. Raises: ExpressionError as a call does."""
        try:
            return self._code(scope)
        except (EnvaceError, RecursionError) as error:
            raise self._explained(error) from error

    def bound(self, scope: Scope) -> Any:
        """The value to bind to a name: a time stays a time, in lists and objects it becomes text.

        Raises:
            ExpressionError: as a call does.
        """
        value = self.value(scope)
        try:
            return self._json(value, scope) if isinstance(value, list | dict) else value
        except (EnvaceError, RecursionError) as error:
            raise self._explained(error) from error

    def optional(self, scope: Scope) -> Any:
        """Like a call, but `UNSET` where something that the expression asks for is absent."""
        try:
            value = self._optional(scope)
            return value if type(value) in _SETTLED else self._json(value, scope)
        except (EnvaceError, RecursionError) as error:
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> ExpressionError:
        """The error with the expression in front."""
        for kind in (AbsentError, ExhaustedError):
            if isinstance(error, kind):
                return kind(f"`{self.source}`: {error}")
        reason = "the values are nested too deeply" if isinstance(error, RecursionError) else str(error)
        return ExpressionError(f"`{self.source}`: {reason}")

    def _json(self, value: Any, scope: Scope) -> Json:
        if isinstance(value, datetime | timedelta | WorldView | CollectionView):
            return to_json_like(value)
        return _settle(value, scope) if self._mixed and isinstance(value, list | dict) else value

    def fields_of(self, name: str) -> frozenset[str]:
        """The fields of a bound name that it reads, as far as its text tells: `args.order_id` reads "order_id"."""
        found = set()
        for node in walk(self.node):
            match node:
                case Select(Name(base), field) | Index(Name(base), Literal(str(field))) if base == name:
                    found.add(field)
        return frozenset(found)

    def __repr__(self) -> str:
        return f"<Expression {self.source!r}>"


def _settle(value: Any, scope: Scope, depth: int = 0) -> Json:
    """JSON throughout; what is JSON already is kept, not copied."""
    if isinstance(value, str):
        scope.spend_text(len(value))
        return value
    if depth > MAX_DEPTH:
        raise FailedError(f"the value is nested deeper than {MAX_DEPTH}")
    if isinstance(value, list):
        scope.spend(len(value))
        settled = [_settle(item, scope, depth + 1) for item in value]
        return value if all(map(_is, settled, value)) else settled
    if isinstance(value, dict):
        scope.spend(len(value))
        made = {name: _settle(item, scope, depth + 1) for name, item in value.items()}
        return value if all(map(_is, made.values(), value.values())) else made
    return to_json_like(value)


def _is(left: object, right: object) -> bool:
    return left is right


@lru_cache(maxsize=8192)
def compile_expression(source: str, *, extra: frozenset[str] = frozenset()) -> Expression:
    """Compile CEL source; equal sources are compiled once.

    `extra` names functions that the scopes will bring along in `functions`.

    Raises:
        ExpressionError: the source is not CEL, or uses a function that does not exist.
    """
    return Expression(source, extra)
