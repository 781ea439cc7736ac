"""A guarded tool for langchain-core alone: it takes the tool's place, and the model cannot tell them apart."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import PrivateAttr

from envace_sdk.errors import ApprovalRequired
from envace_sdk.guard import Action, Guard

from .calls import TaskPass, annotations_of, arguments_of, is_tool_call, passes_of, visible
from .onecall import Call, Kept, Pause
from .quiet import Quiet
from .underway import PausedError

__all__ = ["GuardedTool"]


class GuardedTool(BaseTool):
    """A tool that is rehearsed and judged before it is executed, wherever it is called.

    Validation, injected arguments, artifacts and errors stay the inner tool's. A call that is refused is answered with
    a message of the status `error`, or, where it was no tool call but plain arguments, by a `ToolException`.

    Inside a LangGraph graph with a checkpointer, a call that a person must decide interrupts it. Elsewhere it raises
    `ApprovalRequired`; once the person has decided, call it again with the same input. There, each call is a new action
    once the one before was executed.

    Use `RehearsalMiddleware` with `create_agent`; this where there is no middleware, or where another middleware must
    come after the guard.
    """

    inner: BaseTool
    guard: Any
    server: str = ""
    thread: str = ""
    """The conversation that its calls belong to, outside of a graph."""

    _kept: Kept = PrivateAttr(default_factory=Kept)
    _done: dict[str, int] = PrivateAttr(default_factory=dict)
    _under_way: set[str] = PrivateAttr(default_factory=set)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, inner: BaseTool, guard: Guard, *, server: str = "", thread: str = "") -> None:
        super().__init__(
            name=inner.name,
            description=inner.description,
            args_schema=inner.args_schema,
            return_direct=inner.return_direct,
            response_format=inner.response_format,
            tags=inner.tags,
            metadata=inner.metadata,
            extras=inner.extras,
            handle_tool_error=inner.handle_tool_error,
            handle_validation_error=inner.handle_validation_error,
            inner=inner,
            guard=guard,
            server=server,
            thread=thread,
        )

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """As the inner tool, if the guard lets it.

        Raises:
            ApprovalRequired, InDoubtError: as `Guard.run`.
            ToolException: it was refused, where `input` is no tool call.
            ToolCallError: it was executed before, and raised an exception.
            Whatever the inner tool raises.
        """
        with self._call(input) as call:
            while not call.answered:
                call.begin()
                try:
                    with call.executing(), Quiet() as quiet:

                        def execute() -> Any:
                            try:
                                with quiet.aloud():
                                    call.returned = call.innermost().invoke(self._given(input, call), config, **kwargs)
                            except Exception as error:
                                call.raised = error
                            return call.settle()

                        call.finish(self.guard.run_sync(call.action, execute, read=call.read))
                except Exception as error:
                    call.stop(error)
        return call.answer

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """As `invoke`."""
        with self._call(input) as call:
            while not call.answered:
                await asyncio.to_thread(call.begin)
                try:
                    with call.executing(), Quiet() as quiet:

                        async def execute() -> Any:
                            try:
                                with quiet.aloud():
                                    given = self._given(input, call)
                                    call.returned = await call.innermost().ainvoke(given, config, **kwargs)
                            except Exception as error:
                                call.raised = error
                            return call.settle()

                        call.finish(await self.guard.run(call.action, execute, read=call.read))
                except Exception as error:
                    await asyncio.to_thread(call.stop, error)
        return call.answer

    def _run(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{self.name} is guarded: call it by invoke or ainvoke")

    def _given(self, given: Any, call: Call) -> Any:
        """What the tool is given, with just the arguments that were judged."""
        arguments = call.arguments(arguments_of(self.inner, given))
        return {**given, "args": arguments} if is_tool_call(given) else arguments

    @contextmanager
    def _call(self, given: Any) -> Iterator[Call]:
        call_id = given["id"] or "" if is_tool_call(given) else None
        arguments = visible(self.inner, arguments_of(self.inner, given))
        pause: Pause
        task = _task(self.guard)
        if task is None:
            made = Action(
                self.name, arguments, self.server, call_id or "", self.thread, "", 0, annotations_of(self.inner)
            )
            action, pause = self._next(made), _RAISING
        else:
            action = task.calls.action(
                self.name, arguments, call_id=call_id or "", server=self.server, annotations=annotations_of(self.inner)
            )
            pause = _pausing(self.guard, task)
        try:
            yield Call(action, self.inner, call_id, pause, self._kept)
        finally:
            with self._lock:
                self._under_way.discard(action.identity)

    def _next(self, action: Action) -> Action:
        """The first of the equal actions that was not executed yet, and is not being executed here."""
        with self._lock:
            number = self._done.get(action.digest, 0)
            while True:
                made = replace(action, nth=number)
                if made.identity not in self._under_way:
                    if self.guard.journal.progress(made).status != "observed":
                        break
                    self._done[action.digest] = number + 1
                number += 1
            self._under_way.add(made.identity)
            return made


class _Raising:
    """Leaves it to the caller to wait for people, and to come back."""

    def before(self, action: Action) -> None:
        """Nothing."""

    def executing(self) -> AbstractContextManager[None]:
        """Nothing else is known to be executed."""
        return nullcontext()

    def wait(self, action: Action, pause: ApprovalRequired) -> None:  # noqa: ARG002
        """Raise it."""
        raise pause

    def join(self, paused: PausedError) -> None:
        """Raise it."""
        raise paused


_RAISING: Final = _Raising()


def _task(guard: Guard) -> TaskPass | None:
    """The task of a graph that is being executed, if one is."""
    try:
        from langgraph.runtime import get_runtime

        runtime: Any = get_runtime()  # None in a chain that is no graph
    except (ImportError, RuntimeError):
        return None
    info = None if runtime is None else runtime.execution_info
    return None if info is None else passes_of(guard).current(info)


def _pausing(guard: Guard, task: TaskPass) -> Pause:
    """By interrupts, where the graph can be resumed."""
    from .doorbell import can_pause
    from .pausing import TaskPause

    return TaskPause(guard.ledger, task) if can_pause() else _RAISING
