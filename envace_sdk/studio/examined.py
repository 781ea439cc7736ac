"""A toolset examined against recordings that it has not seen, once asked for; or the result of that, read again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from envace_sdk.evaluate import Exam, Player, Rehearsing, Worst, examine, load_episodes, replays
from envace_sdk.evaluate.result import Result, Told
from envace_sdk.evaluate.sides import Line, side_by_side
from envace_sdk.rehearse import Environment

from . import shown

__all__ = ["Examination", "Examined", "Held", "Pair", "pair"]

_MOST_LINES: Final = 200


class Examined(Protocol):
    """What the fidelity view shows."""

    @property
    def name(self) -> str:
        """Whose exam it is."""

    @property
    def calls(self) -> int:
        """How many recorded calls are to be answered."""

    @property
    def overlap(self) -> int:
        """How many of the episodes are among the toolset's own recordings, and so no test."""

    @property
    def report(self) -> Told | None:
        """What came of it; None before it was held."""

    def hold(self) -> Told:
        """Play every episode, and score the answers, if that was not done yet. It blocks, for seconds or minutes."""


@dataclass(frozen=True, slots=True)
class Held:
    """An exam that was held elsewhere."""

    name: str
    calls: int
    overlap: int
    report: Told

    @classmethod
    def of(cls, result: Result) -> list[Held]:
        """The exams of a result, one a loop."""
        return [cls(result.toolset, result.calls, result.overlap, told[0]) for told in result.loops.values() if told]

    def hold(self) -> Told:
        """What came of it."""
        return self.report


class Examination:
    """An exam that is held when it is first asked for, and whose report is kept.

    Args:
        environment: what is examined.
        files: recordings that are held out.
    """

    def __init__(self, environment: Environment, files: Sequence[Path]) -> None:
        self._environment = environment
        self._lock = threading.Lock()
        self._exam = Exam(environment.toolset, load_episodes(files), environment.seen)
        self.report: Told | None = None
        """What came of it; None before it was held."""

    @property
    def name(self) -> str:
        """Whose exam it is."""
        return self._environment.toolset.name

    @property
    def calls(self) -> int:
        """How many recorded calls are to be answered."""
        return sum(len(episode.calls) for episode in self._exam.episodes)

    @property
    def overlap(self) -> int:
        """How many of the episodes are among the toolset's own recordings, and so no test."""
        return self._exam.overlap

    def hold(self) -> Told:
        """Play every episode in the closed loop, and score the answers. It blocks, for seconds or minutes.

        Raises:
            EnvaceError: the environment cannot answer.
        """
        with self._lock:
            if self.report is None:
                players: list[Player] = [
                    Rehearsing(self._environment, "envace"),
                    *replays(self._environment.toolset, self._environment.seen),
                ]
                found = asyncio.run(examine(self._exam, players, loop="closed"))[0]
                self.report = Told.of(found, len(found.cases))
            return self.report


@dataclass(frozen=True, slots=True)
class Pair:
    """One answer beside the recorded one."""

    case: Worst
    wrong: str
    left: list[Line]
    right: list[Line]


def pair(case: Worst) -> Pair:
    """A case as a page shows it."""
    sides = (shown.pretty(value).split("\n")[:_MOST_LINES] for value in (case.recorded, case.answered))
    return Pair(case, ", ".join(case.wrong) or "nothing that could be known", *side_by_side(*sides))
