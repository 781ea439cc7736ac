"""From the frames of a connection to the lines of a recording.

A tape hears every frame in both directions, off-spec ones too, and knows no types: what it cannot place it leaves out.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from envace_sdk.json import Json

from .format import Client, Event, Exchange, Notice, Session

__all__ = ["Episode", "Tape"]

_PROTOCOL: Final = "io.modelcontextprotocol/"
"""Prefix of `_meta` members that belong to the envelope of the stateless era."""
_UNRECORDED: Final = frozenset({"ping", "subscriptions/listen"})
_HANDSHAKES: Final = frozenset({"initialize", "server/discover"})
_WIDE: Final = (
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
)
_MOST_PENDING: Final = 10_000
"""Requests waiting for their answer; the oldest are given up."""


class Episode:
    """One session in the recording; several connections may share it where the protocol knows none."""

    def __init__(self, transport: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        now = datetime.now(UTC)
        self._clock = clock
        self._began = clock()
        self.session = Session(
            f"{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}",
            now.isoformat(timespec="seconds").replace("+00:00", "Z"),
            transport=transport,
        )
        self.client = Client()
        """What the client said of itself in a handshake."""
        self._told: Session | None = None
        self.waiting: list[_Pending] = []
        """The requests of all its connections that wait for their answer, oldest first."""

    def now(self) -> float:
        """Seconds since it began."""
        return round(self._clock() - self._began, 6)

    def learn(self, **known: Json) -> None:
        """Note what has come out about the server; what is None is not known."""
        self.session = replace(self.session, **{name: value for name, value in known.items() if value is not None})

    def news(self) -> Iterator[dict[str, Json]]:
        """The session's line, when it says more than the last one."""
        if self.session != self._told:
            self._told = self.session
            yield self.session.to_json()


@dataclass(slots=True)
class _Pending:
    id: Json
    method: str
    params: Mapping[str, Json]
    at: float
    client: Client
    token: Json = None
    resumes: Mapping[str, Json] | None = None
    events: list[Event] = field(default_factory=list)
    asked: dict[Json, int] = field(default_factory=dict)
    """The place among the events of each question that is not answered yet, by its id."""


