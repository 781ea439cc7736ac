"""The way of one tool call through a gateway, whatever the transport: judged, perhaps asked about, sent, observed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from mcp.types import INVALID_PARAMS

from envace_sdk.errors import ApprovalRequired, CommittedError, EnvaceError, LostAnswerError, NotExecutedError, Refused
from envace_sdk.evidence.label import says_rehearsed
from envace_sdk.guard import Action, Going, Guard, Outcome
from envace_sdk.json import Json
from envace_sdk.tools.model import ToolResult

from . import gateway_answers as answers
from .eras import Era
from .gateway_asking import Asking
from .gateway_frames import capabilities_of, cleaned, era_of_request, error, offers_forms, result
from .gateway_numbers import Numbering

__all__ = ["Caller", "Forward", "Gate", "NotTaken"]

logger = logging.getLogger(__name__)

Message = dict[str, Json]
Forward = Callable[[Message], Awaitable[Message]]
"""Sends a request to the real server and gives the message that answers it.

It raises `NotTaken` if the server never took the request, and anything else if that is not known.
"""
_ASKED: Final = 2
"""Times that a person is asked within one call: a question may go stale while it is being answered."""


class NotTaken(Exception):  # noqa: N818  what became of a request, not a failure of this program
    """The real server did not take a request."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The client that makes a call."""

    thread: str
    """The conversation, as far as the transport tells one from another."""
    capabilities: Json = None
    """Declared in its handshake."""
    elicit: Callable[[Mapping[str, Json]], Awaitable[Json]] | None = None
    """Asks it in the middle of a call, in the handshake era; gives the result, None where none came."""
    has_left: Callable[[], bool] = lambda: False
    """Whether it has cancelled the call."""


