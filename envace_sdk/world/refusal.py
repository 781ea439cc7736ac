"""Ways in which interpreting a call ends early."""

from __future__ import annotations

from .dynamics import Status

__all__ = ["RefusedError", "UnseenError"]


class RefusedError(Exception):
    """The call ends in an error that the dynamics foresee. Never leaves the interpreter."""

    def __init__(self, status: Status, text: str, *, requirement: int | None = None) -> None:
        super().__init__(text)
        self.status: Status = status
        self.text = text
        self.requirement = requirement
        """Its place among the rule's requirements, if it is one of them that does not hold."""


class UnseenError(Exception):
    """What the call answers is not known here: it is about an entity that only the real world may have, or its rule
    says no more than that nothing changes. Never leaves the interpreter.
    """
