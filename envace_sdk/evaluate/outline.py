"""Answers taken apart: their leaves, their key paths, and which leaf of one stands where one of another stands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, TypeAlias

from envace_sdk.json import UNSET, Json

from .forms import DEEPEST, norm, same
from .texts import Line, Lines

__all__ = ["Leaf", "Pair", "align", "equal_leaves", "f1", "key_paths", "leaves_of", "plain_name"]

_MOST_LEAVES: Final = 20_000
_MOST_MATCHED: Final = 400
"""Items of a list that are matched by content; beyond, by position."""
_NESTED: Final = (dict, list)
_PARTED: Final = (dict, list, tuple)
_DEEPEST: Final = 4 * DEEPEST  # JSON within texts within JSON
_SEPARATORS: Final = re.compile(r"[\W_]+")

Siblings: TypeAlias = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar in an answer, or an empty list or object."""

    path: str
    """Where it stands, exactly."""
    key_path: str
    """Where it stands, whichever item of a list it is in."""
    place: str
    """The same; of a value in a text, the key path of the text."""
    name: str
    """The key it stands under, without case and separators."""
    value: Json
    text: str
    siblings: Siblings = field(repr=False, compare=False)
    """Name and text of every leaf that stands directly in the same object, itself included."""


Pair: TypeAlias = tuple[str, Json, Json]
"""The exact path in the recorded answer ("" where nothing stands there), the recorded value, the played one.
A value is UNSET where one answer has nothing."""


@lru_cache(maxsize=10_000)
def plain_name(key: str) -> str:
    """A key without case and separators: `ticketId`, `ticket_id` and `Ticket-ID` are one name."""
    return _SEPARATORS.sub("", key).casefold() or key


def leaves_of(form: Json) -> list[Leaf]:
    """The leaves of an answer in its form, in order; of huge answers the first ones."""
    found: list[Leaf] = []
    _gather(form, "", "", "", [], found, 0)
    return found


def key_paths(form: Json) -> frozenset[str]:
    """The key paths of an answer, those of all items of a list being one; of a text, the patterns of its lines.

    What has no key path, an answer that is a bare value, or empty, has its kind.
    """
    found: set[str] = set()
    _paths(form, "", found, 0)
    return frozenset(found or {_kind(form)})


def f1(recorded: frozenset[str], played: frozenset[str]) -> float:
    """The harmonic mean of how much of the one set is in the other."""
    return 2 * len(recorded & played) / (len(recorded) + len(played)) if recorded or played else 1.0


def align(recorded: Json, played: Json) -> Iterator[Pair]:
    """The leaves of both, paired by where they stand. Lists, and lines, are matched by content first, then in order."""
    yield from _align(recorded, played, "", 0)


def _gather(form: Json, path: str, key_path: str, name: str, siblings: Siblings, found: list[Leaf], depth: int) -> None:
    if len(found) >= _MOST_LEAVES or depth > _DEEPEST:
        return
    if isinstance(form, Lines) and form:
        for index, line in enumerate(form):
            own: Siblings = []
            for place, value in enumerate(line.values):
                key = f"{line.pattern}#{place}"
                leaf = Leaf(f"{path}/{index}/{key}", f"{key_path}/{key}", key_path, key, value, norm(value), own)
                own.append((key, leaf.text))
                found.append(leaf)
    elif isinstance(form, dict) and form:
        own = []
        for key, part in form.items():
            _gather(part, f"{path}/{key}", f"{key_path}/{key}", plain_name(key), own, found, depth + 1)
    elif isinstance(form, list) and form:
        for index, item in enumerate(form):
            _gather(item, f"{path}/{index}", f"{key_path}/*", name, siblings, found, depth + 1)
    else:
        leaf = Leaf(path or "/", key_path or "/", key_path, name, form, _text(form), siblings)
        siblings.append((name, leaf.text))
        found.append(leaf)


def _paths(form: Json, path: str, found: set[str], depth: int) -> None:
    if depth > _DEEPEST or len(found) > _MOST_LEAVES:
        return
    if isinstance(form, Lines):
        found.update(f"{path}¶{line.pattern}" for line in form)
    elif isinstance(form, dict):
        for key, part in form.items():
            found.add(f"{path}/{key}")
            _paths(part, f"{path}/{key}", found, depth + 1)
    elif isinstance(form, list):
        for item in form:
            if not isinstance(item, _NESTED):
                found.add(f"{path}/*")
            _paths(item, f"{path}/*", found, depth + 1)


