"""What was written, and so which recordings are still true: digests chained from call to call.

Every write adds to the *history* of what it wrote (an entity, its collection, the world). Two states with the same
history of a scope saw the same writes to it, in the same order.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence

from envace_sdk.evidence.canonical import digest
from envace_sdk.tools.model import Tool, ToolCall
from envace_sdk.world.answer import Touch
from envace_sdk.world.diff import diff
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Answer, Interpreter
from envace_sdk.world.keys import key_text
from envace_sdk.world.observing import writes
from envace_sdk.world.state import State

__all__ = ["EVERYTHING", "UNKNOWN", "Histories", "call_digest", "history_of", "note_changes", "times_called"]

EVERYTHING = "*"
UNKNOWN = "?"
"""Scope of writes by tools of which no rule says what they change: whoever reads anything depends on it."""


def call_digest(call: ToolCall) -> str:
    """A digest of the tool and its arguments, whatever the order of their keys."""
    text = json.dumps([call.name, call.arguments], sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def note_changes(before: State, after: State) -> State:
    """`after` with what no call changed in the history of what it touches: recordings of it do not hold there."""
    changed = diff(before, after)
    if not changed:
        return after
    mark = digest([[change.name, after.get(change.collection, change.key)] for change in changed])
    scopes = {EVERYTHING, *(c.collection for c in changed), *(c.name for c in changed)}
    return after.replace(history=after.history.update(dict.fromkeys(sorted(scopes), mark)))


def history_of(state: State, scopes: Sequence[str]) -> tuple[str, ...]:
    """The history of each scope, "" where nothing was written."""
    return tuple(state.history.get(scope, "") for scope in scopes)


def times_called(state: State, key: str) -> int:
    """How often the call of this matching key was made, where its tool's effect is unknown."""
    return int(state.history.get(f"#{key}", "0"))


class Histories:
    """Which scopes the calls of a toolset read and write, as its rules and its recordings say."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        dynamics: Dynamics,
        interpreter: Interpreter,
        run: Callable[[ToolCall, State], Answer | None],
    ) -> None:
        self._tools = tools
        self._dynamics = dynamics
        self._interpreter = interpreter
        self._run = run
        self.farsighted: frozenset[str] = frozenset()
        """Tools that read more than their rules say: any write may change what they answer."""
        self.restless: frozenset[str] = frozenset()
        """Tools whose answers change by themselves: they tell the time, or count their calls."""
        self.stirring: frozenset[str] = frozenset()
        """Tools that change what others answer, although their rules say that they change nothing."""

    def changes(self, call: ToolCall) -> bool:
        """Whether a call may change the world, as far as its rule, its hint and the recordings say."""
        name = call.name
        is_seen_to = name in self.restless or name in self.stirring
        return is_seen_to or writes(self._tools[name], self._dynamics.tools.get(name))

    def reads(self, call: ToolCall, state: State) -> tuple[str, ...]:
        """The scopes whose history decides whether an answer to this call is still true."""
        rule = self._dynamics.tools.get(call.name)
        if call.name in self.farsighted:
            return (UNKNOWN, EVERYTHING)
        answer = None if rule is None else self._run(call, state)
        if answer is not None:
            scopes = {name if key is None else f"{name}/{key}" for name, key in answer.touched}
            if answer.rule.effect == "create":
                scopes.add(str(answer.rule.collection))
            return (UNKNOWN, *sorted(scopes))
        if rule is None or rule.collection is None:
            return (UNKNOWN, EVERYTHING)
        key = self._interpreter.key(self._tools[call.name], call.arguments, state)
        return (UNKNOWN, rule.collection if key is None else f"{rule.collection}/{key_text(key)}")

    def advance(
        self, before: State, after: State, call: ToolCall, key: str, written: frozenset[Touch] | None = None
    ) -> State:
        """`after` with this call, whose matching key is `key`, in the history of everything it wrote.

        `written` is what it touched where that is known; else the difference of the two states tells.
        """
        if not self.changes(call):
            return after
        rule = self._dynamics.tools.get(call.name)
        scopes = set()
        if rule is None or rule.effect == "opaque" or call.name in self.restless | self.stirring:
            scopes.add(UNKNOWN)
            after = after.replace(history=after.history.set(f"#{key}", str(times_called(after, key) + 1)))
        if written is None:
            written = frozenset((change.collection, change.key) for change in diff(before, after))
        for collection, touched in written:
            scopes |= {collection, f"{collection}/{touched}"}
        if not scopes:
            return after
        link = call_digest(call)
        chained = {scope: _chain(after.history.get(scope, ""), link) for scope in (*scopes, EVERYTHING)}
        return after.replace(history=after.history.update(chained))


def _chain(previous: str, link: str) -> str:
    return hashlib.blake2b(f"{previous}|{link}".encode(), digest_size=12).hexdigest()
