"""The form of new keys, from those that were made."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from .episodes import Episode
from .structure import Structure, records

__all__ = ["mint_of"]

_AGREED: Final = 0.7
_COUNTED: Final = re.compile(r"(.*?)([0-9]+)([^0-9]*)", re.DOTALL)


def mint_of(kind: str, structure: Structure, episodes: Sequence[Episode]) -> tuple[str, int]:
    """How new keys of a kind look, and the first number in them; "" where they do not count up."""
    runs: list[list[str]] = []
    numbers = True
    for episode in episodes:
        made: list[str] = []
        for step in episode.steps:
            for site in structure.sites_of(step.tool) if step.ok else ():
                if site.fresh and site.kind == kind:
                    for key, _ in records(site, step):
                        numbers = numbers and isinstance(key, int)
                        made.append(str(key))
        if made:
            runs.append(made)
    parsed = [[_COUNTED.fullmatch(key) for key in run] for run in runs]
    if not runs or any(match is None for run in parsed for match in run):
        return "", 1
    frames = Counter((m.group(1), m.group(3)) for run in parsed for m in run if m is not None)
    ((frame, count),) = frames.most_common(1)
    if count < sum(frames.values()):
        return "", 1
    counted = [[int(m.group(2)) for m in run if m is not None] for run in parsed]
    steps = Counter(after - before for run in counted for before, after in zip(run, run[1:], strict=False))
    if sum(steps.values()) and steps[1] < 0.8 * sum(steps.values()):
        return "", 1
    firsts = Counter(run[0] for run in counted)
    if max(firsts.values()) < _AGREED * sum(firsts.values()):
        return "", 1
    first = min(firsts, key=lambda number: (-firsts[number], number))
    if numbers:
        return "{int}", first
    digits = {len(m.group(2)) for run in parsed for m in run if m is not None}
    padded = len(digits) == 1 and any(m.group(2).startswith("0") for run in parsed for m in run if m is not None)
    hole = f"{{n:0{digits.pop()}}}" if padded else "{n}"
    return f"{frame[0]}{hole}{frame[1]}", first
