"""The guard over HTTP, for gateways that execute tool calls themselves: ask before, and say afterwards what came."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from mcp.server.transport_security import RequestBodyLimitMiddleware
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from envace_sdk.errors import (
    ApprovalError,
    ApprovalRequired,
    CommittedError,
    EvidenceError,
    LostAnswerError,
    NotExecutedError,
    Refused,
)
from envace_sdk.evidence.label import says_rehearsed
from envace_sdk.guard import Action, Going, Guard, Outcome, Verdict
from envace_sdk.guard.results import stored
from envace_sdk.json import Json
from envace_sdk.ledger.export import approval_as_json
from envace_sdk.roles.strictjson import read_json
from envace_sdk.tools.model import ToolResult

from .address import Names
from .gateway_api_models import Decide, Decided, Observe, ObservedAnswer, document
from .gateway_hearing import is_too_deep
from .gateway_numbers import Numbering
from .guards import BearerGuard, HostGuard

__all__ = ["build_api"]

logger = logging.getLogger(__name__)

BODY_LIMIT: Final = 16 * 1024 * 1024
_MOST_PERMITS: Final = 10_000
"""Permits that are not back yet; the oldest are forgotten, and their calls stay in doubt."""
_Model = TypeVar("_Model", bound=BaseModel)


def build_api(guard: Guard, *, server: str, token: str, names: Names | None) -> Starlette:
    """The ASGI app of the API.

    Args:
        guard: judges.
        server: the server whose tools are called, as policies and the ledger have it.
        token: that every request must carry, but those for the OpenAPI document.
        names: by which the API may be called; None: by any.
    """
    api = _Api(guard, server)

    async def described(_: Request) -> Response:
        return JSONResponse(document(server))

    bearer = [Middleware(BearerGuard, token=token)]
    routes = [
        Route("/openapi.json", described, methods=["GET"]),
        Route("/v1/decide", api.decide, methods=["POST"], middleware=bearer),
        Route("/v1/observe", api.observe, methods=["POST"], middleware=bearer),
        Route("/v1/approvals/{id}", api.approval, methods=["GET"], middleware=bearer),
    ]
    guards = [Middleware(HostGuard, names=names)] if names is not None else []
    limit = Middleware(RequestBodyLimitMiddleware, max_body_size=BODY_LIMIT)
    return Starlette(routes=routes, middleware=[*guards, limit])


class _RequestError(Exception):
    """A request that cannot be answered."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def _answered(handler: Callable[[Any, Request], Coroutine[Any, Any, Response]]) -> Callable[..., Any]:
    """Make problems of what goes wrong. Nothing that fails here may look like a verdict."""

    async def answered(self: _Api, request: Request) -> Response:
        try:
            return await handler(self, request)
        except _RequestError as problem:
            return JSONResponse({"error": str(problem)}, problem.status)
        except Exception as problem:
            logger.exception("%s failed", request.url.path)
            why = f"the guard failed, so nothing may be executed: {type(problem).__name__}: {problem}"
            return JSONResponse({"error": why}, 503)

    return answered


