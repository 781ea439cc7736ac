"""What in a recording may mislead whoever learns from it: lines that are there twice, and answers that contradict.

Nothing of it is certain. A call may well have been made twice, and a tool may well answer otherwise each time; so all
of it is kept, and told of once for each tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from envace_sdk.json import Json

from .findings import Finding, Findings
from .format import Exchange
from .reader import PLAIN, RecordingFile

__all__ = ["doubts"]

_TOOL_CALL = "tools/call"


@dataclass(slots=True)
class _Repeats:
    """Calls of one tool that were made again at once, with the same arguments."""

    equal: list[tuple[int, int]] = field(default_factory=list)
    """For each that was answered alike, its line and that of the call before it."""
    other: list[tuple[int, int]] = field(default_factory=list)


def doubts(file: RecordingFile) -> tuple[Finding, ...]:
    """Warnings about one file."""
    findings = Findings(file.path or "recording")
    episodes: dict[str, list[int]] = {}
    for n, exchange in enumerate(file.exchanges):
        if exchange.method == _TOOL_CALL:
            episodes.setdefault(exchange.session, []).append(n)
    _tell_interleaved(file, findings)
    for name, places in episodes.items():
        _tell_doubled(name, [file.exchanges[n] for n in places], [_line(file, n) for n in places], findings)
    for tool, repeats in _repeats(file, episodes).items():
        _tell_repeats(tool, repeats, findings)
    return findings.listed()


def _tell_interleaved(file: RecordingFile, findings: Findings) -> None:
    """Episodes of one file that take turns: if they shared a world, neither alone says what happened to it."""
    if file.form != PLAIN:
        return
    closed: set[str] = set()
    current = None
    for n, exchange in enumerate(file.exchanges):
        if exchange.session == current:
            continue
        if exchange.session in closed:
            message = "this episode goes on after another one began; each is taken to have had a world of its own"
            findings.warning(_line(file, n), "episode", f"{exchange.session}: {message}")
            return
        if current is not None:
            closed.add(current)
        current = exchange.session


def _tell_doubled(name: str, calls: Sequence[Exchange], lines: Sequence[int], findings: Findings) -> None:
    """An episode that is the same calls and answers twice: nobody does that, but files are written twice."""
    half, odd = divmod(len(calls), 2)
    if odd or half < 2 or not all(map(_is_same, calls[:half], calls[half:])):
        return
    span = f"lines {lines[half]} to {lines[-1]} say again what lines {lines[0]} to {lines[half - 1]} say"
    findings.warning(lines[half], "", f"{name}: {span}: was the file written twice?")


def _repeats(file: RecordingFile, episodes: Mapping[str, Sequence[int]]) -> dict[str, _Repeats]:
    found: dict[str, _Repeats] = {}
    for places in episodes.values():
        for before, after in pairwise(places):
            first, second = file.exchanges[before], file.exchanges[after]
            if first.params != second.params or _is_refused(first, second):
                continue
            repeats = found.setdefault(str(second.params.get("name")), _Repeats())
            pairs = repeats.equal if _answer(first) == _answer(second) else repeats.other
            pairs.append((_line(file, after), _line(file, before)))
    return found


def _tell_repeats(tool: str, repeats: _Repeats, findings: Findings) -> None:
    every = len(repeats.equal) + len(repeats.other)
    if repeats.other:
        line, before = repeats.other[0]
        often = f"; so are {len(repeats.other)} of {every} calls that are made again at once" if every > 1 else ""
        message = f"{_of(before, line)} again, and answered otherwise{often}: does it write, or read a clock?"
        findings.warning(line, "result", f"{tool}: {message}")
    elif repeats.equal:
        line, before = repeats.equal[0]
        often = f"; {every} calls are made again at once, and answered alike" if every > 1 else ""
        findings.warning(line, "", f"{tool}: {_of(before, line)} again, and answered alike{often}")


def _of(before: int, line: int) -> str:
    return "the call before it" if before in (0, line) else f"the call of line {before}"


def _is_refused(first: Exchange, second: Exchange) -> bool:
    """Whether what succeeded once is an error the second time: so it is with whatever can be done once."""
    failed = [e.error is not None or (e.result or {}).get("isError") is True for e in (first, second)]
    return failed == [False, True]


def _is_same(one: Exchange, other: Exchange) -> bool:
    return one.params == other.params and _answer(one) == _answer(other)


def _answer(exchange: Exchange) -> Json:
    return (exchange.result, exchange.error)


def _line(file: RecordingFile, n: int) -> int:
    return file.lines[n] if n < len(file.lines) else 0
