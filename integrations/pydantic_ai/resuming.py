"""Letting an agent run on after people have answered."""

from __future__ import annotations

from collections.abc import Mapping

from envace_sdk.integrations.telling import approval_in
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults

from envace_sdk.json import Json

__all__ = ["approvals", "resume"]


def approvals(requests: DeferredToolRequests) -> dict[str, Mapping[str, Json]]:
    """What the guard asks, by tool call id: the payloads of `ApprovalRequired`, with the approval's id in each."""
    found = ((call.tool_call_id, approval_in(requests.metadata.get(call.tool_call_id))) for call in requests.approvals)
    return {call_id: payload for call_id, payload in found if payload is not None}


def resume(requests: DeferredToolRequests, others: DeferredToolResults | None = None) -> DeferredToolResults:
    """The results with which to run the agent again: `agent.run(message_history=…, deferred_tool_results=…)`.

    They let each call that the guard paused come before it again, and it goes by its ledger: what was approved runs,
    what was rejected or edited is told to the model, and what nobody has answered is asked again.

    Args:
        requests: the output of the run that paused.
        others: results for calls that were deferred for other reasons.
    """
    results = DeferredToolResults(approvals=dict.fromkeys(approvals(requests), True))
    if others is not None:
        results.update(others)
    return results
