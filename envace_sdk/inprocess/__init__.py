"""Rehearsed tools without MCP: plain functions, and OpenAI function specs with an executor."""

from __future__ import annotations

from .openai import OpenAIFunctions
from .tools import Call, RehearsedTools

__all__ = ["Call", "OpenAIFunctions", "RehearsedTools"]
