"""From the goals of a task and what its witness does to the world, to a checklist.

What is demanded of the final world is what stays the same when the witness runs at another time and with another seed:
so neither a time stamp nor a number that was drawn is ever demanded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from envace_sdk.errors import EnvaceError
from envace_sdk.json import UNSET, Json
from envace_sdk.rehearse.environment import Environment
from envace_sdk.tasks.model import ChecklistItem
from envace_sdk.tools.model import ToolCall
from envace_sdk.world.diff import EntityChange, diff
from envace_sdk.world.keys import get_path
from envace_sdk.world.state import State

from .goal import Wanted, cel
from .words import words

__all__ = ["checklist", "forbidden"]

_LATER: Final = timedelta(seconds=17)
_MOST: Final = 4
"""Fields of one entity that are demanded."""
_MOST_DEMANDS: Final = 6
"""Demands on the final world: more would only say the same again, as all come of the same calls."""
_MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}T")
_GUARD: Final = 0.5
"""Weight of what must not happen, against 1 for what must: doing nothing does nothing wrong either."""


@dataclass(frozen=True, slots=True)
class _Run:
    start: State
    final: State

    @property
    def changes(self) -> list[EntityChange]:
        return diff(self.start, self.final)


async def checklist(
    environment: Environment,
    start: State,
    calls: Sequence[ToolCall],
    wanted: Sequence[Wanted],
    guards: Sequence[Wanted],
) -> list[ChecklistItem] | None:
    """The checklist of a task; None where the witness does something else at another time.

    Args:
        environment: whose tools are called.
        start: the world in which the task begins.
        calls: the witness.
        wanted: what the goals ask for besides changes of the world.
        guards: what must not happen besides changes that nobody asked for.
    """
    run = await _run(environment, start, calls)
    other = await _run(environment, start.replace(seed=start.seed + 1).at(start.clock + _LATER), calls)
    if run is None or other is None:
        return None
    named = {leaf for call in calls for leaf in _leaves(dict(call.arguments))}
    demands = list(_demands(run, other, environment, named))[:_MOST_DEMANDS]
    if run.changes and not demands and all(change.kind != "created" for change in run.changes):
        return None
    return [
        *(_item(f"goal-{n}", one) for n, one in enumerate(_distinct([*wanted, *demands]), 1)),
        *(_item(f"guard-{n}", one, _GUARD) for n, one in enumerate(_distinct([_nothing_else(run), *guards]), 1)),
    ]


def forbidden(tool: str) -> Wanted:
    """The guard that a tool is not called with success."""
    return Wanted(f"{tool} was not called.", f"called({cel(tool)}) == 0")


def _item(name: str, wanted: Wanted, factor: float = 1.0) -> ChecklistItem:
    return ChecklistItem(id=name, says=wanted.says, that=wanted.that, weight=wanted.weight * factor)


def _distinct(wanted: Sequence[Wanted]) -> list[Wanted]:
    return list({one.that: one for one in wanted}.values())


async def _run(environment: Environment, start: State, calls: Sequence[ToolCall]) -> _Run | None:
    state = start
    for call in calls:
        try:
            state = (await environment.rehearse(call, state)).state
        except EnvaceError:
            return None
    return _Run(start, state)


def _demands(run: _Run, other: _Run, environment: Environment, named: set[str]) -> Iterator[Wanted]:
    """What the final world must be like; first of what the calls name."""
    for change in sorted(run.changes, key=lambda change: change.key not in named):
        place = f"get({cel(change.collection)}, {cel(change.key)})"
        if change.kind == "deleted":
            yield Wanted(f"{change.name} is gone.", f"{place} == null")
        elif change.kind == "updated":
            yield from _updated(change, place, other)
    created: dict[str, list[EntityChange]] = {}
    for change in run.changes:
        if change.kind == "created":
            created.setdefault(change.collection, []).append(change)
    for collection, made in created.items():
        keys = environment.dynamics.collections[collection].key_fields
        yield from _created(collection, made, run, other, {*keys} if made[0].key not in named else set())


def _updated(change: EntityChange, place: str, other: _Run) -> Iterator[Wanted]:
    twin = other.final.get(change.collection, change.key)
    stable = {
        path: new
        for path, (_, new) in change.fields.items()
        if twin is not None and new is not UNSET and get_path(twin, path) == new
    }
    scalars = {path: new for path, new in stable.items() if _is_firm(new) and _is_plain(path)}
    for path, new in list(scalars.items())[:_MOST]:
        says = f"The {words(path)} of {change.name} is {json.dumps(new, ensure_ascii=False)}."
        yield Wanted(says, f"{place}.{path} == {cel(new)}")
    if not scalars:
        for path, new in stable.items():
            if isinstance(new, list) and _is_plain(path) and not isinstance(change.fields[path][0], dict):
                old = change.fields[path][0]
                if not isinstance(old, list) or len(old) != len(new):
                    says = f"{change.name} has {len(new)} {words(path)}."
                    yield Wanted(says, f"{place}.{path}.size() == {len(new)}")
                    return


def _created(
    collection: str, made: Sequence[EntityChange], run: _Run, other: _Run, minted: set[str]
) -> Iterator[Wanted]:
    twins = [change for change in other.changes if change.kind == "created" and change.collection == collection]
    before = len(run.start.collection(collection))
    after = len(run.final.collection(collection))
    yield Wanted(f"There are {len(made)} more in {collection}.", f"count({cel(collection)}) == {after}")
    if len(twins) != len(made) or after - before != len(made):
        return
    for change, twin in zip(made[:2], twins, strict=False):
        fields = {
            path: new
            for path, (_, new) in change.fields.items()
            if path in twin.fields and twin.fields[path][1] == new and new is not None
        }
        plain = {path: new for path, new in fields.items() if _is_firm(new) and path not in minted}
        chosen = dict(list(plain.items())[:_MOST])
        held = run.final.collection(collection).values()
        times = sum(all(get_path(document, path) == new for path, new in chosen.items()) for document in held)
        if chosen:
            says = f"In {collection} there is one as asked for."
            yield Wanted(says, f"count({cel(collection)}, {cel(chosen)}) == {times}")


def _nothing_else(run: _Run) -> Wanted:
    """Only what the witness changes is changed; of what is made, only the collection can be told."""
    changes = run.changes
    if not changes:
        return Wanted("Nothing is changed.", "changed().size() == 0")
    names = [change.name for change in changes if change.kind != "created"]
    made = sorted({change.collection for change in changes if change.kind == "created"})
    allowed = [f"c in {cel(names)}"] if names else []
    allowed += [f"c.startsWith({cel(f'{collection}/')})" for collection in made]
    return Wanted("Nothing is changed but what was asked for.", f"changed().all(c, {' || '.join(allowed)})")


def _is_firm(value: Json) -> bool:
    """Whether a value can be demanded: neither a structure, nor a point in time."""
    return not isinstance(value, dict | list) and not (isinstance(value, str) and _MOMENT.match(value))


def _leaves(value: Json) -> Iterator[str]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)
    else:
        yield str(value)


def _is_plain(path: str) -> bool:
    return all(part.isidentifier() for part in path.split("."))
