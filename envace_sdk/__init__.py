"""Rehearsed tool servers for LLM agents: same tools, same schemas, same errors, and nothing real touched.

The names here are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import EnvaceError
    from .inprocess import RehearsedTools
    from .recordings import Recording
    from .rehearse import Environment, Rehearsal, Rehearser, Worlds
    from .tools import Fixture, Tool, ToolCall, ToolResult, Toolset
    from .world import Dynamics, State, World

__all__ = [
    "Dynamics",
    "EnvaceError",
    "Environment",
    "Fixture",
    "Recording",
    "Rehearsal",
    "RehearsedTools",
    "Rehearser",
    "State",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Toolset",
    "World",
    "Worlds",
]

_HOMES = {
    "errors": ("EnvaceError",),
    "inprocess": ("RehearsedTools",),
    "recordings": ("Recording",),
    "rehearse": ("Environment", "Rehearsal", "Rehearser", "Worlds"),
    "tools": ("Fixture", "Tool", "ToolCall", "ToolResult", "Toolset"),
    "world": ("Dynamics", "State", "World"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f".{home}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
