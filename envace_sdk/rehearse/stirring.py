"""Tools that change what others answer, as recordings witness, although their rules say that they change nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import Tool
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.observing import writes

from .precedents import call_key

__all__ = ["stirring"]

_TWICE: Final = 2
_NEAR: Final = 100
"""Calls between two equal ones, beyond which they tell nothing."""
_SOME: Final = 0.1
"""Of the times that a tool stood alone between equal calls, in how many their answers must have changed."""


def stirring(fixtures: Sequence[Fixture], tools: Mapping[str, Tool], dynamics: Dynamics) -> frozenset[str]:
    """The tools that stood alone between two equal calls which were answered differently, again and again.

    Those that say themselves that they only read are none, and neither is a tool known to write: its rule tells what.
    A tool that was answered differently with nothing in between tells nothing of others.
    """
    known = {name for name, tool in tools.items() if writes(tool, dynamics.tools.get(name))}
    excused = {name for name, tool in tools.items() if tool.annotations.get("readOnlyHint") is True}
    loud: Counter[tuple[str, str]] = Counter()
    quiet: Counter[tuple[str, str]] = Counter()
    for asked, between, changed in _pairs(fixtures, tools):
        if asked in known or between & known:
            continue
        suspects = between - excused - {asked}
        if len(suspects) <= 1:
            (loud if changed else quiet)[asked, next(iter(suspects), "")] += 1
    restless = {asked for (asked, suspect), count in loud.items() if not suspect and count >= _TWICE}
    found: Counter[str] = Counter()
    spoken: Counter[str] = Counter()
    for counts in (loud, quiet):
        for (asked, suspect), count in counts.items():
            if asked not in restless:
                spoken[suspect] += count
                found[suspect] += count if counts is loud else 0
    return frozenset(name for name, count in found.items() if name and count >= max(_TWICE, _SOME * spoken[name]))


def _pairs(fixtures: Sequence[Fixture], tools: Mapping[str, Tool]) -> list[tuple[str, set[str], bool]]:
    """Of each two equal calls that follow each other: the tool, those that succeeded in between, whether it changed."""
    episodes: dict[str, list[Fixture]] = {}
    for fixture in fixtures:
        if fixture.is_call and fixture.call.name in tools:
            episodes.setdefault(fixture.episode, []).append(fixture)
    pairs = []
    for calls in episodes.values():
        calls.sort(key=lambda fixture: fixture.position)
        last: dict[str, int] = {}
        for at, fixture in enumerate(calls):
            key = call_key(fixture.call.name, fixture.call.arguments)
            before = last.get(key)
            last[key] = at
            if before is not None and at - before <= _NEAR:
                between = {one.call.name for one in calls[before + 1 : at] if not one.result.is_error}
                pairs.append((fixture.call.name, between, calls[before].result != fixture.result))
    return pairs
