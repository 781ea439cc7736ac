"""Where episodes may show what the session hides: errors against successes, and leaves of answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from envace_sdk.json import UNSET, Json

from .session import Event, Reading

__all__ = ["Seen", "leaf", "leaves", "truths", "values"]

MAX_DEPTH = 4
MAX_LEAVES = 200


@dataclass(frozen=True, slots=True)
class Seen:
    """One reading in one call."""

    episode: int
    place: int
    value: Json


def leaves(value: Json, path: str = "", depth: int = 0) -> Iterator[tuple[str, Json]]:
    """The scalars in objects by dotted path; lists are not entered."""
    if isinstance(value, dict):
        if depth < MAX_DEPTH:
            for name, member in value.items():
                yield from leaves(member, f"{path}.{name}" if path else name, depth + 1)
    elif not isinstance(value, list):
        yield path, value


def truths(episodes: Sequence[Sequence[Event]]) -> dict[Reading, list[Seen]]:
    """Errors (false) against successes (true) of the same tool, and leaves that are true or false."""
    found: dict[Reading, list[Seen]] = {}
    classes: dict[str, dict[str, None]] = {}
    for episode in episodes:
        for event in episode:
            if event.failed:
                classes.setdefault(event.tool, {})[event.error_class] = None
    for number, episode in enumerate(episodes):
        for place, event in enumerate(episode):
            if event.failed:
                reading = Reading(event.tool, "error", event.error_class)
                found.setdefault(reading, []).append(Seen(number, place, False))
                continue
            for error in classes.get(event.tool, ()):
                reading = Reading(event.tool, "error", error)
                found.setdefault(reading, []).append(Seen(number, place, True))
            for path, value in leaves(event.answer):
                if isinstance(value, bool):
                    found.setdefault(Reading(event.tool, "answer", path), []).append(Seen(number, place, value))
    return {reading: seen for reading, seen in found.items() if _both(seen)}


def _both(seen: list[Seen]) -> bool:
    yes = sum(one.value is True for one in seen)
    return yes >= 2 and len(seen) - yes >= 2


def values(episodes: Sequence[Sequence[Event]]) -> dict[Reading, list[Seen]]:
    """Texts, numbers and nulls in answers, by leaf; without those that never differ within an episode."""
    found: dict[Reading, list[Seen]] = {}
    for number, episode in enumerate(episodes):
        for place, event in enumerate(episode):
            if event.failed:
                continue
            for path, value in leaves(event.answer):
                if not isinstance(value, bool):
                    found.setdefault(Reading(event.tool, "answer", path), []).append(Seen(number, place, value))
    return dict(list(found.items())[:MAX_LEAVES])


def leaf(answer: Json, path: str) -> Json:
    """The scalar at a dotted path of an answer, or `UNSET`."""
    value = answer
    for name in path.split(".") if path else ():
        if not isinstance(value, dict) or name not in value:
            return UNSET
        value = value[name]
    return UNSET if isinstance(value, dict | list) else value
