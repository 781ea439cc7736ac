"""Reading a model's text as it comes: the same calls wherever the pieces of it are cut.

A format's grammar is a generator over a `Source`. It reads straight on; where it needs text that has not come yet, the
source yields, and the next piece resumes it. The whole text at once is just one piece.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from envace_sdk.errors import MalformedCallError, MalformedError
from envace_sdk.tools.model import ToolCall

from .strictjson import MAX_DEPTH, MAX_TEXT

__all__ = ["CallStream", "Grammar", "Parsed", "Reading", "Source"]

_T = TypeVar("_T")
Reading: TypeAlias = Generator[None, None, _T]
"""Reads something from a source; yields when it needs more text."""

_OUTSIDE: Final = re.compile(r'["{}\[\]]')
_INSIDE: Final = re.compile(r'["\\]')
_THINK: Final = "<think>"
_THOUGHT: Final = "</think>"


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a model's text says."""

    calls: tuple[ToolCall, ...] = ()
    text: str = ""
    """What stands before the calls, or everything where there are none; without white space around it."""
    thought: str = ""
    """What stood in `<think>` at the very start. Calls in it are none."""


@dataclass(slots=True)
class Source:
    """Text that is still coming."""

    rest: str = ""
    ended: bool = False

    def until(self, *markers: str) -> Reading[tuple[str, str]]:
        """The text before the first of the markers, and that marker; all text and "" where none comes."""
        parts = []
        while True:
            found = [(at, marker) for marker in markers if (at := self.rest.find(marker)) >= 0]
            if found:
                at, marker = min(found)
                parts.append(self.rest[:at])
                self.rest = self.rest[at + len(marker) :]
                return "".join(parts), marker
            safe = len(self.rest) if self.ended else len(self.rest) - _begun(self.rest, markers)
            parts.append(self.rest[:safe])
            self.rest = self.rest[safe:]
            if self.ended:
                return "".join(parts), ""
            yield

    def space(self) -> Reading[None]:
        """Skip white space."""
        while True:
            self.rest = self.rest.lstrip()
            if self.rest or self.ended:
                return
            yield

    def peek(self) -> Reading[str]:
        """The next character; "" at the end."""
        while not self.rest and not self.ended:
            yield
        return self.rest[:1]

    def take(self, text: str) -> Reading[bool]:
        """Whether `text` comes next; consumes it if so."""
        while len(self.rest) < len(text) and text.startswith(self.rest) and not self.ended:
            yield
        if not self.rest.startswith(text):
            return False
        self.rest = self.rest[len(text) :]
        return True

    def value(self) -> Reading[str]:
        """The JSON text of the object or list that begins here. Raises: MalformedCallError where there is none."""
        first = yield from self.peek()
        if first not in {"{", "["}:
            raise MalformedCallError(f"where a call's JSON should begin, there is {_shown(self.rest)}")
        parts, depth, quoted = [], 0, False
        while True:
            at = 0
            while found := (_INSIDE if quoted else _OUTSIDE).search(self.rest, at):
                at = found.end()
                match found[0]:
                    case "\\" if at == len(self.rest):
                        at -= 1
                        break
                    case "\\":
                        at += 1
                    case '"':
                        quoted = not quoted
                    case "{" | "[":
                        depth += 1
                        if depth > MAX_DEPTH:
                            raise MalformedCallError(f"nested more than {MAX_DEPTH} levels deep")
                    case _:
                        depth -= 1
                        if depth == 0:
                            parts.append(self.rest[:at])
                            self.rest = self.rest[at:]
                            return "".join(parts)
            else:
                at = len(self.rest)
            parts.append(self.rest[:at])
            self.rest = self.rest[at:]
            if self.ended:
                raise MalformedCallError("the call's JSON is cut off")
            yield


Grammar: TypeAlias = Callable[[Source, list[ToolCall]], Reading[str]]
"""Reads a whole message: puts calls into the list as they are complete, and gives the text that stands before them."""


@dataclass
class CallStream:
    """Reads a message piece by piece. Get one from a format's `stream`.

    Args:
        grammar: the format's.
        thinking: the prompt has already opened `<think>`, so that the text begins inside a thought.
    """

    grammar: Grammar
    thinking: bool = False
    _source: Source = field(default_factory=Source, init=False)
    _calls: list[ToolCall] = field(default_factory=list, init=False)
    _seen: int = field(default=0, init=False)
    _told: int = field(default=0, init=False)
    _parsed: Parsed | None = field(default=None, init=False)
    _error: MalformedError | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._reading = self._read()

    def feed(self, chunk: str) -> tuple[ToolCall, ...]:
        """Read on; gives the calls that this piece completed. They count only once `finish` has seen the whole.

        Raises:
            MalformedCallError: what has come so far can no longer become a well-formed message.
        """
        self._seen += len(chunk)
        if self._seen > MAX_TEXT:
            self._error = self._error or MalformedCallError(f"the message is longer than {MAX_TEXT:,} characters")
        self._source.rest += chunk
        self._resume()
        new = tuple(self._calls[self._told :])
        self._told = len(self._calls)
        return new

    def finish(self) -> Parsed:
        """The whole message, when all of it has been fed.

        Raises:
            MalformedCallError: it is not well-formed; the message says why.
        """
        self._source.ended = True
        self._resume()
        assert self._parsed is not None  # noqa: S101  a grammar at its end returns or raises
        return self._parsed

    def _resume(self) -> None:
        if self._error is not None:
            raise self._error
        try:
            next(self._reading, None)
        except MalformedError as error:
            self._error = error
            raise

    def _read(self) -> Reading[None]:
        source, thought = self._source, ""
        yield from source.space()
        if (yield from source.take(_THINK)) or self.thinking:
            thought, end = yield from source.until(_THOUGHT)
            if not end:
                raise MalformedCallError(f"the thought is not ended with {_THOUGHT}")
            yield from source.space()
        text = yield from self.grammar(source, self._calls)
        self._parsed = Parsed(tuple(self._calls), text.strip(), thought.strip())


def _begun(text: str, markers: tuple[str, ...]) -> int:
    """How many characters at the end of the text may be the beginning of a marker."""
    longest = max(map(len, markers), default=1) - 1
    for size in range(min(longest, len(text)), 0, -1):
        if any(marker.startswith(text[-size:]) for marker in markers):
            return size
    return 0


def _shown(text: str) -> str:
    return repr(text[:1]) if text else "nothing"
