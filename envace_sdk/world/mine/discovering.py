"""How the structure of the answers is found: where things are shown, what names them, and of what kind they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from envace_sdk.json import Json

from .drafting import Clues, Draft, draft_sites
from .episodes import Episode, Step
from .links import can_name, is_idlike
from .naming import kind_of
from .positions import Position, occurrences
from .structure import SESSION, Kind, Reference, Site, Structure

__all__ = ["discover"]


def discover(episodes: Sequence[Episode], domains: Sequence[Sequence[Position]]) -> Structure:
    """The structure that the answers and the arguments show.

    Args:
        episodes: the recorded calls.
        domains: groups of positions that name the same things.
    """
    domain_of = {position: number for number, group in enumerate(domains) for position in group}
    clues = Clues(domain_of, _freshness(episodes, domain_of), _paths_held(episodes, domain_of))
    by_tool: dict[str, list[Step]] = {}
    for episode in episodes:
        for step in episode.steps:
            by_tool.setdefault(step.tool, []).append(step)
    drafts = [
        draft for tool in sorted(by_tool) for draft in draft_sites(tool, [s for s in by_tool[tool] if s.ok], clues)
    ]
    return _structure(drafts, _joined(domains, drafts, clues.same))


def _freshness(episodes: Sequence[Episode], domain_of: Mapping[Position, int]) -> dict[Position, tuple[int, int]]:
    """By position in answers: of how many values, how many had not been seen before in their episode.

    Numbers are looked for where the same things are named: a small one is soon seen elsewhere.
    """
    found: dict[Position, tuple[int, int]] = {}
    for episode in episodes:
        seen: set[tuple[int | None, Json]] = set()
        for step in episode.steps:
            here = [
                (p, (domain_of.get(p) if isinstance(v, int) else None, v))
                for p, v in occurrences(step, {})
                if can_name(v)
            ]
            given = {v for p, v in here if p.side == "in"}
            for position, value in here:
                if position.side == "out":
                    total, fresh = found.get(position, (0, 0))
                    found[position] = (total + 1, fresh + (value not in seen and value not in given))
            seen.update(value for _, value in here)
    return found


def _paths_held(episodes: Sequence[Episode], domain_of: Mapping[Position, int]) -> dict[int, set[str]]:
    """By domain, the paths among its values."""
    found: dict[int, set[str]] = {}
    for episode in episodes:
        for step in episode.steps:
            for position, value in occurrences(step, {}):
                domain = domain_of.get(position)
                if domain is not None and isinstance(value, str) and "/" in value:
                    found.setdefault(domain, set()).add(value.rstrip("/"))
    return found


def _joined(
    domains: Sequence[Sequence[Position]], drafts: Sequence[Draft], same: Sequence[tuple[int, int]]
) -> list[list[Position]]:
    """The domains, of which those that are the same are put into the first of them; the drafts are told."""
    homes = list(range(len(domains)))
    for one, other in same:
        first, second = sorted((homes[one], homes[other]))
        homes = [first if home == second else home for home in homes]
    for draft in drafts:
        draft.domain = None if draft.domain is None else homes[draft.domain]
    groups: list[list[Position]] = [[] for _ in domains]
    for number, group in enumerate(domains):
        groups[homes[number]] += group
    return groups


def _structure(drafts: Sequence[Draft], domains: Sequence[Sequence[Position]]) -> Structure:
    """The kinds of the domains that name things, and of what is named by keys that are of no domain."""
    structure = Structure()
    structure.kinds[SESSION] = Kind(SESSION, "session", "id")
    by_domain: dict[int, list[Site]] = {}
    loose: dict[str, list[Site]] = {}
    for draft in drafts:
        site = draft.site
        if site.kind == SESSION:
            structure.sites.setdefault(site.tool, []).append(site)
        elif draft.domain is not None:
            by_domain.setdefault(draft.domain, []).append(site)
        else:
            loose.setdefault(site.key, []).append(site)
    for number, group in enumerate(domains):
        sites = by_domain.get(number, [])
        if sites or _names_things(group):
            kind = _add_kind(group, sites, structure)
            for position in group:
                if position.side == "in":
                    reference = Reference(position.tool, position.path, kind.name)
                    structure.references.setdefault(position.tool, []).append(reference)
    for sites in loose.values():
        _add_kind([Position(site.tool, "out", f"{site.path}.{site.key}") for site in sites], sites, structure)
    return structure


def _names_things(group: Sequence[Position]) -> bool:
    """Whether a domain whose things are never shown names things, and is no mere vocabulary."""
    named = [position for position in group if position.side == "in"]
    return len({position.tool for position in named}) > 1 and any(is_idlike(position.name) for position in named)


def _add_kind(positions: Sequence[Position], sites: Sequence[Site], structure: Structure) -> Kind:
    kind = kind_of(positions, sites, structure.kinds)
    structure.kinds[kind.name] = kind
    for site in sites:
        key = kind.key if site.bare or not (site.key or site.argument) else site.key
        structure.sites.setdefault(site.tool, []).append(replace(site, kind=kind.name, key=key))
    return kind
