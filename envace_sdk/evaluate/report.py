"""Scores: what many marks come to, per tool, per layer and over all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from .ceiling import Ceiling
from .marking import Mark
from .playing import Answer, Loop

__all__ = ["AXES", "Bin", "Case", "FidelityReport", "Layer", "Scores", "report", "scores"]

AXES: Final = (
    "status",
    "balanced_status",
    "structure",
    "entailed",
    "free",
    "constant",
    "repeated_reads",
    "read_after_write",
    "created",
    "gone",
    "valid",
    "right",
    "fidelity",
)
"""The axes of `Scores`, in the order of the tables."""

_BINS: Final = (0.0, 0.5, 0.7, 0.9)
_SURE: Final = 0.9


@dataclass(frozen=True, slots=True)
class Scores:
    """What one player's answers to some calls are worth, each from 0 to 1, or None where nothing asked for it."""

    calls: int
    status: float | None
    """Share of calls answered with the recorded status."""
    on_successes: float | None
    on_errors: float | None
    balanced_status: float | None
    """Mean of the agreement on recorded successes and on recorded errors."""
    structure: float | None
    """Mean F1 of the key paths, over the answers whose status is right; misses count as 0."""
    entailed: float | None
    """Mean, over the calls that have any, of the share of entailed leaves that are right."""
    free: float | None
    """The same of free leaves: what nothing could have told."""
    constant: float | None
    """The same of leaves that are the same in all answers of the tool."""
    repeated_reads: float | None
    """Share of equal reads, with no write between them, that are answered alike."""
    read_after_write: float | None
    """Mean share of the leaves that an earlier write caused that are right."""
    created: float | None
    """Mean share of what was created that is there."""
    gone: float | None
    """Mean share of what was deleted, or has left an answer, that is not there."""
    valid: float | None
    """Share of successes that keep to the output schema, of tools that have one."""
    right: float | None
    """Share of calls with the status, the structure and every entailed and constant leaf as recorded."""
    fidelity: float | None
    """The mean of balanced status, structure, entailed values and state consistency, as far as they were asked for.
    State consistency is the mean of repeated reads, reads after writes, created and gone."""
    missed: int
    """Calls to which the player had nothing to say."""
    asked: dict[str, int]
    """By axis, how many calls (of repeated reads: pairs) asked for it."""

    def as_json(self) -> dict[str, Any]:
        """As JSON, rounded to four places."""
        return {item.name: _rounded(getattr(self, item.name)) for item in fields(self)}


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers whose confidence lies in one range."""

    least: float
    calls: int
    confidence: float
    """Their mean confidence."""
    right: float
    """The share of them that is right."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Answers of one layer."""

    name: str
    calls: int
    status: float
    right: float
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Case:
    """One call with both answers and their mark."""

    episode: str
    position: int
    """From 0."""
    arguments: Any
    mark: Mark
    answer: Answer


@dataclass(frozen=True, slots=True)
class FidelityReport:
    """How close one player comes to the recorded environment."""

    player: str
    loop: Loop
    overall: Scores
    tools: dict[str, Scores]
    layers: tuple[Layer, ...]
    calibration: tuple[Bin, ...]
    sure: Bin
    """All answers with a confidence of at least 0.9."""
    renamed: int
    """Names the player made up that were taken for the recorded ones."""
    ceiling: Ceiling
    tool_ceilings: dict[str, Ceiling]
    cases: tuple[Case, ...] = field(repr=False)

    def worst(self, count: int = 20) -> list[Case]:
        """The answers that are worth least, those of one tool once each before any comes twice."""
        ordered = sorted(
            (c for c in self.cases if not c.mark.right), key=lambda c: (c.mark.worth, c.episode, c.position)
        )
        rank: dict[str, int] = {}
        ranked = []
        for case in ordered:
            rank[case.mark.tool] = rank.get(case.mark.tool, 0) + 1
            ranked.append((rank[case.mark.tool], case))
        ranked.sort(key=lambda pair: pair[0])
        return [case for _, case in ranked[:count]]

    def as_json(self) -> dict[str, Any]:
        """The scores as JSON."""
        return {
            "player": self.player,
            "loop": self.loop,
            "overall": self.overall.as_json(),
            "tools": {name: scores.as_json() for name, scores in self.tools.items()},
            "layers": [_members(layer) for layer in self.layers],
            "calibration": {"bins": [_members(one) for one in self.calibration], "sure": _members(self.sure)},
            "renamed": self.renamed,
            "ceiling": self.ceiling.as_json(),
        }


