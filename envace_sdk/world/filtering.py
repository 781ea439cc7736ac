"""Filters of a search: one argument against one field, as lenient as real servers are about types.

"5" matches 5; a day as YYYY-MM-DD stands for all of that day; texts are compared as times or numbers where both are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from envace_sdk.json import UNSET, Json

from .clock import parse_time
from .dynamics import Filter
from .expressions import to_text
from .index import value_key
from .keys import Document, get_path, number_text

__all__ = ["Test", "alternatives", "effort", "is_time", "test"]

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


def _variants(wanted: Json) -> list[Json]:
    """The values that an argument may stand for, to be looked up in an index."""
    if isinstance(wanted, list):
        return [variant for item in wanted for variant in _variants(item)]
    if isinstance(wanted, str):
        number = _number(wanted)
        others: list[Json] = [] if number is None else [number]
        return [wanted, *others, *([wanted.lower() == "true"] if wanted.lower() in {"true", "false"} else [])]
    if isinstance(wanted, bool):
        return [wanted, "true" if wanted else "false"]
    if isinstance(wanted, int | float):
        return [wanted, number_text(wanted)]
    return [wanted]


def alternatives(narrowing: Filter, wanted: Json) -> list[Json]:
    """The values to look up in an index for an `equals` or `in` filter, each once."""
    parts = _parts(wanted) if narrowing.op == "in" else wanted
    return list({value_key(value): value for value in (parts, *_variants(parts))}.values())


def effort(narrowing: Filter, wanted: Json) -> int:
    """How many comparisons the test takes beyond the first."""
    return len(wanted) if narrowing.op == "has" and isinstance(wanted, list) else 0


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


def _alike(wanted: Json) -> _Matcher:
    """Equal to the argument, or to one of it when it is a list, in any of the ways it may be written."""
    keys = frozenset(map(value_key, (wanted, *_variants(wanted))))
    times = {text: parse_time(text) for text in (wanted if isinstance(wanted, list) else [wanted]) if is_time(text)}
    instants = {time for text, time in times.items() if not _DAY.fullmatch(text)}
    days = {time.date() for text, time in times.items() if time is not None and _DAY.fullmatch(text)}

    def matches(value: Json) -> bool:
        if value_key(value) in keys:
            return True
        time = parse_time(value) if times and isinstance(value, str) else None
        return time is not None and (time in instants or time.date() in days)

    return matches


def _ordered(allowed: frozenset[int]) -> Callable[[Json], _Matcher]:
    """Numbers by size, days and times by when they are, other texts by their characters; else there is no order."""

    def build(wanted: Json) -> _Matcher:
        limit_number = _number(wanted)
        limit = parse_time(wanted) if isinstance(wanted, str) else None
        whole_day = limit is not None and _DAY.fullmatch(wanted) is not None

        def matches(value: Json) -> bool:
            number = _number(value) if limit_number is not None else None
            if number is not None:
                return _sign(number, limit_number) in allowed
            if not isinstance(value, str) or not isinstance(wanted, str):
                return False
            time = parse_time(value) if limit is not None else None
            if time is None or limit is None:
                return _sign(value, wanted) in allowed
            return (_sign(time.date(), limit.date()) if whole_day else _sign(time, limit)) in allowed

        return matches

    return build


def _sign(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


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
    return _alike(_parts(wanted))


def _parts(wanted: Json) -> Json:
    """The argument of `in`: a text may list its alternatives with commas."""
    if isinstance(wanted, str) and "," in wanted:
        return [wanted, *(part.strip() for part in wanted.split(","))]
    return wanted


def _has(wanted: Json) -> _Matcher:
    needs = [_alike(need) for need in (wanted if isinstance(wanted, list) else [wanted])]
    return lambda value: isinstance(value, list) and all(any(map(need, value)) for need in needs)


_MATCHERS: dict[str, Callable[[Json], _Matcher]] = {
    "equals": _alike,
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
