"""The guard for agents of the OpenAI Agents SDK; needs `openai-agents`."""

from __future__ import annotations

from .tool_guard import ToolGuard

__all__ = ["ToolGuard"]