def report(
    player: str,
    loop: Loop,
    cases: Sequence[Case],
    repeats: Sequence[tuple[str, bool]],
    renamed: int,
    ceiling: tuple[Ceiling, dict[str, Ceiling]],
) -> FidelityReport:
    """The report on the marked answers of one player; `repeats` are equal reads, by tool, and whether they agree."""
    tools = sorted({case.mark.tool for case in cases})
    marks = [case.mark for case in cases]
    return FidelityReport(
        player,
        loop,
        scores(marks, [alike for _, alike in repeats]),
        {
            tool: scores([m for m in marks if m.tool == tool], [alike for name, alike in repeats if name == tool])
            for tool in tools
        },
        tuple(_layer(name, marks) for name in sorted({mark.layer for mark in marks})),
        tuple(_bin(low, high, marks) for low, high in zip(_BINS, (*_BINS[1:], 2.0), strict=True)),
        _bin(_SURE, 2.0, marks),
        renamed,
        *ceiling,
        cases=tuple(cases),
    )


def scores(marks: Sequence[Mark], repeats: Sequence[bool] = ()) -> Scores:
    """What these marks come to."""
    on_successes = [m.status for m in marks if not m.failed]
    on_errors = [m.status for m in marks if m.failed]
    both = [share for share in (_mean(on_successes), _mean(on_errors)) if share is not None]
    gathered: dict[str, list[float | bool]] = {
        "structure": _shares(marks, lambda m: m.structure),
        "entailed": _shares(marks, lambda m: m.values["entailed"].share),
        "free": _shares(marks, lambda m: m.values["free"].share),
        "constant": _shares(marks, lambda m: m.values["constant"].share),
        "repeated_reads": list(repeats),
        "read_after_write": _shares(marks, lambda m: m.after_write.share),
        "created": _shares(marks, lambda m: m.created.share),
        "gone": _shares(marks, lambda m: m.gone.share),
        "valid": _shares(marks, lambda m: m.valid),
        "right": [m.right for m in marks],
    }
    means = {axis: _mean(values) for axis, values in gathered.items()}
    balanced = _mean(both)
    consistency = _known_mean(means["repeated_reads"], means["read_after_write"], means["created"], means["gone"])
    return Scores(
        calls=len(marks),
        status=_mean([m.status for m in marks]),
        on_successes=_mean(on_successes),
        on_errors=_mean(on_errors),
        balanced_status=balanced,
        fidelity=_known_mean(balanced, means["structure"], means["entailed"], consistency),
        missed=sum(m.is_miss for m in marks),
        asked={
            "status": len(marks),
            "balanced_status": len(marks),
            **{axis: len(values) for axis, values in gathered.items()},
            "fidelity": len(marks),
        },
        **means,
    )


def _shares(marks: Iterable[Mark], share: Callable[[Mark], float | bool | None]) -> list[float | bool]:
    return [found for mark in marks if (found := share(mark)) is not None]


def _layer(name: str, marks: Sequence[Mark]) -> Layer:
    own = [mark for mark in marks if mark.layer == name]
    sure = [mark.confidence for mark in own if mark.confidence is not None]
    return Layer(
        name, len(own), _mean([m.status for m in own]) or 0.0, _mean([m.right for m in own]) or 0.0, _mean(sure)
    )


def _bin(low: float, high: float, marks: Sequence[Mark]) -> Bin:
    own = [(m.confidence, m.right) for m in marks if m.confidence is not None and low <= m.confidence < high]
    return Bin(low, len(own), _mean([c for c, _ in own]) or 0.0, _mean([right for _, right in own]) or 0.0)


def _mean(values: Sequence[float | bool]) -> float | None:
    return sum(values) / len(values) if values else None


def _known_mean(*values: float | None) -> float | None:
    return _mean([value for value in values if value is not None])


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def _members(item: Any) -> dict[str, Any]:
    return {part.name: _rounded(getattr(item, part.name)) for part in fields(item)}
