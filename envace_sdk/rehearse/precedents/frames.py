"""What stands around the sections of a text, also where they never stood together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Final, TypeAlias

from .tree import Tree, grow

__all__ = ["Frame", "Frames"]

Frame: TypeAlias = tuple[str | None, ...]
"""The fixed lines of a text, and None for the items of a section."""

_MOST: Final = 400
_MOST_SECTIONS: Final = 50
_HALF: Final = 0.5


class Frames:
    """The frames of recorded texts.

    Args:
        counts: how often each was seen.
    """

    def __init__(self, counts: Mapping[Frame, int]) -> None:
        self._counts = counts
        self._known: dict[frozenset[str], Frame | None] = {}
        for frame in sorted(counts, key=lambda one: (-counts[one], str(one))):
            self._known.setdefault(frozenset(section for section, _ in _parts(frame)[0]), frame)

    def of(self, sections: frozenset[str]) -> Frame | None:
        """What stands around these sections; put together from others where they never stood together."""
        if sections not in self._known:
            self._known[sections] = self._made(sections)
        return self._known[sections]

    def _made(self, sections: frozenset[str]) -> Frame | None:
        """In the order of the recorded ones; what stands before each, and after the last, as where it is most alike.

        None where the order is not known.
        """
        if not sections <= self._before.keys():
            return None
        order = sorted(sections, key=lambda one: (sum((other, one) in self._follows for other in sections), one))
        lines: list[str | None] = []
        for last, section in zip(["", *order], order, strict=False):
            if last and (last, section) not in self._follows:
                return None
            lines += [*_likeliest(self._before[section], {"next": self._next.get(last, ""), "of": last}), None]
        return (*lines, *_likeliest(self._after, dict.fromkeys(sections, "yes")))

    @cached_property
    def _follows(self) -> frozenset[tuple[str, str]]:
        """Two sections of which the second comes later, as far as that follows from what was seen."""
        found: set[tuple[str, str]] = set()
        for frame in self._counts:
            order = [section for section, _ in _parts(frame)[0]]
            found.update((one, other) for at, one in enumerate(order) for other in order[at + 1 :])
        for middle in sorted({section for pair in found for section in pair})[:_MOST_SECTIONS]:
            before = [one for one, other in found if other == middle]
            found.update((one, other) for one in before for first, other in tuple(found) if first == middle)
        return frozenset((one, other) for one, other in found if (other, one) not in found)

    @cached_property
    def _next(self) -> dict[str, str]:
        """By section, whether it is mostly followed by a blank line."""
        counts: dict[str, Counter[bool]] = {}
        for frame, count in self._counts.items():
            parts, after = _parts(frame)
            for (section, _), (_, lines) in zip(parts, [*parts[1:], ("", after)], strict=False):
                counts.setdefault(section, Counter())[bool(lines) and not lines[0].strip()] += count
        return {name: "blank" if held[True] > _HALF * held.total() else "text" for name, held in counts.items()}

    @cached_property
    def _before(self) -> dict[str, Tree]:
        """By section, what stands before it."""
        rows: dict[str, tuple[list[dict[str, str]], list[str]]] = {}
        for frame, count in self._counts.items():
            last = ""
            for section, lines in _parts(frame)[0]:
                situations, labels = rows.setdefault(section, ([], []))
                for _ in range(min(count, _MOST)):
                    situations.append({"next": self._next.get(last, ""), "of": last})
                    labels.append(json.dumps(lines))
                last = section
        return {section: grow(situations, labels) for section, (situations, labels) in rows.items()}

    @cached_property
    def _after(self) -> Tree:
        """What stands at the end."""
        situations, labels = [], []
        for frame, count in self._counts.items():
            parts, after = _parts(frame)
            for _ in range(min(count, _MOST)):
                situations.append({section: "yes" for section, _ in parts})
                labels.append(json.dumps(after))
        return grow(situations, labels)


def _parts(frame: Frame) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """The sections with the lines before each, and the lines at the end."""
    parts: list[tuple[str, list[str]]] = []
    lines: list[str] = []
    section = ""
    for line in frame:
        if line is None:
            parts.append((section, lines))
            lines = []
        else:
            lines.append(line)
            section = line if line.strip() else section
    return parts, lines


def _likeliest(tree: Tree, row: dict[str, str]) -> list[str]:
    shares = tree.shares(row)
    found: list[str] = json.loads(min(shares, key=lambda one: (-shares[one], one)))
    return found
