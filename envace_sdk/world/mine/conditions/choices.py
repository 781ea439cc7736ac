"""Hidden choices of a session: the last value that a setter was given, where only errors show that it matters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb, log2

from envace_sdk.json import Json

from .flags import first_episodes
from .readings import leaves
from .separation import Condition, separated
from .session import Event, Flag, Reading, Register, Update

__all__ = ["chosen_registers"]

MAX_CHOICES = 24
MAX_ERRORS = 40
COST_BITS = 2.0
ACCURACY = 0.95


def chosen_registers(episodes: Sequence[Sequence[Event]], flags: Sequence[Flag] = ()) -> list[Register]:
    """Registers that hold an argument of a tool's last success, and null before any: those on which an error hangs.

    An error hangs on one if a condition on it, alone or with the arguments, tells the error from successes, and none
    on the arguments alone does so as well. Errors that a flag explains are left out. Best explained first.
    """
    looked = first_episodes(episodes)
    chosen = _choices(looked)
    explained = {reading[:3] for flag in flags for reading in flag.shown_by if reading.kind == "error"}
    found: dict[str, Register] = {}
    for reading in _errors(looked):
        if reading[:3] in explained:
            continue
        yes, no = _scopes(looked, reading, chosen)
        if len(yes) < 2 or len(no) < 2:
            continue
        condition = _hanging(yes, no, len(chosen))
        for name in _named(condition, chosen):
            tool, path = chosen[name]
            wrong = condition.wrong if condition is not None else 0
            register = found.get(name) or Register(name, None, (Update(tool, "", f"args.{path}"),))
            found[name] = Register(
                name,
                None,
                register.updates,
                (*register.shown_by, reading),
                register.right + len(yes) + len(no) - wrong,
                register.wrong + wrong,
            )
    return sorted(found.values(), key=lambda register: -register.right)


def _choices(episodes: Sequence[Sequence[Event]]) -> dict[str, tuple[str, str]]:
    """By name, tool and argument of what may be remembered: arguments with different values."""
    seen: dict[tuple[str, str], set[str]] = {}
    for episode in episodes:
        for event in episode:
            if not event.failed:
                for path, value in leaves(dict(event.arguments)):
                    if path and isinstance(value, str | int) and len(str(value)) <= 200:
                        seen.setdefault((event.tool, path), set()).add(repr(value))
    named: dict[str, tuple[str, str]] = {}
    for (tool, path), values in seen.items():
        if len(values) > 1 and path.isidentifier() and len(named) < MAX_CHOICES:
            named[f"{tool}_{path}" if path in named else path] = (tool, path)
    return named


def _errors(episodes: Sequence[Sequence[Event]]) -> list[Reading]:
    counts: dict[Reading, int] = {}
    for episode in episodes:
        for event in episode:
            if event.failed:
                reading = Reading(event.tool, "error", event.error_class)
                counts[reading] = counts.get(reading, 0) + 1
    repeated = [reading for reading, count in counts.items() if count > 1]
    return sorted(repeated, key=lambda reading: -counts[reading])[:MAX_ERRORS]


_Scopes = tuple[list[dict[str, Json]], list[dict[str, Json]]]


def _scopes(episodes: Sequence[Sequence[Event]], reading: Reading, chosen: Mapping[str, tuple[str, str]]) -> _Scopes:
    yes: list[dict[str, Json]] = []
    no: list[dict[str, Json]] = []
    names = {(tool, path): name for name, (tool, path) in chosen.items()}
    setters = {tool for tool, _ in chosen.values()}
    for episode in episodes:
        held: dict[str, Json] = dict.fromkeys(chosen)
        for event in episode:
            if event.tool == reading.tool and (not event.failed or event.error_class == reading.what):
                (yes if event.failed else no).append({"args": dict(event.arguments), "session": held})
            if event.tool in setters and not event.failed:
                given = {
                    names[event.tool, path]: value
                    for path, value in leaves(dict(event.arguments))
                    if (event.tool, path) in names
                }
                held = {**held, **given}
    return yes, no


def _hanging(yes: list[dict[str, Json]], no: list[dict[str, Json]], number: int) -> Condition | None:
    """The best condition, if it needs what is remembered and explains more than it takes to say."""
    bare = [[{"args": scope["args"]} for scope in side] for side in (yes, no)]
    if separated(*bare, limit=1, tolerance=1 - ACCURACY, stages=2):
        return None
    for condition in separated(yes, no, limit=1, tolerance=1 - ACCURACY, stages=2):
        rare = min(len(yes), len(no))
        worth = log2(comb(len(yes) + len(no), rare))
        if condition.wrong <= rare / 10 and worth > COST_BITS * condition.cost + log2(number + 1):
            return condition
    return None


def _named(condition: Condition | None, chosen: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    if condition is not None:
        words = set(condition.source.replace("(", " ").replace(")", " ").replace(",", " ").replace("!", " ").split())
        stems = {".".join(word.split(".")[:2]) for word in words}
        yield from (name for name in chosen if f"session.{name}" in stems)
