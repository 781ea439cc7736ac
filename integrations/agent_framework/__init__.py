"""The guard for agents of Microsoft's Agent Framework; needs `agent-framework-core`."""

from __future__ import annotations

from .middleware import Rehearsal
from .resuming import approvals, resume

__all__ = ["Rehearsal", "approvals", "resume"]
