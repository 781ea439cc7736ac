"""The form of new keys, from those that were made."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from envace_sdk.json import Json

from .episodes import Episode
from .structure import Structure, records

__all__ = ["mint_of"]

_AGREED: Final = 0.7
"""So many episodes must begin with the same number."""
_IN_ORDER: Final = 0.8
"""So many keys must be the next number after the one before; others were made by calls that are not recorded."""
_COUNTED: Final = re.compile(r"(.*?)([0-9]+)([^0-9]*)", re.DOTALL)


def mint_of(kind: str, structure: Structure, episodes: Sequence[Episode]) -> tuple[str, int]:
    """How new keys of a kind look, and the first number in them; "" where they do not count up."""
    runs = [made for episode in episodes if (made := list(_made(kind, structure, episode)))]
    counted = [[match for key in run if (match := _COUNTED.fullmatch(str(key))) is not None] for run in runs]
    matches = [match for run in counted for match in run]
    frames = {(match.group(1), match.group(3)) for match in matches}
    if len(frames) != 1 or len(matches) < sum(map(len, runs)):
        return "", 1
    numbers = [[int(match.group(2)) for match in run] for run in counted]
    steps = Counter(after - before for run in numbers for before, after in pairwise(run))
    firsts = Counter(run[0] for run in numbers)
    if steps[1] < _IN_ORDER * steps.total() or max(firsts.values()) < _AGREED * firsts.total():
        return "", 1
    first = min(firsts, key=lambda number: (-firsts[number], number))
    if all(isinstance(key, int) for run in runs for key in run):
        return "{int}", first
    ((before, after),) = frames
    return f"{before}{_hole([match.group(2) for match in matches])}{after}", first


def _made(kind: str, structure: Structure, episode: Episode) -> Iterator[Json]:
    for step in episode.steps:
        for site in structure.sites_of(step.tool) if step.ok else ():
            if site.fresh and site.kind == kind:
                for key, _ in records(site, step):
                    yield key


def _hole(numerals: Sequence[str]) -> str:
    """Where the number goes: with leading zeros, if those that were made have them."""
    digits = {len(numeral) for numeral in numerals}
    padded = len(digits) == 1 and any(numeral.startswith("0") for numeral in numerals)
    return f"{{n:0{digits.pop()}}}" if padded else "{n}"
