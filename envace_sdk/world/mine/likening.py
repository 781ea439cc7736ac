"""Things that become as another one is: found by what is shown of the two."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from envace_sdk.world.infer.cel import member

from .effects import Effects, Name, Place
from .roles import Cast
from .sightings import Sighting
from .values import same

__all__ = ["liken"]

_ENOUGH: Final = 2
_NOISE: Final = 0.1
"""So few sightings may speak against it."""


def liken(
    groups: Mapping[Place, Sequence[Sighting]],
    effects: Effects,
    casts: Mapping[str, Cast],
    named_by: Mapping[str, frozenset[str]],
    readers: Collection[str],
) -> bool:
    """Find what becomes as another thing is: whatever is known of that, is shown of it afterwards.

    Args:
        groups: what was shown after calls that may have changed it, by place.
        effects: what is known already; what is found is added, and takes the place of copies of single fields.
        casts: by tool, the things that it knows by name.
        named_by: by kind, the fields that name its things.
        readers: tools that are said to change nothing.

    Returns:
        Whether anything was found.
    """
    seen: dict[tuple[Name, str], list[bool]] = {}
    values: dict[tuple[Name, str], set[str]] = {}
    for (tool, name, what), group in groups.items():
        cast = {named.name: named for named in casts[tool].named}
        if tool in readers or name not in cast or (tool, name) in effects.likes:
            continue
        kind = cast[name].kind
        if what in named_by.get(kind, ()):
            continue
        source = effects.sets.get((tool, name, what))
        for other in (named.name for named in cast.values() if named.kind == kind and named.name != name):
            if source not in {None, member(other, (what,))}:
                continue
            for sighting in group:
                known = sighting.suspect.scope.get(other)
                if isinstance(known, dict) and what in known:
                    seen.setdefault(((tool, name), other), []).append(same(known[what], sighting.after))
                    values.setdefault(((tool, name), other), set()).add(str(sighting.after))
    copied = _copied(effects, casts)
    found = False
    for (pair, other), agreed in sorted(seen.items()):
        some = len(values[pair, other]) >= _ENOUGH and sum(agreed) >= _ENOUGH
        some = some or (pair, other) in copied
        if some and sum(agreed) >= (1 - _NOISE) * len(agreed) and pair not in effects.likes:
            effects.likes[pair] = other
            for place in copied.get((pair, other), ()):
                del effects.sets[place]
            found = True
    return found


def _copied(effects: Effects, casts: Mapping[str, Cast]) -> dict[tuple[Name, str], list[Place]]:
    """The effects that are copies of the same field of another thing of the kind, by the two."""
    found: dict[tuple[Name, str], list[Place]] = {}
    for place, source in sorted(effects.sets.items()):
        tool, name, what = place
        cast = {named.name: named for named in casts[tool].named}
        for other in cast.values():
            if name in cast and other.kind == cast[name].kind and source == member(other.name, (what,)):
                found.setdefault(((tool, name), other.name), []).append(place)
    return found
