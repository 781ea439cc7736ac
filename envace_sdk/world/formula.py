"""Expressions and templates of a dynamics file, which know where in the file they stand."""

from __future__ import annotations

from typing import Any

from envace_sdk.errors import DynamicsError, ExpressionError
from envace_sdk.json import Json

from .declining import quoted_slots
from .expressions import Expression, Scope, Template, compile_expression, compile_template

__all__ = ["Formula", "Wording"]


class Formula:
    """An expression at a place in a dynamics file.

    Raises:
        DynamicsError: it does not compile, or, when called, cannot be computed; the message names the place.
    """

    __slots__ = ("_place", "expression")

    def __init__(self, source: str, place: str) -> None:
        self._place = place
        try:
            self.expression: Expression = compile_expression(source)
        except ExpressionError as error:
            raise DynamicsError(f"{place}: {error}") from None

    def __call__(self, scope: Scope) -> Json:
        """The value as JSON."""
        try:
            return self.expression(scope)
        except ExpressionError as error:
            raise DynamicsError(f"{self._place}: {error}") from error

    def optional(self, scope: Scope) -> Json:
        """The value as JSON, `UNSET` where what it asks for is absent."""
        try:
            return self.expression.optional(scope)
        except ExpressionError as error:
            raise DynamicsError(f"{self._place}: {error}") from error

    def bound(self, scope: Scope) -> Any:
        """The value to bind to a name: a time stays a time, so that it can be reckoned with."""
        try:
            return self.expression.bound(scope)
        except ExpressionError as error:
            raise DynamicsError(f"{self._place}: {error}") from error

    def holds(self, scope: Scope) -> bool:
        """The value of a condition."""
        value = self(scope)
        if value is True or value is False:
            return value is True
        raise self.wrong(f"`{self.expression.source}` must be true or false, not {value!r:.60}")

    def wrong(self, message: str) -> DynamicsError:
        """An error at this place."""
        return DynamicsError(f"{self._place}: {message}")


class Wording:
    """A template at a place in a dynamics file. Raises: DynamicsError as a formula does.

    Where it makes JSON, what stands in the texts of that is written so that it stays JSON.
    """

    __slots__ = ("_place", "_quoted", "template")

    def __init__(self, text: str, place: str) -> None:
        self._place = place
        try:
            self.template: Template = compile_template(text)
        except ExpressionError as error:
            raise DynamicsError(f"{place}: {error}") from None
        self._quoted = quoted_slots(self.template)

    def __call__(self, scope: Scope) -> str:
        """The text."""
        try:
            return self.template(scope, self._quoted)
        except ExpressionError as error:
            raise DynamicsError(f"{self._place}: {error}") from error
