"""Some episodes of many, chosen so that what is called seldom is among them as often as what is called all the time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Final

from .episodes import Episode, Step

__all__ = ["telling"]

_NUMBER: Final = re.compile(r"\d[\d.]*")
_LONG: Final = 200

_FEW: Final = 2000
"""Of no more calls than these, none is left out."""
_CALLS: Final = 60
"""So many successes of each tool suffice."""


def telling(
    episodes: Sequence[Episode], *, few: int = _FEW, calls: int = _CALLS, failures: int = 0
) -> Sequence[Episode]:
    """Whole episodes from all over, with enough successes of each tool that has them; the same ones every time.

    Args:
        episodes: the recorded ones.
        few: with no more calls than these in all, every episode is taken.
        calls: so many successes of a tool suffice; of a tool with fewer, all are taken.
        failures: likewise, of each of its errors; errors are the same if they differ in what the call named.
    """
    if sum(len(episode.steps) for episode in episodes) <= few:
        return episodes
    order = list(range(len(episodes)))
    Random(0).shuffle(order)
    seen: Counter[tuple[str, str]] = Counter()
    chosen: set[int] = set()
    for place in order:
        ends = [_end(step) for step in episodes[place].steps if step.ok or failures]
        if any(seen[end] < (failures if end[1] else calls) for end in ends):
            chosen.add(place)
            seen.update(ends)
    return [episode for place, episode in enumerate(episodes) if place in chosen]


def _end(step: Step) -> tuple[str, str]:
    """How a call ended: "" for a success, an error's text without what the call named and without numbers."""
    if step.ok:
        return step.tool, ""
    text = step.text
    for value in step.args.values():
        if isinstance(value, str) and value:
            text = text.replace(value, "…")
    return step.tool, f"!{_NUMBER.sub('…', text)[:_LONG]}"
