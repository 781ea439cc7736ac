"""Which engine matches a pattern."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import lru_cache

import jsonschema_rs

from .syntax import PatternError, parse
from .write import backtracks, write

__all__ = ["matcher", "portable"]

_REPLACED = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=1024)
def portable(pattern: str) -> str | None:
    """The pattern as jsonschema-rs can run it: itself, or rewritten from Python's syntax; None if there is no way."""
    if _runs(pattern):
        return pattern
    try:
        rewritten = write(parse(pattern))
    except PatternError:
        return None
    return rewritten if _runs(rewritten) else None


def _runs(pattern: str) -> bool:
    try:
        jsonschema_rs.validator_for({"pattern": pattern}, offline=True)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=1024)
def matcher(pattern: str) -> Callable[[str], bool]:
    """A test whether a text holds a match, in bounded time.

    Raises:
        PatternError: no engine can run it, or only one that might take exponential time.
    """
    runnable = portable(pattern)
    if runnable is not None:
        run: Callable[[str], bool] = jsonschema_rs.validator_for({"pattern": runnable}, offline=True).is_valid
    else:
        run = _python(pattern)

    def test(text: str) -> bool:
        try:
            return run(text)
        except UnicodeEncodeError:
            return run(_REPLACED.sub("\ufffd", text))

    return test


def _python(pattern: str) -> Callable[[str], bool]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"not a regular expression: {error}") from None
    if backtracks(parse(pattern)):
        raise PatternError("only a backtracking engine can run it, and it could take exponential time")
    return lambda text: compiled.search(text) is not None
