"""Classes of lines: those that say the same with other values."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .align import align, common
from .inline import skeleton
from .likeness import Likeness, label, may_be_alike
from .tokens import BLANK, LIST, MARK, NUMBER, PAD, WORD, Line

__all__ = ["LineClass", "classify", "shape"]

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
    lines: Mapping[Line, int], labelled: frozenset[Line] = frozenset(), fixed: frozenset[Line] = frozenset()
) -> dict[Line, LineClass]:
    """A class for every line; each class's members are in the order of the lines.

    Args:
        lines: the lines, and how often they were seen.
        labelled: of these, those that begin with the same label ("Status: ") say the same whatever comes after it.
        fixed: of the others, each of these says the same as itself only.
    """
    distinct = list(lines)
    labels = {found for found, count in Counter(map(label, distinct)).items() if count > 1}
    sorter = _Sorter(Likeness(lines, labels))
    by_label: dict[tuple[str, ...], list[Line]] = defaultdict(list)
    for line in distinct:
        found = label(line) if line in labelled else ()
        if found:
            by_label[found].append(line)
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


def _words(line: Line) -> list[str]:
    return [token for token, kind in zip(line.tokens, line.kinds, strict=True) if kind == WORD]


class _Sorter:
    def __init__(self, likeness: Likeness) -> None:
        self._likeness = likeness
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
        for number, count in sorted(shared.items(), key=lambda one: (-one[1], one[0]))[:_NEAREST]:
            form = self.classes[number].form
            if len(form.tokens) > _LONGEST or not may_be_alike(count, max(line.words, form.words)):
                continue
            pairs = align(form, line)
            likeness = self._likeness.of(form, line, pairs)
            if likeness > best[0]:
                best = likeness, number, pairs
        return best[1:]
