"""Facts that an answer of a tool holds, and that a right answer to a question therefore tells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from envace_sdk.json import Json
from envace_sdk.world.dynamics import ToolRule

from .words import said_of, value_words, words

__all__ = ["Fact", "facts_of", "said"]

_MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}T")
_LONGEST: Final = 60
_MOST: Final = 2


@dataclass(frozen=True, slots=True)
class Fact:
    """A value under a name."""

    name: str
    """In words: "ship to city"."""
    forms: tuple[str, ...]
    """The ways of saying it; any will do."""


def facts_of(value: Json, rule: ToolRule, request: str, random: Random) -> list[Fact]:
    """One or two facts of an answer that the request does not give away.

    Left out is what is said by accident (a small number, yes and no), what people write in many ways (points in
    time), and what is too long to be repeated.
    """
    if rule.returns.wrap is not None and isinstance(value, Mapping):
        value = {**value, **inner} if isinstance(inner := value.get(rule.returns.wrap), Mapping) else value
    given = request.casefold()
    found = [
        Fact(words(path), tuple(said_of(part)))
        for path, part in _scalars(value, "", 0)
        if _is_telling(part) and value_words(part).strip('"').casefold() not in given
    ]
    names = [fact.name for fact in found]
    found = [fact for fact in found if names.count(fact.name) == 1]
    count = min(len(found), random.choice((1, 1, _MOST)))
    return random.sample(found, count)


def said(forms: Sequence[str]) -> str:
    """The condition that the answer says it, in one of these ways."""
    if len(forms) == 1:
        return f"said({json.dumps(forms[0], ensure_ascii=False)})"
    return f"{json.dumps(list(forms), ensure_ascii=False)}.exists(text, said(text))"


def _scalars(value: Json, path: str, depth: int) -> Iterator[tuple[str, Json]]:
    if isinstance(value, Mapping) and depth < 2:
        for name, part in value.items():
            yield from _scalars(part, f"{path} {name}".strip(), depth + 1)
    elif path and not isinstance(value, Mapping | list):
        yield path, value


def _is_telling(value: Json) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return abs(value) >= 10
    return (
        isinstance(value, str)
        and 3 <= len(value) <= _LONGEST
        and value.isprintable()
        and any(map(str.isalnum, value))
        and _MOMENT.match(value) is None
    )
