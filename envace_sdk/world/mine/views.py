"""Whose word counts: which tools show a field as it is, and which only say something under its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .explain import Example, explain
from .tracking import Agreement, Sighting
from .belief import EXISTS

__all__ = ["Views"]

_ENOUGH: Final = 2
_STEADY: Final = 0.9
_HALF: Final = 0.5
_FICKLE: Final = 0.3
_MOST: Final = 60

Field = tuple[str, str]
Pairs = dict[tuple[str, str], Agreement]


class Views:
    """What the tools that show a field think of each other.

    A field's reader is a tool that shows the same again when it is called twice in a row. What another tool shows
    counts if the reader, asked right after it, shows the same. A tool that shows something else each time shows a
    field only if it is seen how it changes it.

    Args:
        sightings: of a tracker that suspects every call.
        readers: tools called like what changes nothing.
    """

    def __init__(self, sightings: Sequence[Sighting], readers: frozenset[str]) -> None:
        self.foreign: set[tuple[str, str, str]] = set()
        self.private: set[Field] = set()
        self.spared: set[tuple[str, str, str]] = set()
        own = [s for s in sightings if s.own and s.field != EXISTS]
        by_field: dict[Field, list[Sighting]] = {}
        for sighting in own:
            by_field.setdefault((sighting.suspect.named.kind, sighting.field), []).append(sighting)
        for field, group in sorted(by_field.items()):
            self._judge(field, group, readers)

    def _judge(self, field: Field, group: Sequence[Sighting], readers: frozenset[str]) -> None:
        pairs: Pairs = {}
        shown: dict[str, int] = {}
        for sighting in group:
            now = sighting.shown_by.viewer
            shown[now] = shown.get(now, 0) + 1
            if sighting.shown_before_by:
                agreement = pairs.setdefault((sighting.shown_before_by, now), Agreement())
                agreement.other += sighting.changed
                agreement.same += not sighting.changed
        steady = [tool for tool in shown if _steady(pairs.get((tool, tool)))]
        reader = min(steady, key=lambda t: (t.split("(")[0] not in readers, "(" in t, -shown[t], t), default=None)
        if reader is not None:
            names = {s.suspect.named.name for s in group if s.shown_by.viewer == reader}
            self.spared |= {(reader.split("(")[0], name, field[1]) for name in names}
            for tool in shown:
                both = (pairs.get((tool, reader)), pairs.get((reader, tool)))
                if tool != reader and (_denied(both[0]) or ("(" in tool and not any(map(_steady, both)))):
                    self.foreign.add((tool, *field))
            return
        kept = False
        for tool in sorted(shown):
            agreement = pairs.get((tool, tool))
            if agreement is not None and agreement.other >= max(1, _FICKLE * (agreement.same + agreement.other)):
                if _changes(field[1], [s for s in group if s.shown_by.viewer == tool]):
                    kept = True
                else:
                    self.foreign.add((tool, *field))
        if kept:
            self.private.add(field)


def _steady(agreement: Agreement | None) -> bool:
    if agreement is None or agreement.same < _ENOUGH:
        return False
    return agreement.same >= _STEADY * (agreement.same + agreement.other)


def _denied(agreement: Agreement | None) -> bool:
    if agreement is None or agreement.other < _ENOUGH:
        return False
    return agreement.other > _HALF * (agreement.same + agreement.other)


def _changes(what: str, group: Sequence[Sighting]) -> bool:
    """Whether a tool is seen to make the field what it shows out of what it was."""
    changed = [s for s in group if s.changed][:_MOST]
    if len(changed) < _ENOUGH:
        return False
    found = explain([Example(s.suspect.scope, s.after) for s in changed])
    name = changed[0].suspect.named.name
    return any(f"{name}.{what}" in e.source for e in found)
