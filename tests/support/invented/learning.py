"""Learn an environment from its own recordings, and make a world of what was learned."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from envace_sdk.rehearse import Environment
from envace_sdk.tools.fixture import Fixture
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.mine import learn
from envace_sdk.world.state import State

from .agreement import Compared, compare
from .environment import Invented

__all__ = ["Lesson", "text_of"]


def text_of(learned: Any) -> str:
    """All that was learned, as it would be written down."""
    return learned.dynamics.dump() + json.dumps(learned.start, ensure_ascii=False, sort_keys=False, default=str)


@dataclass(frozen=True)
class Lesson:
    """An environment, what was recorded of it, and what was learned from that."""

    invented: Invented
    recorded: Sequence[Fixture]
    learned: Any

    @classmethod
    def of(cls, invented: Invented, recorded: Sequence[Fixture]) -> Lesson:
        return cls(invented, recorded, learn(invented.toolset, recorded))

    def environment(self) -> Environment:
        """The learned world: rules and first entities, without the recordings; read from the text of the file."""
        dynamics = Dynamics.parse(self.learned.dynamics.dump())
        start = State.start(dynamics=dynamics, collections=self.learned.start, clock=self.invented.clock)
        return Environment(self.invented.toolset, dynamics=dynamics, start=start)

    def compared(self, *, episodes: int, calls: int) -> list[Compared]:
        """Fresh calls on the original and on the learned world."""
        return compare(self.invented, self.environment(), episodes=episodes, calls=calls)
