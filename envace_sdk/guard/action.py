"""What an agent is about to do: one call, told apart from every other one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from envace_sdk.evidence.canonical import digest
from envace_sdk.json import Json
from envace_sdk.ledger.action import action_digest
from envace_sdk.tools.model import ToolCall

__all__ = ["Action", "Pass", "visible_arguments"]

_DEPTH: Final = 200
"""Deeper values are hashed by nobody."""


@dataclass(frozen=True)
class Action:
    """One call that an agent wants to make.

    `arguments` are those that are visible: what the model chose, and what a person is shown. Whatever a framework
    injects (a runtime, a store, credentials) must be taken off first, for which `visible_arguments` serves.
    """

    tool: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    server: str = ""
    """The server whose tool it is, where there are several."""
    call_id: str = ""
    """The framework's id of the call; may be empty, and need not be unique."""
    thread: str = ""
    """The conversation. It is the run of the ledger in which the action is kept; "": `main`."""
    task: str = ""
    """What is new in every turn of the conversation, and the same when that turn is resumed."""
    nth: int = 0
    """How many equal actions came before it in this pass over the task."""
    annotations: Mapping[str, Json] = field(default_factory=dict)
    """What the server says of its tool: hints, never facts. They are no part of the digest."""

    def __post_init__(self) -> None:
        # What is judged must be what is executed, whatever the caller does to its own dictionary in the meantime.
        object.__setattr__(self, "arguments", _copied(self.arguments))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of server, tool and visible arguments, as RFC 8785 writes them: what an approval is bound to.

        Raises:
            EvidenceError: the arguments are not JSON.
        """
        return action_digest(self.tool, self.arguments, server=self.server)

    @cached_property
    def identity(self) -> str:
        """What tells this action from every other one, also from the same call made again: a digest.

        Raises:
            EvidenceError: the arguments are not JSON.
        """
        return digest([self.thread, self.task, self.call_id, self.digest, self.nth])

    @property
    def run(self) -> str:
        """The run of the ledger in which it is kept."""
        return self.thread or "main"

    @property
    def name(self) -> str:
        """The tool's name, with the server's before it where there is one: `shop/refund`."""
        return f"{self.server}/{self.tool}" if self.server else self.tool

    @property
    def call(self) -> ToolCall:
        """The action as a rehearser takes it."""
        return ToolCall(self.tool, dict(self.arguments), self.call_id or None)

    def edited(self, arguments: Mapping[str, Json]) -> Action:
        """With other arguments: another action, which is judged anew."""
        return replace(self, arguments=dict(arguments))

    def as_json(self) -> dict[str, Json]:
        """All of it, with the digest, as it stands in the ledger."""
        return {
            "tool": self.tool,
            "server": self.server,
            "arguments": dict(self.arguments),
            "call_id": self.call_id,
            "thread": self.thread,
            "task": self.task,
            "nth": self.nth,
            "digest": self.digest,
        }


class Pass:
    """One pass over a task: it numbers equal actions, so that each has an identity of its own.

    A resumed task is passed over anew, from its beginning: the first call is then the first again, and finds what
    became of it. Make one `Pass` each time the framework enters the task.
    """

    def __init__(self, thread: str = "", task: str = "") -> None:
        self.thread = thread
        self.task = task
        self._seen: Counter[tuple[str, str]] = Counter()

    def action(
        self,
        tool: str,
        arguments: Mapping[str, Json] | None = None,
        *,
        call_id: str = "",
        server: str = "",
        annotations: Mapping[str, Json] | None = None,
    ) -> Action:
        """The next action of this pass. Raises: EvidenceError if the arguments are not JSON."""
        made = Action(tool, dict(arguments or {}), server, call_id, self.thread, self.task, 0, dict(annotations or {}))
        key = (call_id, made.digest)
        nth = self._seen[key]
        self._seen[key] += 1
        return replace(made, nth=nth) if nth else made


def _copied(value: Any, depth: int = 0) -> Any:
    if depth > _DEPTH:
        return value
    if isinstance(value, Mapping):
        return {name: _copied(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(item, depth + 1) for item in value]
    return value


def visible_arguments(arguments: Mapping[str, Json], input_schema: Mapping[str, Json]) -> dict[str, Json]:
    """The arguments that the tool's schema tells the model of, where a framework has added some of its own.

    Use it only for arguments that the framework is known to inject: what it takes off is neither judged nor shown.
    """
    known = input_schema.get("properties")
    names = known if isinstance(known, Mapping) else {}
    return {name: value for name, value in arguments.items() if name in names}
