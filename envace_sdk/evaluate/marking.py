"""Marking: one played answer against the recorded one."""

from __future__ import annotations

from dataclasses import dataclass, field

from envace_sdk.errors import SchemaError
from envace_sdk.json import UNSET, Json
from envace_sdk.jsonschema import Validator, compile_schema
from envace_sdk.tools.toolset import Toolset

from .consistency import Checks
from .exam import Question
from .forms import answer_value, text_of
from .knowledge import Kind
from .outline import align, equal_leaves, f1, key_paths, leaves_of
from .players import MISS
from .playing import Answer

__all__ = ["Mark", "OutputSchemas", "Tally", "alike", "mark"]


@dataclass(slots=True)
class Tally:
    """How many of how many are right."""

    right: int = 0
    all: int = 0

    def count(self, right: bool) -> None:
        """One more."""
        self.right += right
        self.all += 1

    @property
    def share(self) -> float | None:
        """From 0 to 1; None where there is nothing."""
        return self.right / self.all if self.all else None


@dataclass(slots=True)
class Mark:
    """What one answer is worth."""

    tool: str
    failed: bool
    """Whether the recorded answer is an error."""
    status: bool
    """Whether the played one is of the same status."""
    structure: float | None
    """How alike the key paths are; None where the status is wrong, but for misses."""
    values: dict[Kind, Tally]
    after_write: Tally
    created: Tally
    gone: Tally
    valid: bool | None
    """Whether a success keeps to the output schema; None where there is none to keep to."""
    layer: str
    confidence: float | None
    wrong: list[str] = field(default_factory=list)
    """Paths of leaves that are entailed or constant, and wrong."""

    @property
    def is_miss(self) -> bool:
        """Whether the player had nothing to say."""
        return self.layer == MISS

    @property
    def right(self) -> bool:
        """Whether status, structure and every leaf that is entailed or constant are as recorded."""
        return self.status and self.structure == 1.0 and not self.wrong

    @property
    def worth(self) -> float:
        """A single number to find the worst answers by."""
        return (self.status + (self.structure or 0.0) + _or_one(self.values["entailed"].share)) / 3


class OutputSchemas:
    """The output schemas of a toolset, compiled."""

    def __init__(self, toolset: Toolset) -> None:
        self._validators: dict[str, Validator] = {}
        for tool in toolset:
            if tool.output_schema is not None:
                try:
                    self._validators[tool.name] = compile_schema(tool.output_schema, where=f"{tool.name}.outputSchema")
                except SchemaError:
                    continue  # nothing can be held to a schema that is none

    def holds(self, tool: str, answer: Answer) -> bool | None:
        """Whether a success keeps to its schema; None where nothing has to."""
        validator = self._validators.get(tool)
        result = answer.played.result
        if validator is None or result.is_error:
            return None
        return validator.is_valid(answer_value(result) if result.structured is UNSET else result.structured)


def mark(question: Question, answer: Answer, checks: Checks, schemas: OutputSchemas) -> Mark:
    """The mark of an answer. An answer of the wrong status has nothing right."""
    fixture = question.fixture
    failed, played = fixture.result.is_error, answer.played
    status = failed == played.result.is_error and played.layer != MISS
    found = Mark(
        tool=fixture.call.name,
        failed=failed,
        status=failed == played.result.is_error,
        structure=0.0 if played.layer == MISS else None,
        values={"constant": Tally(), "entailed": Tally(), "free": Tally()},
        after_write=Tally(),
        created=Tally(),
        gone=Tally(),
        valid=schemas.holds(fixture.call.name, answer),
        layer=played.layer,
        confidence=played.confidence,
    )
    form, kinds, paths = question.form, question.kinds, question.paths
    if answer.recorded != question.value:
        form = question.in_form(answer.recorded)
        kinds, paths = question.kinds_of(form, leaves_of(form)), key_paths(form)
    shown = question.in_form(answer.value) if status else UNSET
    if shown == form and text_of(shown) == text_of(form):
        found.structure = 1.0
        _count_all_right(kinds, checks, found)
    else:
        if status:
            found.structure = f1(paths, key_paths(shown))
        _compare(question, form, shown, kinds, checks, found)
    _check_things(checks, found, {leaf.text for leaf in leaves_of(shown)} if status else None, played.result.is_error)
    return found


def _count_all_right(kinds: dict[str, Kind], checks: Checks, found: Mark) -> None:
    for path, kind in kinds.items():
        found.values[kind].count(True)
        if path in checks.after_write:
            found.after_write.count(True)


def _compare(question: Question, form: Json, shown: Json, kinds: dict[str, Kind], checks: Checks, found: Mark) -> None:
    for path, recorded, played in align(form, shown):
        if recorded is UNSET:
            kind = question.kind_of_extra(played)
            is_right = False
            path = "(more than recorded)"
        else:
            kind = kinds.get(path, "free")
            is_right = equal_leaves(recorded, played)
            if path in checks.after_write:
                found.after_write.count(is_right)
        found.values[kind].count(is_right)
        if not is_right and kind != "free":
            found.wrong.append(path)


def _check_things(checks: Checks, found: Mark, shown: set[str] | None, failed: bool) -> None:
    """What was created must be there, what is gone must not; `shown` are the values of an answer, if that may count."""
    if checks.must_succeed:
        found.created.count(not failed)
    for text in checks.must_show:
        found.created.count(shown is not None and text in shown)
    if checks.must_fail:
        found.gone.count(failed)
    for text in checks.must_not_show:
        found.gone.count(shown is not None and text not in shown)


def _or_one(share: float | None) -> float:
    return 1.0 if share is None else share


def alike(one: Answer, other: Answer) -> bool:
    """Whether two answers are the same; a miss is like nothing."""
    if MISS in (one.played.layer, other.played.layer):
        return False
    return one.played.result.is_error == other.played.result.is_error and text_of(one.value) == text_of(other.value)
