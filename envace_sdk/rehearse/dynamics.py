"""The dynamics layer: explicit rules, interpreted on the world."""

from __future__ import annotations

from envace_sdk.tools.model import ToolCall
from envace_sdk.world.interpret import Interpreter

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
        answer = self._interpreter.run(context.tool, call.arguments, context.state, context.random)
        return None if answer is None else present(answer, call, context, "dynamics")
