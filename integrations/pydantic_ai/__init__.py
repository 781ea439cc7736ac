"""The guard for Pydantic AI agents; needs `pydantic-ai-slim`."""

from __future__ import annotations

from .capability import Rehearsal
from .resuming import approvals, resume
from .toolset import GuardedToolset

__all__ = ["GuardedToolset", "Rehearsal", "approvals", "resume"]
