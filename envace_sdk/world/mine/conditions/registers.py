"""Hidden values of a session: which calls set them to what, so that answers show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from envace_sdk.json import UNSET

from .flags import first_episodes, hidden_flags
from .readings import Seen, values
from .session import Event, Flag, Reading, Register, Update
from .setters import ACCURACY, NAME, Finder, initial
from .stretches import Calls
from .updates import alike

__all__ = ["registers"]


def registers(episodes: Sequence[Sequence[Event]], flags: Sequence[Flag] | None = None) -> list[Register]:
    """Registers of the session that answers show.

    An answer's leaf shows a register if it is what the last successful setter made it: an argument, a part of its
    answer, a constant, or something computed from what was there before (`joinpath(session.cwd, args.folder)`,
    `session.total + args.price`). At least 95 % of what is shown after a setter, or again without one, must agree, and
    two different values at least must have been foretold. Leaves that the same calls explain are one register. A flag
    that is set where a register is, and cleared elsewhere, tells where the register becomes null. Best
    explained first; deterministic.
    """
    looked = first_episodes(episodes)
    found: list[Register] = []
    calls = Calls(looked)
    seen_values = values(looked)
    finders = {reading: Finder(reading, seen, calls) for reading, seen in seen_values.items()}
    for reading, finder in finders.items():
        known = _shows_known(found, finder, seen_values[reading])
        if known is not None:
            found[known[0]] = known[1]
            continue
        made = finder.best()
        if made is not None:
            found.append(made)
    for flag in hidden_flags(looked) if flags is None else flags:
        found = [_cleared(register, flag, finders) for register in found]
    found.sort(key=lambda register: -register.right)
    return [_renamed(register, name) for register, name in zip(found, _register_names(found), strict=True)]


def _shows_known(found: list[Register], finder: Finder, seen: list[Seen]) -> tuple[int, Register] | None:
    """Whether a leaf shows a register that is known already."""
    for place, register in enumerate(found):
        score = finder.score(register.updates)
        if (
            score.right >= 2
            and score.foretold
            and 2 * score.linked <= score.told
            and score.wrong <= (1 - ACCURACY) * (score.right + score.wrong)
        ):
            if len({repr(one.value) for one in seen}) < 2:
                continue
            initially = register.initially
            if score.starts and initial(score.starts) is not initially:
                initially = initially if alike(initial(score.starts), initially) else UNSET
            return place, replace(
                register,
                initially=initially,
                shown_by=(*register.shown_by, finder.reading),
                right=register.right + score.right,
                wrong=register.wrong + score.wrong,
            )
    return None


def _cleared(register: Register, flag: Flag, finders: Mapping[Reading, Finder]) -> Register:
    """With the calls that clear a flag which the setters of the register set, if no answer contradicts that."""
    if flag.wrong:
        return register
    for setters, clearers, initially in (
        (flag.set_by, flag.cleared_by, flag.initially),
        (flag.cleared_by, flag.set_by, None if flag.initially is None else not flag.initially),
    ):
        if {trigger.tool for trigger in setters} != {update.tool for update in register.updates}:
            continue
        new = [
            Update(trigger.tool, trigger.condition, "null")
            for trigger in clearers
            if all(update.tool != trigger.tool for update in register.updates)
        ]
        conditions = {trigger.tool: trigger.condition for trigger in setters}
        old = [update._replace(condition=update.condition or conditions[update.tool]) for update in register.updates]
        start = None if initially is False and register.initially is UNSET else register.initially
        made = replace(register, updates=(*old, *new), initially=start, cleared=True)
        for reading in register.shown_by:
            finder = finders[reading]
            if finder.score(made.updates).wrong > finder.score(register.updates).wrong:
                return register
        return made
    return register


def _renamed(register: Register, name: str) -> Register:
    old = f"session.{NAME}"
    updates = tuple(update._replace(value=update.value.replace(old, f"session.{name}")) for update in register.updates)
    return replace(register, name=name, updates=updates)


def _register_names(found: Sequence[Register]) -> Iterator[str]:
    """After the leaf that shows it."""
    taken: set[str] = set()
    for register in found:
        last = register.shown_by[0].what.rpartition(".")[2] or register.shown_by[0].tool
        base = "".join(sign if sign.isalnum() else "_" for sign in last)
        base = base if base.isidentifier() else f"of_{base}"
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        yield name