class Tape:
    """The frames among which ids are told apart: a pipe, a session, or a single HTTP request."""

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self._pending: dict[Json, _Pending] = {}

    @property
    def is_idle(self) -> bool:
        """Whether no request waits for its answer."""
        return not self._pending

    def from_client(self, message: Json) -> None:
        """Hear what the client sends."""
        for one in message if isinstance(message, list) else [message]:
            if not isinstance(one, dict):
                continue
            method, key = one.get("method"), _key(one.get("id"))
            if isinstance(method, str):
                if key is not None:
                    self._begin(key, method, one)
                elif method == "notifications/cancelled":
                    self._drop(_key(_mapping(one.get("params")).get("requestId")))
            elif key is not None:
                self._answer(key, one)

    def from_server(self, message: Json, *, within: Json = None) -> list[dict[str, Json]]:
        """Hear what the server sends; gives the lines to be written before the client gets it.

        Args:
            message: the frame.
            within: the id of the request whose own stream it came on, where there is such a thing.
        """
        lines: list[dict[str, Json]] = []
        for one in message if isinstance(message, list) else [message]:
            if not isinstance(one, dict):
                continue
            method, key = one.get("method"), _key(one.get("id"))
            if isinstance(method, str):
                lines += self._event(method, one, key, _key(within))
            elif key is not None and ("result" in one or "error" in one):
                lines += self._finish(key, one)
        return lines

    def interrupted(self, request: Json) -> None:
        """The stream of a request ended without its answer, which may still come another way."""
        pending = self._pending.get(_key(request))
        if pending is not None:
            pending.events.append(Event("disconnect", self._since(pending)))

    def _begin(self, key: Json, method: str, message: Mapping[str, Json]) -> None:
        params = dict(_mapping(message.get("params")))
        meta = _mapping(params.pop("_meta", None))
        own = {
            name: value for name, value in meta.items() if not name.startswith(_PROTOCOL) and name != "progressToken"
        }
        if own:
            params["_meta"] = own
        known = self.episode.client
        offers = meta.get(_PROTOCOL + "clientCapabilities")
        level = meta.get(_PROTOCOL + "logLevel")
        client = Client(
            offers if isinstance(offers, dict) else known.capabilities,
            level if isinstance(level, str) else known.log_level,
            "progressToken" in meta,
        )
        if method == "initialize":
            self.episode.client = Client(_mapping(params.get("capabilities")))
        elif method == "logging/setLevel" and isinstance(params.get("level"), str):
            self.episode.client = replace(known, log_level=params["level"])
        era = meta.get(_PROTOCOL + "protocolVersion")
        self.episode.learn(era=era if isinstance(era, str) and not self.episode.session.era else None)
        resumes: dict[str, Json] | None = None
        if "inputResponses" in params or "requestState" in params:
            resumes = {"responses": params.pop("inputResponses", None) or {}}
            if "requestState" in params:
                resumes["state"] = params.pop("requestState")
        if len(self._pending) >= _MOST_PENDING:
            self._drop(next(iter(self._pending)))
        self._drop(key)
        token = meta.get("progressToken")
        pending = _Pending(message.get("id"), method, params, self.episode.now(), client, token, resumes)
        self._pending[key] = pending
        if method not in _UNRECORDED:
            self.episode.waiting.append(pending)

    def close(self) -> None:
        """Give up what still waits: the connection has ended."""
        for key in list(self._pending):
            self._drop(key)

    def _drop(self, key: Json) -> _Pending | None:
        pending = self._pending.pop(key, None)
        if pending is not None:
            # By identity: two requests may be equal.
            self.episode.waiting = [other for other in self.episode.waiting if other is not pending]
        return pending

    def _answer(self, key: Json, message: Mapping[str, Json]) -> None:
        for pending in self._pending.values():
            place = pending.asked.pop(key, None)
            if place is not None:
                answer, error = message.get("result"), message.get("error")
                pending.events[place] = replace(
                    pending.events[place],
                    answer=_neutral(answer) if isinstance(answer, dict) else None,
                    error=error if isinstance(error, dict) else None,
                )
                return

    def _event(self, method: str, message: Mapping[str, Json], key: Json, within: Json) -> list[dict[str, Json]]:
        params = dict(_mapping(message.get("params")))
        token = params.pop("progressToken", None) if method == "notifications/progress" else None
        meta = _mapping(params.pop("_meta", None))
        if own := _own(meta):
            params["_meta"] = own
        pending = self._concerned(token, within)
        if key is not None:
            if pending is not None and method != "ping":
                pending.asked[key] = len(pending.events)
                pending.events.append(Event("ask", self._since(pending), method, params))
            return []
        wide = method in _WIDE
        if wide and (pending is None or pending.method in _UNRECORDED):
            # On a stream for everybody; most likely, what is under way elsewhere brought it about.
            pending = self.episode.waiting[-1] if self.episode.waiting else None
        if pending is not None and pending.method not in _UNRECORDED:
            pending.events.append(Event("notice", self._since(pending), method, params, wide=wide))
            return []
        if method == "notifications/subscriptions/acknowledged" or method == "notifications/progress":
            return []
        now = self.episode.now()
        return [*self.episode.news(), Notice(self.episode.session.id, method, params, now).to_json()]

    def _concerned(self, token: Json, within: Json) -> _Pending | None:
        """The request that a message of the server is about: known, or the latest one that waits."""
        if token is not None:
            for pending in self._pending.values():
                if pending.token == token and type(pending.token) is type(token):
                    return pending
        if within in self._pending:
            return self._pending[within]
        return next((p for p in reversed(self._pending.values()) if p.method not in _UNRECORDED), None)

    def _finish(self, key: Json, message: Mapping[str, Json]) -> list[dict[str, Json]]:
        pending = self._drop(key)
        if pending is None or pending.method in _UNRECORDED:
            return []
        raw, error = message.get("result"), message.get("error")
        if pending.method in _HANDSHAKES:
            if not isinstance(raw, dict):
                return []  # a probe for the other era
            self._shake_hands(raw)
            return list(self.episode.news())
        result = None
        if error is None:
            if not isinstance(raw, dict):
                return []
            server = _mapping(raw.get("_meta")).get(_PROTOCOL + "serverInfo")
            if isinstance(server, dict) and not self.episode.session.server:
                self.episode.learn(server=server)
            result = _neutral(raw)
        exchange = Exchange(
            self.episode.session.id,
            pending.method,
            pending.params,
            result,
            error if isinstance(error, dict) else None if error is None else {"code": 0, "message": str(error)},
            pending.at,
            self._since(pending),
            pending.client,
            tuple(pending.events),
            pending.resumes,
        )
        return [*self.episode.news(), exchange.to_json()]

    def _shake_hands(self, result: Mapping[str, Json]) -> None:
        version, server = result.get("protocolVersion"), result.get("serverInfo")
        if server is None:
            server = _mapping(result.get("_meta")).get(_PROTOCOL + "serverInfo")
        said = result.get("instructions")
        capabilities = result.get("capabilities")
        self.episode.learn(
            era=version if isinstance(version, str) else None,
            server=server if isinstance(server, dict) else None,
            capabilities=capabilities if isinstance(capabilities, dict) else None,
            instructions=said if isinstance(said, str) else None,
        )

    def _since(self, pending: _Pending) -> float:
        return round(self.episode.now() - pending.at, 6)


def _neutral(result: Mapping[str, Json]) -> dict[str, Json]:
    """A result without what every result of the stateless era carries."""
    neutral = dict(result)
    if neutral.get("resultType") == "complete":
        del neutral["resultType"]
    meta = neutral.get("_meta")
    if isinstance(meta, dict):
        if own := _own(meta):
            neutral["_meta"] = own
        else:
            del neutral["_meta"]
    return neutral


def _own(meta: Mapping[str, Json]) -> dict[str, Json]:
    """The members that are not the protocol's."""
    return {name: value for name, value in meta.items() if not name.startswith(_PROTOCOL)}


def _key(value: Json) -> Json:
    """A request id as a dictionary key; 1 and "1" are two ids. None for what is no id."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return (type(value).__name__, value)


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}
