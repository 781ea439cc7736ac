"""What is known of tools and things before any call is followed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from envace_sdk.json import UNSET
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.infer import infer
from envace_sdk.world.keys import get_path

from .episodes import Episode
from .existing import Verbs
from .structure import Structure

__all__ = ["links_of", "note_viewers", "trees_of", "verbs_of"]

_MOSTLY: Final = 0.7


def verbs_of(toolset: Toolset) -> Verbs:
    """The tools that are called, or declared, like what makes things, removes them, or changes nothing."""
    rules = infer(toolset).tools
    read_only = {tool.name for tool in toolset if tool.annotations.get("readOnlyHint") is True}
    looks = {name for name, rule in rules.items() if rule.effect in {"read", "search", "compute"} and not rule.also}
    return Verbs(
        makers=frozenset(name for name, rule in rules.items() if rule.effect == "create"),
        removers=frozenset(name for name, rule in rules.items() if rule.effect == "delete"),
        readers=frozenset(looks | read_only),
    )


def note_viewers(episodes: Sequence[Episode], toolset: Toolset, readers: frozenset[str]) -> None:
    """Tell readers apart by the optional arguments with which they are called: these may change what is shown."""
    required = {tool.name: set(tool.input_schema.get("required") or ()) for tool in toolset}
    for episode in episodes:
        for step in episode.steps:
            if step.tool in readers:
                more = sorted(name for name in step.args if name not in required[step.tool])
                step.viewer = f"{step.tool}({','.join(more)})" if more else step.tool


def links_of(structure: Structure) -> dict[str, dict[str, str]]:
    """By kind, its fields that name things of other kinds."""
    named = [(position, kind.name) for kind in structure.kinds.values() for position in kind.positions]
    found: dict[str, dict[str, str]] = {}
    for site in (site for sites in structure.sites.values() for site in sites if not site.bare):
        for position, kind in named:
            if position.tool == site.tool and position.side == "out" and position.path.startswith(site.path):
                name = position.path[len(site.path) :].lstrip(".")
                if name and "." not in name and name != site.key:
                    found.setdefault(site.kind, {})[name] = kind
    return found


def trees_of(structure: Structure, episodes: Sequence[Episode]) -> frozenset[str]:
    """The kinds whose things calls name by whole paths."""
    named: dict[str, list[bool]] = {}
    for episode in episodes:
        for step in episode.steps:
            for reference in structure.references_of(step.tool):
                value = get_path(step.args, reference.path)
                if value is not UNSET and value is not None:
                    named.setdefault(reference.kind, []).append(isinstance(value, str) and value.startswith("/"))
    return frozenset(kind for kind, paths in named.items() if sum(paths) >= _MOSTLY * len(paths))
