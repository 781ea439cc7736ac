"""Likeness: how far two lines say the same, apart from the values in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .align import GAP, NUMBERS
from .tokens import BLANK, KNOWN, MARK, NUMBER, PAD, TIME, VALUE, WORD, Line

__all__ = ["Likeness", "label", "may_be_alike"]

_OFTEN: Final = 3
_RARE: Final = 3
"""A word is taken for a part of a value where the words around it are so many times as frequent."""
_VALUE_WEIGHT: Final = 0.3
_NAME_WEIGHT: Final = 0.6
_PHRASE_WEIGHT: Final = 1.25
_ENDS: Final = frozenset({":", ".", "!", "?", "-", ";"})
_LABEL_WEIGHT: Final = 0.1
_LONGEST_LABEL: Final = 10
_QUOTES: Final = {"'": "'", '"': '"', "`": "`", "[": "]"}
_FIXED: Final = frozenset({VALUE, NUMBER, NUMBERS, TIME, KNOWN, MARK})
_COUNTS: Final = frozenset({NUMBER, NUMBERS})


def label(line: Line) -> tuple[str, ...]:
    """The tokens up to a colon or an equals sign, if they are few and have a word in them; else nothing.

    A number at the begin counts as any number: the lines may be numbered.
    """
    for place, token in enumerate(line.tokens[:_LONGEST_LABEL]):
        kind = line.kinds[place]
        if token in (":", "=") and place + 1 < len(line.tokens) and line.kinds[place + 1] in (BLANK, PAD):
            start = line.tokens[: place + 1] if WORD in line.kinds[:place] else ()
            return tuple("#" if line.kinds[at] == NUMBER else token for at, token in enumerate(start))
        if kind not in (WORD, BLANK, MARK) and (kind != NUMBER or WORD in line.kinds[:place]):
            break
    return ()


def may_be_alike(common: int, words: int) -> bool:
    """Whether lines with so many words in common, of so many, can be more alike than not."""
    return common > _VALUE_WEIGHT * (words - common)


class Likeness:
    """Compares lines by what is known of all of them."""

    def __init__(self, lines: Mapping[Line, int], labels: set[tuple[str, ...]]) -> None:
        """Compare such lines.

        Args:
            lines: all lines, and how often each was seen.
            labels: what several of them begin with; it says little of what the rest of a line is about.
        """
        self._frequency: Counter[str] = Counter()
        self._lines: Counter[str] = Counter()
        for line, count in lines.items():
            words = {token for token, kind in zip(line.tokens, line.kinds, strict=True) if kind == WORD}
            self._frequency.update(dict.fromkeys(words, min(count, _OFTEN)))
            self._lines.update(words)
        self._labels = labels

    def of(self, form: Line, line: Line, pairs: Sequence[tuple[int, int]]) -> float:
        """Of the words of both, the share that is common; 0 where they differ in more than values."""
        shared = [j for _, j in pairs if line.kinds[j] == WORD]
        if not shared:
            return 0
        rare = min(self._frequency[line.tokens[j]] for j in shared) / _RARE
        sides = (
            _Side(form, self._weights(form, rare), {i for i, _ in pairs}),
            _Side(line, self._weights(line, rare), {j for _, j in pairs}),
        )
        if any(_apart(*sides, *gap) for gap in _gaps(form, line, pairs)):
            return 0
        start = label(line)
        labelled = len(start) if start in self._labels else 0
        common = sum(_LABEL_WEIGHT if j < labelled else 1 for j in shared)
        return common / (common + max(side.apart for side in sides))

    def _weights(self, line: Line, rare: float) -> list[float]:
        """How much each token counts if the other line does not have it: words much, what may be a value less."""
        weights: list[float] = []
        quote = before = ""
        for token, kind in zip(line.tokens, line.kinds, strict=True):
            weight = 0.0
            if kind == MARK:
                quote = _QUOTES.get(token, "") if not quote else "" if token == quote else quote
            elif kind == WORD:
                name = before != "" and before not in _ENDS and token[:1].isupper()
                value = quote or before == "=" or self._frequency[token] <= rare
                weight = _NAME_WEIGHT if name else _VALUE_WEIGHT if value else 1.0
            weights.append(weight)
            before = before if kind == BLANK else token
        for run in self._phrases(line, weights):
            for place in run:
                weights[place] = _PHRASE_WEIGHT
        return weights

    def _phrases(self, line: Line, weights: Sequence[float]) -> Iterator[list[int]]:
        """Words in a row that several lines have, and that are neither names nor in quotes."""
        run: list[int] = []
        for place, kind in enumerate((*line.kinds, GAP)):
            if kind == WORD and self._lines[line.tokens[place]] > 1 and weights[place] != _NAME_WEIGHT:
                run.append(place)
            elif kind != BLANK:
                if len(run) > 1:
                    yield run
                run = []


def _gaps(left: Line, right: Line, pairs: Sequence[tuple[int, int]]) -> list[tuple[range, range]]:
    """The places between those that are common; a blank with such places around it is one of them."""
    runs: list[tuple[range, range]] = []
    i = j = 0
    for next_i, next_j in [*pairs, (len(left.tokens), len(right.tokens))]:
        if (i, j) != (next_i, next_j):
            at, to = range(i, next_i), range(j, next_j)
            if runs and runs[-1][0].stop + 1 == i and left.kinds[i - 1] == BLANK:
                at, to = range(runs[-1][0].start, next_i), range(runs.pop()[1].start, next_j)
            runs.append((at, to))
        i, j = next_i + 1, next_j + 1
    return runs


def _apart(left: _Side, right: _Side, at: range, to: range) -> bool:
    """Whether two lines mean different things by what they have in one place."""
    if not at or not to:
        return left.adds(at) if at else right.adds(to)
    one, other = left.kinds(at), right.kinds(to)
    if at.start == to.start == 0 and one | other <= {WORD, BLANK} and (left.phrase(at) or right.phrase(to)):
        return True  # a sentence seldom begins with a value of several words
    if one == {WORD} != other <= _COUNTS or other == {WORD} != one <= _COUNTS:
        return True  # "No notes" is no number of notes
    if GAP in one | other or _FIXED.isdisjoint(one) == _FIXED.isdisjoint(other):
        return False
    # A thing against another thing with its name, as in "user not found" and "order A-1 not found".
    if _FIXED.isdisjoint(other):
        left, right, at, to = right, left, to, at
    words = {left.line.tokens[place] for place in at if left.plain(place)}
    said = any(right.weights[place] == 1 for place in to)
    return bool(words) and said and words.isdisjoint(right.line.tokens[place] for place in to)


@dataclass(frozen=True, slots=True)
class _Side:
    """One of two lines: what its tokens weigh, and which of them are common."""

    line: Line
    weights: Sequence[float]
    common: set[int]

    @property
    def apart(self) -> float:
        return sum(weight for place, weight in enumerate(self.weights) if place not in self.common)

    def kinds(self, places: range) -> set[int]:
        return set(self.line.kinds[places.start : places.stop])

    def plain(self, place: int) -> bool:
        """Whether there is a word of language other than a name."""
        return self.line.kinds[place] == WORD and self.line.tokens[place][:1].islower()

    def phrase(self, places: range) -> bool:
        """Whether there are several words that are not all names."""
        return len(places) > 1 and any(map(self.plain, places))

    def adds(self, inside: range) -> bool:
        """Whether the line says something here where the other says nothing, as in "was found" and "was not found".

        After a sign, nothing may well be a value: an empty title in quotes.
        """
        places = range(inside.start - 1, -1, -1)
        before = next((place for place in places if self.line.kinds[place] != BLANK), -1)
        if before >= 0 and self.line.kinds[before] in (MARK, GAP, PAD):
            return False
        kinds = self.kinds(inside)
        return WORD in kinds or (
            (before < 0 or self.line.kinds[before] == WORD) and not {VALUE, NUMBER, TIME, KNOWN}.isdisjoint(kinds)
        )
