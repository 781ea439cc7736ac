"""Function middleware that has a call judged before it is executed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from agent_framework import Content, FunctionInvocationContext, FunctionMiddleware, MiddlewareFailure
from agent_framework._tools import _SECURITY_ARGUMENTS_SNAPSHOT_CONTEXT_KEY as FROZEN
from agent_framework._tools import _argument_authority_token as frozen
from agent_framework.exceptions import UserInputRequiredException
from envace_sdk.integrations.entries import Entries
from envace_sdk.integrations.telling import APPROVAL, doubtful, refused
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from envace_sdk.errors import (
    ApprovalRequired,
    EvidenceError,
    InDoubtError,
    NotExecutedError,
    Refused,
    StoreError,
)
from envace_sdk.guard import Action, Context, Guard, Outcome, is_lost_answer

from .results import result_of, told_of

__all__ = ["Rehearsal"]

_ENTRIES: Final = "dev.envace/entries"
_NEVER_RAN: Final = ("_FunctionArgumentValidationError", "_FunctionArgumentsChangedAfterApproval")


class Rehearsal(FunctionMiddleware):
    """`Agent(…, middleware=[Rehearsal(guard)])`: each call of the agent's functions is rehearsed and judged first.

    What is refused becomes the function's result, with the reasons. What a person must decide ends the run with a
    `function_approval_request`; come back with `resume`. The guard goes by the approval in its ledger, never by the
    response. Middleware that changes arguments must stand before this one: if it stands after, the run is aborted.

    Args:
        guard: judges.
        server: the server whose tools they are, as the guard's policy calls it.
        thread: tells the conversation of a call; by default, the id of the agent's session.
        context: what a person should know besides the call; by default nothing.

    Raises (from a run):
        MiddlewareFailure: the call is in doubt, or cannot be judged or written down. What it was is its cause.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        server: str = "",
        thread: Callable[[FunctionInvocationContext], str] | None = None,
        context: Callable[[FunctionInvocationContext], Context] | None = None,
    ) -> None:
        self.guard = guard
        self._server = server
        self._thread = thread
        self._context = context

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Judge a call, and let it go on if it may."""
        name = context.function.name
        try:
            outcome = await self._run(context, call_next)
        except ApprovalRequired as pause:
            context.result = _request(context, pause)
        except Refused as refusal:
            context.result = refused(refusal)
        except NotExecutedError as stopped:
            # By the framework, or by the function itself, with an exception that the framework knows what to do with.
            raise (stopped.__cause__ or stopped) from None
        except (InDoubtError, EvidenceError, StoreError) as error:
            raise MiddlewareFailure(f"{name}: {error}") from error
        except Exception as error:
            if not is_lost_answer(error):
                raise
            context.result = doubtful(name, error)
        else:
            if outcome.replayed:
                context.result = told_of(outcome.result)

    async def _run(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> Outcome:
        arguments = _arguments(context)
        action = self._action(context, arguments)
        context.metadata[FROZEN] = frozen(dict(_mapping(context.arguments)), boundary="rehearsal")

        async def execute() -> Any:
            try:
                await call_next()
            except UserInputRequiredException as error:
                raise NotExecutedError(f"{action.name} wants an answer first") from error
            except Exception as error:
                if type(error).__name__ in _NEVER_RAN:
                    raise NotExecutedError(f"{action.name} was not executed: {error}") from error
                raise
            return context.result

        entries = context.metadata.setdefault(_ENTRIES, Entries())
        with entries.entry(action) as entered:
            told = self._context(context) if self._context is not None else {}
            return await self.guard.run(entered, execute, told, read=result_of)

    def _action(self, context: FunctionInvocationContext, arguments: Mapping[str, Any]) -> Action:
        if self._thread is not None:
            thread = self._thread(context)
        else:
            thread = context.session.session_id if context.session is not None else ""
        occurrence = str(context.metadata.get("function_call_occurrence_id") or "")
        call_id = str(context.metadata.get("call_id") or "")
        hints = (context.function.additional_properties or {}).get("annotations")
        return Action(
            context.function.name,
            arguments,
            self._server,
            call_id,
            thread,
            occurrence,
            annotations=hints if isinstance(hints, Mapping) else {},
        )


def _mapping(arguments: BaseModel | Mapping[str, Any]) -> Mapping[str, Any]:
    return arguments.model_dump() if isinstance(arguments, BaseModel) else arguments


def _arguments(context: FunctionInvocationContext) -> dict[str, Any]:
    try:
        written: dict[str, Any] = to_jsonable_python(dict(_mapping(context.arguments)))
    except PydanticSerializationError as error:
        name = context.function.name
        raise EvidenceError(f"{name}: an argument cannot be written as JSON, so it cannot be judged: {error}") from None
    return written


def _request(context: FunctionInvocationContext, pause: ApprovalRequired) -> Content:
    call_id = str(context.metadata.get("call_id") or "")
    name = str(context.metadata.get("function_call_occurrence_id") or call_id)
    call = Content.from_function_call(
        call_id=call_id, name=context.function.name, arguments=_arguments(context), id=name
    )
    return Content.from_function_approval_request(
        id=name, function_call=call, additional_properties={APPROVAL: pause.payload}
    )
