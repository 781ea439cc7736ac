"""Formulas: atoms joined by `&&` and `||`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .atoms import Atom

__all__ = ["Formula"]


@dataclass(frozen=True, slots=True)
class Formula:
    """Atoms and smaller formulas, all of which hold, or one of which does."""

    parts: tuple[Atom | Formula, ...]
    join: Literal["&&", "||"] = "&&"

    @property
    def rows(self) -> int:
        """The rows for which it holds."""
        found = self.parts[0].rows
        for part in self.parts[1:]:
            found = found & part.rows if self.join == "&&" else found | part.rows
        return found

    @property
    def cost(self) -> int:
        """That of the parts, and one for each joint."""
        return sum(part.cost for part in self.parts) + len(self.parts) - 1

    @property
    def source(self) -> str:
        """The CEL source."""
        return f" {self.join} ".join(self._side(part) for part in self.parts)

    def _side(self, part: Atom | Formula) -> str:
        loose = isinstance(part, Formula) and len(part.parts) > 1 and part.join == "||"
        return f"({part.source})" if loose and self.join == "&&" and len(self.parts) > 1 else part.source

    def atoms(self) -> tuple[Atom, ...]:
        """All atoms in it."""
        return tuple(atom for part in self.parts for atom in ((part,) if isinstance(part, Atom) else part.atoms()))

    def replaced(self, old: Atom, new: Atom) -> Formula:
        """With another atom in place of one."""
        parts = tuple(
            (new if part is old else part) if isinstance(part, Atom) else part.replaced(old, new) for part in self.parts
        )
        return Formula(parts, self.join)
