"""What an update amounts to, and where the numbers go: `metrics.jsonl` always, trackers as configured."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from envace_sdk.files import write_whole

from .rows import Role
from .trackers import open_tracker

__all__ = ["METRICS_FILE", "MetricsLog", "RoleMetrics", "StepMetrics", "read_metrics"]

METRICS_FILE = "metrics.jsonl"


@dataclass(frozen=True, slots=True)
class RoleMetrics:
    """Means over the computed tokens of one role, before the update unless it says otherwise."""

    tokens: int
    """Computed ones: those of rows with an advantage."""
    entropy: float
    """Nats per token."""
    clipped: float
    """The share of tokens that the clip held back, in the last epoch."""
    kl: float
    """From the weights that training started from; 0 if that is not configured."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """How the trainer's log-probabilities differ from the sampler's, over tokens whose sampler's are known."""

    tokens: int
    mean_absolute: float
    """Mean |log pi_trainer - log pi_sampler|."""
    kl: float
    """An estimate of KL(sampler || trainer) per token."""
    capped: float
    """The share of tokens whose importance weight was above the cap."""


@dataclass(frozen=True, slots=True)
class StepMetrics:
    """One update, over all processes."""

    step: int
    """How many updates there have been, this one included."""
    updated: bool
    """False where there was nothing to learn from, or the gradient was not finite."""
    loss: float
    grad_norm: float
    """Before clipping, of the last epoch."""
    learning_rate: float
    rows: int
    """Rows that count: of trained roles, not padding."""
    computed_rows: int
    """Those of them with an advantage, which alone go through the model."""
    truncated_rows: int
    """Rows of trained roles that the token limit cut off; not trained unless the config says so."""
    staleness: float
    """How many updates older than these weights the samplers of the rows were, on average."""
    tokens: int
    """Completion tokens of the rows that count; the denominator of a token mean."""
    computed_tokens: int
    """Tokens that went through the model in one epoch, padding included."""
    roles: dict[Role, RoleMetrics] = field(default_factory=dict)
    mismatch: Mismatch | None = None
    """None where no row came with the sampler's log-probabilities."""
    seconds: float = 0.0
    peak_memory: int = 0
    """Bytes: of the accelerator during the step, else of the process so far."""

    def as_flat(self) -> dict[str, float]:
        """Numbers by name; what differs from run to run even with one seed begins with `time/`."""
        values = asdict(self)
        flat = {name: float(value) for name, value in values.items() if isinstance(value, int | float)}
        for role, found in values["roles"].items():
            flat |= {f"{role}/{name}": float(value) for name, value in found.items()}
        if values["mismatch"]:
            flat |= {f"mismatch/{name}": float(value) for name, value in values["mismatch"].items()}
        seconds, memory = flat.pop("seconds"), flat.pop("peak_memory")
        flat |= {"time/seconds": seconds, "time/peak_memory_gib": memory / 2**30}
        if seconds > 0:
            flat["time/tokens_per_second"] = self.computed_tokens / seconds
        return flat


class MetricsLog:
    """Appends a line of JSON per step to a file, and tells the trackers; a context manager."""

    def __init__(
        self, directory: Path, *, trackers: Sequence[str] = (), resume_at: int = 0, run: Mapping[str, Any] | None = None
    ) -> None:
        """Go on in `directory` after step `resume_at`: what an interrupted run logged beyond it is dropped.

        Args:
            directory: Of the run; made if need be.
            trackers: Names, as in the config.
            resume_at: 0 begins anew.
            run: Settings of the run, for trackers that show them.

        Raises:
            TrainingError: a tracker is not installed; StoreError: the store cannot be used.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / METRICS_FILE
        kept = [line for line in read_metrics(directory) if line["step"] <= resume_at]
        write_whole(self.path, "".join(_line(values) for values in kept))
        known = {line["step"]: _finite(line) for line in kept}
        self._trackers = [open_tracker(name, directory, known, run or {}) for name in trackers]
        self._file = self.path.open("a", encoding="utf-8")

    def log(self, step: int, values: Mapping[str, float | None]) -> None:
        """Record the numbers of a step; what is None or not finite is null in the file and untold elsewhere."""
        finite = _finite(values)
        self._file.write(_line({"step": step} | {name: finite.get(name) for name in values if name != "step"}))
        self._file.flush()
        for tracker in self._trackers:
            tracker.log(step, finite)

    def close(self) -> None:
        """Close the file and all trackers."""
        self._file.close()
        for tracker in self._trackers:
            tracker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def read_metrics(directory: Path) -> list[dict[str, Any]]:
    """All steps logged in a run's directory; a line that a kill cut short is left out."""
    path = directory / METRICS_FILE
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            found.append(json.loads(line))
    return [values for values in found if isinstance(values, dict) and isinstance(values.get("step"), int)]


def _finite(values: Mapping[str, Any]) -> dict[str, float]:
    """The numbers among the values, but for the step's own."""
    return {
        name: float(value)
        for name, value in values.items()
        if name != "step" and isinstance(value, int | float) and math.isfinite(value)
    }


def _line(values: Mapping[str, Any]) -> str:
    return json.dumps(values, allow_nan=False) + "\n"
