"""Some episodes of many, chosen so that what is called seldom is among them as often as what is called all the time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Final

from .episodes import Episode

__all__ = ["telling"]

_FEW: Final = 2000
"""Of no more calls than these, none is left out."""
_CALLS: Final = 60
"""So many successes of each tool suffice."""


def telling(episodes: Sequence[Episode], *, few: int = _FEW, calls: int = _CALLS) -> Sequence[Episode]:
    """Whole episodes from all over, with enough successes of each tool that has them; the same ones every time.

    Args:
        episodes: the recorded ones.
        few: with no more calls than these in all, every episode is taken.
        calls: so many successes of a tool suffice; of a tool with fewer, all are taken.
    """
    if sum(len(episode.steps) for episode in episodes) <= few:
        return episodes
    order = list(range(len(episodes)))
    Random(0).shuffle(order)
    seen: Counter[str] = Counter()
    chosen: set[int] = set()
    for place in order:
        tools = [step.tool for step in episodes[place].steps if step.ok]
        if any(seen[tool] < calls for tool in tools):
            chosen.add(place)
            seen.update(tools)
    return [episode for place, episode in enumerate(episodes) if place in chosen]
