"""The dynamics file as inference writes it, and whether people have edited it since."""

from __future__ import annotations

import hashlib
import re

from envace_sdk.world.dynamics import Dynamics

__all__ = ["file_text", "is_untouched"]

_HEADER = (
    "# What each tool does to the world, as `envace-sdk infer` reads it from the definitions alone. Yours to edit:\n"
    "# a file changed by hand is not overwritten.\n"
    "# inferred sha256:{}\n"
)
_DIGEST = re.compile(r"^# inferred sha256:([0-9a-f]{64})\n", re.MULTILINE)


def file_text(dynamics: Dynamics) -> str:
    """The text of a dynamics file that says it was inferred, with a digest by which later edits show."""
    body = dynamics.dump()
    return _HEADER.format(_digest(body)) + body


def is_untouched(text: str) -> bool:
    """Whether the text is as inference wrote it."""
    text = text.replace("\r\n", "\n")
    found = _DIGEST.search(text)
    return found is not None and found.group(1) == _digest(text[found.end() :])


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
