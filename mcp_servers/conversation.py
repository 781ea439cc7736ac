"""Questions that a recorded server asked in the middle of a request, put to a client of either era.

A client of the stateless era gets them as a result, and calls again with its answers; one of the handshake era gets
each as a request of the server.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NoReturn

from mcp import MCPError
from mcp.types import INVALID_PARAMS, MISSING_REQUIRED_CLIENT_CAPABILITY

from envace_sdk.errors import SchemaError
from envace_sdk.json import Json
from envace_sdk.jsonschema import compile_schema
from envace_sdk.recordings import Client, Dialogues, Turn

from .callers import Context, ask
from .eras import Era

__all__ = ["Conversation", "Questions"]

_NEEDS: Final = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
"""The capability of a client that a question needs."""
_RESULTS: Final = {
    "sampling/createMessage": ("role", "content"),
    "roots/list": ("roots",),
    "elicitation/create": ("action",),
}
"""The members that an answer must have."""


class Questions(Exception):  # noqa: N818  not an error: the request is answered with it
    """What is to be asked before a request can be answered; `wire` is the result that asks it."""

    def __init__(self, turn: Turn) -> None:
        super().__init__("the client is asked first")
        self.turn = turn
        self.wire: dict[str, Any] = {
            "resultType": "input_required",
            "inputRequests": {name: dict(one) for name, one in turn.asks.items()},
        }
        if turn.state is not None:
            self.wire["requestState"] = turn.state


class Conversation:
    """Leads a client through the recorded questions of one request; `before` is called before each turn is asked."""

    def __init__(
        self,
        dialogues: Dialogues,
        context: Context,
        client: Client,
        era: Era,
        before: Callable[[Turn], Awaitable[None]],
    ) -> None:
        self._dialogues = dialogues
        self._context = context
        self._client = client
        self._era = era
        self._before = before

    async def lead(self, method: str, params: Mapping[str, Json]) -> tuple[Json, ...]:
        """The recorded answers that are nearest to the client's, turn by turn; none where nothing was asked.

        Raises:
            Questions: a client of the stateless era must be asked first.
            MCPError: the client cannot do what is asked of it, or answers questions that were not asked.
        """
        request = {name: value for name, value in params.items() if name not in ("inputResponses", "requestState")}
        key = self._dialogues.key(method, request)
        turn = self._dialogues.first(key, self._client)
        answers: Mapping[str, Json] | None = None
        if "inputResponses" in params or "requestState" in params:
            given = params.get("inputResponses")
            answers = self._dialogues.answers(given if isinstance(given, dict) else {})
            resumed = self._dialogues.find(key, params.get("requestState"), answers, self._client)
            if resumed is None and params.get("requestState") is not None:
                self._refuse(key)
            turn, answers = (resumed, answers) if resumed is not None else (turn, None)
        path: tuple[Json, ...] = ()
        while turn is not None:
            if answers is None:
                self._require(turn)
                await self._before(turn)
                if self._era.is_stateless:
                    raise Questions(turn)
                answers = await self._asked(turn)
            found = turn.exactly(answers) or (turn.nearly(answers) if _fit(turn, answers) else None)
            if found is None and self._era.is_stateless:
                raise Questions(turn)
            if found is None:
                raise MCPError(
                    INVALID_PARAMS, f"no such answers are recorded: {sorted(answers)} of {sorted(turn.asks)}"
                )
            path, answers = (*turn.path, dict(found[0])), None
            turn = found[1]
        return path

    async def _asked(self, turn: Turn) -> Mapping[str, Json]:
        answers: dict[str, Json] = {}
        for name, question in turn.asks.items():
            try:
                answers[name] = await ask(self._context, question["method"], question["params"])
            except MCPError as error:
                answers[name] = {"error": error.error.model_dump(exclude_none=True)}
        return self._dialogues.answers(answers)

    def _require(self, turn: Turn) -> None:
        """Ask nothing that the client has not said it can do, unless its refusal is on record."""
        missing = [
            need
            for question in turn.asks.values()
            if (need := _NEEDS.get(question["method"])) and need not in self._client.capabilities
        ]
        # Else it was asked all the same when it was recorded.
        recorded = any(need in turn.client.capabilities for need in missing)
        if missing and recorded:
            raise MCPError(
                MISSING_REQUIRED_CLIENT_CAPABILITY,
                f"This request needs a client that declares: {', '.join(missing)}",
                {"requiredCapabilities": {need: {} for need in missing}},
            )

    def _refuse(self, key: str) -> NoReturn:
        said = self._dialogues.refusal(key)
        if said is None:
            raise MCPError(INVALID_PARAMS, "Invalid request state")
        raise MCPError(int(said.get("code", INVALID_PARAMS)), str(said.get("message", "")), said.get("data"))


def _fit(turn: Turn, answers: Mapping[str, Json]) -> bool:
    """Whether each question has an answer that can be one."""
    return all(name in answers and _fits(question, answers[name]) for name, question in turn.asks.items())


def _fits(question: Mapping[str, Json], answer: Json) -> bool:
    if not isinstance(answer, Mapping):
        return False
    if set(answer) == {"error"}:
        return True
    method = question["method"]
    if any(member not in answer for member in _RESULTS.get(method, ())):
        return False
    if method != "elicitation/create" or answer["action"] != "accept":
        return True
    schema = question["params"].get("requestedSchema")
    if schema is None:
        return True
    try:
        return compile_schema(schema).is_valid(answer.get("content") or {})
    except SchemaError:
        return True
