"""Observed calls of tools, in episodes: to build in code, to load from whatever people have, and to save."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, Self

from envace_sdk.errors import FixtureError
from envace_sdk.json import Json

from .consistency import doubts
from .dialogues import Dialogues
from .findings import Finding
from .format import Exchange, Header, Session
from .migrations import migrate_call, plain_result
from .reader import PLAIN, RecordingFile, read_recording
from .redact import Redact, SecretRedactor
from .writer import Writer, encoded

__all__ = ["RecordedCall", "Recording"]

_TOOL_CALL: Final = "tools/call"


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One observed call of a tool."""

    tool: str
    arguments: Mapping[str, Json]
    result: Json
    """An MCP result where the tool answered more than a value or a text, else that value or text."""
    is_error: bool = False
    episode: str = "default"
    """The session it was made in: the calls before it there are what made the world it was answered in."""

    def to_json(self) -> dict[str, Json]:
        """A line of a recording."""
        line: dict[str, Json] = {"episode": self.episode, "tool": self.tool, "arguments": dict(self.arguments)}
        return {**line, "result": self.result, "is_error": self.is_error}


class Recording:
    """Calls of tools that were observed, in the order they were made in their episodes.

    `Recording()` is empty, for `add`; `load` reads files.
    """

    def __init__(self) -> None:
        self._loaded: tuple[RecordingFile, ...] = ()
        self._added: list[Exchange] = []
        self._positions: Counter[str] = Counter()
        self._calls: list[RecordedCall] = []

    @classmethod
    def load(cls, paths: str | Path | Iterable[str | Path], *, strict: bool = False) -> Self:
        """Read one or more files, each in whichever form its content shows.

        The forms: recordings of `envace-sdk record`; calls, one a line; OpenTelemetry spans; LangSmith runs; chat
        messages. An episode of a name that an earlier file has too is renamed after its own file.

        Args:
            paths: the files.
            strict: raise on what is wrong; otherwise it is left out and in `findings`.

        Raises:
            FixtureError: a file cannot be read; if strict, also: a line is wrong.
        """
        names = [paths] if isinstance(paths, str | Path) else list(paths)
        return cls.of(read_recording(Path(name), strict=strict) for name in names)

    @classmethod
    def of(cls, files: Iterable[RecordingFile]) -> Self:
        """What files hold that were read already."""
        made = cls()
        made._loaded = tuple(files)
        made._calls = list(_calls(made._loaded))
        return made

    def add(
        self,
        tool: str,
        arguments: Mapping[str, Json] | None = None,
        result: Json = None,
        *,
        is_error: bool = False,
        episode: str = "default",
    ) -> Self:
        """Add a call, as the last of its episode.

        Args:
            tool: the tool's name.
            arguments: what it was called with.
            result: what it answered: a text, any JSON value, or an MCP result with a `content` list.
            is_error: whether that is an error.
            episode: the session it was made in.

        Returns:
            The recording itself, for the next call.

        Raises:
            FixtureError: that is no call, or a value is not JSON; the message names the field.
        """
        given = RecordedCall(tool, {} if arguments is None else arguments, result, is_error, episode)
        try:
            line = json.loads(json.dumps(given.to_json(), allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise FixtureError(f"{tool}: arguments and result must be JSON: {error}") from error
        exchange = Exchange.from_json(migrate_call(line), self._positions[episode])
        self._added.append(exchange)
        self._positions[episode] += 1
        self._calls.append(_call(exchange, episode))
        return self

    @property
    def calls(self) -> tuple[RecordedCall, ...]:
        """All calls, in the order of the files, then those that were added."""
        return tuple(self._calls)

    @property
    def episodes(self) -> dict[str, tuple[RecordedCall, ...]]:
        """The calls of each episode, in the order they were made."""
        episodes: dict[str, list[RecordedCall]] = {}
        for call in self._calls:
            episodes.setdefault(call.episode, []).append(call)
        return {name: tuple(calls) for name, calls in episodes.items()}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was left out of the files and why, and what may mislead."""
        return tuple(finding for file in self._loaded for finding in (*file.findings, *doubts(file)))

    @property
    def files(self) -> tuple[RecordingFile, ...]:
        """All of it as it was recorded: the files, and one of what was added. The rest of the SDK works with these."""
        if not self._added:
            return self._loaded
        return (*self._loaded, RecordingFile(Header(version=1), exchanges=tuple(self._added), form=PLAIN))

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[RecordedCall]:
        return iter(self._calls)

    def __repr__(self) -> str:
        return f"<Recording of {len(self._calls)} calls in {len(self.episodes)} episodes>"

    def save(
        self, path: str | Path, *, form: Literal["plain", "native"] = "plain", redact: Redact | None = None
    ) -> None:
        """Write it to a file, in place of what is there.

        Args:
            path: the file; its folder is made.
            form: `plain`: the calls of tools, one a line, as people write them. `native`: everything, as `envace-sdk
                record` writes it: resources, prompts, lists, errors of the protocol, what happened meanwhile.
            redact: takes secrets out before anything is written; by default what looks like one.

        Raises:
            FixtureError: it cannot be written.
        """
        target = Path(path)
        cleaned = SecretRedactor() if redact is None else redact
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            beside.unlink(missing_ok=True)
            if form == "native":
                self._write_native(beside, cleaned)
            else:
                with beside.open("wb") as file:
                    file.writelines(encoded(cleaned(call.to_json())) for call in self._calls)
            beside.replace(target)
        except OSError as error:
            raise FixtureError(f"{target}: cannot be written: {error}") from error
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)

    def lines(self) -> Iterator[dict[str, Json]]:
        """All of it as lines of a recorder, without the header."""
        for file, names in _named(self.files):
            known = {session.id: session for session in file.sessions}
            for session, name in names.items():
                yield replace(known.get(session, Session(session)), id=name).to_json()
            for exchange in file.exchanges:
                yield replace(exchange, session=names[exchange.session]).to_json()
            for notice in file.notices:
                yield replace(notice, session=names[notice.session]).to_json()

    def _write_native(self, path: Path, redact: Redact) -> None:
        ignore = dict.fromkeys(part for file in self._loaded for part in file.header.ignore)
        with Writer(path, redact=redact, ignore=tuple(ignore)) as writer:
            for line in self.lines():
                writer.write(line)


def _calls(files: Iterable[RecordingFile]) -> Iterator[RecordedCall]:
    for file, names in _named(files):
        for exchange in _finished(file):
            yield _call(exchange, names[exchange.session])


def _finished(file: RecordingFile) -> list[Exchange]:
    """The calls of tools that came to an end, in the order of the file."""
    calls = [exchange for exchange in file.exchanges if _is_call(exchange)]
    if not any(map(_is_part, calls)):
        return calls
    sessions: dict[str, list[Exchange]] = {}
    for exchange in calls:
        sessions.setdefault(exchange.session, []).append(exchange)
    dialogues = Dialogues()
    finals = [final.exchange for exchanges in sessions.values() for final in dialogues.learn(exchanges)]
    ended = {(final.session, final.position) for final in finals}
    return [exchange for exchange in calls if (exchange.session, exchange.position) in ended]


def _is_call(exchange: Exchange) -> bool:
    if exchange.method != _TOOL_CALL or not isinstance(exchange.params.get("name"), str):
        return False
    return isinstance(exchange.params.get("arguments") or {}, dict)


def _is_part(exchange: Exchange) -> bool:
    """Whether the server asked something in the middle, so that the call may be several requests."""
    asked = (exchange.result or {}).get("resultType") == "input_required"
    return asked or exchange.resumes is not None or any(event.kind == "ask" for event in exchange.events)


def _named(files: Iterable[RecordingFile]) -> Iterator[tuple[RecordingFile, dict[str, str]]]:
    """For each file, the names that its sessions have among those of all files.

    What was added goes on with the sessions of the files.
    """
    taken: set[str] = set()
    for file in files:
        sessions = [session.id for session in file.sessions]
        sessions += [exchange.session for exchange in file.exchanges]
        sessions += [notice.session for notice in file.notices]
        names: dict[str, str] = {}
        for session in dict.fromkeys(sessions):
            names[session] = session if file.path is None else _free(session, file.path.stem, taken)
            taken.add(names[session])
        yield file, names


def _free(session: str, file: str, taken: set[str]) -> str:
    """A name that no session of an earlier file has."""
    name, n = session, 1
    while name in taken:
        name = f"{file}/{session}" if n == 1 else f"{file}/{session} ({n})"
        n += 1
    return name


def _call(exchange: Exchange, episode: str) -> RecordedCall:
    name, arguments = exchange.params["name"], exchange.params.get("arguments") or {}
    if exchange.error is not None:
        return RecordedCall(name, arguments, str(exchange.error.get("message", "")), True, episode)
    result, is_error = plain_result(exchange.result or {})
    return RecordedCall(name, arguments, result, is_error, episode)
