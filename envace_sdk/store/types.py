"""Column types that take what databases refuse: NUL, unpaired surrogates, integers of any size, aware times.

Neither SQLite's nor PostgreSQL's own JSON is used: PostgreSQL's JSONB refuses `\\u0000`, rewrites numbers and forgets
the order of keys. A document is JSON in plain ASCII text, so that both databases give back exactly what they got.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator

from envace_sdk.errors import StoreError
from envace_sdk.json import Json

__all__ = ["EscapedText", "JsonText", "UtcTime", "json_text", "lookup"]

_REFUSED = re.compile("[\\\\\x00\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


class EscapedText(TypeDecorator[str]):
    """Any Python text. Backslash, NUL and surrogates are stored as `\\uXXXX`; the rest stays readable."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """To the database."""
        return None if value is None else _REFUSED.sub(lambda found: f"\\u{ord(found[0]):04x}", value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        """From the database."""
        if value is None:
            return None
        if not isinstance(value, str):  # SQLite keeps values of any type in any column
            raise StoreError("a stored value is damaged: it is no text")
        return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), value)


class JsonText(TypeDecorator[Any]):
    """Any JSON value as ASCII text, key order kept. Null in SQL is Python's None only where there is no value."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Json, dialect: Dialect) -> str | None:  # noqa: ARG002
        """To the database."""
        return None if value is None else json_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Json:  # noqa: ARG002
        """From the database."""
        try:
            return None if value is None else json.loads(value)
        except (ValueError, RecursionError) as error:
            raise StoreError(f"a stored value is damaged: {error}") from error


def json_text(value: Json) -> str:
    """The text that is stored for a JSON value: equal for the same value with its keys in the same order only.

    Raises:
        StoreError: it is not JSON, is nested too deeply, or holds an integer too long for Python to write.
    """
    try:
        return json.dumps(value, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"a value cannot be stored: {error}") from error


class UtcTime(TypeDecorator[datetime]):
    """An aware time; SQLite, which knows no zones, keeps it in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """To the database."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """From the database."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def lookup(*parts: str) -> bytes:
    """A key of fixed size for texts of any length (a PostgreSQL index takes no more than 2,704 bytes)."""
    hashed = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        hashed.update(b"%d:" % len(encoded))
        hashed.update(encoded)
    return hashed.digest()
