"""The dynamics layer: explicit rules, interpreted on the world."""

from __future__ import annotations

from envace_sdk.tools.model import ToolCall
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.state import State

from .answers import present
from .base import Context, Rehearsal

__all__ = ["DynamicsRehearser"]


class DynamicsRehearser:
    """Answers what the rules derive from the world, and passes on what they leave open."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter

    async def rehearse(self, call: ToolCall, context: Context) -> Rehearsal | None:
        """Answer by rule.

        Raises:
            DynamicsError: an expression of the rule cannot be evaluated on the values it met.
            UnsatisfiableError: the tool's output schema admits nothing.
        """
        if self._is_unknown(context.tool.name, context.state):
            return None
        answer = self._interpreter.run(context.tool, call.arguments, context.state, context.random)
        return None if answer is None else present(answer, call, context, "dynamics", self._interpreter.dynamics)

    def _is_unknown(self, tool: str, state: State) -> bool:
        """Whether the tool searches a collection that the real world fills and this one has never seen into."""
        rule = self._interpreter.dynamics.tools.get(tool)
        if rule is None or rule.effect != "search" or rule.collection is None:
            return False
        collection = state.collection(rule.collection)
        return (
            self._interpreter.dynamics.collections[rule.collection].open and not collection and not collection.removed()
        )
