"""What the views share: the pages, the keys, and the places they look into."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException

from envace_sdk.ledger import Ledger

from .examined import Examined
from .ledgers import Ledgers
from .pages import Pages
from .security import Keys
from .toolsets import Toolsets

__all__ = ["Studio"]


@dataclass(frozen=True, slots=True)
class Studio:
    """One studio."""

    keys: Keys
    pages: Pages
    ledgers: Ledgers
    toolsets: Toolsets
    runs: tuple[Path, ...]
    """Folders of training runs, or of folders of them."""
    exam: Examined | None
    by: str
    """Whose answers it writes."""

    def ledger(self) -> Ledger:
        """The ledger. Raises: HTTPException (404) while there is none; StoreError."""
        found = self.ledgers.get()
        if found is None:
            raise HTTPException(404, f"There is no ledger at {self.ledgers.place} yet: a guard makes it.")
        return found
