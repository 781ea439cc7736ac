"""The recording file: one JSON object a line, the first of them the header.

======================  ============================================================================================
`kind`                  what the line says
======================  ============================================================================================
`header`                the format's name and version, and how the recording is to be matched
`session`               a connection began, or said more about itself: era, server, capabilities, instructions
`exchange`              one finished request: method, params, result or error, timing, and what happened meanwhile
`notice`                a notification that belongs to no request
======================  ============================================================================================

What belongs to a protocol era and not to the server is not in it: envelopes, ids, progress tokens. A question that
the server asked is an `ask` event where it came as a request of its own (up to 2025-11-25), and a result with
`inputRequests` where it came as an answer (from 2026-07-28); `envace_sdk.recordings.dialogues` reads both as one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from envace_sdk.errors import FixtureError
from envace_sdk.json import Json

from .findings import FieldError

__all__ = ["FORMAT", "VERSION", "Client", "Event", "Exchange", "Header", "Notice", "Session"]

FORMAT: Final = "envace-recording"
VERSION: Final = 2
"""Version 1 had no header: a line was a call of a tool with its result."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line."""

    version: int = VERSION
    made_by: str = ""
    at: str = ""
    ignore: tuple[str, ...] = ()
    """Parts of requests that say nothing about the answer; see `Matching`."""
    redact_keys: tuple[str, ...] = ()
    redact_patterns: tuple[str, ...] = ()
    """What was redacted besides the usual: an incoming call is redacted alike before it is looked up."""

    def to_json(self) -> dict[str, Json]:
        """The line as an object."""
        line: dict[str, Json] = {"kind": "header", "format": FORMAT, "version": self.version}
        line |= _present(made_by=self.made_by, at=self.at, ignore=list(self.ignore))
        return line | _present(redact_keys=list(self.redact_keys), redact_patterns=list(self.redact_patterns))

    @classmethod
    def from_json(cls, line: Mapping[str, Json]) -> Header:
        """Raises: FixtureError, when it is no header or a version that is not known."""
        version = line.get("version")
        if line.get("format") != FORMAT or not isinstance(version, int):
            raise FieldError("", f"expected a header with format {FORMAT!r} and a version")
        if version > VERSION:
            raise FixtureError(f"format version {version} is newer than this release reads ({VERSION}): upgrade")
        return cls(
            version,
            str(line.get("made_by", "")),
            str(line.get("at", "")),
            _texts(line, "ignore"),
            _texts(line, "redact_keys"),
            _texts(line, "redact_patterns"),
        )


@dataclass(frozen=True, slots=True)
class Session:
    """A connection: in the stateless era, one run of the recorder."""

    id: str
    at: str = ""
    era: str = ""
    transport: str = ""
    server: Mapping[str, Json] = field(default_factory=dict)
    capabilities: Mapping[str, Json] = field(default_factory=dict)
    instructions: str | None = None

    def to_json(self) -> dict[str, Json]:
        """The line as an object."""
        line: dict[str, Json] = {"kind": "session", "id": self.id}
        line |= _present(at=self.at, era=self.era, transport=self.transport, server=dict(self.server))
        return line | _present(capabilities=dict(self.capabilities), instructions=self.instructions)

    @classmethod
    def from_json(cls, line: Mapping[str, Json]) -> Session:
        """Raises: FixtureError."""
        return cls(
            _text(line, "id"),
            str(line.get("at", "")),
            str(line.get("era", "")),
            str(line.get("transport", "")),
            _object(line, "server"),
            _object(line, "capabilities"),
            line.get("instructions"),
        )


@dataclass(frozen=True, slots=True)
class Client:
    """What of the caller may change an answer besides the request."""

    capabilities: Mapping[str, Json] = field(default_factory=dict)
    log_level: str | None = None
    progress: bool = False

    def to_json(self) -> dict[str, Json]:
        """Only what is there."""
        return _present(capabilities=dict(self.capabilities), log_level=self.log_level, progress=self.progress)

    @classmethod
    def from_json(cls, data: Json) -> Client:
        """Raises: FixtureError."""
        if not isinstance(data, dict):
            raise FieldError("client", "expected an object")
        return cls(_object(data, "capabilities"), data.get("log_level"), data.get("progress") is True)

    def likeness(self, other: Client) -> int:
        """How alike two callers are, as far as it matters: a number to compare."""
        same_offers = bool(_leaves(self.capabilities) == _leaves(other.capabilities))
        return 4 * int(same_offers) + 2 * (self.progress == other.progress) + (self.log_level == other.log_level)


