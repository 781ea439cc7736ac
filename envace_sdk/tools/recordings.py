"""From recordings to fixtures: what was observed of tools, resources, prompts and completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from envace_sdk.errors import FixtureError
from envace_sdk.json import UNSET, Json
from envace_sdk.recordings import Dialogues, Exchange, Matching, RecordingFile, SecretRedactor, read_recording
from envace_sdk.recordings.dialogues import Final as Finished

from .fixture import TOOL_CALL, Fixture
from .model import ToolCall, ToolResult

__all__ = ["Recorded", "load_fixtures", "result_from_wire"]

_ENVELOPE_ERRORS: Final = (-32700, -32600, -32020, -32022)
"""Of what a request was wrapped in, which says nothing about the request: a parse error, no request, headers that do
not agree, a protocol version."""

_LISTS: Final = frozenset({"tools/list", "prompts/list", "resources/list", "resources/templates/list"})


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """What several recordings hold, ready to be looked up."""

    fixtures: tuple[Fixture, ...] = ()
    """Of the sessions, the later ones first: where two observed the same, the later one counts."""
    dialogues: Dialogues = field(default_factory=Dialogues)
    matching: Matching = field(default_factory=Matching)
    recordings: tuple[RecordingFile, ...] = ()

    @classmethod
    def load(cls, paths: Sequence[Path], *, ignore: Sequence[str] = (), strict: bool = True) -> Self:
        """Read recordings of any version, and whatever else `read_recording` reads.

        Args:
            paths: the files.
            ignore: parts of requests that never matter; see `Matching`.
            strict: whether a wrong line raises; otherwise it is left out and in the `findings` of its recording.

        Raises:
            FixtureError: a file cannot be read; if strict, also: a line is wrong. The message names file, line and
                field.
        """
        return cls.of([read_recording(path, strict=strict) for path in paths], ignore=ignore)

    @classmethod
    def of(cls, recordings: Sequence[RecordingFile], *, ignore: Sequence[str] = ()) -> Self:
        """What these recordings hold, with what their headers say about matching."""
        headers = [recording.header for recording in recordings]
        matching = Matching(
            dict.fromkeys([*(path for header in headers for path in header.ignore), *ignore]),
            redact=SecretRedactor(
                [key for header in headers for key in header.redact_keys],
                [pattern for header in headers for pattern in header.redact_patterns],
            ),
        )
        dialogues = Dialogues(matching)
        fixtures: list[Fixture] = []
        for recording in recordings:
            sessions: dict[str, list[Exchange]] = {}
            for exchange in recording.exchanges:
                if exchange.error is not None and exchange.error.get("code") in _ENVELOPE_ERRORS:
                    continue
                sessions.setdefault(exchange.session, []).append(exchange)
            by_hand = recording.header.version == 1
            seen = [
                list(_fixtures(dialogues.learn(exchanges), by_hand, recording.path)) for exchanges in sessions.values()
            ]
            if not by_hand:
                seen.reverse()  # recorded on top of one another; fixtures of version 1 are alternatives
            fixtures += [fixture for session in seen for fixture in session]
        return cls(tuple(fixtures), dialogues, matching, tuple(recordings))

    def listing(self, method: str, member: str) -> tuple[Json, ...] | None:
        """The items of a list as the latest recording has them; None where it was not recorded."""
        found = (recording.listing(method, member) for recording in reversed(self.recordings))
        return next((items for items in found if items is not None), None)


def load_fixtures(path: Path, *, strict: bool = True) -> list[Fixture]:
    """The calls of tools in a recording of any version, in the order of the file.

    Args:
        path: the file.
        strict: whether a wrong line raises; otherwise it is left out.

    Raises:
        FixtureError: the file cannot be read; if strict, also: a line is wrong. The message names file, line and field.
    """
    recording = read_recording(path, strict=strict)
    calls = [fixture for fixture in Recorded.of([recording]).fixtures if fixture.is_call]
    sessions = {session: n for n, session in enumerate(dict.fromkeys(e.session for e in recording.exchanges))}
    if recording.header.version > 1:
        return sorted(calls, key=lambda fixture: (sessions[fixture.episode], fixture.position))
    places = {(exchange.session, exchange.position): n for n, exchange in enumerate(recording.exchanges)}
    return sorted(calls, key=lambda fixture: places[fixture.episode, fixture.position])


def result_from_wire(data: Mapping[str, Json], *, is_error: bool = False) -> ToolResult:
    """A `CallToolResult` object as it goes over the wire. Metadata is outside information, and left behind.

    Raises:
        FixtureError: a content block is not an object with a `type`.
    """
    from envace_sdk.evidence.label import strip_blocks

    content = data.get("content", [])
    if not isinstance(content, list) or not all(map(_is_block, content)):
        raise FixtureError("result.content: expected a list of content blocks, each with a `type`")
    return ToolResult(
        strip_blocks(content), data.get("structuredContent", UNSET), is_error=is_error or data.get("isError") is True
    )


def _fixtures(finished: Sequence[Finished], by_hand: bool, file: Path | None) -> Iterator[Fixture]:
    positions = 0
    for final in finished:
        exchange = final.exchange
        if exchange.method in _LISTS:
            continue
        name: Json = exchange.method
        arguments: Json = exchange.params
        if exchange.method == TOOL_CALL:
            name, arguments = exchange.params.get("name"), exchange.params.get("arguments") or {}
            if not isinstance(name, str) or not isinstance(arguments, dict):
                continue  # refused by every server, and by this one
        call = ToolCall(name, arguments, inputs=final.inputs, client=None if by_hand else exchange.client)
        result = _result(exchange, by_hand)
        yield Fixture(call, result, exchange.session, positions, exchange.method, final.notices, file)
        positions += 1


def _result(exchange: Exchange, by_hand: bool) -> ToolResult:
    from envace_sdk.evidence.label import strip_result  # its validation takes longer to import than all the rest

    if exchange.error is not None:
        block = {"type": "text", "text": str(exchange.error.get("message", ""))}
        return ToolResult((block,), is_error=True, fault=exchange.error)
    wire = strip_result(exchange.result or {})
    content = wire.get("content")
    blocks = tuple(filter(_is_block, content)) if isinstance(content, list) else ()
    meta = wire.get("_meta")
    return ToolResult(
        blocks,
        wire.get("structuredContent", UNSET),
        is_error=wire.get("isError") is True,
        meta=meta if isinstance(meta, dict) else {},
        wire=None if by_hand else wire,
    )


def _is_block(block: Json) -> bool:
    return isinstance(block, dict) and isinstance(block.get("type"), str)
