"""What the session holds without showing it: flags and registers, before and after every recorded call."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from envace_sdk.json import UNSET, Json
from envace_sdk.world.infer.cel import literal

from .conditions import Event, Flag, Register, chosen_registers, follow, hidden_flags, registers
from .episodes import Episode, Step
from .failures import Failures
from .structure import SESSION

__all__ = ["Change", "Hidden", "find_hidden"]


@dataclass(frozen=True, slots=True)
class Change:
    """What a successful call makes of a field of the session, where the condition holds ("" for always).

    Both are CEL over `args`, `session` as it was, and `answer`.
    """

    tool: str
    field: str
    condition: str
    value: str


@dataclass(slots=True)
class Hidden:
    """The flags and registers of a toolset's sessions."""

    changes: list[Change] = field(default_factory=list)
    start: dict[str, Json] = field(default_factory=dict)
    """What most episodes begin with."""
    shown: dict[tuple[str, str], str] = field(default_factory=dict)
    """By tool and leaf of its answer, the field that it shows."""
    states: dict[str, list[dict[str, Json]]] = field(default_factory=dict)
    """By episode, what is known before each call, and after the last."""

    def forget(self, fields: set[str]) -> None:
        """Leave fields to others who follow them."""
        self.changes = [change for change in self.changes if change.field not in fields]
        self.start = {name: value for name, value in self.start.items() if name not in fields}
        self.shown = {place: name for place, name in self.shown.items() if name.lstrip("!") not in fields}
        for states in self.states.values():
            for state in states:
                for name in fields:
                    state.pop(name, None)

    def before(self, step: Step) -> dict[str, Json]:
        """What is known before a call."""
        states = self.states.get(step.episode)
        return states[step.index] if states is not None else {}

    def after(self, step: Step) -> dict[str, Json]:
        """What is known after a call."""
        states = self.states.get(step.episode)
        return states[step.index + 1] if states is not None else {}


def find_hidden(episodes: Sequence[Episode], failures: Failures, taken: Mapping[tuple[str, str], str]) -> Hidden:
    """Flags and registers that explain errors and answers.

    `taken` are leaves of answers that are explained already, by tool and path.
    """
    events = {episode.name: [_event(step, failures) for step in episode.steps] for episode in episodes}
    found = list(events.values())
    flags = [flag for flag in hidden_flags(found) if not _is_known(flag, taken)]
    kept = [register for register in registers(found, flags) if not _is_known(register, taken)]
    kept += [register for register in chosen_registers(found, flags) if not _is_known(register, taken)]
    every: list[Flag | Register] = [*flags, *kept]
    names = _names(every)
    hidden = Hidden()
    for one in every:
        name = names[one.name]
        for reading in one.shown_by:
            if reading.kind == "answer":
                hidden.shown.setdefault((reading.tool, reading.what), name if not reading.inverted else f"!{name}")
        if isinstance(one, Flag):
            for triggers, value in ((one.set_by, "true"), (one.cleared_by, "false")):
                hidden.changes += [Change(t.tool, name, _told(t.condition, names), value) for t in triggers]
        else:
            hidden.changes += [
                Change(u.tool, name, _told(u.condition, names), _told(u.value, names)) for u in one.updates
            ]
    nullable = {register.name for register in kept}
    for name, listed in events.items():
        hidden.states[name] = [
            {
                names[of]: value
                for of, value in state.items()
                if value is not UNSET and (value is not None or of in nullable)
            }
            for state in follow(listed, flags, kept)
        ]
    hidden.start = _usual_start(names.values(), hidden.states.values())
    return hidden


def _usual_start(fields: Iterable[str], states: Collection[Sequence[Mapping[str, Json]]]) -> dict[str, Json]:
    """What most episodes begin with, of the fields that are known then."""
    start: dict[str, Json] = {}
    for name in fields:
        begun = Counter(literal(before[0][name]) for before in states if name in before[0])
        if begun:
            start[name] = json.loads(min(begun, key=lambda text: (-begun[text], text)))
    return start


def _event(step: Step, failures: Failures) -> Event:
    failure = failures.of(step)
    return Event(
        step.tool,
        step.args,
        is_error=not step.ok,
        error_class=failure.text_class if failure is not None else "",
        answer=step.value if step.ok else None,
    )


def _is_known(one: Flag | Register, taken: Mapping[tuple[str, str], str]) -> bool:
    return any(reading.kind == "answer" and (reading.tool, reading.what) in taken for reading in one.shown_by)


def _names(found: Sequence[Flag | Register]) -> dict[str, str]:
    """Names that say what they are: of the leaf that shows them, where one does."""
    names: dict[str, str] = {}
    for one in found:
        told = next(
            (r.what.split(".")[-1] for r in one.shown_by if r.kind == "answer" and r.what and not r.inverted), one.name
        )
        name = base = re.sub(r"\W", "_", told) or one.name
        number = 2
        while name in names.values():
            name, number = f"{base}_{number}", number + 1
        names[one.name] = name
    return names


def _told(source: str, names: Mapping[str, str]) -> str:
    """The source with the names that the fields get."""
    return re.sub(
        rf"\b{SESSION}\.(\w+)", lambda match: f"{SESSION}.{names.get(match.group(1), match.group(1))}", source
    )