class Gate:
    """What every call passes. It never raises on account of a call: what goes wrong becomes its answer.

    Args:
        guard: judges; its toolset is the catalogue that calls are held against.
        server: the name of the real server, as policies, approvals and the ledger have it.
        approver: the name under which the answers of a client's user are written.
        ledger: what a person passes to `--ledger` to approve; "" for the default one.
    """

    def __init__(self, guard: Guard, *, server: str, approver: str, ledger: str = "") -> None:
        self.guard = guard
        self._server = server
        self._ledger = ledger
        self._asking = Asking(guard, approver)
        self._numbering = Numbering(guard.journal)

    async def call(self, message: Message, caller: Caller, forward: Forward) -> Message:
        """The message that answers a `tools/call` request."""
        identity, params = message["id"], message.get("params")
        if not isinstance(params, dict) or not isinstance(tool := params.get("name"), str):
            return error(identity, INVALID_PARAMS, "Expected the name of a tool")
        arguments = params.get("arguments")
        if not isinstance(arguments, dict | None):
            return error(identity, INVALID_PARAMS, "Expected an object as arguments")
        era = era_of_request(params)
        if "task" in params:
            why = "Calls that run as a task are not guarded: nobody would see what came of them. Call without one"
            return result(identity, answers.failed(tool, NotExecutedError(why), era))
        try:
            action = await asyncio.to_thread(self._take, caller, tool, arguments or {}, params)
        except Exception as problem:
            logger.warning("%s: %s", tool, problem)
            return result(identity, answers.failed(tool, problem, era))
        with self._numbering.held(action):
            plain = cleaned({**message, "params": self._asking.plain(params)})
            try:
                return await self._judged(plain, action, params, caller, era, forward)
            except NotTaken:
                raise
            except Exception as problem:
                logger.exception("%s: the gateway failed", tool)
                return result(identity, answers.failed(tool, problem, era))

    def _take(self, caller: Caller, tool: str, arguments: Mapping[str, Json], params: Mapping[str, Json]) -> Action:
        toolset = self.guard.environment.toolset
        hints = toolset[tool].definition.get("annotations") if tool in toolset else None
        annotations = hints if isinstance(hints, Mapping) else {}
        made = Action(tool, arguments, self._server, thread=caller.thread, annotations=annotations)
        resumed = self._asking.resumed(params)
        if resumed is not None:
            asked = replace(made, nth=resumed.nth)
            # Else other arguments came with the answer than were asked about: that is another action.
            if asked.identity == resumed.identity and self._numbering.retake(asked):
                return asked
        return self._numbering.take(made)

    async def _judged(
        self, message: Message, action: Action, params: Mapping[str, Json], caller: Caller, era: Era, forward: Forward
    ) -> Message:
        identity, why, asked = message["id"], "", 0
        resumed = self._asking.resumed(params)
        if resumed is not None and resumed.identity == action.identity:
            why = await asyncio.to_thread(self._asking.settle, resumed.approval, self._asking.given(params))
            asked = _ASKED if why else 1
        while True:
            try:
                begun = await self.guard.begin(action)
            except ApprovalRequired as pause:
                self._numbering.asked(action)
                forms = offers_forms(capabilities_of(params) if era.is_stateless else caller.capabilities)
                if asked < _ASKED and forms and era.is_stateless:
                    return result(identity, self._asking.input_required(pause, action))
                if asked < _ASKED and forms and caller.elicit is not None:
                    answer = await caller.elicit(self._asking.elicitation(pause))
                    why = await asyncio.to_thread(self._asking.settle, pause.approval, answer)
                    asked = _ASKED if why else asked + 1
                    continue
                return result(identity, answers.pending(action.tool, pause, era, ledger=self._ledger, why=why))
            except Refused as problem:
                return result(identity, answers.refused(action.tool, problem, era))
            except CommittedError as problem:
                return result(identity, self._doubt(action.tool, problem.action, str(problem), era))
            except EnvaceError as problem:
                logger.warning("%s: %s", action.name, problem)
                return result(identity, answers.failed(action.tool, problem, era))
            if isinstance(begun, Outcome):
                await asyncio.to_thread(self._numbering.told, action)
                return result(identity, answers.replayed(begun, era))
            try:
                return await self._executed(message, begun, caller, era, forward)
            except NotTaken:
                raise
            except Exception as problem:  # from here on, nobody may say that nothing was executed
                logger.exception("%s: the gateway failed", action.name)
                return result(identity, self._doubt(action.tool, begun.name, f"the gateway failed: {problem!r}", era))

    async def _executed(self, message: Message, going: Going, caller: Caller, era: Era, forward: Forward) -> Message:
        identity, tool = message["id"], going.action.tool
        if caller.has_left():
            await self._fail(going, NotExecutedError("the client cancelled the call before it was sent"))
            return result(identity, answers.unreached(tool, "the client cancelled it before it was sent.", era))
        try:
            with self.guard.execution(going.action) as mark:
                answered = await forward(message)
                reply = cleaned(answered)
                if _is_error(reply):
                    mark.set_attribute("error.type", "tool_error")
        except NotTaken as problem:
            await self._fail(going, NotExecutedError(str(problem)))
            if problem.__cause__ is None:  # the transport has an answer of the server's own to pass on
                raise
            return result(identity, answers.unreached(tool, str(problem), era))
        except BaseException as problem:
            lost = problem if isinstance(problem, Exception) else ConnectionError("the call was cut off")
            await self._fail(going, LostAnswerError(str(lost)))
            if not isinstance(problem, Exception):
                raise
            return result(identity, self._doubt(tool, going.name, f"{problem or type(problem).__name__}", era))
        return await self._heard(reply, going, era, is_rehearsed=says_rehearsed(answered.get("result")))

    async def _heard(self, reply: Message, going: Going, era: Era, *, is_rehearsed: bool) -> Message:
        """Write down what the real server answered, before the client hears it.

        No server can say what was observed; but one that says that it only rehearses is no real one.
        """
        wire, tool = reply.get("result"), going.action.tool
        if isinstance(wire, dict) and wire.get("resultType") == "input_required":
            await self._fail(going, NotExecutedError("the server asks the client first"))
            return reply
        if isinstance(wire, dict) and (wire.get("resultType", "complete") != "complete" or "task" in wire):
            await self._fail(going, LostAnswerError("the server answered without a result"))
            return reply
        value: Any = wire
        if not isinstance(wire, dict):
            told = reply.get("error")
            said = told.get("message") if isinstance(told, dict) else None
            value = ToolResult.text(str(said or "an answer that is neither a result nor an error"), is_error=True)
        try:
            by = f"{self._server} (rehearsed)" if is_rehearsed else ""
            outcome = await asyncio.shield(asyncio.to_thread(self.guard.finish, going, value, claimed_by=by))
            if is_rehearsed:
                await asyncio.to_thread(self._numbering.told, going.action)
        except CommittedError as problem:
            return result(reply.get("id"), self._doubt(tool, problem.action, str(problem), era))
        return {**reply, "result": answers.observed(wire, outcome)} if isinstance(wire, dict) else reply

    def _doubt(self, tool: str, action: str, why: str, era: Era) -> dict[str, Any]:
        return answers.in_doubt(tool, action, why, era, ledger=self._ledger)

    async def _fail(self, going: Going, problem: BaseException) -> None:
        await asyncio.shield(asyncio.to_thread(self.guard.fail, going, problem))


def _is_error(reply: Message) -> bool:
    wire = reply.get("result")
    return not isinstance(wire, dict) or wire.get("isError") is True
