"""Which recorded case is most like a call: agreement of features, weighed by what it says about the answer.

The weights are those of record linkage (Fellegi and Sunter): how much more often two cases with the same answer agree
in a feature than two with different answers do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from .features import Features

__all__ = ["Likeness"]

_MOST_PAIRS = 600
_MOST_WEIGHTS = 32
_LEAST = 0.2
_UNKNOWN = 0.5


class Likeness:
    """Scores how like two situations of one tool are.

    Args:
        rows: situations.
        answers: what was answered in each, apart from what is explained by the situation itself.
        episodes: where each was seen; pairs out of the same episode say nothing.
    """

    def __init__(self, rows: Sequence[Features], answers: Sequence[str], episodes: Sequence[str]) -> None:
        self.weights = _weights(rows, answers, episodes)

    def score(self, one: Mapping[str, str], other: Mapping[str, str]) -> float:
        """The higher, the likelier the answers are the same."""
        total = 0.0
        for name, agree, differ in self.weights:
            mine, theirs = one.get(name), other.get(name)
            if mine is not None or theirs is not None:
                total += agree if mine == theirs else differ
        return total


def _weights(
    rows: Sequence[Features], answers: Sequence[str], episodes: Sequence[str]
) -> list[tuple[str, float, float]]:
    pairs = _pairs(answers, episodes)
    same = _agreements(rows, [pair for pair in pairs if answers[pair[0]] == answers[pair[1]]])
    differ = _agreements(rows, [pair for pair in pairs if answers[pair[0]] != answers[pair[1]]])
    if not same or not differ:
        return []
    found = []
    for name in sorted(same.keys() | differ.keys()):
        m, u = same.get(name, _UNKNOWN), differ.get(name, _UNKNOWN)
        agree, not_agree = math.log(m / u), math.log((1 - m) / (1 - u))
        if agree > 0 and max(agree, -not_agree) >= _LEAST:
            found.append((name, agree, not_agree))
    found.sort(key=lambda weight: (weight[2] - weight[1], weight[0]))
    return found[:_MOST_WEIGHTS]


def _agreements(rows: Sequence[Features], pairs: Sequence[tuple[int, int]]) -> dict[str, float]:
    """By feature, how often both of a pair agree in it, among those pairs in which one has it."""
    agree: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for one, other in pairs:
        mine, theirs = rows[one], rows[other]
        total.update(mine.keys())
        total.update(theirs.keys() - mine.keys())
        agree.update(name for name, value in mine.items() if theirs.get(name) == value)
    return {name: (agree[name] + 0.5) / (count + 1.0) for name, count in total.items()}


def _pairs(answers: Sequence[str], episodes: Sequence[str]) -> list[tuple[int, int]]:
    """Some pairs of cases from different episodes: of those with equal answers as many as possible."""
    groups: dict[str, list[int]] = {}
    for at, answer in enumerate(answers):
        groups.setdefault(answer, []).append(at)
    found = []
    for group in groups.values():
        found += [(one, other) for one, other in pairwise(group) if episodes[one] != episodes[other]]
    found = found[:: max(1, len(found) // (_MOST_PAIRS // 2))]
    size = len(answers)
    step = max(1, size * size // _MOST_PAIRS)
    for number in range(0, size * size, step):
        one, other = divmod(number, size)
        if one < other and episodes[one] != episodes[other]:
            found.append((one, other))
    return found
