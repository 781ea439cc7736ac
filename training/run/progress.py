"""How the run goes, for people: a live table on a terminal, a line per step elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

__all__ = ["Display", "duration"]

_SHOWN: Final = 12
_COLUMNS: Final = {
    "step": "step",
    "reward/act": "reward act",
    "reward/rehearse": "rehearse",
    "success": "success",
    "format/act": "format act",
    "format/rehearse": "rehearse",
    "act/entropy": "entropy",
    "learning_share": "learning",
    "time/tokens_per_second": "tok/s",
    "time/peak_memory_gib": "GiB",
    "eval/success": "held-out",
    "eval/fidelity": "fidelity",
}
_WARM: Final = {
    "step": "step",
    "loss": "loss",
    "grad_norm": "gradient",
    "time/tokens_per_second": "tok/s",
    "time/peak_memory_gib": "GiB",
}


class Display:
    """Shows phases, steps and notes; a context manager.

    Time left is that of the steps so far.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, highlight=False)
        self._rows: list[dict[str, float | None]] = []
        self._columns = _COLUMNS
        self._phase = ""
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self._task = self._bar.add_task("", total=None, left="")
        self._begun, self._from, self._total = time.monotonic(), 0, 0
        self._live: Live | None = None
        self._was_idle = False

    def phase(self, name: str, steps: int, done: int = 0) -> None:
        """A phase of so many steps begins, or goes on."""
        if name != self._phase:
            self._rows = []
        self._phase, self._columns = name, _WARM if name == "warm-up" else _COLUMNS
        self._begun, self._from, self._total = time.monotonic(), done, steps
        self._bar.update(self._task, description=name, total=steps, completed=done, left="")
        if self._live is None:
            self.console.print(f"{name}: {f'{steps - done} of ' if done else ''}{steps} steps")
        self._refresh()

    def step(self, number: int, values: Mapping[str, float | None]) -> None:
        """A step is done; its numbers by name."""
        row = {"step": float(number), **values}
        self._rows = [*self._rows, row][-_SHOWN:]
        left = self._left(number)
        self._bar.update(self._task, completed=number, left=left)
        if self._live is None:
            shown = "  ".join(
                f"{name} {_number(name, row[name])}"
                for name in self._columns
                if name != "step" and row.get(name) is not None
            )
            self.console.print(f"{self._phase} {number}/{self._total}  {shown}  {left}", soft_wrap=True)
        is_idle = row.get("computed_rows") == 0 and row.get("trajectories") != 0
        if is_idle and not self._was_idle:
            self.note("nothing is learned in this step: within each task all attempts earned the same")
        self._was_idle = is_idle
        self._refresh()

    def note(self, text: str) -> None:
        """Something that people should know."""
        self.console.print(text, markup=False, soft_wrap=True)

    def _left(self, number: int) -> str:
        steps = number - self._from
        if steps == 0:
            self._begun = time.monotonic()
        if steps < 1 or number >= self._total:
            return ""
        seconds = (time.monotonic() - self._begun) / steps * (self._total - number)
        return f"{duration(seconds)} left"

    def _refresh(self) -> None:
        if self._live is not None:
            self._live.update(self._shown())

    def _shown(self) -> RenderableType:
        table = Table(*self._columns.values(), pad_edge=False, box=None)
        for row in self._rows:
            table.add_row(*(_number(name, row.get(name)) for name in self._columns))
        return Group(table, self._bar)

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live = Live(self._shown(), console=self.console, refresh_per_second=2)
            self._live.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.__exit__(kind, error, at)
            self._live = None


def _number(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    if name in {"step", "time/tokens_per_second"}:
        return f"{value:.0f}"
    return f"{value:.1f}" if name == "time/peak_memory_gib" else f"{value:.3f}"


def duration(seconds: float) -> str:
    """How long something takes, to two digits or so."""
    for length, unit, most in ((1, "s", 90), (60, "min", 120), (3600, "h", 48)):
        if seconds < length * most:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds / 86400:.0f} days"
