"""The guard as a capability of an agent: it covers every tool that the agent executes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.toolsets import AbstractToolset

from envace_sdk.guard import Context, Guard

from .toolset import GuardedToolset

__all__ = ["Rehearsal"]

Deps = TypeVar("Deps")


@dataclass
class Rehearsal(AbstractCapability[Deps]):
    """`Agent(…, capabilities=[Rehearsal(guard)])`: each call of the agent's toolsets is rehearsed and judged first.

    It is the innermost capability: what other capabilities make of the arguments is what is judged, and one that
    retries a call comes through here again. Output tools, and tools that a provider executes itself, pass by.

    Raises (from a run):
        As `GuardedToolset`.
    """

    guard: Guard
    server: str = ""
    """The server whose tools they are, as the guard's policy calls it."""
    context: Callable[[RunContext[Any]], Context] | None = None
    """What a person should know of the run besides the call; by default, the user's prompt."""

    def get_ordering(self) -> CapabilityOrdering:
        """Inside all others."""
        return CapabilityOrdering(position="innermost")

    def get_wrapper_toolset(self, toolset: AbstractToolset[Deps]) -> AbstractToolset[Deps]:
        """The agent's tools, guarded."""
        return GuardedToolset(toolset, guard=self.guard, server=self.server, context=self.context)
