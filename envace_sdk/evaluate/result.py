"""What `eval fidelity --json` writes of a report, worst answers included, and reading it again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NoReturn

from pydantic import TypeAdapter, ValidationError

from envace_sdk.errors import FixtureError
from envace_sdk.json import Json

from .report import Bin, Case, FidelityReport, Layer, Scores

__all__ = ["Calibration", "Result", "Told", "Worst", "read_result"]

_LONGEST: Final = 20_000
"""Characters of a value as JSON; of a longer one the beginning of that text is kept."""
_MOST_WRONG: Final = 50
_MOST_BYTES: Final = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Worst:
    """An answer that is not right, beside the recorded one."""

    tool: str
    episode: str
    position: int
    """From 0."""
    arguments: Json
    failed: bool
    """Whether an error is recorded."""
    answered_error: bool
    layer: str
    confidence: float | None
    wrong: tuple[str, ...]
    """Paths of values that could be known, and are wrong."""
    recorded: Json
    answered: Json

    @classmethod
    def of(cls, case: Case) -> Worst:
        """What is told of a case."""
        mark, answer = case.mark, case.answer
        return cls(
            mark.tool,
            case.episode,
            case.position,
            _bounded(case.arguments),
            mark.failed,
            answer.played.result.is_error,
            mark.layer or "",
            mark.confidence,
            tuple(dict.fromkeys(mark.wrong))[:_MOST_WRONG],
            _bounded(answer.recorded),
            _bounded(answer.value),
        )

    def as_json(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Confidence beside what was right."""

    bins: tuple[Bin, ...]
    sure: Bin


@dataclass(frozen=True, slots=True)
class Told:
    """A report without the answers that are right."""

    player: str
    loop: str
    overall: Scores
    tools: dict[str, Scores]
    layers: tuple[Layer, ...]
    calibration: Calibration
    worst: tuple[Worst, ...] = ()

    @classmethod
    def of(cls, report: FidelityReport, worst: int) -> Told:
        """What is told of a report, with that many of its worst answers."""
        calibration = Calibration(report.calibration, report.sure)
        cases = tuple(map(Worst.of, report.worst(worst)))
        return cls(report.player, report.loop, report.overall, report.tools, report.layers, calibration, cases)


@dataclass(frozen=True, slots=True)
class Result:
    """A toolset against held-out recordings."""

    toolset: str
    episodes: int
    calls: int
    loops: dict[str, tuple[Told, ...]]
    """By loop the reports on all players, the first being the one that was examined."""
    overlap: int = 0
    """Episodes that are among the toolset's own recordings, and so no test."""


def read_result(path: Path) -> Result:
    """Read what `eval fidelity --json` wrote.

    Raises:
        FixtureError: it cannot be read, or is something else; the message names the field.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise FixtureError(f"{path}: larger than {_MOST_BYTES >> 20} MiB, no result of `eval fidelity --json`")
        document = json.loads(path.read_bytes(), parse_constant=_refused)
        result = _form().validate_python(document)
    except OSError as error:
        raise FixtureError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the document"
        raise FixtureError(f"{path}: no result of `eval fidelity --json`: {where}: {first['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise FixtureError(f"{path}: no JSON: {error}") from error
    if not any(result.loops.values()):
        raise FixtureError(f"{path}: no result of `eval fidelity --json`: loops: there is no report in it")
    return result


@cache
def _form() -> TypeAdapter[Result]:
    return TypeAdapter(Result)


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _bounded(value: Json) -> Json:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
