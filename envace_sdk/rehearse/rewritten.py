"""What an output schema took away: values that were known, and that the answer shows otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from envace_sdk.json import UNSET, Json

__all__ = ["rewritten"]

_DEPTH = 100
_NAMED = 3
_SHOWN = 60


def rewritten(before: Json, after: Json, arguments: Mapping[str, Json]) -> str:
    """In words, which values of `before`, or of the arguments, `after` shows otherwise; "" when it shows none so.

    What is only left out is no lie, and what is added was not known.
    """
    found: dict[str, tuple[Json, Json]] = {}
    for place, was, now in _changes(before, after, "", 0):
        found.setdefault(place, (was, now))
        if len(found) > _NAMED:
            break
    if isinstance(after, dict):
        for name, given in arguments.items():
            known = before.get(name, UNSET) if isinstance(before, dict) else UNSET
            if known is UNSET and name in after and not _same(given, after[name]):
                found.setdefault(name, (given, after[name]))
    if not found:
        return ""
    told = [f"{place or 'the answer'} from {_text(was)} to {_text(now)}" for place, (was, now) in found.items()]
    more = " and more" if len(told) > _NAMED else ""
    return f"the output schema does not allow what is known; changed {', '.join(told[:_NAMED])}{more}"


def _changes(before: Json, after: Json, place: str, depth: int) -> Iterator[tuple[str, Json, Json]]:
    if before is after or depth > _DEPTH:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name, was in before.items():
            if name in after:
                yield from _changes(was, after[name], f"{place}.{name}" if place else name, depth + 1)
    elif isinstance(before, list) and isinstance(after, list):
        for at, (was, now) in enumerate(zip(before, after, strict=False)):
            yield from _changes(was, now, f"{place}[{at}]", depth + 1)
    elif not _same(before, after):
        yield place, before, after


def _same(one: Json, other: Json) -> bool:
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    equal: bool = one == other
    return equal


def _text(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
