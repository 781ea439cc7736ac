"""Rehearsed tools as LangChain tools: `pip install 'envace-sdk[langchain]'`."""

from __future__ import annotations

from .tools import langchain_tools

__all__ = ["langchain_tools"]
