"""What a checklist's conditions can see of an episode.

They are CEL as in dynamics files, over

=============  ================================================================================
`world`        the world at the end: `world.orders['X'].status`; `get`, `find`, `count` ask it too
`start`        the world at the start, likewise: `start.orders['X'].status`
`now`          the world's time at the end
`calls`        every call in order: {tool, arguments, outcome, is_error, result}
`answer`       the final answer, a text
`called`       `called('tool')`, `called('tool', {…})`: how many successful calls of the tool there were,
               of those whose arguments contain the given ones
`attempted`    the same, failed calls included
`said`         `said(text or number)`: whether the answer says it (see `said`)
`changed`      `changed()`: the sorted list of "collection/key" that differ between start and end
=============  ================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from envace_sdk.errors import ExpressionError
from envace_sdk.json import Json
from envace_sdk.world.diff import diff
from envace_sdk.world.expressions.expression import Expression, compile_expression
from envace_sdk.world.expressions.failure import FailedError
from envace_sdk.world.expressions.scope import Scope, WorldView
from envace_sdk.world.expressions.values import describe, equal, to_json_like

from .episode import Episode
from .said import says

__all__ = ["FUNCTIONS", "NAMES", "Scene", "compile_condition"]

FUNCTIONS: Final = frozenset({"called", "attempted", "said", "changed"})
NAMES: Final = frozenset({"world", "start", "now", "calls", "answer"})


def compile_condition(source: str) -> Expression:
    """Compile the condition of a checklist item. Raises: ExpressionError."""
    return compile_expression(source, extra=FUNCTIONS)


class Scene:
    """One episode, laid out for conditions."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self._calls: list[Json] = [call.as_json() for call in episode.calls]
        self._changed: list[str] | None = None

    def scope(self) -> Scope:
        """A scope for one condition."""
        names = {
            "calls": self._calls,
            "answer": self._episode.answer,
            "start": WorldView.of(self._episode.start, "start"),
        }
        functions: dict[str, Callable[..., Any]] = {
            "called": self._called,
            "attempted": self._attempted,
            "said": self._said,
            "changed": self._diff,
        }
        return Scope(names, self._episode.final, functions=functions)

    def holds(self, condition: Expression) -> bool:
        """Whether the condition holds.

        Raises:
            ExpressionError: it cannot be told, or it is neither true nor false.
        """
        value = condition.value(self.scope())
        if value is True or value is False:
            return value is True
        raise ExpressionError(f"`{condition.source}`: must be true or false, not {describe(value)}")

    def _called(self, tool: Any, arguments: Any = None) -> int:
        return sum(not call["is_error"] for call in self._matching("called", tool, arguments))

    def _attempted(self, tool: Any, arguments: Any = None) -> int:
        return len(self._matching("attempted", tool, arguments))

    def _matching(self, function: str, tool: Any, arguments: Any) -> list[Json]:
        if not isinstance(tool, str):
            raise FailedError(f"{function}() needs the name of a tool, not {describe(tool)}")
        wanted = {} if arguments is None else to_json_like(arguments)
        if not isinstance(wanted, dict):
            raise FailedError(f"{function}() needs an object of arguments, not {describe(arguments)}")
        return [call for call in self._calls if call["tool"] == tool and _contains(call["arguments"], wanted)]

    def _said(self, wanted: Any) -> bool:
        return says(self._episode.answer, to_json_like(wanted))

    def _diff(self) -> list[str]:
        if self._changed is None:
            self._changed = sorted(change.name for change in diff(self._episode.start, self._episode.final))
        return self._changed


def _contains(found: Json, wanted: Json) -> bool:
    """Objects may have further members, at every depth; all else is equal as JSON."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(name in found and _contains(found[name], value) for name, value in wanted.items())
    if isinstance(wanted, list) and isinstance(found, list):
        return len(found) == len(wanted) and all(map(_contains, found, wanted))
    return equal(found, wanted)
