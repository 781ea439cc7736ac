"""How much work may go into one explanation."""

from __future__ import annotations

__all__ = ["Budget"]


class Budget:
    """Counts values computed or looked at. A count, not a clock: the same examples always give the same answer."""

    def __init__(self, values: int = 200_000) -> None:
        self.left = values

    def spend(self, values: int) -> None:
        """Account for work."""
        self.left -= values

    @property
    def spent(self) -> bool:
        """Whether there is nothing left."""
        return self.left <= 0
