"""The form of an answer: what answers of a kind have in common, whatever values they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from envace_sdk.json import UNSET, Json, Unset

from .events import Leaf, leaves

__all__ = ["Form", "form_of", "likeness", "structure"]

_MOST_PATHS = 300
_MOST_LINES = 80
_DEPTH = 12
_SENTENCE = 160
_LEAST = 2
"""Shorter values are not looked for in texts: they occur by chance."""
_LONGEST_JSON = 100_000

_QUOTED = re.compile(r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`")
_TOKEN = re.compile(r"\b(?=[A-Za-z_-]*[0-9])[0-9A-Za-z_-]{6,}\b")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_GAPS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Form:
    """One kind of answer: its name, and what it holds where."""

    name: str
    is_error: bool
    paths: frozenset[str] = field(compare=False)


def form_of(value: Json, *, is_error: bool, given: Iterable[Leaf]) -> Form:
    """The form of an answer to a call with these values. Of texts, the name tells errors and short sentences apart."""
    known = sorted({text for _, text, _ in given if len(text) >= _LEAST}, key=lambda text: (-len(text), text))
    paths = structure(value, known)
    names = sorted(path for path in paths if "¶" not in path)
    if is_error:
        names += [
            _masked(part.strip().partition("\n")[0], known) for _, _, part in leaves(value) if isinstance(part, str)
        ][:3]
    elif isinstance(value, str):
        names.append("¶…" if "\n" in value.strip() else f"¶{_masked(value.strip(), known)}")
    return Form(f"{'error' if is_error else 'success'}:{'|'.join(names)}", is_error, paths)


def structure(value: Json, known: Sequence[str] = ()) -> frozenset[str]:
    """The paths at which an answer holds something, with its type; places in lists are alike.

    Texts hold lines: those that stand alone, or have several, are told by their lines without the `known` values. JSON
    in a text counts as what it says.
    """
    found: set[str] = set()
    for path in _paths(value, "", 0, known, alone=True):
        found.add(path)
        if len(found) >= _MOST_PATHS:
            break
    return frozenset(found)


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """How much two structures have in common (F1), from 0 to 1."""
    if not one and not other:
        return 1.0
    return 2 * len(one & other) / (len(one) + len(other))


def _masked(line: str, known: Sequence[str]) -> str:
    """A line without its values: those of the call, quoted parts, numbers and keys are all alike."""
    if len(line) > _SENTENCE:
        return "…"
    for value in known:
        if value in line:
            line = line.replace(value, "0")
    return _GAPS.sub(" ", _NUMBER.sub("0", _TOKEN.sub("0", _QUOTED.sub("0", line)))).strip()


def _paths(value: Json, place: str, depth: int, known: Sequence[str], *, alone: bool) -> Iterator[str]:
    if depth > _DEPTH:
        return
    if isinstance(value, dict):
        yield f"{place}{{}}"
        for name, part in value.items():
            yield from _paths(part, f"{place}/{name}", depth + 1, known, alone=len(value) == 1)
    elif isinstance(value, list):
        yield f"{place}[]"
        for part in value:
            yield from _paths(part, f"{place}/*", depth + 1, known, alone=False)
    elif isinstance(value, str):
        yield f"{place}:str"
        if alone or "\n" in value:
            data = _opened(value)
            if data is not UNSET:
                yield from _paths(data, f"{place}¶", depth + 1, known, alone=False)
            else:
                lines = [line for line in value.splitlines()[:_MOST_LINES] if line.strip()]
                yield from (f"{place}¶{_masked(line, known)}" for line in lines)
    else:
        kind = type(value).__name__
        yield f"{place}:{'number' if kind in ('int', 'float') else kind}"


def _opened(text: str) -> Json | Unset:
    if text[:1] not in ("{", "[") or len(text) > _LONGEST_JSON:
        return UNSET
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return UNSET
