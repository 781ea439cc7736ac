"""How a prediction compares with what was observed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.tools.model import ToolResult
from envace_sdk.world.diff import EntityChange
from envace_sdk.world.shown import shown
from envace_sdk.world.statuses import status_of

from .prediction import Prediction, shortened
from .verdict import Score

__all__ = ["observed_status", "score"]

_DIGITS: Final = re.compile(r"[0-9a-fA-F]+")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
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
        result: what was answered. An error in the very words that were predicted is of the predicted kind, whatever
            its words look like otherwise.
        changed: how the known world has changed by it: what the tool's rule does, corrected by what the answer shows.
            The change is compared only where the call succeeded, as was predicted, and something changed, or should
            have.
    """
    status = observed_status(result)
    if result.is_error and prediction.is_error and _words(result) == prediction.answer:
        status = prediction.status
    same = prediction.status == status
    change: bool | None = None
    found: list[str] = [] if same else [f"status {status} instead of {prediction.status}"]
    if same and status == "success" and (changed or prediction.change):
        unlike = list(_Comparison(prediction.change.changes, changed).differences())
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


def _words(result: ToolResult) -> str:
    return shortened(result.first_text)


class _Comparison:
    """Two changes side by side. Nobody foresees the ids of new entities, so those are told apart by all the rest."""

    def __init__(self, expected: Sequence[EntityChange], found: Sequence[EntityChange]) -> None:
        self._expected = expected
        self._found = found
        self._new = {change.key for change in expected if change.kind == "created"}

    def differences(self) -> Iterator[str]:
        """What was not changed as expected, in words."""
        ours = {(c.kind, c.collection, c.key): c for c in self._expected if c.kind != "created"}
        theirs = {(c.kind, c.collection, c.key): c for c in self._found if c.kind != "created"}
        for slot in (*ours, *(slot for slot in theirs if slot not in ours)):
            kind, name = slot[0], f"{slot[1]}/{slot[2]}"
            if slot not in theirs:
                yield f"{name} was not {kind}"
            elif slot not in ours:
                yield f"{name} was {kind}, which was not expected"
            else:
                yield from self._fields(name, ours[slot], theirs[slot])
        yield from self._created()

    def _created(self) -> Iterator[str]:
        """Each new entity must be like an expected one, and each expected one like a new one.

        A new entity may stand there twice: as the rule made it, and under its real id.
        """
        ours = [change for change in self._expected if change.kind == "created"]
        theirs = [change for change in self._found if change.kind == "created"]
        for change in ours:
            alike = [other for other in theirs if other.collection == change.collection]
            if not alike:
                yield f"nothing was created in {change.collection}"
            elif not any(self._same(change, other) for other in alike):
                yield from self._fields(f"the new one in {change.collection}", change, alike[-1])
        for other in theirs:
            if not any(change.collection == other.collection for change in ours):
                yield f"{other.name} was created, which was not expected"

    def _same(self, ours: EntityChange, theirs: EntityChange) -> bool:
        return next(self._fields("", ours, theirs), None) is None

    def _fields(self, name: str, ours: EntityChange, theirs: EntityChange) -> Iterator[str]:
        for path in (*ours.fields, *(path for path in theirs.fields if path not in ours.fields)):
            expected = ours.fields.get(path, (UNSET, UNSET))[1]
            found = theirs.fields.get(path, (UNSET, UNSET))[1]
            if not _alike(expected, found, self._new):
                yield f"{name}: {path} became {shown(found)}, {shown(expected)} was expected"


def _alike(ours: Json | Unset, theirs: Json | Unset, new: Collection[str]) -> bool:
    """Equal, but for the ids of what is new, and for the moment at which it happened."""
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        return ours.keys() == theirs.keys() and all(_alike(ours[name], theirs[name], new) for name in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(_alike(a, b, new) for a, b in zip(ours, theirs, strict=True))
    if isinstance(ours, bool) is not isinstance(theirs, bool):
        return False
    if ours == theirs:
        return True
    if isinstance(ours, str) and isinstance(theirs, str) and _is_time(ours) and _is_time(theirs):
        return True
    return not isinstance(ours, bool) and str(ours) in new and _form(ours) == _form(theirs)


def _form(value: Json | Unset) -> str:
    """How an id is written: digits and hexadecimal letters are alike."""
    return _DIGITS.sub("0", str(value)) if isinstance(value, str | int) else ""


def _is_time(text: str) -> bool:
    return _TIME.match(text) is not None
