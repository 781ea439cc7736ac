"""What goes wrong inside an expression, before the expression's own text is added to the message."""

from __future__ import annotations

from envace_sdk.errors import ExpressionError

__all__ = ["AbsentError", "ExhaustedError", "FailedError"]


class FailedError(ExpressionError):
    """A value cannot be computed. `||` and `&&` may still have an answer without it, as CEL defines."""


class AbsentError(FailedError):
    """Something that was asked for is not there: `has` and `default` know what to do with it."""


class ExhaustedError(ExpressionError):
    """The expression takes more steps, or makes something larger, than any reasonable one; nothing absorbs this."""
