"""How a search for a value ends without one."""

from __future__ import annotations

__all__ = ["DeadEndError", "OutOfBoundsError", "TooLargeError"]


class DeadEndError(Exception):
    """Nothing fits here."""

    def __init__(self, reason: str, pointer: str = "", size: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.pointer = reason, pointer
        self.size = size
        """How many schemas were added up to find out."""


class OutOfBoundsError(DeadEndError):
    """The search has gone on for long enough; it is not to be taken up again elsewhere."""


class TooLargeError(OutOfBoundsError):
    """What must be there is more than there may be."""
