"""Fields that are not kept, but made for an answer from what is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from envace_sdk.json import Json

from .answering import Shown, informed, value_at, visible
from .effects import Effects
from .explain import Example
from .moments import Moment
from .reasons import reason_where_known
from .structure import SESSION, Structure, records

__all__ = ["computed_views", "still_shown"]

_MOST: Final = 150
_VARIED: Final = 2


def computed_views(moments: Sequence[Moment], structure: Structure, effects: Effects) -> list[tuple[str, str, str]]:
    """The viewers, kinds and fields of what follows from the rest, so that nothing need be kept.

    A field is taken for that only if one tool alone shows it, or none of those that show it is known to change nothing
    of the session: what several readers show is most likely there, even if it can be guessed from the rest.
    """
    shown: dict[tuple[str, str], dict[str, list[Shown]]] = {}
    for viewer, kind, name, case in _shown_fields(moments, structure, effects):
        shown.setdefault((kind, name), {}).setdefault(viewer, []).append(case)
    found: list[tuple[str, str, str]] = []
    for (kind, name), by_viewer in sorted(shown.items()):
        alone = len(by_viewer) == 1
        looks = any((_tool(viewer), SESSION) in effects.harmless for viewer in by_viewer)
        if name in structure.hidden or (looks and not alone):
            continue
        for viewer, cases in sorted(by_viewer.items()):
            set_by_others = any(tool != viewer and what == name for tool, _, what in effects.sets)
            if not (alone and set_by_others) and _follows(name, informed(cases)):
                found.append((viewer, kind, name))
    return found


def _shown_fields(
    moments: Sequence[Moment], structure: Structure, effects: Effects
) -> Iterator[tuple[str, str, str, Shown]]:
    """Viewer, kind, field and value of the single things that answers show."""
    for moment in moments:
        for site in structure.sites_of(moment.step.tool) if moment.step.ok else ():
            if site.many or site.bare or site.fresh:
                continue
            record = value_at(moment.step.value, site.path)
            for name, value in record.items() if isinstance(record, dict) else ():
                if name != site.key and (moment.step.viewer, site.kind, name) not in effects.foreign:
                    yield moment.step.viewer, site.kind, name, (value, moment)


def _follows(name: str, cases: Sequence[Shown]) -> bool:
    """Whether a field varies, and what it is can be told without it."""
    if len({repr(value) for value, _ in cases}) < _VARIED:
        return False
    examples = [Example(_without(visible(moment), name), value) for value, moment in cases[:_MOST]]
    return reason_where_known(examples) is not None


def _tool(viewer: str) -> str:
    return viewer.split("(")[0]


def still_shown(moments: Sequence[Moment], structure: Structure, effects: Effects) -> set[tuple[str, str, str]]:
    """The viewers, kinds and fields of what is shown as it is kept."""
    return {
        (moment.step.viewer, site.kind, name)
        for moment in moments
        if moment.step.ok
        for site in structure.sites_of(moment.step.tool)
        for _, record in records(site, moment.step)
        for name in record
    } - effects.foreign


def _without(scope: Mapping[str, Json], name: str) -> dict[str, Json]:
    return {
        who: {what: value for what, value in held.items() if what != name}
        if who != "args" and isinstance(held, dict)
        else held
        for who, held in scope.items()
    }
