"""What a fault makes of a call: an answer of its own, or the true one spoiled on its way."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Final

from envace_sdk.errors import DisconnectedError, TimedOutError
from envace_sdk.faults import Disconnect, Error, Latency, Malformed, NotFound, Permission, RateLimit, Strike, Timeout
from envace_sdk.faults.malform import malform
from envace_sdk.tools.model import Tool, ToolCall, ToolResult

from .base import Delivery, Outcome, Rehearsal

__all__ = ["deliver", "refused", "spoiled"]

logger = logging.getLogger(__name__)

_OUTCOMES: Final[dict[type, Outcome]] = {
    RateLimit: "rate_limited",
    Permission: "permission_error",
    NotFound: "not_found",
}


def refused(strike: Strike, call: ToolCall) -> Rehearsal | None:
    """The answer of a fault that keeps the call from happening; None if it happens, or no fault strikes."""
    fault = strike.fault
    match fault:
        case None | Latency() | Malformed() | Timeout(applied=True) | Disconnect(applied=True):
            return None
        case Error():
            outcome: Outcome = fault.outcome
        case _:
            outcome = _OUTCOMES.get(type(fault), "unknown")
    _log(strike, call)
    result = ToolResult.text(strike.text, is_error=True)
    return Rehearsal(
        result,
        strike.state,
        "fault",
        outcome,
        reason=strike.reason,
        writes=frozenset(),
        fault=fault.kind,
        delivery=_delivery(strike),
    )


def spoiled(rehearsal: Rehearsal, strike: Strike, tool: Tool, call: ToolCall) -> Rehearsal:
    """The rehearsal of a call that happened, with what the fault does to its answer."""
    fault = strike.fault
    if fault is None:
        return rehearsal
    _log(strike, call)
    marked = replace(
        rehearsal,
        fault=fault.kind,
        reason=f"{strike.reason}; {rehearsal.reason}" if rehearsal.reason else strike.reason,
        delivery=_delivery(strike),
    )
    match fault:
        case Malformed():
            # What was recorded beside the answer is not sent with a broken one.
            broken = malform(rehearsal.result, tool, fault.breaks)
            return replace(marked, result=broken, layer="fault", outcome="unknown", fixture=None)
        case Timeout() | Disconnect():
            lost = ToolResult.text(strike.text, is_error=True)
            return replace(marked, result=lost, layer="fault", outcome="unknown", fixture=None)
    return marked


async def deliver(rehearsal: Rehearsal) -> Rehearsal:
    """The rehearsal, when and if its answer arrives: what a caller sees of a call that has happened.

    Raises:
        TimedOutError, DisconnectedError: a fault loses the answer. A timeout without a bound waits until it is
            cancelled.
    """
    delivery = rehearsal.delivery
    if delivery is None:
        return rehearsal
    await asyncio.sleep(delivery.delay)
    if delivery.lost is None:
        return rehearsal
    text, meta = rehearsal.result.first_text, rehearsal.result.meta
    if delivery.lost == "disconnect":
        raise DisconnectedError(text, meta)
    if delivery.bound is None:
        await asyncio.Event().wait()
    else:
        await asyncio.sleep(delivery.bound)
    raise TimedOutError(text, meta)


def _delivery(strike: Strike) -> Delivery | None:
    match strike.fault:
        case Timeout(bound=bound):
            return Delivery(strike.delay, "timeout", bound)
        case Disconnect():
            return Delivery(strike.delay, "disconnect")
    return Delivery(strike.delay) if strike.delay else None


def _log(strike: Strike, call: ToolCall) -> None:
    logger.warning("%s: %s, at matching call %d", call.name, strike.reason, strike.nth)
