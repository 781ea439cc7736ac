"""Why a schema is refused."""

from __future__ import annotations

from .dialect import Path

__all__ = ["BadSchemaError"]


class BadSchemaError(Exception):
    """Where a schema is wrong, and what is wrong there."""

    def __init__(self, path: Path, rule: str, reason: str) -> None:
        super().__init__(reason)
        self.path, self.rule, self.reason = path, rule, reason
