"""Classes of lines: those that say the same with other values."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from .align import GAP, align, common
from .inline import skeleton
from .tokens import BLANK, KNOWN, LIST, MARK, NUMBER, PAD, TIME, VALUE, WORD, Line

__all__ = ["LineClass", "classify", "label", "shape"]

_RARE: Final = 4
"""A word is taken for a part of a value where the words around it are so many times as frequent."""
_RARE_WEIGHT: Final = 0.3
_LABEL_WEIGHT: Final = 0.1
_LONGEST: Final = 150
_LONGEST_LABEL: Final = 10
_NEAREST: Final = 24
"""With how many classes a line is compared: those that have most words in common with it."""


@dataclass(slots=True, eq=False)
class LineClass:
    """Lines that say the same: what they have in common, and which they are."""

    form: Line
    members: list[Line] = field(default_factory=list)

    @property
    def words(self) -> int:
        """How many words all of them have in common."""
        return self.form.words


def shape(line: Line) -> tuple[str, ...]:
    """The signs of a line, with everything between them as one; runs of blanks count as one."""
    out: list[str] = []
    for token, kind in zip(line.tokens, line.kinds, strict=True):
        one = (
            token
            if kind == MARK
            else " "
            if kind == BLANK
            else "  "
            if kind == PAD
            else skeleton(token)
            if kind == LIST
            else "#"
            if kind == NUMBER
            else "w"
        )
        if one == "w" and out[-2:] == ["w", " "]:
            out.pop()
        elif not out or out[-1] != one or kind == MARK:
            out.append(one)
    return tuple(out)


def classify(
    lines: Iterable[Line], labelled: frozenset[Line] = frozenset(), fixed: frozenset[Line] = frozenset()
) -> dict[Line, LineClass]:
    """A class for every line; each class's members are in the order of the lines.

    Args:
        lines: the lines.
        labelled: of these, those that begin with the same label ("Status: ") say the same whatever comes after it.
        fixed: of the others, each of these says the same as itself only.
    """
    distinct = list(dict.fromkeys(lines))
    frequency = Counter(word for line in distinct for word in set(_words(line)))
    sorter = _Sorter(frequency)
    by_label: dict[tuple[str, ...], list[Line]] = defaultdict(list)
    for line in distinct:
        found = label(line) if line in labelled else ()
        if found:
            by_label[found].append(line)
    sorter.labels = {found for found, count in Counter(map(label, distinct)).items() if count > 1}
    apart = {line: group for group in by_label.values() if len(group) > 1 for line in group}
    done: set[int] = set()
    for line in distinct:
        if line not in apart:
            if line in fixed:
                sorter.gather([line])
            else:
                sorter.place(line)
        elif id(apart[line]) not in done:
            done.add(id(apart[line]))
            sorter.gather(apart[line])
    return {line: found for found in sorter.classes for line in found.members}


def label(line: Line) -> tuple[str, ...]:
    """The tokens up to a colon or an equals sign, if they are few and have a word in them; else nothing."""
    for place, token in enumerate(line.tokens[:_LONGEST_LABEL]):
        kind = line.kinds[place]
        if token in (":", "=") and place + 1 < len(line.tokens) and line.kinds[place + 1] in (BLANK, PAD):
            return line.tokens[: place + 1] if WORD in line.kinds[:place] else ()
        if kind not in (WORD, BLANK, MARK):
            break
    return ()


def _words(line: Line) -> list[str]:
    return [token for token, kind in zip(line.tokens, line.kinds, strict=True) if kind == WORD]


class _Sorter:
    def __init__(self, frequency: Counter[str]) -> None:
        self._frequency = frequency
        self.labels: set[tuple[str, ...]] = set()
        """What several lines begin with: it says little of what the rest of the line is about."""
        self.classes: list[LineClass] = []
        self._by_word: dict[str, dict[int, None]] = defaultdict(dict)
        self._by_shape: dict[tuple[str, ...], int] = {}

    def place(self, line: Line) -> None:
        """Put a line into the class it fits best, or a new one."""
        if line.words == 0:
            number = self._by_shape.setdefault(shape(line), len(self.classes))
            if number < len(self.classes):
                self._join(number, line, None)
                return
        else:
            number, pairs = self._nearest(line)
            if number >= 0:
                self._join(number, line, pairs)
                return
        self.classes.append(LineClass(line, [line]))
        for word in _words(line):
            self._by_word[word][len(self.classes) - 1] = None

    def gather(self, lines: Sequence[Line]) -> None:
        """Make a class of these lines."""
        self.classes.append(LineClass(lines[0], [lines[0]]))
        for line in lines[1:]:
            self._join(len(self.classes) - 1, line, None)

    def _join(self, number: int, line: Line, pairs: list[tuple[int, int]] | None) -> None:
        found = self.classes[number]
        found.form = common(found.form, line, pairs)
        found.members.append(line)

    def _nearest(self, line: Line) -> tuple[int, list[tuple[int, int]]]:
        shared: Counter[int] = Counter()
        words = set(_words(line))
        for word in words:
            shared.update(self._by_word[word].keys())
        best: tuple[float, int, list[tuple[int, int]]] = (0.5, -1, [])
        if len(line.tokens) > _LONGEST:
            return best[1:]
        for number, _ in sorted(shared.items(), key=lambda one: (-one[1], one[0]))[:_NEAREST]:
            form = self.classes[number].form
            if len(form.tokens) > _LONGEST:
                continue
            pairs = align(form, line)
            likeness = self._likeness(form, line, pairs)
            if likeness > best[0]:
                best = likeness, number, pairs
        return best[1:]

    def _likeness(self, form: Line, line: Line, pairs: list[tuple[int, int]]) -> float:
        """Of the words of both, the share that is common; 0 where one has words in the midst of the other's."""
        if _insertion(form, line, pairs):
            return 0
        shared = [j for _, j in pairs if line.kinds[j] == WORD]
        if not shared:
            return 0
        start = label(line)
        labelled = len(start) if start in self.labels else 0
        weight = sum(_LABEL_WEIGHT if j < labelled else 1 for j in shared)
        rare = min(self._frequency[line.tokens[j]] for j in shared) / _RARE
        left, right = {i for i, _ in pairs}, {j for _, j in pairs}
        apart = max(self._apart(form, left, rare), self._apart(line, right, rare))
        return weight / (weight + apart)

    def _apart(self, line: Line, shared: set[int], rare: float) -> float:
        apart = 0.0
        for place, token in enumerate(line.tokens):
            if place not in shared and line.kinds[place] == WORD:
                apart += _RARE_WEIGHT if self._frequency[token] <= rare else 1
        return apart


def _insertion(left: Line, right: Line, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether one line has plain words where the other has nothing, as in "was found" and "was not found".

    After a sign, nothing may well be a value: an empty title in quotes.
    """
    before = (-1, -1)
    for i, j in [*pairs, (len(left.tokens), len(right.tokens))]:
        for line, begin, end, other in (
            (left, before[0] + 1, i, j - before[1] - 1),
            (right, before[1] + 1, j, i - before[0] - 1),
        ):
            if other == 0 and _plain(line, begin, end):
                return True
        before = i, j
    return False


def _plain(line: Line, begin: int, end: int) -> bool:
    inside = line.kinds[begin:end]
    if WORD not in inside or not {VALUE, NUMBER, TIME, KNOWN, MARK, GAP, LIST}.isdisjoint(inside):
        return False
    place = begin - 1
    while place >= 0 and line.kinds[place] == BLANK:
        place -= 1
    return place < 0 or line.kinds[place] not in (MARK, GAP)
