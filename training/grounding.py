"""How well the environment role rehearses: form, and agreement with the strongest evidence there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from envace_sdk.json import Json
from envace_sdk.tools.model import ToolResult
from envace_sdk.world.keys import key_text

from .trajectory import Turn

__all__ = ["EVIDENCE", "agreement", "alike", "fits_schema"]

EVIDENCE: Final = frozenset({"fixture", "dynamics", "precedent"})
"""Layers that a rehearsal can be right or wrong by. What a schema alone allows is as good a guess as another."""
_STATUS: Final = 0.5
"""The share of the agreement that is for success or failure alone."""
_DEPTH: Final = 20
_MOST: Final = 5000


def fits_schema(turns: Sequence[Turn]) -> float | None:
    """The share of the policy's responses that are well-formed and fit their schemas; None where it wrote none."""
    written = [turn for turn in turns if turn.role == "rehearse" and turn.is_sampled]
    return sum(not turn.problem for turn in written) / len(written) if written else None


def agreement(turns: Sequence[Turn]) -> float | None:
    """How far the policy's responses agree with what is known of them, from 0 to 1; None where nothing is.

    A response that cannot be read agrees with nothing.
    """
    judged = [
        turn
        for turn in turns
        if turn.role == "rehearse" and turn.is_sampled and turn.truth is not None and turn.truth.layer in EVIDENCE
    ]
    if not judged:
        return None
    marks = [
        alike(turn.result, turn.truth.result)
        if turn.result is not None and turn.truth is not None and not turn.problem
        else 0.0
        for turn in judged
    ]
    return sum(marks) / len(marks)


def alike(one: ToolResult, other: ToolResult) -> float:
    """How alike two results are: 0 where one succeeds and the other does not, else half for that and half for the
    values, by the F1 of their scalars under their paths (of errors, of their words).
    """
    if one.is_error != other.is_error:
        return 0.0
    if one.is_error:
        return _STATUS + (1 - _STATUS) * _f1(Counter(_words(one.first_text)), Counter(_words(other.first_text)))
    return _STATUS + (1 - _STATUS) * _f1(_leaves(one.value()), _leaves(other.value()))


def _f1(one: Counter[str], other: Counter[str]) -> float:
    if not one and not other:
        return 1.0
    return 2 * sum((one & other).values()) / (one.total() + other.total())


def _leaves(value: Json) -> Counter[str]:
    found: Counter[str] = Counter()
    for leaf in _scalars(value, "", 0):
        found[leaf] += 1
        if found.total() >= _MOST:
            break
    return found


def _scalars(value: Json, path: str, depth: int) -> Iterator[str]:
    """Scalars with their paths; elements of lists by their place."""
    if isinstance(value, dict | list) and depth < _DEPTH:
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for name, part in members:
            yield from _scalars(part, f"{path}/{name}", depth + 1)
    elif isinstance(value, str) and not path:
        yield from _words(value)
    else:
        yield f"{path}={type(value).__name__ if value is None else key_text(value)}"


def _words(text: str) -> list[str]:
    return text.casefold().split()[:_MOST]
