"""Calls of tools in what others record: traces of OpenTelemetry and LangSmith, and lists of chat messages."""

from .reading import Foreign, recognised

__all__ = ["Foreign", "recognised"]
