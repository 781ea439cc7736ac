"""Episodes written by hand: sessions as lists of (tool, arguments, answer)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.mine.changing import learn_effects
from envace_sdk.world.mine.discovering import discover
from envace_sdk.world.mine.effects import Effects
from envace_sdk.world.mine.episodes import Episode, episodes_of
from envace_sdk.world.mine.links import domains
from envace_sdk.world.mine.moments import Moment
from envace_sdk.world.mine.roles import Cast, cast_of
from envace_sdk.world.mine.structure import Structure
from envace_sdk.world.mine.tracking import Tracker

__all__ = ["Failed", "Session", "Understood", "episodes", "linked", "understood"]


class Failed(str):
    """The answer of a call that failed."""

    __slots__ = ()


Session = Sequence[tuple[str, Mapping[str, Json], Json]]


def episodes(*sessions: Session) -> list[Episode]:
    fixtures = [
        Fixture(ToolCall(tool, dict(args)), _result(answer), f"session {number:03}", place)
        for number, session in enumerate(sessions)
        for place, (tool, args, answer) in enumerate(session)
    ]
    return episodes_of(fixtures, {fixture.call.name for fixture in fixtures})


def _result(answer: Json) -> ToolResult:
    if isinstance(answer, str):
        return ToolResult.text(str(answer), is_error=isinstance(answer, Failed))
    return ToolResult.json(answer, structured=False)


def linked(found: Sequence[Episode]) -> list[set[str]]:
    """The domains, with their positions as `tool.path` for arguments and `tool -> path` for answers."""
    return [
        {f"{p.tool}.{p.path}" if p.side == "in" else f"{p.tool} -> {p.path}" for p in group}
        for group in domains(found, {}, {})
    ]


@dataclass
class Understood:
    """What is made of some sessions."""

    episodes: list[Episode]
    structure: Structure
    casts: dict[str, Cast]
    effects: Effects = field(default_factory=Effects)

    def moments(self, **known) -> list[Moment]:
        """The moments of all episodes; their beliefs are those of the ends."""
        tracker = Tracker(self.structure, self.casts, self.effects, **known)
        return [moment for episode in self.episodes for moment in tracker.follow(episode)]

    def learn(self, readers=(), **known) -> Effects:
        self.effects = learn_effects(
            self.structure, self.casts, self.episodes, readers=frozenset(readers), effects=self.effects, **known
        )
        return self.effects


def understood(*sessions: Session, readers=(), learn: bool = True) -> Understood:
    found = episodes(*sessions)
    structure = discover(found, domains(found, {}, {}))
    tools = sorted({step.tool for episode in found for step in episode.steps})
    result = Understood(found, structure, {tool: cast_of(tool, structure, {}, {}) for tool in tools})
    if learn:
        result.learn(readers)
    return result
