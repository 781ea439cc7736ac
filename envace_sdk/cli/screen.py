"""Standard output and error on a terminal: colours of our own, and nothing of what strangers wrote steers it."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any, Final

__all__ = ["guarded_terminals"]

_COLOURS: Final = (
    r"\x1b\[(?:(?:[0-79]|2[2-7]|[39][0-9]|4[0-9]|10[0-7]|[34]8;5;\d{1,3}|[34]8;2;\d{1,3};\d{1,3};\d{1,3});?)*m"
)
"""All but what conceals text."""
_CURSOR: Final = r"\x1b\[(?:\d{0,3}[AGJK]|\?25[hl])"
"""What progress is drawn with."""


@contextlib.contextmanager
def guarded_terminals() -> Iterator[None]:
    """For a block, escape what could steer a terminal on the streams that are one. What goes elsewhere stays as it is:
    whoever reads JSON from a pipe gets JSON.
    """
    before = sys.stdout, sys.stderr
    if sys.stdout.isatty():
        sys.stdout = _Screen(sys.stdout, _COLOURS)
    if sys.stderr.isatty():
        sys.stderr = _Screen(sys.stderr, f"{_COLOURS}|{_CURSOR}")
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Screen:
    """A text stream that spells all else than printable characters, line breaks and `kept` as escapes."""

    def __init__(self, stream: Any, kept: str) -> None:
        self._stream = stream
        self._parts = re.compile(f"({kept})|(.)", re.DOTALL)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write what is harmless of it as it is."""
        if not text.isprintable():
            text = self._parts.sub(lambda found: found[1] or _plain(found[2]), text)
        self._stream.write(text)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each."""
        for line in lines:
            self.write(line)


def _plain(character: str) -> str:
    if character.isprintable() or character in "\n\t\r":
        return character
    return character.encode("unicode_escape").decode()
