"""The form in which answers are compared: JSON as it is, and texts as lines with fixed words and values between them.

What a text says in fixed words is its structure, as the keys are the structure of an object; what stands between them
is its values. Which words are fixed is told by the recordings alone: see `Wording`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from envace_sdk.json import UNSET, Json
from envace_sdk.tools.model import ToolResult

__all__ = [
    "Line",
    "Lines",
    "Place",
    "Wording",
    "answer_value",
    "comparable",
    "form_of",
    "norm",
    "same",
    "texts_in",
    "words_of",
]

Place: TypeAlias = tuple[str, bool, str]
"""Where texts with common wording stand: the tool, whether it answered an error, and the key path."""

_LONGEST_TEXT: Final = 200_000
_MOST_LINES: Final = 5_000
_GAP: Final = "~"
_EDGES: Final = "\"'`()[]{}<>,;:.!?=“”‘’*"
_LETTERS: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_FEWEST: Final = 3
"""Different lines a word must stand in to be a fixed one."""


class Line(tuple[str, tuple[str, ...]]):
    """One line of a text: its pattern, the fixed words with a `~` for everything between, and what stands there."""

    __slots__ = ()

    @property
    def pattern(self) -> str:
        """The fixed words, and gaps."""
        return self[0]

    @property
    def values(self) -> tuple[str, ...]:
        """What fills the gaps, in order."""
        return self[1]


class Lines(list[Line]):
    """A text, line by line; blank lines are left out."""


def answer_value(result: ToolResult) -> Json:
    """The answer as data: structured content, else the content blocks, texts that hold JSON as JSON."""
    return result.structured if result.structured is not UNSET else _content(result)


def comparable(recorded: ToolResult, played: ToolResult) -> tuple[Json, Json]:
    """Both answers as data of one kind: structured content counts where both have it."""
    if recorded.structured is not UNSET and played.structured is not UNSET:
        return recorded.structured, played.structured
    if (recorded.content and played.content) or (recorded.structured is UNSET and played.structured is UNSET):
        return _content(recorded), _content(played)
    return answer_value(recorded), answer_value(played)


def same(one: Json, other: Json) -> bool:
    """Whether two scalars are the same value: 2 and 2.0 are, true and 1 are not."""
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or (isinstance(one, float) or isinstance(other, float)) and math.isclose(one, other)
    return type(one) is type(other) and bool(one == other)


def norm(value: Json) -> str:
    """The text of a scalar, by which values of different types and cases are found to be the same."""
    if isinstance(value, str):
        return value.strip().casefold()
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


class Wording:
    """Which words of texts are fixed ones.

    A word, all letters, is fixed at a place when it stands in at least three different lines there, and in a tenth of
    them, other than as part of what the call's arguments say. The only word of a line never is.
    """

    def __init__(self) -> None:
        self._lines: dict[Place, dict[str, frozenset[str]]] = {}
        self._fixed: dict[Place, frozenset[str]] = {}

    def learn(self, place: Place, text: str, said: frozenset[str]) -> None:
        """Take note of a recorded text; `said` are the words of the arguments."""
        lines = self._lines.setdefault(place, {})
        for line in _split(text):
            if len(lines) < _MOST_LINES and line not in lines:
                words = {_bare(word) for word in line.split()}
                lines[line] = frozenset(w for w in words if w.casefold() not in said and _LETTERS.fullmatch(w))
        self._fixed.pop(place, None)

    def fixed(self, place: Place) -> frozenset[str]:
        """The fixed words of a place."""
        known = self._fixed.get(place)
        if known is None:
            lines = self._lines.get(place, {})
            counts: dict[str, int] = {}
            for words in lines.values():
                for word in words:
                    counts[word] = counts.get(word, 0) + 1
            least = max(_FEWEST, len(lines) / 10)
            known = self._fixed[place] = frozenset(word for word, count in counts.items() if count >= least)
        return known


def form_of(value: Json, tool: str, is_error: bool, wording: Wording, path: str = "", *, alone: bool = True) -> Json:
    """The form of an answer. Objects and lists stay, texts become `Lines`, JSON inside texts is opened.

    A text is a string that is the whole answer, or the only member of an object, or has several lines.
    """
    if isinstance(value, Mapping):
        sole = len(value) == 1
        return {
            name: form_of(part, tool, is_error, wording, f"{path}/{name}", alone=sole) for name, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [form_of(item, tool, is_error, wording, f"{path}/*", alone=False) for item in value]
    if isinstance(value, str):
        opened = _opened(value)
        if opened is not UNSET:
            return form_of(opened, tool, is_error, wording, path, alone=False)
        if alone or "\n" in value:
            return _lines_of(value, wording.fixed((tool, is_error, path)))
    return value


def texts_in(value: Json, path: str = "", *, alone: bool = True) -> Iterator[tuple[str, str]]:
    """The texts that `form_of` would take apart, with their key paths."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from texts_in(part, f"{path}/{name}", alone=len(value) == 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item, f"{path}/*", alone=False)
    elif isinstance(value, str):
        opened = _opened(value)
        if opened is not UNSET:
            yield from texts_in(opened, path, alone=False)
        elif alone or "\n" in value:
            yield path, value


def _content(result: ToolResult) -> Json:
    if not result.content:
        return "" if result.structured is UNSET else result.structured
    values = [_block(block) for block in result.content]
    return values[0] if len(values) == 1 else values


def _block(block: Mapping[str, Json]) -> Json:
    if block.get("type") != "text":
        return {name: part for name, part in block.items() if name != "_meta"}
    text = str(block.get("text", ""))
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _opened(text: str) -> Json:
    """What a string holds, if that is a JSON object or list."""
    if text[:1] not in ("{", "["):
        return UNSET
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return UNSET


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is no JSON")


def _split(text: str) -> list[str]:
    return [line for line in text[:_LONGEST_TEXT].splitlines() if line.strip()][:_MOST_LINES]


def _lines_of(text: str, fixed: frozenset[str]) -> Lines:
    return Lines(_line(line, fixed) for line in _split(text))


def _line(line: str, fixed: frozenset[str]) -> Line:
    words = line.split()
    if len(words) == 1 or not fixed:
        return Line((_GAP, (line.strip(),)))
    pattern: list[str] = []
    values: list[str] = []
    gap: list[str] = []
    for word in words:
        if _bare(word) in fixed:
            _close(gap, pattern, values)
            pattern.append(word)
        else:
            gap.append(word)
    _close(gap, pattern, values)
    return Line((" ".join(pattern), tuple(values)))


def _close(gap: list[str], pattern: list[str], values: list[str]) -> None:
    if gap:
        pattern.append(_GAP)
        values.append(" ".join(gap).strip(_EDGES) or " ".join(gap))
        gap.clear()


def _bare(word: str) -> str:
    return word.strip(_EDGES)


def words_of(values: Iterable[Json]) -> frozenset[str]:
    """The words of some strings, case-folded and without punctuation."""
    return frozenset(_bare(word).casefold() for value in values if isinstance(value, str) for word in value.split())
