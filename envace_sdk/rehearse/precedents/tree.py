"""A small decision tree over situations: it splits only where the recordings give it reason to.

Whether a split is worth having is decided by evidence (the marginal likelihood of the labels under a Dirichlet prior),
less the price of having had many to choose from. A leaf that has seen little leans on those above it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .features import Features

__all__ = ["Tree", "grow"]

_DEPTH = 6
_LEAST = 2
"""Cases on either side of a split."""
_PRIOR = 0.5
_PRICE = 0.7
"""Of the choice among tests, by the log of their number: less than 1, since many say the same."""
_LEAN = 1.0
"""How many cases' worth of weight the node above has."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A node, and what lies below it."""

    counts: Mapping[str, int]
    feature: str = ""
    value: str | None = None
    yes: Tree | None = None
    no: Tree | None = None

    def shares(self, features: Features) -> dict[str, float]:
        """How likely each label is in this situation; together 1."""
        node: Tree | None = self
        labels = sorted(self.counts)
        total = sum(self.counts.values())
        shares = {label: self.counts[label] / total for label in labels}
        while node is not None:
            size = sum(node.counts.values())
            if node is not self:
                shares = {
                    label: (node.counts.get(label, 0) + _LEAN * share) / (size + _LEAN)
                    for label, share in shares.items()
                }
            if node.feature == "":
                break
            node = node.yes if features.get(node.feature) == node.value else node.no
        return shares

    def leaf(self, features: Features) -> Mapping[str, int]:
        """How many of each label were seen in this situation."""
        node = self
        while node.yes is not None and node.no is not None:
            node = node.yes if features.get(node.feature) == node.value else node.no
        return node.counts

    def tests(self, features: Features) -> list[tuple[str, str | None, bool]]:
        """The tests on the way to the leaf: feature, value, and whether it has it."""
        found: list[tuple[str, str | None, bool]] = []
        node: Tree | None = self
        while node is not None and node.feature:
            holds = features.get(node.feature) == node.value
            found.append((node.feature, node.value, holds))
            node = node.yes if holds else node.no
        return found


def grow(rows: Sequence[Features], labels: Sequence[str]) -> Tree:
    """The tree for these situations and how they were answered."""
    names = sorted(set(labels))
    place = {name: at for at, name in enumerate(names)}
    return _grown(rows, [place[label] for label in labels], names, _Evidence(len(names)), 0)


def _grown(
    rows: Sequence[Features], labels: Sequence[int], names: Sequence[str], evidence: _Evidence, depth: int
) -> Tree:
    counts = [0] * len(names)
    for label in labels:
        counts[label] += 1
    leaf = Tree({name: count for name, count in zip(names, counts, strict=True) if count})
    if len(leaf.counts) < 2 or len(rows) < 2 * _LEAST or depth >= _DEPTH:
        return leaf
    best = _best_test(rows, labels, counts, evidence)
    if best is None:
        return leaf
    feature, value = best
    inside = [row.get(feature) == value for row in rows]
    yes, no = (
        _grown(
            [row for row, is_in in zip(rows, inside, strict=True) if is_in is side],
            [label for label, is_in in zip(labels, inside, strict=True) if is_in is side],
            names,
            evidence,
            depth + 1,
        )
        for side in (True, False)
    )
    return Tree(leaf.counts, feature, value, yes, no)


def _best_test(
    rows: Sequence[Features], labels: Sequence[int], counts: list[int], evidence: _Evidence
) -> tuple[str, str | None] | None:
    kinds = len(counts)
    seen: dict[tuple[str, str | None], list[int]] = {}
    given: dict[str, list[int]] = {}
    for row, label in zip(rows, labels, strict=True):
        for test in row.items():
            found = seen.get(test)
            if found is None:
                found = seen[test] = [0] * kinds
                given.setdefault(test[0], [0] * kinds)
            found[label] += 1
            given[test[0]][label] += 1
    for feature, present in given.items():
        seen[feature, None] = [whole - part for whole, part in zip(counts, present, strict=True)]
    tests = [
        (inside, size, feature, value)
        for (feature, value), inside in seen.items()
        if _LEAST <= (size := sum(inside)) <= len(rows) - _LEAST
    ]
    least = evidence(counts, len(rows)) + _PRICE * math.log(max(len(tests), 2))
    gains: dict[tuple[int, ...], float] = {}
    best: tuple[float, str, bool, str] | None = None
    for inside, size, feature, value in tests:
        split = tuple(inside)
        gain = gains.get(split)
        if gain is None:
            outside = [whole - part for whole, part in zip(counts, inside, strict=True)]
            gain = gains[split] = evidence(inside, size) + evidence(outside, len(rows) - size) - least
        rank = (-gain, feature, value is not None, value or "")
        if gain > 0 and (best is None or rank < best):
            best = rank
    return None if best is None else (best[1], best[3] if best[2] else None)


class _Evidence:
    """The log marginal likelihood of labels with certain counts."""

    def __init__(self, kinds: int) -> None:
        self._prior = kinds * _PRIOR
        self._alone = math.lgamma(self._prior)

    def __call__(self, counts: Sequence[int], total: int) -> float:
        return self._alone - math.lgamma(total + self._prior) + sum(_rising(count) for count in counts if count)


@lru_cache(maxsize=4096)
def _rising(count: int) -> float:
    return math.lgamma(count + _PRIOR) - math.lgamma(_PRIOR)
