"""Names that are relative to where the session is: a current directory, a room, an open folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from envace_sdk.json import Json

from .effects import Effects
from .episodes import Episode
from .roles import Cast
from .structure import SESSION, Kind, Structure
from .tracking import Tracker

__all__ = ["known_places", "scope_names", "starting_points"]

_JOINED: Final = re.compile(r"joinpath\((session\.\w+), args\.([\w.]+)\)")
_PATH: Final = "path"
"""The field that holds the whole key of what is named relative to something."""
_CANDIDATES: Final = 8
"""Of the places where episodes begin, so many are tried on each episode."""


def scope_names(structure: Structure, effects: Effects) -> dict[str, str]:
    """By kind whose things are named relative to a path that the session holds, the expression of that path.

    A call that goes to what its argument names, from where the session is, tells so of all things of that kind; and
    so does a list of them among others, of the others. The sites of `structure` learn how to tell the whole keys.
    """
    bases: dict[str, str] = {}
    for (tool, name, _), source in sorted(effects.sets.items()):
        found = _JOINED.search(source) if name == SESSION else None
        if found is None:
            continue
        for reference in structure.references_of(tool):
            if reference.path == found.group(2):
                bases.setdefault(reference.kind, found.group(1))
    for tool, sites in structure.sites.items():
        listed = sorted({site.kind for site in sites if site.many and site.kind != SESSION})
        base = next((bases[name] for name in listed if name in bases), None)
        if base is not None and not structure.references_of(tool):
            for name in listed:
                bases.setdefault(name, base)
    for name, base in bases.items():
        _name_by_path(structure.kinds[name], base, structure)
    return bases


def _name_by_path(kind: Kind, base: str, structure: Structure) -> None:
    for tool, sites in structure.sites.items():
        structure.sites[tool] = [
            replace(site, join=f"joinpath({base}, item.{site.key})")
            if site.kind == kind.name and not site.argument and not site.join
            else site
            for site in sites
        ]
    kind.label, kind.key = kind.key, _PATH


def starting_points(
    bases: Iterable[str],
    structure: Structure,
    casts: Mapping[str, Cast],
    effects: Effects,
    episodes: Sequence[Episode],
) -> dict[str, dict[str, Json]]:
    """By episode, where its session must have been in the beginning for what it shows of it later to be true.

    Where an episode shows nothing of it, it is assumed to begin where most do.
    """
    found: dict[str, dict[str, Json]] = {}
    for base in dict.fromkeys(bases):
        name = base.removeprefix(f"{SESSION}.")
        effects = _only(name, effects, casts)
        seen = {episode.name: _shown(name, structure, casts, effects, episode, None) for episode in episodes}
        usual = Counter(value for values in seen.values() for value in values.shown[:1])
        common = [value for value, _ in sorted(usual.items(), key=lambda item: (-item[1], item[0]))[:_CANDIDATES]]
        for episode in episodes:
            own = seen[episode.name].shown
            candidates = list(dict.fromkeys([*_roots(own), *common]))
            scores = {value: _shown(name, structure, casts, effects, episode, value).score for value in candidates}
            if scores:
                best = min(candidates, key=lambda v: (-scores[v], -usual[v], candidates.index(v)))
                found.setdefault(episode.name, {})[name] = best
    return found


def known_places(bases: Iterable[str], casts: Mapping[str, Cast], effects: Effects) -> Effects:
    """The effects on where the session is, and no others."""
    known = Effects()
    for base in dict.fromkeys(bases):
        name = base.removeprefix(f"{SESSION}.")
        known.sets |= {place: source for place, source in effects.sets.items() if place[1:] == (SESSION, name)}
        known.spared |= {(tool, SESSION, name) for tool in casts} - set(known.sets)
    return known


def _only(name: str, effects: Effects, casts: Mapping[str, Cast]) -> Effects:
    """The effects on one field of the session, as if nothing else changed."""
    return Effects(
        sets={place: source for place, source in effects.sets.items() if place[1:] == (SESSION, name)},
        harmless={(tool, named.name) for tool, cast in casts.items() for named in cast.named}
        | {(tool, SESSION) for tool in casts},
        foreign=effects.foreign,
    )


class _Shown(NamedTuple):
    shown: list[str]
    """The values that were shown of a field of the session."""
    score: int
    """How much more often what was shown is what was expected, than not."""


def _shown(
    name: str,
    structure: Structure,
    casts: Mapping[str, Cast],
    effects: Effects,
    episode: Episode,
    start: str | None,
) -> _Shown:
    """What an episode shows of a field of the session, which begins as `start`, if that is said."""
    tracker = Tracker(structure, casts, effects, {} if start is None else {SESSION: {"": {name: start}}})
    evidence = tracker.run([episode])
    shown = [value for value in evidence.session.get(name, []) if isinstance(value, str)]
    score = sum(
        agreement.same - agreement.other
        for (kind, what, _, _), agreement in evidence.agreements.items()
        if kind == SESSION and what == name
    )
    return _Shown(shown, score)


def _roots(values: Iterable[str]) -> list[str]:
    """The paths, and all that lead to them, nearest first."""
    found: dict[str, None] = {}
    for value in values:
        while value and value not in found:
            found[value] = None
            value = value.rpartition("/")[0] or ("/" if value.startswith("/") and value != "/" else "")
    return list(found)
