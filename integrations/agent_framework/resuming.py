"""Letting an agent run on after people have answered."""

from __future__ import annotations

from collections.abc import Mapping

from agent_framework import AgentResponse, AgentResponseUpdate, Content, Message
from envace_sdk.integrations.telling import approval_in

from envace_sdk.json import Json

__all__ = ["approvals", "resume"]


def approvals(response: AgentResponse | AgentResponseUpdate) -> list[Mapping[str, Json]]:
    """What the guard asks: the payloads of `ApprovalRequired`, with the approval's id in each."""
    found = (approval_in(request.additional_properties) for request in response.user_input_requests)
    return [payload for payload in found if payload is not None]


def resume(response: AgentResponse, others: list[Content] | None = None) -> Message:
    """The message with which to run the agent again, in the same session.

    It lets each call that the guard paused come before it again, and it goes by its ledger: what was approved runs,
    what was rejected or edited is told to the model, and what nobody has answered is asked again.

    Args:
        response: of the run that paused.
        others: responses to what somebody else asked.
    """
    ours = [request for request in response.user_input_requests if approval_in(request.additional_properties)]
    answers = [request.to_function_approval_response(True) for request in ours]
    return Message("user", [*answers, *(others or ())])
