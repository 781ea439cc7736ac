"""Whether a value that came from outside is JSON all the way down."""

from __future__ import annotations

import math

from envace_sdk.errors import WorldError

__all__ = ["MAX_DEPTH", "MAX_VALUE_DEPTH", "check_json", "check_text"]

MAX_DEPTH = 100
"""Nesting that a document may have; deeper ones are refused, so that nothing that walks them can run out of stack."""
MAX_VALUE_DEPTH = 80
"""Nesting that a value may have on its way into a document."""


def check_json(value: object, where: str, depth: int = 0) -> None:
    """Make sure that a value is JSON.

    Raises:
        WorldError: it is not: another type, a key that is not text, text that no encoding has, a number that is not
            finite, or nested too deep.
    """
    kind = type(value)
    if kind is int or kind is bool or value is None:
        return
    if kind is str:
        check_text(str(value), where)
        return
    if kind is dict or kind is list:
        if depth >= MAX_DEPTH:
            raise WorldError(f"{where[:120]}…: nested deeper than {MAX_DEPTH}")
        _check_members(value, where, depth)
    elif not isinstance(value, float):
        raise WorldError(f"{where}: {kind.__name__} is not a JSON type")
    elif not math.isfinite(value):
        raise WorldError(f"{where}: {value!r} is not a JSON number")


def check_text(text: str, where: str) -> None:
    """Make sure that a text can be sent.

    Raises:
        WorldError: it holds half of a surrogate pair, which is no character.
    """
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise WorldError(f"{where}: {text[error.start]!r} is half of a surrogate pair, no character") from None


def _check_members(value: object, where: str, depth: int) -> None:
    if isinstance(value, dict):
        for name, item in value.items():
            if type(name) is not str:
                raise WorldError(f"{where}: the key {name!r} is not text")
            if not name.isascii():
                check_text(name, f"{where}: the key {name!a:.80}")
            if type(item) is not str or not item.isascii():
                check_json(item, f"{where}.{name}", depth + 1)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            if type(item) is not str or not item.isascii():
                check_json(item, f"{where}[{position}]", depth + 1)
