"""A small decision tree over situations: it splits only where the recordings give it reason to.

Whether a split is worth having is decided by evidence (the marginal likelihood of the labels under a Dirichlet prior),
less the price of having had many to choose from. A leaf that has seen little leans on those above it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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

    def tests(self, features: Features) -> list[tuple[str, str | None, bool]]:
        """The tests on the way to the leaf: feature, value, and whether it has it."""
        found: list[tuple[str, str | None, bool]] = []
        node: Tree | None = self
        while node is not None and node.feature:
            holds = features.get(node.feature) == node.value
            found.append((node.feature, node.value, holds))
            node = node.yes if holds else node.no
        return found


def grow(rows: Sequence[Features], labels: Sequence[str], depth: int = 0) -> Tree:
    """The tree for these situations and how they were answered."""
    counts = Counter(labels)
    leaf = Tree(dict(sorted(counts.items())))
    if len(counts) < 2 or len(rows) < 2 * _LEAST or depth >= _DEPTH:
        return leaf
    best = _best_test(rows, labels, counts)
    if best is None:
        return leaf
    feature, value = best
    inside = [row.get(feature) == value for row in rows]
    sides = [
        grow(
            [r for r, i in zip(rows, inside, strict=True) if i is side],
            [x for x, i in zip(labels, inside, strict=True) if i is side],
            depth + 1,
        )
        for side in (True, False)
    ]
    return Tree(leaf.counts, feature, value, sides[0], sides[1])


def _best_test(rows: Sequence[Features], labels: Sequence[str], counts: Counter[str]) -> tuple[str, str | None] | None:
    seen: dict[tuple[str, str | None], Counter[str]] = {}
    given: dict[str, Counter[str]] = {}
    for row, label in zip(rows, labels, strict=True):
        for feature, value in row.items():
            seen.setdefault((feature, value), Counter())[label] += 1
            given.setdefault(feature, Counter())[label] += 1
    for feature, present in given.items():
        absent = counts - present
        if absent:
            seen[feature, None] = absent
    size = len(rows)
    alone = _evidence(counts, len(counts))
    tests = [(inside, test) for test, inside in seen.items() if _LEAST <= sum(inside.values()) <= size - _LEAST]
    price = _PRICE * math.log(max(len(tests), 2))
    best: tuple[float, tuple[str, str | None]] | None = None
    for inside, test in tests:
        gain = _evidence(inside, len(counts)) + _evidence(counts - inside, len(counts)) - alone - price
        if gain > 0 and (best is None or (-gain, test[0], test[1] or "") < (-best[0], best[1][0], best[1][1] or "")):
            best = gain, test
    return best[1] if best else None


def _evidence(counts: Counter[str], kinds: int) -> float:
    """The log marginal likelihood of a sequence of labels with these counts."""
    total = sum(counts.values())
    return (
        math.lgamma(kinds * _PRIOR)
        - math.lgamma(total + kinds * _PRIOR)
        + sum(math.lgamma(n + _PRIOR) - math.lgamma(_PRIOR) for n in counts.values())
    )
