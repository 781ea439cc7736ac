"""The dynamics layer: explicit rules, interpreted on the world."""

from __future__ import annotations

from envace_sdk.tools.model import ToolCall
from envace_sdk.world.interpret import Answer, Interpreter
from envace_sdk.world.state import State

from .answers import present
from .base import Context, Rehearsal
from .replayed import Replayed

__all__ = ["DynamicsRehearser"]


class DynamicsRehearser:
    """Answers what the rules derive from the world, and passes on what they leave open.

    Args:
        interpreter: the rules.
        recorded: what they make of recorded calls.
    """

    def __init__(self, interpreter: Interpreter, recorded: Replayed) -> None:
        self._interpreter = interpreter
        self._recorded = recorded
        self._refuses: dict[str, bool] = {}
        """By tool, whether it mostly does refuse what names something unseen."""

    async def rehearse(self, call: ToolCall, context: Context) -> Rehearsal | None:
        """Answer by rule.

        Raises:
            DynamicsError: an expression of the rule cannot be evaluated on the values it met.
            UnsatisfiableError: the tool's output schema admits nothing.
        """
        if self._is_unknown(context.tool.name, context.state):
            return None
        answer = self._interpreter.run(context.tool, call.arguments, context.state, context.random)
        if answer is None or self._may_be_there(answer, call, context):
            return None
        return present(answer, call, context, "dynamics", self._interpreter.dynamics)

    def _may_be_there(self, answer: Answer, call: ToolCall, context: Context) -> bool:
        """Whether the rule refuses the call for what nobody has looked for, and recordings do not bear that out."""
        tool = context.tool
        if not self._interpreter.is_unseen(tool, call.arguments, context.state, answer):
            return False
        if tool.name not in self._refuses:
            refused = [
                fixture.result.is_error
                for fixture, state, told in self._recorded.tried(tool.name)
                if told is not None and self._interpreter.is_unseen(tool, fixture.call.arguments, state, told)
            ]
            self._refuses[tool.name] = 2 * sum(refused) >= len(refused)
        return not self._refuses[tool.name]

    def _is_unknown(self, tool: str, state: State) -> bool:
        """Whether the tool searches a collection that the real world fills and this one has never seen into."""
        rule = self._interpreter.dynamics.tools.get(tool)
        if rule is None or rule.effect != "search" or rule.collection is None:
            return False
        collection = state.collection(rule.collection)
        return (
            self._interpreter.dynamics.collections[rule.collection].open and not collection and not collection.removed()
        )
