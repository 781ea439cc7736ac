"""How a prediction compares with what was observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.tools.model import ToolResult
from envace_sdk.world.diff import EntityChange
from envace_sdk.world.shown import shown
from envace_sdk.world.statuses import status_of

from .prediction import Prediction
from .verdict import Score

__all__ = ["observed_status", "score"]

_TOLD: Final = 5
"""Differences that are told in words."""


def observed_status(result: ToolResult) -> str:
    """The status of a real answer: `success`, or the kind of error that its words tell of."""
    if result.fault is not None:
        return status_of(str(result.fault.get("message", "")))
    return status_of(result.first_text) if result.is_error else "success"


def score(prediction: Prediction, result: ToolResult, changed: Sequence[EntityChange]) -> Score:
    """Compare a prediction with a real answer.

    Args:
        prediction: what was expected.
        result: what was answered.
        changed: how the known world has changed by it: what the tool's rule does, corrected by what the answer shows.
            The change is compared only where the call succeeded, as was predicted, and something changed, or should
            have.
    """
    status = observed_status(result)
    same = prediction.status == status
    change: bool | None = None
    found: list[str] = [] if same else [f"status {status} instead of {prediction.status}"]
    if same and status == "success" and (changed or prediction.change):
        unlike = list(_differences(prediction.change.changes, changed))
        change = not unlike
        found += unlike
    return Score(
        predicted=prediction.status,
        observed=status,
        status=same,
        change=change,
        confidence=prediction.confidence,
        layer=prediction.layer,
        differences=tuple(found[:_TOLD]),
    )


def _differences(expected: Sequence[EntityChange], found: Sequence[EntityChange]) -> Iterator[str]:
    """What was not changed as expected. New entities are told apart by their kind alone: nobody foresees the ids."""
    minted = _minted(expected, found)
    ours, theirs = _slots(expected), _slots(found)
    for slot in (*ours, *(slot for slot in theirs if slot not in ours)):
        name = "/".join(slot[1:3])
        if slot not in theirs:
            yield f"{name} was not {slot[0]}"
        elif slot not in ours:
            yield f"{name} was {slot[0]}, which was not expected"
        else:
            yield from _fields(name, ours[slot], theirs[slot], minted)


def _slots(changes: Sequence[EntityChange]) -> dict[tuple[str, str, str, int], EntityChange]:
    made: dict[tuple[str, str, str, int], EntityChange] = {}
    counts: dict[str, int] = {}
    for change in changes:
        new = change.kind == "created"
        number = counts.get(change.collection, 0) if new else 0
        if new:
            counts[change.collection] = number + 1
        made[change.kind, change.collection, "a new one" if new else change.key, number] = change
    return made


def _minted(expected: Sequence[EntityChange], found: Sequence[EntityChange]) -> dict[str, str]:
    """Expected keys of new entities to the real ones."""
    ours, theirs = _slots(expected), _slots(found)
    return {
        ours[slot].key: theirs[slot].key
        for slot in ours
        if slot[0] == "created" and slot in theirs and ours[slot].key != theirs[slot].key
    }


def _fields(name: str, expected: EntityChange, found: EntityChange, minted: Mapping[str, str]) -> Iterator[str]:
    for path in (*expected.fields, *(path for path in found.fields if path not in expected.fields)):
        ours = expected.fields.get(path, (UNSET, UNSET))[1]
        theirs = found.fields.get(path, (UNSET, UNSET))[1]
        if not _alike(ours, theirs, minted):
            yield f"{name}: {path} became {shown(theirs)}, {shown(ours)} was expected"


def _alike(ours: Json | Unset, theirs: Json | Unset, minted: Mapping[str, str]) -> bool:
    """Equal, but for ids that were minted, and for the moment at which it happened."""
    if isinstance(ours, str) and isinstance(theirs, str):
        return ours == theirs or minted.get(ours) == theirs or (_is_time(ours) and _is_time(theirs))
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        return ours.keys() == theirs.keys() and all(_alike(ours[name], theirs[name], minted) for name in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(_alike(a, b, minted) for a, b in zip(ours, theirs, strict=True))
    if isinstance(ours, bool) is not isinstance(theirs, bool):
        return False
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return ours == theirs or minted.get(str(ours)) == str(theirs)
    return bool(ours == theirs)


def _is_time(text: str) -> bool:
    return len(text) >= 19 and text[4:5] == "-" and text[7:8] == "-" and text[10:11] in {"T", " "} and text[13] == ":"
