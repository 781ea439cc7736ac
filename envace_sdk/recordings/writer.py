"""Appending to a recording, so that a kill at any moment loses nothing that was finished.

Each line goes to the operating system in one write before the recorder passes the answer on: once a client has seen an
answer, the line that holds it is in the file. A line that a kill cut off is taken away when the file is next opened.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Self

from envace_sdk.errors import FixtureError
from envace_sdk.json import Json

from .format import Header
from .reader import is_recording
from .redact import Redact, SecretRedactor

__all__ = ["Writer", "encoded"]

_CHUNK = 1 << 16


class Writer:
    """Appends lines to a recording, and begins it where it is not there yet.

    Args:
        path: the file; its folder is made.
        redact: takes secrets out of every line before it is written.
        ignore: see `Header.ignore`; only a new file takes it.
        durable: also survive a loss of power: wait for the disk after each line.

    Raises:
        FixtureError: the file is there and no recording of a version with a header, or cannot be written.
    """

    def __init__(
        self,
        path: Path,
        *,
        redact: Redact | None = None,
        ignore: tuple[str, ...] = (),
        durable: bool = False,
    ) -> None:
        self.path = path
        self._redact = SecretRedactor() if redact is None else redact
        self._durable = durable
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError as error:
            raise FixtureError(f"{path}: cannot be written: {error}") from error
        try:
            self._begin(ignore)
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Closing twice is harmless."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def write(self, line: Mapping[str, Json]) -> None:
        """Append one line.

        Raises:
            FixtureError: the file system refuses; the file stays readable.
        """
        self._append(self._redact(line))

    def _append(self, line: Json) -> None:
        data = memoryview(encoded(line, separators=(",", ":")))
        try:
            while data:
                data = data[os.write(self._file, data) :]
            if self._durable:
                os.fsync(self._file)
        except OSError as error:
            raise FixtureError(f"{self.path}: cannot be written: {error}") from error

    def _begin(self, ignore: tuple[str, ...]) -> None:
        self._cut_torn_line()
        if os.fstat(self._file).st_size == 0:
            keys = getattr(self._redact, "keys", ())
            patterns = getattr(self._redact, "patterns", ())
            made_by = f"envace-sdk {version('envace-sdk')}"
            now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
            header = Header(made_by=made_by, at=now, ignore=ignore, redact_keys=keys, redact_patterns=patterns)
            self._append(header.to_json())
        elif not is_recording(self.path):
            raise FixtureError(f"{self.path}: is there already and is no recording with a header; give another file")

    def _cut_torn_line(self) -> None:
        """Take away what stands after the last line break."""
        size = end = os.fstat(self._file).st_size
        while end > 0:
            start = max(0, end - _CHUNK)
            chunk = os.pread(self._file, end - start, start)
            found = chunk.rfind(b"\n")
            if found >= 0:
                end = start + found + 1
                break
            end = start
        if end == size:
            return
        if end == 0 and not os.pread(self._file, 20, 0).startswith(b'{"kind":"header"'[:size]):
            raise FixtureError(f"{self.path}: is there already and is no recording; give another file")
        os.ftruncate(self._file, end)


def encoded(line: Json, *, separators: tuple[str, str] | None = None) -> bytes:
    """A line of JSON."""
    try:
        return json.dumps(line, ensure_ascii=False, separators=separators).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can hold
        return json.dumps(line, separators=separators).encode() + b"\n"