class _Api:
    def __init__(self, guard: Guard, server: str) -> None:
        self._guard = guard
        self._server = server
        self._numbering = Numbering(guard.journal)
        self._permits: OrderedDict[str, tuple[Going, contextlib.ExitStack]] = OrderedDict()

    @_answered
    async def decide(self, request: Request) -> Response:
        """Judge a call; with a permit where it may be executed."""
        asked = await _read(request, Decide)
        try:
            action = await asyncio.to_thread(self._action, asked)
        except EvidenceError as problem:
            raise _RequestError(400, str(problem)) from None
        with contextlib.ExitStack() as held:
            if asked.call_id is None:
                held.enter_context(self._numbering.held(action))
            if not asked.begin:
                return _given(_judged(action, await self._guard.decide(action, asked.context)))
            try:
                begun = await self._guard.begin(action, asked.context)
            except ApprovalRequired as pause:
                self._numbering.asked(action)
                return _given(await asyncio.to_thread(self._waiting, action, pause))
            except Refused as problem:
                wanted = None if problem.arguments is None else dict(problem.arguments)
                return _given(
                    Decided(
                        verdict="revise" if problem.kind == "revise" else "block",
                        action=action.identity,
                        reasons=list(problem.reasons),
                        arguments=wanted,
                    )
                )
            except CommittedError as problem:
                return _given(Decided(verdict="in_doubt", action=problem.action, reasons=[str(problem)]))
            if isinstance(begun, Outcome):
                await asyncio.to_thread(self._numbering.told, action)
                return _given(Decided(verdict="done", action=action.identity, result=_wire(begun.result)))
            permit = self._grant(begun, held.pop_all())
            return _given(_judged(action, begun.verdict).model_copy(update={"permit": permit, "verdict": "commit"}))

    @_answered
    async def observe(self, request: Request) -> Response:
        """Write down what came of a call."""
        told = await _read(request, Observe)
        found = self._permits.pop(told.permit, None)
        if found is None:
            raise _RequestError(
                404, "no such permit: it was used before, or the guard was restarted and its call is in doubt"
            )
        going, held = found
        with held:
            if told.not_executed is not None:
                await asyncio.to_thread(self._guard.fail, going, NotExecutedError(told.not_executed))
                return _given(ObservedAnswer(action=going.name, status="not_started"))
            if told.lost is not None:
                await asyncio.to_thread(self._guard.fail, going, LostAnswerError(told.lost))
                return _given(ObservedAnswer(action=going.name, status="in_doubt"))
            value = ToolResult.text(told.error, is_error=True) if told.error is not None else told.result
            by = f"{self._server} (rehearsed)" if says_rehearsed(told.result) else ""
            outcome = await asyncio.shield(asyncio.to_thread(self._guard.finish, going, value, claimed_by=by))
            if by:
                await asyncio.to_thread(self._numbering.told, going.action)
            score = None if outcome.score is None else outcome.score.as_json()
            label = outcome.evidence.model_dump()
            return _given(ObservedAnswer(action=going.name, status="observed", evidence=label, score=score))

    @_answered
    async def approval(self, request: Request) -> Response:
        """Where an approval stands."""
        try:
            found = await asyncio.to_thread(self._guard.ledger.approvals.get, request.path_params["id"])
        except ApprovalError as problem:
            raise _RequestError(404, str(problem)) from None
        return JSONResponse(approval_as_json(found))

    def _action(self, asked: Decide) -> Action:
        toolset = self._guard.environment.toolset
        hints = asked.annotations
        if hints is None and asked.tool in toolset:
            hints = toolset[asked.tool].definition.get("annotations")
        made = Action(
            asked.tool,
            asked.arguments,
            self._server,
            call_id=asked.call_id or "",
            thread=asked.thread or "gateway",
            task=asked.task,
            annotations=hints if isinstance(hints, dict) else {},
        )
        _ = made.identity
        return made if asked.call_id is not None else self._numbering.take(made)

    def _waiting(self, action: Action, pause: ApprovalRequired) -> Decided:
        prediction = self._guard.journal.prediction(self._guard.journal.progress(action).id)
        return Decided(
            verdict="ask",
            action=action.identity,
            reasons=[str(reason) for reason in pause.payload.get("reasons", [])],
            risk=pause.payload.get("risk"),
            prediction=None if prediction is None else prediction.as_json(),
            approval=pause.approval,
        )

    def _grant(self, going: Going, held: contextlib.ExitStack) -> str:
        permit = secrets.token_urlsafe(24)
        self._permits[permit] = (going, held)
        if len(self._permits) > _MOST_PERMITS:
            _, (forgotten, busy) = self._permits.popitem(last=False)
            busy.close()
            logger.warning("nobody said what came of %s: it stays in doubt", forgotten.action.name)
        return permit


def _judged(action: Action, verdict: Verdict) -> Decided:
    return Decided(
        verdict="done" if verdict.done else verdict.kind,
        action=action.identity,
        reasons=list(verdict.reasons),
        risk=verdict.risk.level,
        prediction=None if verdict.prediction is None else verdict.prediction.as_json(),
        approval=verdict.approval,
        arguments=None if verdict.arguments is None else dict(verdict.arguments),
    )


def _wire(result: ToolResult) -> dict[str, Json]:
    return {**stored(result), "_meta": dict(result.meta)}


def _given(answer: BaseModel) -> Response:
    return Response(answer.model_dump_json(), media_type="application/json")


async def _read(request: Request, model: type[_Model]) -> _Model:
    try:
        # What the caller executes is what it sent, however it reads that itself: a text that two readers may take for
        # different calls is not judged.
        read = read_json if model is Decide else json.loads
        said = read((await request.body()).decode())
        if is_too_deep(said):
            raise _RequestError(400, "the request is nested too deeply")
        return model.model_validate(said)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        raise _RequestError(400, f"{'/'.join(map(str, first['loc'])) or 'request'}: {first['msg']}") from None
    except (ValueError, RecursionError) as problem:
        raise _RequestError(400, f"the request is not JSON: {problem}") from None
