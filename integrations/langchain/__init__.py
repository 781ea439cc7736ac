"""LangChain: rehearsed tools for it, and the guard for its agents and tools.

`pip install 'envace-sdk[langchain]'`. `langchain_tools` and `GuardedTool` need langchain-core alone; all else is for
LangChain 1.x with LangGraph, and is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from .guardedtool import GuardedTool
from .tools import langchain_tools

if TYPE_CHECKING:
    from .doorbell import approvals_of, aresume, resume, resumption
    from .middleware import CLAIMS, RehearsalMiddleware
    from .wholetask import RehearsedRun, RehearseThenCommit

__all__ = [
    "CLAIMS",
    "GuardedTool",
    "RehearsalMiddleware",
    "RehearseThenCommit",
    "RehearsedRun",
    "approvals_of",
    "aresume",
    "langchain_tools",
    "resume",
    "resumption",
]

_LATER: Final = {
    "CLAIMS": "middleware",
    "RehearsalMiddleware": "middleware",
    "RehearseThenCommit": "wholetask",
    "RehearsedRun": "wholetask",
    "approvals_of": "doorbell",
    "aresume": "doorbell",
    "resume": "doorbell",
    "resumption": "doorbell",
}


def __getattr__(name: str) -> Any:
    """What needs LangChain's agents."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_LATER[name]}", __name__), name)
