"""Whose word counts: which tools show a field as it is, and which only say something under its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from .belief import EXISTS
from .explain import Example, explain
from .sightings import Agreement, Sighting

__all__ = ["Views"]

_ENOUGH: Final = 2
_STEADY: Final = 0.9
"""Who shows a field as it is shows the same again at least so often."""
_HALF: Final = 0.5
_FICKLE: Final = 0.3
"""Who shows something else so often when asked twice does not show the field as it is."""
_MOST: Final = 60
"""Changes that are looked at."""

Field = tuple[str, str]
"""Kind and field."""
Pairs = Mapping[tuple[str, str], Agreement]
"""By who showed a field first and who showed it right after."""


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
        """Viewer, kind and field: what it shows under that name is not what the others do."""
        self.private: set[Field] = set()
        """Shown only by calls that change it."""
        self.spared: set[tuple[str, str, str]] = set()
        """Tool, name of the thing and field: the tool leaves it as it is."""
        own = [s for s in sightings if s.own and s.field != EXISTS]
        by_field: dict[Field, list[Sighting]] = {}
        for sighting in own:
            by_field.setdefault((sighting.suspect.named.kind, sighting.field), []).append(sighting)
        for field, group in sorted(by_field.items()):
            self._judge(field, group, readers)

    def _judge(self, field: Field, group: Sequence[Sighting], readers: frozenset[str]) -> None:
        pairs = _pairs(group)
        shown = Counter(sighting.shown_by.viewer for sighting in group)
        steady = [viewer for viewer in shown if _steady(pairs.get((viewer, viewer)))]
        # Plain readers first, then those that are called with nothing optional.
        reader = min(steady, key=lambda v: (_tool(v) not in readers, _has_options(v), -shown[v], v), default=None)
        if reader is None:
            self._judge_changing(field, group, pairs)
            return
        names = {s.suspect.named.name for s in group if s.shown_by.viewer == reader}
        self.spared |= {(_tool(reader), name, field[1]) for name in names}
        for viewer in shown:
            if viewer == reader:
                continue
            before, after = pairs.get((viewer, reader)), pairs.get((reader, viewer))
            if _denied(before) or (_has_options(viewer) and not (_steady(before) or _steady(after))):
                self.foreign.add((viewer, *field))

    def _judge_changing(self, field: Field, group: Sequence[Sighting], pairs: Pairs) -> None:
        """Judge a field that nobody shows twice as the same."""
        for viewer in sorted({sighting.shown_by.viewer for sighting in group}):
            agreement = pairs.get((viewer, viewer))
            if agreement is not None and agreement.other >= max(1, _FICKLE * (agreement.same + agreement.other)):
                if _changes(field[1], [s for s in group if s.shown_by.viewer == viewer]):
                    self.private.add(field)
                else:
                    self.foreign.add((viewer, *field))


def _tool(viewer: str) -> str:
    return viewer.split("(")[0]


def _has_options(viewer: str) -> bool:
    """Whether a viewer is a tool called with some of its optional arguments."""
    return "(" in viewer


def _pairs(group: Sequence[Sighting]) -> Pairs:
    pairs: dict[tuple[str, str], Agreement] = {}
    for sighting in group:
        if sighting.shown_before_by:
            agreement = pairs.setdefault((sighting.shown_before_by, sighting.shown_by.viewer), Agreement())
            agreement.other += sighting.changed
            agreement.same += not sighting.changed
    return pairs


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
