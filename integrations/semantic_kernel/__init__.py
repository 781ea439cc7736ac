"""The guard for Semantic Kernel; needs `semantic-kernel`."""

from __future__ import annotations

from .filters import Rehearsal
from .resuming import approvals, resume

__all__ = ["Rehearsal", "approvals", "resume"]
