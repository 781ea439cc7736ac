"""Guarding plain functions, for whatever has no integration of its own."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, TypeVar, overload

from envace_sdk.errors import ToolCallError
from envace_sdk.json import Json

from .action import Action, Pass
from .core import Guard, Read
from .results import as_result
from .verdict import Outcome

__all__ = ["calling", "guard"]

_F = TypeVar("_F", bound=Callable[..., Any])
_pass: ContextVar[Pass | None] = ContextVar("envace_pass", default=None)


@contextmanager
def calling(current: Pass) -> Iterator[Pass]:
    """Make the guarded functions that are called inside part of a pass.

    A pass over the same thread and task, later or in another process, then finds what became of each call: those that
    were executed are answered from the ledger. Without it, each call of a function is a new action once the one before
    was executed.
    """
    token = _pass.set(current)
    try:
        yield current
    finally:
        _pass.reset(token)


@overload
def guard(
    function: _F,
    /,
    *,
    by: Guard,
    tool: str = "",
    server: str = "",
    thread: str = "",
    hidden: Sequence[str] = (),
    read: Read = as_result,
) -> _F: ...
@overload
def guard(
    *,
    by: Guard,
    tool: str = "",
    server: str = "",
    thread: str = "",
    hidden: Sequence[str] = (),
    read: Read = as_result,
) -> Callable[[_F], _F]: ...
def guard(
    function: Callable[..., Any] | None = None,
    /,
    *,
    by: Guard,
    tool: str = "",
    server: str = "",
    thread: str = "",
    hidden: Sequence[str] = (),
    read: Read = as_result,
) -> Any:
    """Have a function judged before it is called: `@guard(by=my_guard)`, or `guard(function, by=my_guard)`.

    The function takes and returns what it did before; a coroutine function stays one. An answer from the ledger is
    given as JSON data.

    Args:
        function: what to guard.
        by: the guard.
        tool: what the environment calls it; by default, as the function is called.
        server: the server, where there are several.
        thread: the conversation that its calls belong to, outside of `calling`.
        hidden: parameters that are not the model's to choose (a client, a session): neither judged nor shown.
        read: makes a result of what the function returns.

    Raises (when the function is called):
        ApprovalRequired, Refused, InDoubtError, EvidenceError: as `Guard.run`.
        ToolCallError: it was executed before, and ended with an error.
        EvidenceError: an argument that is not hidden is not JSON.
    """
    if function is None:
        return functools.partial(guard, by=by, tool=tool, server=server, thread=thread, hidden=hidden, read=read)
    name = tool or function.__name__
    calls = _Calls(by, name, server, thread, inspect.signature(function), frozenset(hidden))

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            with calls.action(args, kwargs) as action:
                return _value(name, await by.run(action, lambda: function(*args, **kwargs), read=read))

        return awaited

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with calls.action(args, kwargs) as action:
            return _value(name, by.run_sync(action, lambda: function(*args, **kwargs), read=read))

    return called


class _Calls:
    """Makes actions of a function's calls."""

    def __init__(
        self, by: Guard, tool: str, server: str, thread: str, signature: inspect.Signature, hidden: frozenset[str]
    ) -> None:
        self._by = by
        self._tool = tool
        self._server = server
        self._thread = thread
        self._signature = signature
        self._hidden = hidden
        self._under_way: set[str] = set()
        self._done: dict[str, int] = {}
        self._lock = threading.Lock()

    @contextmanager
    def action(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Action]:
        arguments = self._arguments(args, kwargs)
        current = _pass.get()
        if current is not None:
            yield current.action(self._tool, arguments, server=self._server)
            return
        action = self._next(Action(self._tool, arguments, self._server, thread=self._thread))
        try:
            yield action
        finally:
            with self._lock:
                self._under_way.discard(action.identity)

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Json]:
        bound = self._signature.bind(*args, **kwargs)
        found: dict[str, Json] = {}
        for name, value in bound.arguments.items():
            kind = self._signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_KEYWORD:
                found |= {key: item for key, item in value.items() if key not in self._hidden}
            elif name not in self._hidden:
                found[name] = list(value) if kind is inspect.Parameter.VAR_POSITIONAL else value
        return found

    def _next(self, action: Action) -> Action:
        """The first of the equal actions that was not executed yet, and is not being executed here."""
        with self._lock:
            number = self._done.get(action.digest, 0)
            while True:
                made = replace(action, nth=number)
                if made.identity not in self._under_way and self._by.journal.progress(made).status != "observed":
                    break
                if made.identity not in self._under_way and number == self._done.get(action.digest, 0):
                    self._done[action.digest] = number + 1
                number += 1
            self._under_way.add(made.identity)
            return made


def _value(tool: str, outcome: Outcome) -> Any:
    if outcome.replayed and outcome.result.is_error:
        raise ToolCallError(tool, outcome.result.first_text, outcome.result.meta)
    return outcome.value
