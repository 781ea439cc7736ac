"""The ledger that the studio shows: opened once it is there, since an agent may make it later."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from envace_sdk.ledger import Ledger
from envace_sdk.ledger.database import default_path

__all__ = ["Ledgers"]


class Ledgers:
    """Where the ledger is to be found.

    Args:
        where: a SQLite file or a database URL; None: the user's own.
        approvers: the roles of each person who may answer, as `Ledger.open` takes them.
    """

    def __init__(self, where: str | None, approvers: Mapping[str, list[str]] | None = None) -> None:
        self._url = where if where is not None and "://" in where else None
        self._path = default_path() if where is None else Path(where)
        self._approvers = approvers
        self._ledger: Ledger | None = None
        self._lock = threading.Lock()

    @property
    def place(self) -> str:
        """What it is called on a page: the file, or the URL without its password."""
        if self._ledger is not None:
            return self._ledger.database.place
        return "a database" if self._url is not None else str(self._path)

    def get(self) -> Ledger | None:
        """The ledger, or None while there is none. Raises: StoreError when it cannot be opened."""
        with self._lock:
            if self._ledger is None and (self._url is not None or self._path.is_file()):
                self._ledger = Ledger.open(self._url or self._path, approvers=self._approvers)
            return self._ledger

    def close(self) -> None:
        """Close it, if it was opened."""
        with self._lock:
            if self._ledger is not None:
                self._ledger.close()
                self._ledger = None
