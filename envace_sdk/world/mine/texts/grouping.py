"""Grouping: which texts have the same form, by the lines they have in common."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, TypeAlias

from .classes import LineClass, shape
from .tokens import Line

__all__ = ["Grouping", "Text"]

_ALIKE: Final = 0.6
"""The share of what texts say that must be common, for them to have the same form."""
_LIST: Final = -1
_NO_BULLETS: Final = frozenset({"w", "'", '"', "`", "(", "{", "<", "@"})

_Signature: TypeAlias = tuple[int, ...]


@dataclass(slots=True, eq=False)
class Text:
    """A text, with what was known whenever it was seen."""

    text: str
    origins: set[tuple[str, ...]]
    count: int = 1
    lines: list[Line] = field(default_factory=list)
    """Its lines; none before it is looked at closely."""


class Grouping:
    """Puts texts together that have the same fixed lines in the same order."""

    def __init__(self, texts: Sequence[Text], classes: Mapping[Line, LineClass], several: bool) -> None:
        """Args: several: texts were seen with different things known, so that what depends on them can be told."""
        self._texts = texts
        self._classes = classes
        origins: dict[int, set[object]] = defaultdict(set)
        rows: set[int] = set()
        self._frequency: Counter[int] = Counter()
        for text in texts:
            counts = Counter(self._ids(text))
            self._frequency.update(counts.keys())
            for one, count in counts.items():
                origins[one] |= text.origins if several else {text.text}
                if count > 1:
                    rows.add(one)
        self._stable = {one for one, found in origins.items() if len(found) > 1}
        self._words = {id(found): found.words for found in classes.values()}
        self.rows = frozenset(self._with_mates(rows))
        """The classes of which one text has several lines, and those that stand among them."""

    def _ids(self, text: Text) -> list[int]:
        return [id(self._classes[line]) for line in text.lines]

    def _with_mates(self, rows: set[int]) -> set[int]:
        """Also the classes of the same shape beside them."""
        shapes = {id(found): shape(found.members[0]) for found in self._classes.values()}
        mates = {one for one in rows if len(shapes[one]) > 1 or shapes[one] == ("w",)}
        for text in self._texts:
            for before, after in pairwise(self._ids(text)):
                alike = shapes[before] == shapes[after]
                if alike and (not mates.isdisjoint((before, after)) or _bullet(shapes[before])):
                    mates |= {before, after}
        return mates

    def groups(self) -> list[list[Text]]:
        """Groups of texts; a text that is like no other is a group by itself."""
        exact: dict[_Signature, list[Text]] = defaultdict(list)
        alone: list[list[Text]] = []
        for text in self._texts:
            signature = self._signature(text)
            if signature:
                exact[signature].append(text)
            else:
                alone.append([text])
        merged: list[tuple[_Signature, list[Text]]] = []
        for signature, texts in sorted(exact.items(), key=lambda one: -len(one[1])):
            for index, (other, members) in enumerate(merged):
                both = _common(other, signature)
                if self._weight(both) > _ALIKE * max(self._weight(other), self._weight(signature)):
                    merged[index] = (both, members + texts)
                    break
            else:
                merged.append((signature, texts))
        return [members for _, members in merged] + alone

    def parts(self, texts: Sequence[Text]) -> list[list[Text]]:
        """The texts of a group by the fixed lines that they have."""
        parts: dict[_Signature, list[Text]] = defaultdict(list)
        for text in texts:
            parts[self._signature(text)].append(text)
        return list(parts.values())

    def _weight(self, signature: _Signature) -> int:
        """How much these lines say: the words of a line that many texts have say more about the form."""
        return sum(self._words.get(one, 0) * self._frequency[one] for one in signature)

    def _signature(self, text: Text) -> _Signature:
        ids = self._ids(text)
        if len(ids) == 1 and ids[0] not in self.rows:
            return (ids[0],)
        fixed = tuple(one for one in ids if one in self._stable and one not in self.rows and self._words[one])
        return fixed or (() if self.rows.isdisjoint(ids) else (_LIST,))


def _bullet(line: tuple[str, ...]) -> bool:
    """Whether a line has the shape of an item: a sign or a number, and something after it."""
    item = line[1:] if line[:1] == (" ",) else line
    return len(item) > 1 and item[0] not in _NO_BULLETS and not item[0].isspace() and "w" in item


def _common(left: _Signature, right: _Signature) -> _Signature:
    """The longest common subsequence."""
    shared = set(left) & set(right)
    left, right = tuple(one for one in left if one in shared), tuple(one for one in right if one in shared)
    if left == right:
        return left
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left) - 1, -1, -1):
        for j in range(len(right) - 1, -1, -1):
            same = left[i] == right[j]
            table[i][j] = table[i + 1][j + 1] + 1 if same else max(table[i + 1][j], table[i][j + 1])
    out = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            out.append(left[i])
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return tuple(out)
