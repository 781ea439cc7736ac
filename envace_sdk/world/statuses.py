"""What kind of error a text tells of, by the words in which servers usually say it."""

from __future__ import annotations

from typing import Final

from .dynamics import Status

__all__ = ["status_of"]

_SAID: Final[tuple[tuple[Status, tuple[str, ...]], ...]] = (
    (
        "permission_error",
        (
            "permission",
            "denied",
            "not authenticated",
            "unauthor",
            "forbidden",
            "not allowed",
            "log in",
            "logged in",
            "sign in",
            "signed in",
        ),
    ),
    ("rate_limited", ("rate limit", "too many")),
    (
        "not_found",
        (
            "not found",
            "no such",
            "does not exist",
            "doesn't exist",
            "not exist",
            "unknown",
            "no item",
            "could not find",
        ),
    ),
    ("conflict", ("already", "exists", "conflict", "duplicate", "in use", "taken", "insufficient", "not empty")),
)


def status_of(text: str) -> Status:
    """The kind of error that a text is likely to tell of."""
    low = text.lower()
    return next((status for status, words in _SAID if any(word in low for word in words)), "validation_error")
