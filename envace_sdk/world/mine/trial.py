"""What came of trying a rule on what was recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from envace_sdk.json import Json, Unset

__all__ = ["FAILED", "Instance", "Tally", "Trial"]

FAILED: Final = "!"
"""In place of a leaf: the call ended otherwise than the rule says."""

_MOST_SURE: Final = 0.99


@dataclass(frozen=True, slots=True)
class Instance:
    """A recorded call that a rule gets wrong."""

    episode: str
    position: int
    """From 0."""
    arguments: Mapping[str, Json]
    recorded: Json | Unset
    given: Json | Unset
    note: str = ""


@dataclass(slots=True)
class Tally:
    """How often a part of a rule was right."""

    right: int = 0
    wrong: int = 0
    first: Instance | None = None
    """Where it was wrong first."""

    @property
    def total(self) -> int:
        """How often it was tried."""
        return self.right + self.wrong

    def count(self, instance: Instance | None) -> None:
        """Count one case: None is a right one."""
        if instance is None:
            self.right += 1
        else:
            self.wrong += 1
            self.first = self.first or instance


@dataclass(slots=True)
class Trial:
    """What came of trying one tool's rule."""

    calls: int = 0
    errors: int = 0
    """Of the recorded calls, those that failed."""
    left: int = 0
    """Calls of which the rule says nothing."""
    broken: list[Instance] = field(default_factory=list)
    """Calls on which an expression could not be computed, with the error as the note; only so many are kept."""
    failed: int = 0
    """How many there are."""
    requirements: dict[int, Tally] = field(default_factory=dict)
    """By place, the calls that a requirement refuses: right where they were refused in these words."""
    absence: Tally = field(default_factory=Tally)
    """The calls refused because of the entity itself: it is missing, or there already."""
    unforeseen: list[Instance] = field(default_factory=list)
    """Calls that failed where the rule lets them pass; only so many are kept."""
    passed: int = 0
    """How many there are."""
    answer: dict[str, Tally] = field(default_factory=dict)
    """By path, the leaves of answers."""
    fields: dict[str, Tally] = field(default_factory=dict)
    """By part of the rule (`set.status`), what the next answer that showed the field says of it."""
    wrongs: Counter[frozenset[str]] = field(default_factory=Counter)
    """How many answered calls had which leaves wrong."""
    mistaken: Instance | None = None
    """The first call that the rule answers otherwise than it was recorded."""

    @property
    def decided(self) -> int:
        """The calls of which the rule says how they end."""
        return self.calls - self.left

    @property
    def unexplained(self) -> list[str]:
        """The leaves of answers that the rule gets wrong more often than right."""
        return sorted(path for path, tally in self.answer.items() if tally.wrong > tally.right)

    @property
    def right(self) -> int:
        """The calls that end as recorded, but for the leaves that are not explained."""
        free = self._free()
        return self._refused + sum(count for wrong, count in self.wrongs.items() if wrong <= free)

    @property
    def confidence(self) -> float:
        """How likely the next call is answered right: cautious where the calls are few."""
        free = self._free()
        share = 1 - len(free) / len(self.answer) if self.answer else 1.0
        worth = float(self._refused)
        for wrong, count in self.wrongs.items():
            worth += count if not wrong else count * share if wrong <= free else 0
        return min((worth + 1) / (self.decided + 2), _MOST_SURE)

    @property
    def _refused(self) -> int:
        """The calls that are refused as they were."""
        return sum(tally.right for tally in self.requirements.values()) + self.absence.right

    def _free(self) -> frozenset[str]:
        """The leaves that may be wrong in an answer that is right otherwise: few of many."""
        free = frozenset(self.unexplained)
        return free if 2 * len(free) < len(self.answer) and "" not in free else frozenset()
