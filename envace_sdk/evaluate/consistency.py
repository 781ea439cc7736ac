"""Whether the world a player shows hangs together: drawn from what the recorded answers show of the real one.

*Repeated reads*: two equal calls that follow each other, with nothing between them but calls of tools that read, and
that were answered alike; the played answers must be equal. *Read after write*: leaves of a recorded answer that a write
of the episode caused: those that differ from the last answer to an equal call, and those whose telling value came into
the episode with a write and is not in the call's own arguments. Left out are free values, which nothing could tell.
*Created*: a call that names what was created earlier in the episode, and succeeded; it must succeed. *Gone*: a call
that names what a write named since, that failed though calls naming it had succeeded before; it must fail. And a value
that the last answer to an equal call showed and this one does not, where a write in between named it: it must not be
shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .exam import Exam, Question
from .outline import Leaf
from .roles import equal_calls

__all__ = ["Checks", "Watch", "repeated_reads"]


@dataclass(slots=True)
class Checks:
    """What of one call tells whether the world hangs together."""

    after_write: frozenset[str] = frozenset()
    """Exact paths of leaves that an earlier write caused."""
    must_succeed: bool = False
    must_fail: bool = False
    must_not_show: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Thing:
    """A telling value, as an episode has it so far."""

    since: int
    created_by: str | None
    """The tool that brought it into the episode, if that was a write."""
    is_created: bool
    succeeded: bool = False
    failed: bool = False
    written: int = -1
    """The last successful write that named it."""
    retrieved: int = -1
    """The last successful call that named it."""


@dataclass(slots=True)
class Watch:
    """Follows an episode and says of each call what to check."""

    exam: Exam
    _things: dict[str, _Thing] = field(default_factory=dict)
    _answers: dict[str, tuple[int, list[Leaf]]] = field(default_factory=dict)
    _place: int = 0

    def checks(self, question: Question) -> Checks:
        """What to check of this call; the next one is asked about next."""
        checks = Checks()
        call, failed = question.fixture.call, question.fixture.result.is_error
        named = [thing for text in question.given.telling if (thing := self._things.get(text)) is not None]
        if failed:
            checks.must_fail = any(
                thing.written > thing.since and thing.retrieved >= 0 and thing.created_by != call.name
                for thing in named
            )
        else:
            checks.must_succeed = any(thing.is_created for thing in named)
            if not self.exam.roles.writes(call.name):
                checks.after_write = self._after_write(question)
                checks.must_not_show = self._gone(question)
        self._take(question)
        return checks

    def _after_write(self, question: Question) -> frozenset[str]:
        before = self._answers.get(question.given.key)
        earlier = None if before is None else {(leaf.path, leaf.text) for leaf in before[1]}
        found = set()
        for leaf in question.leaves:
            thing = self._things.get(leaf.text)
            is_telling = self.exam.common.telling(leaf.text)
            caused = thing is not None and thing.created_by is not None and leaf.text not in question.given.values
            changed = earlier is not None and (leaf.path, leaf.text) not in earlier
            if (caused or changed) and (question.kinds[leaf.path] != "free" or not is_telling):
                found.add(leaf.path)
        return frozenset(found)

    def _gone(self, question: Question) -> frozenset[str]:
        before = self._answers.get(question.given.key)
        if before is None:
            return frozenset()
        now = {leaf.text for leaf in question.leaves}
        return frozenset(
            leaf.text
            for leaf in before[1]
            if leaf.text not in now and (thing := self._things.get(leaf.text)) is not None and thing.written > before[0]
        )

    def _take(self, question: Question) -> None:
        tool, failed = question.fixture.call.name, question.fixture.result.is_error
        writes = self.exam.roles.writes(tool) and not failed
        creates = self.exam.roles.of(tool) == "create" and not failed
        for text in question.given.telling:
            thing = self._things.get(text)
            if thing is None:
                is_new = text not in self.exam.background.met
                thing = self._things[text] = _Thing(
                    self._place, tool if writes and is_new else None, creates and is_new
                )
            elif writes:
                thing.written = self._place
                if thing.failed and not thing.succeeded:
                    thing.is_created = True
            if failed:
                thing.failed = True
            else:
                thing.succeeded = True
                thing.retrieved = self._place
        for leaf in question.leaves if not failed else ():
            if self.exam.common.telling(leaf.text) and leaf.text not in self._things:
                self._things[leaf.text] = _Thing(self._place, tool if writes else None, writes, succeeded=True)
                self._things[leaf.text].retrieved = self._place
        if not failed:
            self._answers[question.given.key] = (self._place, question.leaves)
        self._place += 1


def repeated_reads(exam: Exam, questions: Sequence[Question]) -> list[tuple[int, int]]:
    """The places of each two equal reads with no write between them that were answered alike."""
    fixtures = [question.fixture for question in questions]
    return [
        (start, end)
        for start, end in equal_calls(fixtures)
        if questions[start].form == questions[end].form
        and fixtures[start].result.is_error == fixtures[end].result.is_error
        and all(exam.roles.of(f.call.name) == "read" or f.result.is_error for f in fixtures[start + 1 : end])
        and (exam.roles.of(fixtures[start].call.name) in ("read", "unknown") or fixtures[start].result.is_error)
    ]