@dataclass(frozen=True, slots=True)
class Event:
    """What happened while a request was under way."""

    kind: Literal["notice", "ask", "disconnect"]
    after: float = 0.0
    """Seconds since the request."""
    method: str = ""
    params: Mapping[str, Json] = field(default_factory=dict)
    answer: Mapping[str, Json] | None = None
    """Of an ask: the client's result."""
    error: Mapping[str, Json] | None = None
    """Of an ask: the client's refusal."""
    wide: bool = False
    """Not on the request's own stream: for everybody who listens."""

    def to_json(self) -> dict[str, Json]:
        """Only what is there."""
        line: dict[str, Json] = {"kind": self.kind, "after": self.after}
        line |= _present(method=self.method, params=dict(self.params), wide=self.wide)
        if self.answer is not None:
            line["answer"] = dict(self.answer)
        if self.error is not None:
            line["error"] = dict(self.error)
        return line

    @classmethod
    def from_json(cls, data: Json) -> Event:
        """Raises: FixtureError."""
        if not isinstance(data, dict) or data.get("kind") not in ("notice", "ask", "disconnect"):
            raise FieldError("events", "expected objects of kind notice, ask or disconnect")
        return cls(
            data["kind"],
            _number(data, "after"),
            str(data.get("method", "")),
            _object(data, "params"),
            _object(data, "answer") if "answer" in data else None,
            _object(data, "error") if "error" in data else None,
            data.get("wide") is True,
        )


@dataclass(frozen=True, slots=True)
class Exchange:
    """One finished request."""

    session: str
    method: str
    params: Mapping[str, Json]
    """Without envelope, and without what `resumes` holds."""
    result: Mapping[str, Json] | None = None
    error: Mapping[str, Json] | None = None
    """A JSON-RPC error object; exactly one of the two is there."""
    at: float = 0.0
    """Seconds since the session began."""
    took: float = 0.0
    client: Client = field(default_factory=Client)
    events: tuple[Event, ...] = ()
    resumes: Mapping[str, Json] | None = None
    """Of a request that answers an earlier result's questions: its `responses` and, if any, its `state`."""
    position: int = 0
    """Its place among the exchanges of its session, from 0."""

    def to_json(self) -> dict[str, Json]:
        """The line as an object."""
        line: dict[str, Json] = {"kind": "exchange", "session": self.session, "at": self.at, "took": self.took}
        line |= {"method": self.method, "params": dict(self.params)}
        line |= _present(client=self.client.to_json(), events=[event.to_json() for event in self.events])
        if self.resumes is not None:
            line["resumes"] = dict(self.resumes)
        if self.error is not None:
            line["error"] = dict(self.error)
        else:
            line["result"] = dict(self.result or {})
        return line

    @classmethod
    def from_json(cls, line: Mapping[str, Json], position: int = 0) -> Exchange:
        """Raises: FixtureError; the message names the field."""
        events = line.get("events", [])
        if not isinstance(events, list):
            raise FieldError("events", "expected a list")
        if ("result" in line) == ("error" in line):
            raise FieldError("", "expected either a result or an error")
        return cls(
            _text(line, "session"),
            _text(line, "method"),
            _object(line, "params"),
            _object(line, "result") if "result" in line else None,
            _object(line, "error") if "error" in line else None,
            _number(line, "at"),
            _number(line, "took"),
            Client.from_json(line.get("client", {})),
            tuple(map(Event.from_json, events)),
            _object(line, "resumes") if "resumes" in line else None,
            position,
        )


@dataclass(frozen=True, slots=True)
class Notice:
    """A notification that came outside every request."""

    session: str
    method: str
    params: Mapping[str, Json] = field(default_factory=dict)
    at: float = 0.0

    def to_json(self) -> dict[str, Json]:
        """The line as an object."""
        line: dict[str, Json] = {"kind": "notice", "session": self.session, "at": self.at, "method": self.method}
        return line | _present(params=dict(self.params))

    @classmethod
    def from_json(cls, line: Mapping[str, Json]) -> Notice:
        """Raises: FixtureError."""
        return cls(_text(line, "session"), _text(line, "method"), _object(line, "params"), _number(line, "at"))


def _present(**members: Json) -> dict[str, Json]:
    return {name: value for name, value in members.items() if value or (value == 0 and type(value) in (int, float))}


def _leaves(capabilities: Json) -> Json:
    """Capabilities without empty sub-settings of the same meaning: `{"form": {}}` is what `{}` says of elicitation."""
    if not isinstance(capabilities, Mapping):
        return capabilities
    return {name: True for name, value in capabilities.items() if value is not None}


def _text(line: Mapping[str, Json], name: str) -> str:
    value = line.get(name)
    if not isinstance(value, str) or not value:
        raise FieldError(name, "expected text")
    return value


def _texts(line: Mapping[str, Json], name: str) -> tuple[str, ...]:
    value = line.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise FieldError(name, "expected a list of texts")
    return tuple(value)


def _object(line: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    value = line.get(name, {})
    if not isinstance(value, dict):
        raise FieldError(name, "expected an object")
    return value


def _number(line: Mapping[str, Json], name: str) -> float:
    value = line.get(name, 0.0)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise FieldError(name, "expected a number")
    return float(value)
