"""Tools whose world is elsewhere: they run what they are given, or look at what no tool names."""

from __future__ import annotations

from .reading import Reading
from .scene import Scene
from .words import bag, split

__all__ = ["is_namespace", "runs_source"]

_SOURCES = bag("query sql statement expression script")
_RUNS = bag("execute executes run runs evaluate evaluates sql statement")


def runs_source(reading: Reading) -> bool:
    """Whether a call is no more than a text in some language, to be run: `write_query(query)`."""
    if len(reading.required) != 1 or "_".join(reading.required[0].words) not in _SOURCES:
        return False
    told = {*split(reading.telling.text), *split(reading.required[0].description[:500])}
    return reading.sense not in {"search", "count"} and bool(told & _RUNS)


def is_namespace(scene: Scene) -> bool:
    """Whether the noun of all the tools is only where they work (`git_log`, `git_status`): several look, and none
    names one or lists many.
    """
    if scene.key.given:
        return False
    looking = [m.reading.name for m in scene.group.members if m.reading.sense in {"read", "search"}]
    several = sum(name.inherited for name in looking) > 2
    return several and not any(name.plural or name.verb == "list" for name in looking)
