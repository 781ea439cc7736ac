"""Which calls may change the session: all successes of a tool, or those with a certain argument or answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from envace_sdk.json import Json

from .atoms import Atom
from .columns import Table, unpacked
from .session import Event, Trigger
from .single import equality_atoms, presence_atoms

__all__ = ["Candidate", "candidates", "scope_of"]

MAX_SPLITS = 8
"""Conditions tried for one tool."""
MAX_LOOKED = 400
_DEAR = 5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A trigger, and where in each episode it happened."""

    trigger: Trigger
    cost: int
    places: tuple[tuple[int, ...], ...]


def scope_of(event: Event) -> dict[str, Json]:
    """What a trigger's condition can see."""
    return {"args": dict(event.arguments), "answer": event.answer}


def candidates(episodes: Sequence[Sequence[Event]]) -> list[Candidate]:
    """Every tool's successes, whole and split by simple conditions that hold for some of them."""
    where: dict[str, list[tuple[int, int]]] = {}
    for number, episode in enumerate(episodes):
        for place, event in enumerate(episode):
            if not event.failed:
                where.setdefault(event.tool, []).append((number, place))
    found: list[Candidate] = []
    for tool, places in where.items():
        found.append(_candidate(Trigger(tool), 2, places, len(episodes)))
        found += _splits(tool, places, episodes)
    return found


def _splits(tool: str, places: list[tuple[int, int]], episodes: Sequence[Sequence[Event]]) -> list[Candidate]:
    # What is said of the first calls must be computed for all of them, so none are left out where there are many.
    if len(places) < 4 or len(places) > 10 * MAX_LOOKED:
        return []
    table = Table([scope_of(episodes[number][place]) for number, place in places])
    named = [atom for atom in equality_atoms(table) if not atom.source.endswith(" != ''") and " != " not in atom.source]
    empty = [atom for atom in equality_atoms(table) if atom.source.endswith(("''", " 0"))]
    plain = [atom for atom in presence_atoms(table) if atom.cost <= _DEAR]
    distinct: dict[int, Atom] = {}
    for atom in sorted([*plain, *empty], key=lambda atom: ("answer" in atom.source, atom.cost)):
        distinct.setdefault(atom.rows, atom)
    chosen = sorted(distinct.values(), key=lambda atom: atom.cost)[:MAX_SPLITS]
    chosen += [atom for atom in named if atom.rows not in distinct and atom.cost <= _DEAR][:MAX_SPLITS]
    return [
        _candidate(
            Trigger(tool, atom.source),
            2 + atom.cost,
            [at for at, inside in zip(places, unpacked(atom.rows, len(places)), strict=True) if inside],
            len(episodes),
        )
        for atom in chosen
    ]


def _candidate(trigger: Trigger, cost: int, places: list[tuple[int, int]], count: int) -> Candidate:
    by_episode: list[list[int]] = [[] for _ in range(count)]
    for number, place in places:
        by_episode[number].append(place)
    return Candidate(trigger, cost, tuple(map(tuple, by_episode)))
