"""Alignment: which tokens two lines have in common, in order."""

from __future__ import annotations

from typing import Final

from .tokens import BLANK, KNOWN, LIST, MARK, NUMBER, PAD, TIME, VALUE, WORD, Line

__all__ = ["GAP", "NUMBERS", "align", "common"]

GAP: Final = 9
"""The kind of a token that stands for anything at all."""
NUMBERS: Final = 10
"""The kind of a token that stands for any number."""

_WEIGHT: Final = {WORD: 60, VALUE: 36, NUMBER: 18, MARK: 18, BLANK: 6, PAD: 12}
_NEVER: Final = frozenset({TIME, LIST, GAP, NUMBERS})
"""Kinds of tokens that are never common, even where they are equal."""
_INSTEAD: Final = 1
"""For two tokens in one another's place that both may be values: of two alignments, values against values."""
_MOST_CELLS: Final = 250_000


def align(left: Line, right: Line) -> list[tuple[int, int]]:
    """Places of the tokens that both have, in order, so that as much as possible of the words is common.

    What was known beforehand in both is no common token, even where it is equal: it differs with what is known; nor
    are times and lists. Paddings are common whatever their width.
    """
    begin = _same_start(left, right)
    end = _same_end(left, right, begin)
    rows, columns = len(left.tokens) - begin - end, len(right.tokens) - begin - end
    pairs = [(place, place) for place in range(begin)]
    if rows and columns and rows * columns <= _MOST_CELLS:
        pairs += [(begin + row, begin + column) for row, column in _best(left, right, begin, rows, columns)]
    pairs += [(len(left.tokens) - place, len(right.tokens) - place) for place in range(end, 0, -1)]
    return pairs


def _weight(left: Line, i: int, right: Line, j: int) -> int:
    """How much it is worth that these tokens are the same; 0 where they are not."""
    kind, other = left.kinds[i], right.kinds[j]
    if kind == PAD == other:
        return _WEIGHT[PAD]
    if left.tokens[i] != right.tokens[j] or kind in _NEVER or other in _NEVER:
        return 0
    if kind == KNOWN:
        return 0 if other == KNOWN else _WEIGHT[other]
    return _WEIGHT[kind]


def _same_start(left: Line, right: Line) -> int:
    most = min(len(left.tokens), len(right.tokens))
    place = 0
    while place < most and _weight(left, place, right, place):
        place += 1
    return place


def _same_end(left: Line, right: Line, begin: int) -> int:
    i, j = len(left.tokens), len(right.tokens)
    most = min(i, j) - begin
    place = 0
    while place < most and _weight(left, i - place - 1, right, j - place - 1):
        place += 1
    return place


def _best(left: Line, right: Line, begin: int, rows: int, columns: int) -> list[tuple[int, int]]:
    """The heaviest common subsequence of the middles, by dynamic programming."""
    table = [[0] * (columns + 1) for _ in range(rows + 1)]
    steps = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        below, here = table[i + 1], table[i]
        kind, token = left.kinds[begin + i], left.tokens[begin + i]
        for j in range(columns - 1, -1, -1):
            best, step = (below[j], 1) if below[j] > here[j + 1] else (here[j + 1], 2)
            other = right.kinds[begin + j]
            if token == right.tokens[begin + j] or kind == PAD == other:
                weight = _weight(left, begin + i, right, begin + j) or _INSTEAD
            else:
                weight = _INSTEAD if kind <= KNOWN and other <= KNOWN else 0
            if weight and below[j + 1] + weight >= best:
                best, step = below[j + 1] + weight, 3
            here[j], steps[i][j] = best, step
    pairs = []
    i = j = 0
    while i < rows and j < columns:
        step = steps[i][j]
        if step == 3:
            if _weight(left, begin + i, right, begin + j):
                pairs.append((i, j))
            i, j = i + 1, j + 1
        elif step == 1:
            i += 1
        else:
            j += 1
    return pairs


def common(left: Line, right: Line, pairs: list[tuple[int, int]] | None = None) -> Line:
    """The line of what both have in common, with a gap wherever one of them has something else."""
    tokens: list[str] = []
    kinds: list[int] = []
    before = (-1, -1)
    for i, j in [*(align(left, right) if pairs is None else pairs), (len(left.tokens), len(right.tokens))]:
        if (i, j) != (before[0] + 1, before[1] + 1):
            here = left.kinds[before[0] + 1 : i], right.kinds[before[1] + 1 : j]
            tokens.append("")
            kinds.append(NUMBERS if all(one in ((NUMBER,), (NUMBERS,)) for one in here) else GAP)
        if i < len(left.tokens):
            tokens.append(left.tokens[i])
            kinds.append(right.kinds[j] if left.kinds[i] == KNOWN else left.kinds[i])
        before = i, j
    return Line.of(tokens, kinds)
