"""Exceptions that are no failures: how frameworks pause a run, cancel it, or leave a frame."""

from __future__ import annotations

from typing import Final

from envace_sdk.errors import LostAnswerError

__all__ = ["is_control_flow", "is_lost_answer", "is_pause", "register_control_flow"]

_PAUSES: Final = frozenset(
    {
        "GraphInterrupt",  # langgraph
        "CallDeferred",  # pydantic-ai
        "ApprovalRequired",  # pydantic-ai, and ours
        "InterruptException",  # strands
    }
)
_NAMES: Final = _PAUSES | {
    "GraphBubbleUp",  # langgraph: pauses, and commands to the parent graph
    "MiddlewareTermination",  # agent-framework
}
"""By name: the core imports none of the frameworks. Subclasses count, whatever they are called."""

_LOST: Final = ("Timeout", "Transport", "Network", "Connect", "EndOfStream", "ClosedResource")
_registered: list[type[BaseException]] = []


def register_control_flow(*kinds: type[BaseException]) -> None:
    """Let exceptions of these types pass through the guard untouched, as those of the known frameworks do."""
    _registered.extend(kind for kind in kinds if kind not in _registered)


def is_control_flow(error: BaseException) -> bool:
    """Whether an exception pauses, cancels or leaves, instead of telling that something went wrong."""
    if not isinstance(error, Exception) or isinstance(error, tuple(_registered)):
        return True
    if isinstance(error, BaseExceptionGroup):
        return any(map(is_control_flow, error.exceptions))
    return any(kind.__name__ in _NAMES for kind in type(error).__mro__)


def is_pause(error: BaseException) -> bool:
    """Whether an exception says that the run stops here and will come back to the same call, from its beginning."""
    return any(kind.__name__ in _PAUSES for kind in type(error).__mro__)


def is_lost_answer(error: BaseException) -> bool:
    """Whether an exception leaves open if the call happened: a timeout, or a connection that broke.

    Those of HTTP and MCP clients are known by their names.
    """
    if isinstance(error, LostAnswerError | TimeoutError | ConnectionError):
        return True
    names = [kind.__name__ for kind in type(error).__mro__]
    return any(part in name for name in names for part in _LOST)
