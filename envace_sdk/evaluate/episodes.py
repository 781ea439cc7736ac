"""Recorded episodes: the calls that are played, with what the real environment answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from envace_sdk.errors import FixtureError
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.recordings import load_fixtures

__all__ = ["Episode", "episodes_of", "load_episodes"]


@dataclass(frozen=True, slots=True)
class Episode:
    """The tool calls of one session, in order."""

    name: str
    calls: tuple[Fixture, ...]


def episodes_of(fixtures: Iterable[Fixture]) -> list[Episode]:
    """The fixtures by episode, in the order in which the episodes first appear; what calls no tool is left out."""
    found: dict[str, list[Fixture]] = {}
    for fixture in fixtures:
        if fixture.is_call:
            found.setdefault(fixture.episode, []).append(fixture)
    return [Episode(name, tuple(sorted(calls, key=lambda f: f.position))) for name, calls in found.items()]


def load_episodes(paths: Sequence[Path]) -> list[Episode]:
    """The episodes of several recordings. Two files may use one name: those are different episodes.

    Raises:
        FixtureError: a file cannot be read, a line is wrong, or there is no call in any of them.
    """
    episodes: list[Episode] = []
    taken: set[str] = set()
    for path in paths:
        for episode in episodes_of(load_fixtures(path)):
            name = episode.name if episode.name not in taken else f"{path.stem}: {episode.name}"
            taken.add(name)
            episodes.append(Episode(name, episode.calls))
    if not episodes:
        raise FixtureError(f"{', '.join(map(str, paths))}: no tool call is recorded")
    return episodes
