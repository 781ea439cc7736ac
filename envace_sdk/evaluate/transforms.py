"""What a value counts as being known from: the listed transforms.

Of a text that is known, so is: the same in another case, or as a number; each of its lines and words; each part
between separators (`/ \\ , ; : = @ . _ - |` and quotes); each path that leads to it; the date of a timestamp; the
number of its characters, words and lines, and of a list, of its items. Of several values together: a text all of whose
parts are known; a number that follows from others of its name and from arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from envace_sdk.json import Json

__all__ = ["contents_of", "follows", "number_of", "parts_of", "pieces_of", "sizes_of"]

_LONGEST: Final = 20_000
_MOST: Final = 3_000
_MOST_NUMBERS: Final = 12
_SPLIT: Final = re.compile(r"""[\s/\\,;:=@._\-|"'`()\[\]{}<>]+""")
_COARSE: Final = re.compile(r"""[\s/\\,;:="'`()\[\]{}<>]+""")
_EDGES: Final = "\"'`()[]{}<>,;:.!?"
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?=[t ])")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")


def parts_of(text: str) -> Iterator[str]:
    """What else is known where `text`, a case-folded value, is."""
    text = text[:_LONGEST]
    for made, part in enumerate(_parts(text)):
        if made >= _MOST:
            return
        yield part


def contents_of(text: str) -> list[str]:
    """What an argument names besides itself: the lines of a text, the last part of a path."""
    lines = [line.strip() for line in text.splitlines()]
    if len(lines) > 1:
        return lines
    return [text.rpartition("/")[2]] if "/" in text and " " not in text else []


def pieces_of(text: str) -> list[str]:
    """The parts that must all be known for the whole to be."""
    return [piece for part in _COARSE.split(text) if (piece := part.strip(_EDGES))]


def sizes_of(value: Json, depth: int = 0) -> Iterator[int]:
    """The lengths of what is in `value`: of texts in characters, words and lines, of lists in items."""
    if depth > 20:
        return
    if isinstance(value, str):
        text = value[:_LONGEST]
        yield from (len(text), len(text.split()), len(text.splitlines()))
    elif isinstance(value, dict):
        for part in value.values():
            yield from sizes_of(part, depth + 1)
    elif isinstance(value, list | tuple):
        yield len(value)
        for item in value:
            yield from sizes_of(item, depth + 1)


def number_of(text: str) -> float | None:
    """The number a text is, if it is one."""
    return float(text) if _NUMBER.fullmatch(text) and len(text) < 40 else None


def follows(target: float, given: Iterable[float], same_name: Sequence[float], *, is_telling: bool) -> bool:
    """Whether a number follows from those of the arguments and those met under its own name, the last one last."""
    numbers = list(given)[:_MOST_NUMBERS]
    if same_name and _near(target, max(same_name) + 1):
        return True
    for one in same_name if is_telling else same_name[-1:]:
        changes = [*numbers, 1.0] if is_telling else numbers
        if any(_near(target, one + number) or _near(target, one - number) for number in changes):
            return True
    return is_telling and any(
        _near(target, made)
        for place, one in enumerate(numbers)
        for other in numbers[place + 1 :]
        for made in (one + other, one - other, other - one, one * other)
    )


def _parts(text: str) -> Iterator[str]:
    date = _DATE.match(text)
    if date:
        yield date.group()
    lines = text.splitlines()
    if len(lines) > 1:
        yield from (line.strip() for line in lines)
    for line in lines:
        words = line.split()
        if len(words) > 1:
            yield from (word.strip(_EDGES) for word in words)
        for word in words:
            at = word.find("/", 1)
            while at > 0:
                yield word[:at]
                yield word[at + 1 :]
                at = word.find("/", at + 1)
        yield from _SPLIT.split(line)
        for separator in (", ", ",", ": ", ":", "=", ";", "|", "@"):
            if separator in line:
                yield from (part.strip(_EDGES + " ") for part in line.split(separator))


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(1.0, abs(one), abs(other))
