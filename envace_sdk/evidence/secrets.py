"""Redaction by a key of this installation: the same secret is recognised again, and none can be guessed.

A bare hash of a short secret is no protection: whoever has it tries all PINs. An HMAC is, while the key stays here.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import platformdirs

from envace_sdk.errors import EvidenceError
from envace_sdk.redaction import SecretRedactor

__all__ = ["KEY_VARIABLE", "install_key", "keyed_redactor"]

KEY_VARIABLE: Final = "ENVACE_REDACTION_KEY"
"""Several machines that share a ledger set it to the same secret text."""
_BYTES: Final = 32


def install_key(path: Path | None = None) -> bytes:
    """The key of this installation: from the environment, else from a file that only its user can read.

    The file is made when it is missing.

    Raises:
        EvidenceError: the file cannot be made or read, or is not a key.
    """
    told = os.environ.get(KEY_VARIABLE)
    if told:
        return hashlib.sha256(told.encode("utf-8", "surrogateescape")).digest()
    file = path or platformdirs.user_data_path("envace", appauthor=False) / "redaction.key"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            _make(file)
        key = file.read_bytes()
    except OSError as error:
        raise EvidenceError(f"{file}: the key cannot be kept: {error.strerror or error}; set {KEY_VARIABLE}") from error
    if len(key) != _BYTES:
        raise EvidenceError(f"{file}: not a key of {_BYTES} bytes: remove it, or set {KEY_VARIABLE}")
    return key


def _make(file: Path) -> None:
    # Written apart and linked, so that whoever comes second finds a whole key and takes that one.
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        opened.write(secrets.token_bytes(_BYTES))
    try:
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def keyed_redactor(key: bytes, *, keys: Sequence[str] = (), patterns: Sequence[str] = ()) -> SecretRedactor:
    """A redactor that leaves `[redacted:…]` with 64 bits of an HMAC in a secret's place.

    Args:
        key: the secret that makes them unguessable.
        keys: further names of fields that hold secrets.
        patterns: further regular expressions of what is secret.

    Raises:
        FixtureError: a pattern is not a regular expression.
    """

    def replace(secret: str) -> str:
        mac = hmac.new(key, secret.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"[redacted:{mac.hexdigest()[:16]}]"

    return SecretRedactor(keys, patterns, replace=replace, whole=True)
