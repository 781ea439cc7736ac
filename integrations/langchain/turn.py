"""All calls of one turn judged before the first of them runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import ToolCall

from envace_sdk.guard import Action, Guard
from envace_sdk.json import Json

from .calls import Servers, server_of
from .doorbell import wait_for
from .quiet import Quiet

__all__ = ["barrier", "distinct", "turn_of"]


def turn_of(state: Any, call_id: str | None) -> str:
    """What tells the turn that a call belongs to from all others: the message that the model made the call in."""
    history = state.get("messages", []) if isinstance(state, Mapping) else []
    for message in reversed(history):
        if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls):
            return f"turn/{message.id}"
    return ""


def distinct(answer: AIMessage) -> AIMessage | None:
    """The model's message with an id of its own for each call; None where they all have one."""
    taken: set[str] = set()
    calls: list[ToolCall] = []
    for number, call in enumerate(answer.tool_calls, 1):
        name = call["id"] or f"call_{number}"
        while name in taken:
            name = f"{name}_{number}"
        taken.add(name)
        calls.append({**call, "id": name})
    return None if calls == answer.tool_calls else answer.model_copy(update={"tool_calls": calls})


def barrier(guard: Guard, answer: AIMessage, thread: str, servers: Servers) -> None:
    """Interrupt the graph until a person has decided all that they must decide about the calls of a turn.

    Tools that the guard does not know are left to the moment when they are called.
    """
    actions = [
        Action(
            call["name"],
            call["args"],
            server_of(call["name"], servers),
            call["id"] or "",
            thread,
            f"turn/{answer.id}",
        )
        for call in answer.tool_calls
        if call["name"] in guard.environment.toolset
    ]
    wait_for(guard.ledger, lambda: _asked(guard, actions))


def _asked(guard: Guard, actions: Sequence[Action]) -> list[dict[str, Json]]:
    """What a person must decide about the actions, as an interrupt of one of them would say it."""
    found: list[dict[str, Json]] = []
    for action in actions:
        with Quiet():
            verdict = guard.decide_sync(action, {})
        if verdict.kind == "ask" and verdict.approval is not None and verdict.prediction is not None:
            found.append(
                {
                    "approval": verdict.approval,
                    "tool": action.tool,
                    "server": action.server,
                    "arguments": dict(action.arguments),
                    "digest": action.digest,
                    "call_id": action.call_id,
                    "predicted": str(verdict.prediction),
                    "change": verdict.prediction.change.as_json()["changes"],
                    "risk": verdict.risk.level,
                    "risk_reasons": list(verdict.risk.reasons),
                    "reasons": list(verdict.reasons),
                }
            )
    return found
