"""Replaying a recording against the live server: what does it answer otherwise now?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from envace_sdk.json import Json
from envace_sdk.recordings import REDACTED, Exchange, RecordingFile, differences, read_recording
from envace_sdk.recordings.replay import matching_of
from envace_sdk.tools.compare import Change, compare
from envace_sdk.tools.upstream import Target

from .upstream import Connection, connect

__all__ = ["Report", "Verified", "verify"]

_ASKED: Final = frozenset({"tools/call", "resources/read", "prompts/get", "completion/complete"})
_MOST_DIFFERENCES: Final = 5


@dataclass(frozen=True, slots=True)
class Verified:
    """One recorded request that is answered otherwise now."""

    place: str
    request: str
    differences: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.request} ({self.place}): " + "; ".join(self.differences)


@dataclass(slots=True)
class Report:
    """What a replay found."""

    asked: int = 0
    skipped: int = 0
    """Requests that need a person, or whose secrets were taken out."""
    answers: list[Verified] = field(default_factory=list)
    catalogue: list[Change] = field(default_factory=list)

    @property
    def changes(self) -> int:
        """How much has changed."""
        return len(self.answers) + len(self.catalogue)

    def to_json(self) -> dict[str, Json]:
        """The report as JSON."""
        return {
            "asked": self.asked,
            "skipped": self.skipped,
            "catalogue": [change.to_json() for change in self.catalogue],
            "answers": [
                {"place": one.place, "request": one.request, "differences": list(one.differences)}
                for one in self.answers
            ],
        }

    def __str__(self) -> str:
        lines = [f"catalogue: {change}" for change in self.catalogue] + [str(one) for one in self.answers]
        skipped = f", {self.skipped} not asked" if self.skipped else ""
        same = self.asked - len(self.answers)
        return "\n".join([*lines, f"{same} of {self.asked} recorded requests are answered the same{skipped}"])


async def verify(path: Path, target: Target, *, ignore: Sequence[str] = ()) -> Report:
    """Send every recorded request to the live server, in the recorded order, and compare the answers.

    Writes are sent too: point it at a server where that does no harm. Each session is replayed on a connection of its
    own, so that a server that starts anew for each finds what it found then.

    Raises:
        FixtureError: the recording cannot be read.
        UpstreamError: the server cannot be reached, or is gone.
    """
    recording = read_recording(path)
    report = Report()
    listed = recording.listing("tools/list", "tools")
    sessions: dict[str, list[Exchange]] = {}
    for exchange in recording.exchanges:
        sessions.setdefault(exchange.session, []).append(exchange)
    for number, exchanges in enumerate(sessions.values()):
        connection = await connect(target)
        try:
            if listed is not None:  # each time: calls mirror what the schemas say into headers
                catalogue = await connection.list_tools_raw()
                if number == 0:
                    report.catalogue = compare(listed, catalogue.definitions)
            for exchange in exchanges:
                await _ask(connection, recording, exchange, ignore, report)
        finally:
            await connection.close()
    return report


async def _ask(
    connection: Connection, recording: RecordingFile, exchange: Exchange, ignore: Sequence[str], report: Report
) -> None:
    if exchange.method not in _ASKED:
        return
    interactive = exchange.resumes is not None or (exchange.result or {}).get("resultType") == "input_required"
    if interactive or any(event.kind == "ask" for event in exchange.events) or _is_redacted(exchange.params):
        report.skipped += 1
        return
    report.asked += 1
    now = await connection.ask_raw(exchange.method, exchange.params)
    matching = matching_of(recording, ignore)
    found = list(
        differences(
            matching.redacted(_answer(now.get("result"), now.get("error"))), _answer(exchange.result, exchange.error)
        )
    )
    if found:
        more = [f"and {len(found) - _MOST_DIFFERENCES} more"] if len(found) > _MOST_DIFFERENCES else []
        what = str(exchange.params.get("name") or exchange.params.get("uri") or exchange.method)
        place = f"call {exchange.position + 1} of recording {exchange.session!r}"
        report.answers.append(Verified(place, what, tuple(found[:_MOST_DIFFERENCES] + more)))


def _answer(result: Json, error: Json) -> dict[str, Json]:
    """What counts of an answer, in no era's form."""
    if isinstance(error, dict):
        return {"error": {"code": error.get("code"), "message": error.get("message")}}
    if not isinstance(result, Mapping):
        return {"result": result}
    dropped = ("_meta", "resultType", "ttlMs", "cacheScope")
    answer = {name: value for name, value in result.items() if name not in dropped}
    if answer.get("isError") is False:
        del answer["isError"]
    return {"result": answer}


def _is_redacted(params: Json) -> bool:
    if isinstance(params, str):
        return REDACTED in params
    if isinstance(params, Mapping):
        return any(map(_is_redacted, params.values()))
    return isinstance(params, list) and any(map(_is_redacted, params))
