"""An answer after a precedent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from envace_sdk.tools.model import ToolResult

from .cases import Case
from .features import Features

__all__ = ["Kind", "Told"]

Kind = Literal["repeated", "twin", "told", "followed"]
"""As before in this world; as the very same call elsewhere; as one like it; as what was shown and has changed since."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is answered, and what it rests on."""

    result: ToolResult
    kind: Kind
    case: Case | None = None
    """The precedent."""
    is_likely: bool = True
    """Whether the form of the answer was hardly in doubt."""
    start: str = ""
    """The episode that began as this world seems to have, if that is what the answer goes back to."""
    after: tuple[str, ...] = ()
    """The tools that had succeeded before, as far as that is remembered."""

    @property
    def episode(self) -> str:
        """The episode it was told after."""
        return self.start or ("" if self.case is None else self.case.episode)

    @property
    def evidence(self) -> str:
        """Answers of which the same can be expected are alike in this."""
        return f"{self.kind} {'error' if self.result.is_error else 'success'}{'' if self.is_likely else ' in doubt'}"

    @property
    def situation(self) -> Features:
        """What may decide how far it can be trusted."""
        return {"evidence": self.evidence, **{f"after:{tool}": "yes" for tool in self.after}}

    @property
    def reason(self) -> str:
        """What it rests on, in words."""
        if self.case is None:
            return "answered so before, and hardly changed since"
        if self.kind == "followed":
            return "what was shown before, and what was done since" + (
                f", as {self.start!r} began" if self.start else ""
            )
        place = f"call {self.case.fixture.position + 1} of recording {self.case.episode!r}"
        return f"the same call was answered so as {place}" if self.kind == "twin" else f"after {place}"
