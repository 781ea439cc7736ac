"""How much work may go into one explanation."""

from __future__ import annotations

__all__ = ["Budget"]

_VALUES = 200_000


class Budget:
    """Counts values computed or looked at. A count, not a clock: the same examples always give the same answer."""

    def __init__(self, values: int = _VALUES) -> None:
        self._values = values
        self.left = values

    def renew(self) -> None:
        """Begin anew."""
        self.left = self._values

    def spend(self, values: int) -> None:
        """Account for work."""
        self.left -= values

    @property
    def used(self) -> int:
        """Work done since it was new."""
        return self._values - self.left

    @property
    def spent(self) -> bool:
        """Whether there is nothing left."""
        return self.left <= 0
