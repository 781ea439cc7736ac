"""How well rules answer recorded calls: on the recorded history, and on what they themselves made of an episode.

The first tells which rules are right about what they know: what a rule cannot know, a world is told by another layer,
and goes on from there. The second tells how far to trust an answer, in which earlier ones may have gone wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from envace_sdk.errors import EnvaceError
from envace_sdk.json import Json
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Answer, Interpreter
from envace_sdk.world.observing import Observer, minted_key
from envace_sdk.world.state import State

from .episodes import Episode, Step
from .positions import walk
from .values import same

__all__ = ["Judgement", "Start", "judge"]

_OPEN: Final = 0.55
"""What it is worth to say nothing, and leave the answer to others."""
_SOME: Final = 3
_POOR: Final = 0.2
_GOOD: Final = 0.6
_UNLIKE: Final = 0.75
_ROUGHLY: Final = 0.8
"""What it is worth to fail as recorded, in other words."""
_NEARLY: Final = 0.98
"""As alike as answers get that are not the same."""
_CALLS: Final = 3000
"""As many calls are played."""

Start = Mapping[str, Sequence[dict[str, Json]]]


@dataclass(slots=True)
class Judgement:
    """How the rule of a tool did."""

    calls: int = 0
    answered: int = 0
    right: int = 0
    score: float = 0.0
    """The sum over calls of how alike the answers are, from 0 to 1; half for success or failure as recorded."""

    @property
    def is_good(self) -> bool:
        """Whether the answers are mostly right."""
        return self.answered >= _SOME and self.right >= _GOOD * self.answered

    @property
    def is_poor(self) -> bool:
        """Whether the answers are so seldom right that others may do better."""
        alike = self.score - _OPEN * (self.calls - self.answered)
        return self.answered >= _SOME and self.right <= _POOR * self.answered and alike < _UNLIKE * self.answered

    @property
    def confidence(self) -> float:
        """The share of right answers, less what chance may have added to it (Wilson's lower bound, one deviation)."""
        if not self.answered:
            return 0.5
        n, share = self.answered, self.right / self.answered
        middle, spread = share + 0.5 / n, math.sqrt(share * (1 - share) / n + 0.25 / n**2)
        return round(min((middle - spread) / (1 + 1 / n), 0.99), 2)


def judge(
    dynamics: Dynamics,
    start: Start,
    episodes: Sequence[Episode],
    toolset: Toolset,
    *,
    on_their_own: bool = False,
) -> dict[str, Judgement]:
    """Per tool, how the rules answer the episodes: on the recorded history, or `on_their_own`."""
    interpreter = Interpreter(dynamics)
    observer = Observer(interpreter)
    first = State.start(dynamics=dynamics, collections={n: d for n, d in start.items() if n in dynamics.collections})
    found: dict[str, Judgement] = {tool.name: Judgement() for tool in toolset}
    left = _CALLS
    for episode in episodes:
        state = first
        left -= len(episode.steps)
        if left < 0:
            break
        for step in episode.steps:
            judgement = found[step.tool]
            judgement.calls += 1
            answer = _answer(interpreter, toolset, step, state)
            alike = None if answer is None or _lacks(answer, step) else _alike(answer, step)
            if on_their_own and answer is not None:
                state = answer.state if answer.state is state else answer.state.tick()
            elif step.ok:
                state = _observed(observer, toolset, step, state)
            if alike is None:
                judgement.score += _OPEN
            else:
                judgement.answered += 1
                judgement.right += alike >= 1.0
                judgement.score += alike
    return found


def _observed(observer: Observer, toolset: Toolset, step: Step, state: State) -> State:
    """The state after a call that was answered as recorded."""
    try:
        after = observer.after(toolset[step.tool], step.args, step.answer, state, _random(step))
    except (EnvaceError, RecursionError):
        return state
    return after if after is state else after.tick()


def _answer(interpreter: Interpreter, toolset: Toolset, step: Step, state: State) -> Answer | None:
    """What the rules say of a call; None: nothing. What the real server named anew, they name likewise."""
    dynamics = interpreter.dynamics
    minted = minted_key(dynamics.tools.get(step.tool), dynamics, step.answer) if step.ok else None
    try:
        return interpreter.run(toolset[step.tool], step.args, state, _random(step), minted=minted)
    except (EnvaceError, RecursionError):
        return None


def _lacks(answer: Answer, step: Step) -> bool:
    """Whether the rule shows a field of the entity that is not known here: others may complete the answer."""
    fields = answer.rule.returns.fields
    if (
        answer.error is not None
        or not fields
        or not isinstance(answer.value, dict)
        or not isinstance(step.answer, dict)
    ):
        return False
    return any(name in step.answer and name not in answer.value for name in fields)


def _alike(answer: Answer, step: Step) -> float:
    """How alike an answer is to the recorded one."""
    failed = answer.error is not None
    if failed is step.ok:
        return 0.0
    if failed:
        return 1.0 if answer.error == step.text else _ROUGHLY
    return 0.5 + 0.5 * _likeness(answer.value, step.answer)


def _random(step: Step) -> Random:
    return Random(f"{step.episode}/{step.index}")


def _likeness(one: Json, other: Json) -> float:
    """The share of scalars that two values have in common, each at the same path."""
    if same(one, other):
        return 1.0
    ours, theirs = list(walk(one)), list(walk(other))
    left = list(theirs)
    for leaf in ours:
        if leaf in left:
            left.remove(leaf)
    return (len(theirs) - len(left)) / max(len(ours), len(theirs), 1) * _NEARLY
