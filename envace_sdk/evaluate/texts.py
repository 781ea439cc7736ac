"""Texts as lines, and lines as patterns of fixed words with values between them; told by the recordings alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from envace_sdk.json import Json

__all__ = ["Line", "Lines", "Place", "Wording", "words_of"]

Place: TypeAlias = tuple[str, bool, str]
"""Where texts with common wording stand: the tool, whether it answered an error, and the key path."""

_LONGEST_TEXT: Final = 200_000
_MOST_LINES: Final = 5_000
_FEWEST: Final = 3
_GAP: Final = "~"
_EDGES: Final = "\"'`()[]{}<>,;:.!?=“”‘’*"
_LETTERS: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_KEY: Final = re.compile(r"\s*([\w-]+(?: [\w-]+)?:)\s+\S")


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


@dataclass(slots=True)
class _Seen:
    """The texts of one place, as recorded."""

    lines: dict[str, frozenset[str]] = field(default_factory=dict)
    """Each line with those of its words that may be fixed."""
    answers: Counter[str] = field(default_factory=Counter)
    """In how many answers each line stands."""
    keys: Counter[str] = field(default_factory=Counter)
    """In how many answers a line starts with this key."""


@dataclass(frozen=True, slots=True)
class _Fixed:
    """What is fixed at one place."""

    words: frozenset[str] = frozenset()
    spoken: frozenset[str] = frozenset()
    """Case-folded, and those of the keys too."""
    patterns: frozenset[str] = frozenset()
    sentences: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()


class Wording:
    """Which words of texts are fixed ones, and which are values.

    A *pattern* is what several lines at one place have in common: words, all letters, that stand in at least three
    different lines there (other than as part of what the call's arguments say), in the same order in at least three
    different lines. A *key* is one word, or two, with a colon after it, that starts a line in at least three answers. A
    *sentence* is a line of at least three words that stands in at least three answers, fits no pattern, and was never
    part of an argument. All other lines are values as a whole.
    """

    def __init__(self) -> None:
        self._seen: dict[Place, _Seen] = {}
        self._fixed: dict[Place, _Fixed] = {}
        self._said: set[str] = set()

    def learn(self, place: Place, text: str, said: frozenset[str]) -> None:
        """Take note of a recorded text; `said` are the words of the call's arguments."""
        seen = self._seen.setdefault(place, _Seen())
        lines = dict.fromkeys(_split(text))
        for line in lines:
            if line not in seen.lines and len(seen.lines) < _MOST_LINES:
                words = {_bare(word) for word in line.split()}
                seen.lines[line] = frozenset(w for w in words if w.casefold() not in said and _LETTERS.fullmatch(w))
            if line in seen.lines:
                seen.answers[line] += 1
        seen.keys.update({match.group(1) for line in lines if (match := _KEY.match(line))})
        self._fixed.pop(place, None)

    def learn_said(self, values: Iterable[Json]) -> None:
        """Take note of what arguments say: it is no wording of the environment's."""
        for value in values:
            if isinstance(value, str):
                self._said.update(line.strip() for line in _split(value))
        self._fixed.clear()

    def words(self, place: Place) -> frozenset[str]:
        """The fixed words of a place, case-folded."""
        return self._at(place).spoken

    def read(self, place: Place, text: str) -> Lines:
        """A text line by line, as the wording of its place has it."""
        fixed = self._at(place)
        return Lines(_line(line, fixed) for line in _split(text))

    def _at(self, place: Place) -> _Fixed:
        known = self._fixed.get(place)
        if known is None:
            seen = self._seen.get(place)
            known = self._fixed[place] = _Fixed() if seen is None else self._found(seen)
        return known

    def _found(self, seen: _Seen) -> _Fixed:
        counts = Counter(word for words in seen.lines.values() for word in words)
        words = frozenset(word for word, count in counts.items() if count >= _FEWEST)
        keys = frozenset(key for key, answers in seen.keys.items() if answers >= _FEWEST)
        patterns = Counter(_taken_apart(line, words)[0] for line in seen.lines)
        common = frozenset(p for p, count in patterns.items() if count >= _FEWEST and p != _GAP)
        sentences = frozenset(
            line
            for line, answers in seen.answers.items()
            if answers >= _FEWEST and len(line.split()) >= _FEWEST and line.strip() not in self._said
        )
        spoken = {_bare(word).casefold() for part in (*words, *common, *keys) for word in part.split()}
        return _Fixed(words, frozenset(spoken), common, sentences, keys)


def words_of(values: Iterable[Json]) -> frozenset[str]:
    """The words of some strings, case-folded and without punctuation."""
    return frozenset(_bare(word).casefold() for value in values if isinstance(value, str) for word in value.split())


def _split(text: str) -> list[str]:
    return [line for line in text[:_LONGEST_TEXT].splitlines() if line.strip()][:_MOST_LINES]


def _line(line: str, fixed: _Fixed) -> Line:
    pattern, values = _taken_apart(line, fixed.words)
    if pattern in fixed.patterns:
        return Line((pattern, values))
    match = _KEY.match(line)
    if match and match.group(1) in fixed.keys:
        return Line((f"{match.group(1)} {_GAP}", (line[match.end(1) :].strip(),)))
    return Line((line, ())) if line in fixed.sentences else Line((_GAP, (line.strip(),)))


def _taken_apart(line: str, fixed: frozenset[str]) -> tuple[str, tuple[str, ...]]:
    """The pattern of a line, and its values."""
    pattern: list[str] = []
    values: list[str] = []
    gap: list[str] = []
    for word in line.split():
        if _bare(word) in fixed:
            _close(gap, pattern, values)
            pattern.append(word)
        else:
            gap.append(word)
    _close(gap, pattern, values)
    return " ".join(pattern), tuple(values)


def _close(gap: list[str], pattern: list[str], values: list[str]) -> None:
    if gap:
        pattern.append(_GAP)
        text = " ".join(gap)
        values.append(text.strip(_EDGES) or text)
        gap.clear()


def _bare(word: str) -> str:
    return word.strip(_EDGES)
