"""Payloads: what an entry is about, kept apart from the chain so that it can go.

The chain holds an HMAC of the payload's text under a key of its own. The key goes with the text: what is left in the
chain then says nothing about it, not even to who tries all candidates.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, bindparam, delete, insert, select

from envace_sdk.errors import TamperedError
from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.store.schema import ledger_payloads
from envace_sdk.store.types import json_text

__all__ = ["erase", "is_text", "keep", "read"]

_MOST: Final = 16 * 1024 * 1024
_TABLE = ledger_payloads.c
_INSERT = insert(ledger_payloads)
_SELECT = select(ledger_payloads).where(_TABLE.digest == bindparam("wanted"))
_DELETE = delete(ledger_payloads).where(_TABLE.digest == bindparam("wanted"))


def keep(connection: Connection, payload: Json) -> str:
    """Write a payload; its keyed digest. One over 16 MiB is replaced by `{"omitted": {"bytes": n}}`.

    Raises:
        StoreError: it is not JSON.
    """
    text = json_text(payload)
    if len(text) > _MOST:
        text = json_text({"omitted": {"bytes": len(text)}})
    key = secrets.token_bytes(32)
    digest = _digest(key, text)
    connection.execute(_INSERT, {"digest": digest, "key": key, "text": text})
    return digest


def read(connection: Connection, digest: str) -> Json | Unset:
    """A payload, or UNSET when it was erased. Raises: TamperedError when it is not what was written."""
    row = connection.execute(_SELECT, {"wanted": digest}).one_or_none()
    if row is None:
        return UNSET
    if not is_text(row.key, row.text, row.digest):
        raise TamperedError(f"the payload {digest[:12]}… is not as it was written")
    return json.loads(row.text)


def is_text(key: bytes, text: str, digest: str) -> bool:
    """Whether a digest is that of a text."""
    return hmac.compare_digest(_digest(key, text), digest)


def erase(connection: Connection, digests: Iterable[str]) -> None:
    """Remove payloads with their keys."""
    rows = [{"wanted": digest} for digest in digests]
    if rows:
        connection.execute(_DELETE, rows)


def _digest(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
