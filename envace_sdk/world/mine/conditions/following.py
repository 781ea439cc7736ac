"""Following a session: what its flags and registers hold before each call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from envace_sdk.json import UNSET, Json

from .readings import leaf
from .session import Event, Flag, Reading, Register, Trigger, Update
from .triggers import scope_of
from .verifying import computed, holds

__all__ = ["after", "follow", "shown"]


def follow(
    episode: Sequence[Event], flags: Iterable[Flag] = (), registers: Iterable[Register] = ()
) -> list[dict[str, Json]]:
    """By name, what flags and registers hold before each call, and at last after all of them; `UNSET` where that is
    not known. What a call shows corrects what was thought before, and what the first sight shows was so from the
    beginning, if nothing has changed it since.
    """
    states: list[dict[str, Json]] = [{} for _ in range(len(episode) + 1)]
    for register in registers:
        for state, value in zip(states, _register(episode, register), strict=True):
            state[register.name] = value
    for flag in flags:
        for state, value in zip(states, _flag(episode, flag), strict=True):
            state[flag.name] = value
    return states


def after(register: Register, old: Json, event: Event) -> Json:
    """What a register holds after a call; `UNSET` where that cannot be known."""
    return updated(register.updates, register.name, old, event)


def updated(updates: Iterable[Update], name: str, old: Json, event: Event) -> Json:
    """What a register of this name and with these updates holds after a call."""
    if event.failed:
        return old
    scope: dict[str, Json] | None = None
    for update in updates:
        if update.tool != event.tool:
            continue
        if scope is None:
            scope = {**scope_of(event), "session": {} if old is UNSET else {name: old}}
        if not update.condition or holds(update.condition, scope):
            return computed(update.value, scope)
    return old


def shown(readings: Iterable[Reading], event: Event) -> Json:
    """What a call shows of a register before it: its value, or `UNSET`."""
    if not event.failed:
        for reading in readings:
            if reading.tool == event.tool and reading.kind == "answer":
                value = leaf(event.answer, reading.what)
                if value is not UNSET:
                    return value
    return UNSET


def _register(episode: Sequence[Event], register: Register) -> list[Json]:
    values: list[Json] = []
    value: Json = register.initially
    first_change: int | None = None
    tools = {update.tool for update in register.updates}
    for place, event in enumerate(episode):
        seen = shown(register.shown_by, event)
        if seen is not UNSET:
            value = seen
            if first_change is None:
                values = [value] * len(values)
                first_change = place
        values.append(value)
        new = after(register, value, event)
        if (new is not value or (new is UNSET and event.tool in tools)) and first_change is None:
            first_change = place
        value = new
    return [*values, value]


def _flag(episode: Sequence[Event], flag: Flag) -> list[bool | None]:
    values: list[bool | None] = []
    value: bool | None = flag.initially
    certain = False
    for event in episode:
        seen = _shown_truth(flag.shown_by, event)
        if seen is not None:
            value = seen
            if not certain:
                values = [value] * len(values)
        values.append(value)
        certain = certain or seen is not None
        for triggers, new in ((flag.set_by, True), (flag.cleared_by, False)):
            if any(happened(trigger, event) for trigger in triggers):
                value, certain = new, True
    return [*values, value]


def happened(trigger: Trigger, event: Event) -> bool:
    """Whether a call is one of a trigger's."""
    if event.failed or trigger.tool != event.tool:
        return False
    return not trigger.condition or holds(trigger.condition, scope_of(event)) is True


def _shown_truth(readings: Iterable[Reading], event: Event) -> bool | None:
    for reading in readings:
        if reading.tool != event.tool:
            continue
        if reading.kind == "answer":
            value = UNSET if event.failed else leaf(event.answer, reading.what)
            if isinstance(value, bool):
                return value is not reading.inverted
        elif not event.failed or event.error_class == reading.what:
            return (not event.failed) is not reading.inverted
    return None


def known_only(state: Mapping[str, Json]) -> dict[str, Json]:
    """Without what is not known."""
    return {name: value for name, value in state.items() if value is not UNSET}
