"""The ceiling: how far anyone could get who knows only what is shown.

A call *hangs on what nothing shows* when

- it refers to a thing (an argument whose value errors of the tool repeat) that no earlier call of its episode named or
  showed, and the recordings do not settle what then becomes of it: no fixture asks the same, or not all recorded calls
  that do were answered with one status; and
- it failed with an error that depends on the state, or succeeded where the tool has such errors. An error depends on
  the state if some recorded call that it answered was, at another time, answered with a success.

The best that can be done then is to guess the status that is more frequent among such calls of the tool. Where an
answer consists mostly of free values, the best guess at its structure is the most frequent one among the recorded
answers of the tool with that status.

This is an estimate, not a bound: a listing may have shown that a thing is not there, and a guess may be lucky.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from .episodes import Episode
from .exam import Exam, Question
from .knowledge import call_key
from .outline import f1

__all__ = ["Ceiling", "ceilings"]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The best scores that what is shown allows, by estimate."""

    calls: int
    unsettled: int
    """Calls that hang on what nothing shows."""
    free_leaves: int
    """Leaves of recorded answers that nothing entails."""
    status: float | None
    balanced_status: float | None
    structure: float | None
    entailed: float | None

    def as_json(self) -> dict[str, Any]:
        """As JSON, rounded to four places."""
        found = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in found.items()}


@dataclass(slots=True)
class _Case:
    tool: str
    failed: bool
    unsettled: bool
    free: int
    entailed: bool
    structure: float
    guessed: bool = True


def ceilings(exam: Exam, only: Collection[str] = ()) -> tuple[Ceiling, dict[str, Ceiling]]:
    """The ceiling over all calls, and by tool; `only` these tools if any are named."""
    shown = _Shown(exam)
    cases: list[_Case] = []
    for episode in exam.episodes:
        seen: set[str] = set()
        for question in exam.questions(episode):
            name = question.fixture.call.name
            if not only or name in only:
                cases.append(_case(exam, question, seen, shown))
            _take(seen, question)
    _guess(cases)
    tools = sorted({case.tool for case in cases})
    return _ceiling(cases), {tool: _ceiling([case for case in cases if case.tool == tool]) for tool in tools}


class _Shown:
    """What all recordings together tell of calls."""

    def __init__(self, exam: Exam) -> None:
        self.settled = _settled(exam)
        self.usual: dict[tuple[str, bool], frozenset[str]] = {}
        self._kinds: set[tuple[str, frozenset[str]]] = set()
        structures: dict[tuple[str, bool], Counter[str]] = {}
        paths: dict[str, frozenset[str]] = {}
        succeeded: set[str] = set()
        errors: list[tuple[str, str, frozenset[str]]] = []
        for episode in (*exam.known, *exam.episodes):
            for fixture in episode.calls:
                tool, failed = fixture.call.name, fixture.result.is_error
                found = exam.sheet(fixture).paths
                text = json.dumps(sorted(found))
                paths[text] = found
                structures.setdefault((tool, failed), Counter())[text] += 1
                if failed:
                    errors.append((call_key(fixture.call), tool, found))
                else:
                    succeeded.add(call_key(fixture.call))
        for place, counts in structures.items():
            best = max(counts.values())
            self.usual[place] = paths[min(text for text, count in counts.items() if count == best)]
        self._kinds.update((tool, kind) for key, tool, kind in errors if key in succeeded)
        self._uncertain = {tool for tool, _ in self._kinds}

    def depends_on_state(self, question: Question) -> bool:
        """Whether the status of the answer could have been another in another state."""
        tool = question.fixture.call.name
        if question.fixture.result.is_error:
            return (tool, question.paths) in self._kinds
        return tool in self._uncertain


def _case(exam: Exam, question: Question, seen: set[str], shown: _Shown) -> _Case:
    call, failed = question.fixture.call, question.fixture.result.is_error
    kinds = list(question.kinds.values())
    free = kinds.count("free")
    structure = f1(question.paths, shown.usual[call.name, failed]) if free * 2 > len(kinds) else 1.0
    unsettled = (
        _asks_anew(exam, question, seen)
        and (question.given.key, failed) not in shown.settled
        and shown.depends_on_state(question)
    )
    return _Case(call.name, failed, unsettled, free, "entailed" in kinds, structure)


def _asks_anew(exam: Exam, question: Question, seen: set[str]) -> bool:
    tool = question.fixture.call.name
    return any(exam.refers(tool, leaf.name) and leaf.text not in seen for leaf in question.given.leaves)


def _take(seen: set[str], question: Question) -> None:
    seen.update(leaf.text for leaf in question.given.leaves)
    if not question.fixture.result.is_error:
        seen.update(leaf.text for leaf in question.leaves)


def _settled(exam: Exam) -> set[tuple[str, bool]]:
    """The calls with the status they always have when they refer to what the episode has not shown yet."""
    asked: dict[str, set[bool]] = {}
    known: set[str] = set()
    for episodes, is_fixture in ((exam.known, True), (exam.episodes, False)):
        for key, failed in _first_asked(exam, episodes):
            asked.setdefault(key, set()).add(failed)
            if is_fixture:
                known.add(key)
    return {(key, next(iter(asked[key]))) for key in sorted(known) if len(asked[key]) == 1}


def _first_asked(exam: Exam, episodes: Iterable[Episode]) -> Iterable[tuple[str, bool]]:
    for episode in episodes:
        seen: set[str] = set()
        for fixture in episode.calls:
            told = exam.sheet(fixture).told
            if any(exam.refers(fixture.call.name, leaf.name) and leaf.text not in seen for leaf in told):
                yield call_key(fixture.call), fixture.result.is_error
            seen.update(leaf.text for leaf in told)
            if not fixture.result.is_error:
                seen.update(leaf.text for leaf in exam.sheet(fixture).leaves)


def _guess(cases: Sequence[_Case]) -> None:
    """Guess the status of unsettled calls, for each tool the more frequent one."""
    failures: dict[str, list[bool]] = {}
    for case in cases:
        if case.unsettled:
            failures.setdefault(case.tool, []).append(case.failed)
    for case in cases:
        if case.unsettled:
            guess = sum(failures[case.tool]) * 2 > len(failures[case.tool])
            case.guessed = guess == case.failed


def _ceiling(cases: Sequence[_Case]) -> Ceiling:
    on_successes = _mean([case.guessed for case in cases if not case.failed])
    on_errors = _mean([case.guessed for case in cases if case.failed])
    return Ceiling(
        len(cases),
        sum(case.unsettled for case in cases),
        sum(case.free for case in cases),
        _mean([case.guessed for case in cases]),
        _mean([share for share in (on_successes, on_errors) if share is not None]),
        _mean([case.structure for case in cases if case.guessed]),
        _mean([case.guessed for case in cases if case.entailed]),
    )


def _mean(values: Sequence[float | bool]) -> float | None:
    return sum(values) / len(values) if values else None
