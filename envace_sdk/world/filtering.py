"""Filters of a search: one argument against one field, as lenient as real servers are about types.

"5" matches 5; a day as YYYY-MM-DD stands for all of that day; texts are compared as times or numbers where both are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from envace_sdk.json import UNSET, Json

from .clock import parse_time
from .dynamics import Filter
from .expressions import equal, to_text
from .keys import Document, get_path, number_text

__all__ = ["Test", "is_time", "test", "variants"]

Test: TypeAlias = Callable[[Document], bool]
_Matcher: TypeAlias = Callable[[Json], bool]

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d{1,18}(\.\d{1,18})?", re.ASCII)


def test(narrowing: Filter, wanted: Json) -> Test:
    """Whether a document passes the filter with this argument."""
    matcher = _MATCHERS[narrowing.op](wanted)
    if not narrowing.any_of:
        return _on_field(narrowing.field, matcher)
    tests = [_on_field(field, matcher) for field in (narrowing.field, *narrowing.any_of)]
    return lambda document: any(passes(document) for passes in tests)


def _on_field(path: str, matcher: _Matcher) -> Test:
    def passes(document: Document) -> bool:
        value = get_path(document, path)
        return value is not UNSET and value is not None and matcher(value)

    return passes


def variants(wanted: Json) -> list[Json]:
    """The values that an argument may stand for, to be looked up in an index."""
    if isinstance(wanted, list):
        return [variant for item in wanted for variant in variants(item)]
    if isinstance(wanted, str):
        number = _number(wanted)
        others: list[Json] = [] if number is None else [number]
        return [wanted, *others, *([wanted.lower() == "true"] if wanted.lower() in {"true", "false"} else [])]
    if isinstance(wanted, bool):
        return [wanted, "true" if wanted else "false"]
    if isinstance(wanted, int | float):
        return [wanted, number_text(wanted)]
    return [wanted]


def is_time(wanted: Json) -> bool:
    """Whether an argument names a day or a time, which a field may write in another way."""
    return isinstance(wanted, str) and parse_time(wanted) is not None


def _number(value: Json) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    return None


def _alike(value: Json, wanted: Json) -> bool:
    if equal(value, wanted):
        return True
    if isinstance(wanted, list) and not isinstance(value, list):
        return any(_alike(value, item) for item in wanted)
    if isinstance(value, str) and isinstance(wanted, str):
        return is_time(wanted) and _order(value, wanted) == 0
    if isinstance(value, bool) or isinstance(wanted, bool):
        return to_text(value) == to_text(wanted).lower() if isinstance(value, bool) else value == to_text(wanted)
    number = _number(value)
    return number is not None and number == _number(wanted)


def _order(value: Json, wanted: Json) -> int | None:
    """How a field's value stands to an argument, or None when the two have no order."""
    first, second = _number(value), _number(wanted)
    if first is not None and second is not None:
        return (first > second) - (first < second)
    if not isinstance(value, str) or not isinstance(wanted, str):
        return None
    time, limit = parse_time(value), parse_time(wanted)
    if time is None or limit is None:
        return (value > wanted) - (value < wanted)
    if _DAY.fullmatch(wanted):
        return (time.date() > limit.date()) - (time.date() < limit.date())
    return (time > limit) - (time < limit)


def _ordered(allowed: frozenset[int]) -> Callable[[Json], _Matcher]:
    return lambda wanted: lambda value: _order(value, wanted) in allowed


def _equals(wanted: Json) -> _Matcher:
    return lambda value: _alike(value, wanted)


def _iequals(wanted: Json) -> _Matcher:
    folded = to_text(wanted).casefold()
    return lambda value: to_text(value).casefold() == folded


def _contains(wanted: Json) -> _Matcher:
    folded = to_text(wanted).casefold()

    def matches(value: Json) -> bool:
        if isinstance(value, list):
            return any(matches(item) for item in value if not isinstance(item, list | dict))
        return not isinstance(value, dict) and folded in to_text(value).casefold()

    return matches


def _prefix(wanted: Json) -> _Matcher:
    folded = to_text(wanted).casefold()
    return lambda value: not isinstance(value, list | dict) and to_text(value).casefold().startswith(folded)


def _in(wanted: Json) -> _Matcher:
    choices = wanted if isinstance(wanted, list) else [wanted]
    if isinstance(wanted, str) and "," in wanted:
        choices = [wanted, *(part.strip() for part in wanted.split(","))]
    return lambda value: any(_alike(value, choice) for choice in choices)


def _has(wanted: Json) -> _Matcher:
    needs = wanted if isinstance(wanted, list) else [wanted]

    def matches(value: Json) -> bool:
        return isinstance(value, list) and all(any(_alike(item, need) for item in value) for need in needs)

    return matches


_MATCHERS: dict[str, Callable[[Json], _Matcher]] = {
    "equals": _equals,
    "iequals": _iequals,
    "contains": _contains,
    "prefix": _prefix,
    "in": _in,
    "has": _has,
    "gt": _ordered(frozenset({1})),
    "gte": _ordered(frozenset({0, 1})),
    "lt": _ordered(frozenset({-1})),
    "lte": _ordered(frozenset({-1, 0})),
}
