"""Whether the world a player shows hangs together: drawn from what the recorded answers show of the real one.

*Repeated reads*: two equal calls that follow each other, with nothing between them but calls of tools that read, and
that were answered alike; the played answers must be equal, and no misses. Calls that failed count as nothing. Where
such a call succeeded when it was played, the player has written something: of it, that pair tells nothing.

*Read after write*: leaves of the recorded answer of a tool that does not write, which a write of the episode caused:
those that differ from the last answer to an equal call, and those whose telling value came into the episode with a
write (named in its arguments, as a line of a text in them or the last part of a path in them, or shown in its answer)
and is not in the call's own arguments. Left out are free values, which nothing could tell.

*Created*: values that a write of the episode brought into the world. Where a tool that does not write shows one, the
played answer must show it too; where a call refers to one and succeeded, it must succeed. A value was brought by a
write if that was the first to name it or answer it and no recording shows it to be there from the start, or if a call
that refers to it had failed before.

*Gone*: a call that failed, referring to what a write has named since a call referring to it last succeeded; it must
fail. And a telling value that the last answer to an equal call showed and this one does not, where a write in between
named it; it must not be shown.

An argument refers to a thing if its value is repeated in a recorded error of the tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from envace_sdk.json import UNSET
from envace_sdk.tools.fixture import Fixture

from .exam import Exam, Question
from .forms import text_of
from .outline import align, equal_leaves
from .roles import equal_calls
from .transforms import contents_of

__all__ = ["Checks", "Watch", "is_undisturbed", "repeated_reads"]


@dataclass(slots=True)
class Checks:
    """What of one call tells whether the world hangs together."""

    after_write: frozenset[str] = frozenset()
    """Exact paths of leaves that an earlier write caused."""
    must_succeed: bool = False
    must_show: frozenset[str] = frozenset()
    must_fail: bool = False
    must_not_show: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Thing:
    """A telling value, as an episode has it so far."""

    brought: bool
    """Whether a write brought it into the world."""
    maker: str = ""
    """The tool that did."""
    succeeded: int = -1
    """When a call that named it last succeeded, or an answer last showed it."""
    failed: bool = False
    """Whether a call that refers to it has failed."""
    written: int = -1
    """When a write last named it, after it was there."""


@dataclass(slots=True)
class Watch:
    """Follows an episode and says of each call what to check."""

    exam: Exam
    _things: dict[str, _Thing] = field(default_factory=dict)
    _answers: dict[str, tuple[int, Question]] = field(default_factory=dict)
    _place: int = 0

    def checks(self, question: Question) -> Checks:
        """What to check of this call; the next one is asked about next."""
        checks = Checks()
        call = question.fixture.call
        referred = [self._things[text] for text in self._referred(question) if text in self._things]
        if question.fixture.result.is_error:
            checks.must_fail = any(
                thing.written >= thing.succeeded >= 0 and thing.maker != call.name for thing in referred
            )
        else:
            checks.must_succeed = any(thing.brought for thing in referred)
            if not self.exam.roles.writes(call.name):
                checks.after_write = self._after_write(question)
                checks.must_show = self._brought(question)
                checks.must_not_show = self._gone(question)
        self._take(question)
        return checks

    def _referred(self, question: Question) -> list[str]:
        tool = question.fixture.call.name
        telling = question.given.telling
        return [
            leaf.text for leaf in question.given.leaves if leaf.text in telling and self.exam.refers(tool, leaf.name)
        ]

    def _after_write(self, question: Question) -> frozenset[str]:
        before = self._answers.get(question.given.key)
        earlier = () if before is None else align(question.form, before[1].form)
        changed = {path for path, one, other in earlier if one is not UNSET and not equal_leaves(one, other)}
        found = set()
        for leaf in question.leaves:
            thing = self._things.get(leaf.text)
            caused = thing is not None and thing.brought and leaf.text not in question.given.parts
            could_be_known = question.kinds[leaf.path] != "free" or not self.exam.common.telling(leaf.text)
            if (caused or leaf.path in changed) and could_be_known:
                found.add(leaf.path)
        return frozenset(found)

    def _brought(self, question: Question) -> frozenset[str]:
        return frozenset(
            leaf.text
            for leaf in question.leaves
            if (thing := self._things.get(leaf.text)) is not None and thing.brought
        )

    def _gone(self, question: Question) -> frozenset[str]:
        before = self._answers.get(question.given.key)
        if before is None:
            return frozenset()
        now = {leaf.text for leaf in question.leaves}
        return frozenset(
            leaf.text
            for leaf in before[1].leaves
            if leaf.text not in now and (thing := self._things.get(leaf.text)) is not None and thing.written > before[0]
        )

    def _take(self, question: Question) -> None:
        tool = question.fixture.call.name
        if question.fixture.result.is_error:
            for text in self._referred(question):
                self._things.setdefault(text, _Thing(brought=False)).failed = True
        else:
            writes = self.exam.roles.writes(tool)
            for text in question.given.telling:
                self._meet(text, tool, writes=writes, named=True)
                for part in contents_of(text):
                    if self.exam.common.telling(part):
                        self._meet(part, tool, writes=writes, named=True)
            for leaf in question.leaves:
                if self.exam.common.telling(leaf.text):
                    self._meet(leaf.text, tool, writes=writes, named=False)
            self._answers[question.given.key] = (self._place, question)
        self._place += 1

    def _meet(self, text: str, tool: str, *, writes: bool, named: bool) -> None:
        thing = self._things.get(text)
        if thing is None:
            brought = writes and text not in self.exam.initial
            thing = self._things[text] = _Thing(brought, tool if brought else "")
        elif writes and thing.failed and thing.succeeded < 0:
            thing.brought, thing.maker = True, tool
        elif writes and named:
            thing.written = self._place
        thing.succeeded = self._place


def repeated_reads(exam: Exam, questions: Sequence[Question]) -> list[tuple[int, int]]:
    """The places of each two equal reads with no write between them that were answered alike."""
    fixtures = [question.fixture for question in questions]
    return [
        (start, end)
        for start, end in equal_calls(fixtures)
        if text_of(questions[start].value) == text_of(questions[end].value)
        and fixtures[start].result.is_error == fixtures[end].result.is_error
        and all(_leaves_alone(exam, fixtures[place]) for place in range(start + 1, end))
        and (exam.roles.of(fixtures[start].call.name) != "write" or fixtures[start].result.is_error)
    ]


def is_undisturbed(exam: Exam, calls: Sequence[Question], failed: Sequence[bool], pair: tuple[int, int]) -> bool:
    """Whether a player, too, has written nothing from the first call of a pair to the second; `failed` by place."""
    start, end = pair
    roles = [exam.roles.of(calls[place].fixture.call.name) for place in range(start, end)]
    return (roles[0] != "write" or failed[start]) and all(
        role == "read" or failed[start + place] for place, role in enumerate(roles) if place
    )


def _leaves_alone(exam: Exam, fixture: Fixture) -> bool:
    return fixture.result.is_error or exam.roles.of(fixture.call.name) == "read"
