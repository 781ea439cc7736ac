"""Log lines that quote strangers: one record is one line, and plays no tricks on a terminal."""

from __future__ import annotations

import logging
import sys

from envace_sdk.tools.finding import printable

__all__ = ["log_to_stderr"]


def log_to_stderr(level: str) -> None:
    """Log to standard error, warnings of libraries included."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Plain("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)


class _Plain(logging.Formatter):
    """Spells what is not printable as escapes, and indents tracebacks, so that none looks like a record."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  the name is logging's
        return printable(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        first, *more = super().format(record).split("\n")
        return "\n".join([first, *(f"    {printable(line)}" for line in more)])
