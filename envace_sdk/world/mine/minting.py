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
"""So many episodes must begin with the same number, or numbers must be seen to count up."""
_ENOUGH: Final = 5
_IN_ORDER: Final = 0.8
"""So many keys must be the next number after the one before; others were made by calls that are not recorded."""
_COUNTED: Final = re.compile(r"(.*?)([0-9]+)([^0-9]*)", re.DOTALL)


def mint_of(kind: str, structure: Structure, episodes: Sequence[Episode]) -> tuple[str, int]:
    """How new keys of a kind look, and the usual first number in them; "" where they do not count up."""
    runs = [made for episode in episodes if (made := list(_made(kind, structure, episode)))]
    counted = [[match for key in run if (match := _COUNTED.fullmatch(str(key))) is not None] for run in runs]
    matches = [match for run in counted for match in run]
    frames = {(match.group(1), match.group(3)) for match in matches}
    if len(frames) != 1 or len(matches) < sum(map(len, runs)):
        return "", 1
    numbers = [[int(match.group(2)) for match in run] for run in counted]
    steps = Counter(after - before for run in numbers for before, after in pairwise(run))
    firsts = Counter(run[0] for run in numbers)
    agreed = max(firsts.values()) >= _AGREED * firsts.total()
    if steps[1] < _IN_ORDER * steps.total() or (not agreed and steps[1] < _ENOUGH):
        return "", 1
    first = _beginning(firsts, kind, structure, episodes)
    if all(isinstance(key, int) for run in runs for key in run):
        return "{int}", first
    ((before, after),) = frames
    return f"{before}{_hole([match.group(2) for match in matches])}{after}", first


def _beginning(firsts: Counter[int], kind: str, structure: Structure, episodes: Sequence[Episode]) -> int:
    """The number that explains most of the first ones, when those that are taken already are passed over."""
    taken = [_taken(kind, structure, episode) for episode in episodes]

    def right(start: int) -> int:
        return sum(_next(start, before) == first for first, before in taken if first is not None)

    return min(sorted(firsts), key=lambda start: (-right(start), start))


def _next(number: int, taken: set[int]) -> int:
    while number in taken:
        number += 1
    return number


def _taken(kind: str, structure: Structure, episode: Episode) -> tuple[int | None, set[int]]:
    """The number in the first key that an episode makes, and those in the keys that were shown before."""
    before: set[int] = set()
    for step in episode.steps:
        for site in structure.sites_of(step.tool) if step.ok else ():
            for key, _ in records(site, step) if site.kind == kind else ():
                match = _COUNTED.fullmatch(str(key))
                if match is None:
                    continue
                if site.fresh:
                    return int(match.group(2)), before
                before.add(int(match.group(2)))
    return None, before


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
