"""Recorded calls in the order in which they were made, with what they answered as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import Json
from envace_sdk.redaction import REDACTED
from envace_sdk.tools.fixture import Fixture

__all__ = ["Episode", "Step", "episodes_of"]

_LEVELS: Final = 24


@dataclass(eq=False, slots=True)
class Step:
    """One call of an episode."""

    episode: str
    index: int
    """Its place in the episode, from 0."""
    tool: str
    args: Mapping[str, Json]
    ok: bool
    value: Json
    """The answer as data: JSON, or text."""
    text: str
    """The answer's first text, as it was."""
    answer: Json
    """The answer as data, as it was: `value` may be taken apart further."""
    viewer: str = ""
    """The tool, with those of its optional arguments that may make it show things otherwise."""
    is_text: bool = False
    """Whether the answer is a text that is no JSON."""
    is_declined: bool = False
    """Whether the answer says that something is wrong, and is no error: then the step is not `ok` either."""


@dataclass(frozen=True, eq=False, slots=True)
class Episode:
    """One session: calls that saw each other's effects, from a start that is the same or is not known."""

    name: str
    steps: tuple[Step, ...]


def episodes_of(fixtures: Iterable[Fixture], tools: Iterable[str]) -> list[Episode]:
    """The calls of known tools, by episode, each in its recorded order; episodes in the order of their names."""
    known = set(tools)
    found: dict[str, list[Fixture]] = {}
    for fixture in fixtures:
        if fixture.is_call and fixture.call.name in known and fixture.result.fault is None:
            found.setdefault(fixture.episode, []).append(fixture)
    return [
        Episode(name, tuple(_steps(name, sorted(found[name], key=lambda fixture: fixture.position))))
        for name in sorted(found)
    ]


def _steps(name: str, fixtures: Sequence[Fixture]) -> Iterator[Step]:
    for index, fixture in enumerate(fixtures):
        result = fixture.result
        value = result.value()
        if _is_deeper(value, _LEVELS):
            value = result.first_text
        yield Step(
            episode=name,
            index=index,
            tool=fixture.call.name,
            viewer=fixture.call.name,
            args=_telling(fixture.call.arguments, f"{name}/{index}"),
            ok=not result.is_error,
            value=value,
            text=result.first_text,
            answer=value,
            is_text=isinstance(value, str) and value == result.first_text,
        )


def _telling(arguments: Mapping[str, Json], call: str) -> Mapping[str, Json]:
    """The arguments, with what a recorder took out as different as secrets are: the mark itself tells nothing."""
    return {name: f"{value} {call}" if value == REDACTED else value for name, value in arguments.items()}


def _is_deeper(value: Json, levels: int) -> bool:
    """Whether a value is nested more deeply: such a one says nothing that a rule could."""
    if not isinstance(value, dict | list):
        return False
    if levels == 0:
        return True
    return any(_is_deeper(inner, levels - 1) for inner in (value.values() if isinstance(value, dict) else value))
