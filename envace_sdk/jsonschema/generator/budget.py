"""How much may be tried. It counts steps, not seconds, so that the same seed always finds the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from .dead_ends import OutOfBoundsError, TooLargeError
from .settle import LARGEST

__all__ = ["Budget"]

_WASTED: Final = 18_000
_LEAST_SHARE: Final = 500
_CAREFUL: Final = 1500
_PLENTY: Final = 150
_ROOM_TO_MEND: Final = 200


class Budget:
    """What a search has made, and what it may still make in vain."""

    def __init__(self) -> None:
        self.tally = 0
        """What was done so far: schemas added up, and a few for each value made."""
        self._made = 0
        self._most_made = LARGEST
        self._wasted = 0
        self._stop = _WASTED

    @property
    def plenty(self) -> bool:
        """Whether an instance is large enough to be read, and only what must be there is still added."""
        return self._made > _PLENTY

    @property
    def careful(self) -> bool:
        """Whether enough went wrong that it is worth the time to look ahead."""
        return self._wasted > _CAREFUL

    def make(self, *, from_known: bool) -> None:
        """Count a value. What is known bounds itself, and there may be much of it to be mended.

        Raises:
            TooLargeError: there are more of them than an instance may have.
        """
        self._made += 1
        self.tally += 4
        if from_known:
            self._most_made += _ROOM_TO_MEND
            self._wasted -= _ROOM_TO_MEND
        if self._made > self._most_made:
            raise TooLargeError("an instance would be too large")

    def waste(self, since: int) -> None:
        """Count what was done in vain since the tally stood at `since`.

        Raises:
            OutOfBoundsError: that was too much.
        """
        self._wasted += 1 + self.tally - since
        if self._wasted > self._stop:
            raise OutOfBoundsError("none was found within the bounds of the search")

    @contextmanager
    def share(self) -> Iterator[None]:
        """For one part of an instance: it must not use up what is left for the whole."""
        stop = self._stop
        self._stop = min(stop, self._wasted + max(_LEAST_SHARE, (stop - self._wasted) // 2))
        try:
            yield
        finally:
            self._stop = stop

    @property
    def is_spent(self) -> bool:
        """Whether nothing may be wasted any more."""
        return self._wasted > self._stop