def _align(recorded: Json, played: Json, path: str, depth: int) -> Iterator[Pair]:
    if depth > _DEEPEST:
        return
    if isinstance(recorded, Line):
        yield from _align_line(recorded, played, path)
    elif isinstance(recorded, dict) and isinstance(played, dict) and recorded and played:
        for key, part in recorded.items():
            yield from _align(part, played.get(key, UNSET), f"{path}/{key}", depth + 1)
        for key, part in played.items():
            if key not in recorded:
                yield from _align(UNSET, part, "", depth + 1)
    elif isinstance(recorded, list) and isinstance(played, list) and recorded and played:
        for index, one, other in _matched(recorded, played):
            yield from _align(one, other, f"{path}/{index}", depth + 1)
    elif _is_leaf(recorded) and _is_leaf(played):
        yield path or "/", recorded, played
    else:
        yield from _unpaired(recorded, played, path, depth)


def _unpaired(recorded: Json, played: Json, path: str, depth: int) -> Iterator[Pair]:
    """Two parts that are of different kinds, or one that has no partner."""
    if recorded is not UNSET:
        if _is_leaf(recorded):
            yield path or "/", recorded, UNSET
        else:
            parts = recorded.items() if isinstance(recorded, dict) else enumerate(recorded)
            for step, part in parts:
                yield from _align(part, UNSET, f"{path}/{step}", depth + 1)
    if played is not UNSET:
        if isinstance(played, Line):
            yield from (("", UNSET, value) for value in played.values)
        elif _is_leaf(played):
            if not isinstance(played, _NESTED):
                yield "", UNSET, played
        else:
            for part in played.values() if isinstance(played, dict) else played:
                yield from _align(UNSET, part, "", depth + 1)


def _align_line(recorded: Line, played: Json, path: str) -> Iterator[Pair]:
    is_alike = isinstance(played, Line) and played.pattern == recorded.pattern
    for place, value in enumerate(recorded.values):
        yield f"{path}/{recorded.pattern}#{place}", value, played.values[place] if is_alike else UNSET
    if not is_alike and played is not UNSET:
        yield from _unpaired(UNSET, played, "", 0)


def _matched(recorded: list[Json], played: list[Json]) -> Iterator[tuple[int, Json, Json]]:
    """The items in pairs, with the index in the recorded list; UNSET for none."""
    ours, theirs = [_digest(item) for item in recorded], [_digest(item) for item in played]
    start = 0
    while start < min(len(ours), len(theirs)) and ours[start] == theirs[start]:
        yield start, recorded[start], played[start]
        start += 1
    if max(len(ours), len(theirs)) - start > _MOST_MATCHED:
        yield from _in_order(recorded, played, start, len(ours), start, len(theirs))
        return
    matcher = SequenceMatcher(None, ours[start:], theirs[start:], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            for index in range(b - a):
                yield start + a + index, recorded[start + a + index], played[start + c + index]
        else:
            yield from _in_order(recorded, played, start + a, start + b, start + c, start + d)


def _in_order(
    recorded: list[Json], played: list[Json], a: int, b: int, c: int, d: int
) -> Iterator[tuple[int, Json, Json]]:
    for index in range(max(b - a, d - c)):
        one = recorded[a + index] if a + index < b else UNSET
        other = played[c + index] if c + index < d else UNSET
        yield a + index, one, other


def _digest(item: Json) -> str:
    if isinstance(item, str):
        return item
    return json.dumps(item, sort_keys=True)


def _is_leaf(form: Json) -> bool:
    return form is not UNSET and (not isinstance(form, _PARTED) or not form)


def _kind(form: Json) -> str:
    if isinstance(form, dict):
        return "{}"
    return "[]" if isinstance(form, list) else "value"


def _text(form: Json) -> str:
    if isinstance(form, dict):
        return "{}"
    return "[]" if isinstance(form, list) else norm(form)


def equal_leaves(recorded: Json, played: Json) -> bool:
    """Whether a recorded leaf and a played one are the same."""
    if recorded is UNSET or played is UNSET:
        return False
    if isinstance(recorded, _NESTED) or isinstance(played, _NESTED):
        return _text(recorded) == _text(played)
    return same(recorded, played)
