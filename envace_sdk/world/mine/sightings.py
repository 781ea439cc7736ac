"""What a shown value says: of the one call that may have changed it, of who shows it, or of how it was at first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.world.keys import key_text

from .belief import EXISTS, Suspect, Thing
from .effects import Place
from .episodes import Step
from .structure import SESSION
from .values import same

__all__ = ["PREDICTED", "Agreement", "Evidence", "Sighting"]

PREDICTED: Final = "="
"""Before the place of an effect, where a value was not shown but predicted by it."""


@dataclass(eq=False, slots=True)
class Sighting:
    """A value that was shown, with the one call that may have changed it since it was last known."""

    suspect: Suspect
    field: str
    before: Json | Unset
    after: Json
    shown_by: Step
    shown_before_by: str
    """The viewer that showed the value before, if one did."""

    @property
    def place(self) -> Place:
        """The tool that may have changed it, the name it has for the thing, and the field."""
        return (self.suspect.step.tool, self.suspect.named.name, self.field)

    @property
    def own(self) -> bool:
        """Whether the suspect itself shows the value."""
        return self.suspect.step is self.shown_by

    @property
    def changed(self) -> bool:
        """Whether the value was known before, and is another one."""
        return self.before is not UNSET and not same(self.before, self.after)


@dataclass(slots=True)
class Agreement:
    """How often a shown value was the one that was known."""

    same: int = 0
    other: int = 0


class Evidence:
    """What was shown in the episodes that were followed."""

    def __init__(self) -> None:
        self.sightings: list[Sighting] = []
        self.clouded: list[tuple[tuple[Suspect, ...], str]] = []
        """Fields that are shown changed, where several calls may have changed them."""
        self.agreements: dict[tuple[str, str, str, str], Agreement] = {}
        """By kind, field, the tool that showed it before and the one that shows it now: whether it is the same."""
        self.session: dict[str, list[Json]] = {}
        """By field, the values that were shown of the session."""
        self.absent: dict[str, set[str]] = {}
        """Of the last episode, by kind the keys of things that were missing before anybody may have removed them."""
        self.first: dict[str, dict[str, dict[str, Json]]] = {}
        """Of the last episode, by kind and key: what was shown of a thing before anybody may have changed it."""

    def begin(self) -> None:
        """An episode begins."""
        self.absent, self.first = {}, {}

    def note(self, thing: Thing, what: str, value: Json, step: Step, suspects: Sequence[Suspect]) -> None:
        """A field, or with EXISTS whether the thing exists, is shown; `thing` is as it was known before."""
        if thing.kind == SESSION:
            self.session.setdefault(what, []).append(value)
        held = thing.known(what)
        if not suspects:
            self._note_unsuspected(thing, what, value, step, held)
        elif len(suspects) == 1:
            self.sightings.append(Sighting(suspects[0], what, held, value, step, thing.shown_by.get(what, "")))
        elif what != EXISTS and (held is UNSET or not same(held, value)):
            self.clouded.append((tuple(suspects), what))

    def _note_unsuspected(self, thing: Thing, what: str, value: Json, step: Step, held: Json | Unset) -> None:
        if held is not UNSET:
            pair = (thing.kind, what, thing.shown_by.get(what, ""), step.viewer)
            agreement = self.agreements.get(pair)
            if agreement is None:
                agreement = self.agreements[pair] = Agreement()
            if same(held, value):
                agreement.same += 1
            else:
                agreement.other += 1
        elif what == EXISTS and not value:
            self.absent.setdefault(thing.kind, set()).add(key_text(thing.key))
        elif not thing.born:
            first = self.first.setdefault(thing.kind, {}).setdefault(key_text(thing.key), {})
            if what != EXISTS:
                first[what] = value
