"""Whether recorded episodes begin alike: how often the same call in the same place was answered the same in others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from envace_sdk.tools.fixture import Fixture

__all__ = ["Agreement"]

_WEIGHT = 3.0
"""How many pairs' worth what is known of all tools has for one of them."""


class Agreement:
    """Counts, for every recorded call, whether another episode agrees with it.

    Args:
        recorded: fixtures, each with what makes its situation the same as another's.
    """

    def __init__(self, recorded: Iterable[tuple[Hashable, Fixture]]) -> None:
        self._agreed: Counter[str] = Counter()
        self._compared: Counter[str] = Counter()
        situations: dict[Hashable, list[Fixture]] = {}
        for situation, fixture in recorded:
            situations.setdefault(situation, []).append(fixture)
        for fixtures in situations.values():
            first = fixtures[0]
            other = next((fixture for fixture in fixtures if fixture.episode != first.episode), None)
            if other is None:
                continue
            for fixture in fixtures:
                witness = other if fixture.episode == first.episode else first
                for name in ("", fixture.call.name):
                    self._compared[name] += 1
                    self._agreed[name] += witness.result == fixture.result

    def share(self, tool: str) -> float:
        """The probability that a recorded answer of the tool is right in another episode; 1 where nothing denies it."""
        if self._agreed[""] == self._compared[""]:
            return 1.0
        everywhere = self._agreed[""] / self._compared[""]
        return (self._agreed[tool] + _WEIGHT * everywhere) / (self._compared[tool] + _WEIGHT)
