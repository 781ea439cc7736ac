"""Texts with expressions in braces: `Order {args.order_id} not found`."""

from __future__ import annotations

import json
from collections.abc import Container
from functools import lru_cache

from envace_sdk.errors import ExpressionError

from .expression import Expression, compile_expression
from .scope import Scope
from .values import MAX_TEXT, to_text

__all__ = ["Template", "compile_template"]


class Template:
    """A compiled template: call it with a scope for its text."""

    __slots__ = ("parts", "source")

    def __init__(self, source: str, extra: frozenset[str] = frozenset()) -> None:
        self.source = source
        self.parts: tuple[str | Expression, ...] = tuple(_parts(source, extra))

    def __call__(self, scope: Scope, quoted: Container[int] = ()) -> str:
        """The text: strings bare, numbers as in JSON, everything else as JSON.

        The expressions at the places `quoted` among the parts stand in texts of JSON, and are escaped for that.

        Raises:
            ExpressionError: an expression in it cannot be computed.
        """
        text = "".join(
            part if isinstance(part, str) else _written(to_text(part.value(scope)), escaped=at in quoted)
            for at, part in enumerate(self.parts)
        )
        scope.spend_text(len(text))
        return text[:MAX_TEXT]

    def __repr__(self) -> str:
        return f"<Template {self.source!r}>"


def _written(text: str, *, escaped: bool) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1] if escaped else text


def _parts(source: str, extra: frozenset[str]) -> list[str | Expression]:
    parts: list[str | Expression] = []
    text: list[str] = []
    at = 0
    while at < len(source):
        char = source[at]
        if source[at : at + 2] in {"{{", "}}"}:
            text.append(char)
            at += 2
        elif char == "{":
            end = _closing(source, at)
            if text:
                parts.append("".join(text))
                text = []
            parts.append(compile_expression(source[at + 1 : end], extra=extra))
            at = end + 1
        elif char == "}":
            raise ExpressionError(f"template {source!r}: the brace at column {at + 1} closes nothing; write `}}}}`")
        else:
            text.append(char)
            at += 1
    if text:
        parts.append("".join(text))
    return parts


def _closing(source: str, begin: int) -> int:
    """Where the brace opened at `begin` closes; braces in strings and in objects are the expression's own."""
    depth, quote, at = 0, "", begin
    while at < len(source):
        char = source[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    raise ExpressionError(
        f"template {source!r}: the brace at column {begin + 1} is never closed; write `{{{{` for a brace"
    )


@lru_cache(maxsize=8192)
def compile_template(text: str, *, extra: frozenset[str] = frozenset()) -> Template:
    """Compile a template; equal texts are compiled once.

    Raises:
        ExpressionError: a brace is open, or an expression in it is wrong.
    """
    return Template(text, extra)
