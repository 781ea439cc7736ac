"""When the real server is asked, and when the recording answers."""

from __future__ import annotations

from enum import Enum

__all__ = ["RecordMode"]


class RecordMode(Enum):
    """As in the cassettes of other recorders."""

    NONE = "none"
    """Only the recording answers; what it does not hold is an error. The real server is never started."""
    NEW = "new"
    """What is recorded is answered from the recording; everything else goes to the real server and is added."""
    ONCE = "once"
    """Record while there is no recording yet; from then on as `none`."""
    ALL = "all"
    """Everything goes to the real server and is added; where a call is recorded twice, the later session counts."""

    @classmethod
    def parse(cls, text: str) -> RecordMode:
        """The mode of that name. Raises: ValueError, which names the modes there are."""
        try:
            return cls(text)
        except ValueError:
            known = ", ".join(mode.value for mode in cls)
            raise ValueError(f"{text!r} is no record mode; there are: {known}") from None
