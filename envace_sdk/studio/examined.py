"""A toolset examined against recordings that it has not seen, once somebody asks for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from envace_sdk.evaluate import Exam, FidelityReport, Player, Rehearsing, examine, load_episodes, replays
from envace_sdk.evaluate.report import Case
from envace_sdk.evaluate.sides import Line, side_by_side
from envace_sdk.rehearse import Environment

from . import shown

__all__ = ["Examination", "Pair", "pair"]

_MOST_LINES: Final = 200


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
        self.report: FidelityReport | None = None
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

    def hold(self) -> FidelityReport:
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
                self.report = asyncio.run(examine(self._exam, players, loop="closed"))[0]
            return self.report


@dataclass(frozen=True, slots=True)
class Pair:
    """One answer beside the recorded one."""

    case: Case
    wrong: str
    left: list[Line]
    right: list[Line]


def pair(case: Case) -> Pair:
    """A case as a page shows it."""
    sides = (shown.pretty(value).split("\n")[:_MOST_LINES] for value in (case.answer.recorded, case.answer.value))
    wrong = ", ".join(dict.fromkeys(case.mark.wrong)) or "nothing that could be known"
    return Pair(case, wrong, *side_by_side(*sides))
