"""Filters that have a function judged before it is invoked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import replace
from inspect import isasyncgen, isgenerator
from typing import Any

from envace_sdk.integrations.entries import Entries
from envace_sdk.integrations.telling import APPROVAL, doubtful, refused, waiting
from semantic_kernel import Kernel
from semantic_kernel.exceptions import FunctionExecutionException
from semantic_kernel.filters import AutoFunctionInvocationContext, FilterTypes, FunctionInvocationContext
from semantic_kernel.functions import FunctionResult

from envace_sdk.errors import ApprovalRequired, EnvaceError, GuardError, NotExecutedError, Refused
from envace_sdk.guard import Action, Context, Guard, Outcome, is_lost_answer

from .calls import Made, arguments_of, made_by, result_of

__all__ = ["Rehearsal"]

_made: ContextVar[Made | None] = ContextVar("envace_semantic_kernel_call", default=None)

Next = Callable[[Any], Awaitable[None]]


class Rehearsal:
    """`Rehearsal(guard).install(kernel)`: each function of the kernel is rehearsed and judged before it is invoked.

    What a model calls and is refused becomes the function's result, with the reasons. What a person must decide ends
    the automatic invocation; come back with `resume`. The server of an action is the function's plugin.

    Where a program invokes a function itself, `Refused` and `ApprovalRequired` are raised, as the cause of the kernel's
    `KernelInvokeException`. Functions made of prompts pass, unless a model calls them as tools.

    Args:
        guard: judges.
        thread: tells the conversation of a call; by default all share one.
        context: what a person should know besides the call; by default nothing.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        thread: Callable[[FunctionInvocationContext], str] | None = None,
        context: Callable[[FunctionInvocationContext], Context] | None = None,
    ) -> None:
        self.guard = guard
        self._thread = thread
        self._context = context
        self._entries = Entries()

    def __deepcopy__(self, _: Any) -> Rehearsal:
        """Itself: a cloned kernel has the same guard."""
        return self

    def install(self, kernel: Kernel) -> Kernel:
        """Guard a kernel, after all other filters were added: those that are added later could change arguments."""
        kernel.add_filter(FilterTypes.FUNCTION_INVOCATION, self.on_function)
        kernel.add_filter(FilterTypes.AUTO_FUNCTION_INVOCATION, self.on_call)
        return kernel

    async def on_call(self, context: AutoFunctionInvocationContext, next: Next) -> None:  # noqa: A002  its name there
        """Around a call that a model made: it says which one it is, and ends the turn where a person must decide.

        Raises:
            InDoubtError, EvidenceError, StoreError: as `Guard.run`; the kernel would make a result of them.
        """
        made = made_by(context)
        token = _made.set(made)
        try:
            await next(context)
        finally:
            _made.reset(token)
        if made.failure is not None:
            raise made.failure
        if made.pause is not None:
            context.terminate = True
            context.function_result = FunctionResult(
                function=context.function.metadata,
                value=waiting(made.pause),
                metadata={APPROVAL: made.pause.payload},
            )

    async def on_function(self, context: FunctionInvocationContext, next: Next) -> None:  # noqa: A002
        """Around every function."""
        made = _made.get()
        if made is not None and made.function != context.function.fully_qualified_name:
            made = None  # called by the function that the model called
        if made is None and context.function.is_prompt:
            await next(context)
            return
        try:
            await self._judged(context, next, made)
        except ApprovalRequired as pause:
            if made is None:
                raise
            made.pause = pause
        except Refused as refusal:
            if made is None:
                raise
            _told(context, refused(refusal))
        except NotExecutedError as stopped:
            raise (stopped.__cause__ or stopped) from None
        except EnvaceError as error:
            if made is not None:
                made.failure = error
            raise
        except Exception as error:
            if made is None or not is_lost_answer(error):
                raise
            _told(context, doubtful(context.function.name, error))

    async def _judged(self, context: FunctionInvocationContext, next: Next, made: Made | None) -> None:  # noqa: A002
        innermost = context.kernel.function_invocation_filters[0][1]
        if innermost != self.on_function:
            raise Refused(f"{context.function.name} was not executed: install the guard after all other filters")
        action = self._action(context, made)
        if made is None:
            action = await asyncio.to_thread(self._new, action)
        told = self._context(context) if self._context is not None else {}

        async def execute() -> Any:
            try:
                await next(context)
            except FunctionExecutionException as error:
                if str(error).startswith("Parameter "):
                    raise NotExecutedError(f"{action.name} was not executed: {error}") from error
                raise
            return context.result

        entries = self._entries if made is None else made.entries
        # A program's invocations are counted by what the ledger holds.
        with entries.entry(action, remember=made is not None) as entered:
            if context.is_streaming:
                await self._streamed(entered, context, next, told)
                return
            outcome = await self.guard.run(entered, execute, told, read=result_of)
        if outcome.replayed:
            _told(context, _recorded(outcome))

    async def _streamed(self, action: Action, context: FunctionInvocationContext, next: Next, told: Context) -> None:  # noqa: A002
        """A function that yields its result works while it is read: only then is its outcome known."""
        begun = await self.guard.begin(action, told)
        if isinstance(begun, Outcome):
            _told(context, _recorded(begun))
            return
        try:
            await next(context)
        except BaseException as error:
            self.guard.fail(begun, error)
            raise
        value = context.result.value if context.result is not None else None
        if not isasyncgen(value) and not isgenerator(value):
            self.guard.finish(begun, context.result, read=result_of)
            return

        async def parts() -> Any:
            seen: list[Any] = []
            try:
                if isasyncgen(value):
                    async for part in value:
                        seen.append(part)
                        yield part
                else:
                    for part in value:
                        seen.append(part)
                        yield part
            except BaseException as error:
                self.guard.fail(begun, error)
                raise
            self.guard.finish(begun, seen, read=result_of)

        context.result = FunctionResult(function=context.function.metadata, value=parts())

    def _action(self, context: FunctionInvocationContext, made: Made | None) -> Action:
        return Action(
            context.function.name,
            arguments_of(context),
            context.function.plugin_name or "",
            made.call_id if made is not None else "",
            self._thread(context) if self._thread is not None else "",
            made.turn if made is not None else "",
        )

    def _new(self, action: Action) -> Action:
        """Of equal invocations by a program, the first that was not executed yet."""
        while self.guard.journal.progress(action).status == "observed":
            action = replace(action, nth=action.nth + 1)
        return action


def _told(context: FunctionInvocationContext, text: Any) -> None:
    context.result = FunctionResult(function=context.function.metadata, value=text)


def _recorded(outcome: Outcome) -> Any:
    if outcome.result.is_error:
        raise GuardError(f"it was executed before, and failed: {outcome.result.first_text}")
    return outcome.value
