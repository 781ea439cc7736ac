"""Playing an episode: the recorded calls, one after another, put to a player."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal

from envace_sdk.json import UNSET, Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall

from .episodes import Episode
from .exam import Exam
from .forms import comparable, norm
from .outline import align, leaves_of, plain_name
from .players import Played, Player

__all__ = ["Answer", "Loop", "Renaming", "play"]

Loop = Literal["closed", "open"]
"""closed: the player goes on from its own answers; open: after each call it learns what that really returned."""

_SHORTEST: Final = 4
"""Characters of a name that is also changed inside of texts."""
_IDS: Final = ("id", "number", "key", "code")
"""How the plain names of ids end."""
_MOST_NAMES: Final = 200
"""Names, the last ones, that are looked for inside of texts."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a player answered to a recorded call, in the recorded names."""

    played: Played
    recorded: Json
    """The recorded answer as data."""
    value: Json
    """The played one, of the same kind."""


class Renaming:
    """Names that the player has made up where the real environment made up others.

    In the closed loop an agent would use the ids that it was told. So where the recorded answer of a tool that writes
    first shows a telling value, which later calls or answers hold again, and the played answer has another one in its
    place, later calls name the played one, and answers are read with the recorded one in its stead. Of a tool of which
    nothing tells whether it writes, that goes for values that later calls name. What a player makes up about the
    initial state is no name of its own: it is wrong.

    Small numbers are not telling. One that the answer of a call which makes things shows under the name of an id, or
    the end of one, is followed where arguments that refer to things, and ids in answers, hold it.
    """

    def __init__(self, exam: Exam, episode: Episode) -> None:
        self._exam = exam
        held: Counter[str] = Counter()
        self._named: set[str] = set()
        for fixture in episode.calls:
            sheet = exam.sheet(fixture)
            held.update({leaf.text for leaf in (*sheet.told, *sheet.leaves)})
            self._named.update(leaf.text for leaf in sheet.told)
        self._again = {text for text, calls in held.items() if calls > 1 and exam.common.telling(text)}
        self._seen: set[str] = set()
        self._played: dict[str, Json] = {}
        self._recorded: dict[str, Json] = {}
        self._ids = {
            leaf.name
            for fixture in episode.calls
            for leaf in exam.sheet(fixture).told
            if exam.refers(fixture.call.name, leaf.name) and leaf.name.endswith(_IDS)
        }
        """The plain names of arguments by which things are referred to."""
        self._counted: dict[str, Json] = {}
        self._recounted: dict[str, Json] = {}
        self._asked: dict[str, str] = {}
        """Of the last call, the numbers that were put in place of recorded ones."""

    @property
    def names(self) -> int:
        """How many there are."""
        return len(self._played) + len(self._counted)

    def ask(self, call: ToolCall) -> ToolCall:
        """The call in the player's names."""
        self._seen.update(leaf.text for leaf in leaves_of(dict(call.arguments)))
        arguments: Json = call.arguments
        self._asked = {}
        if self._counted:
            arguments = _recounted(arguments, self._counted, self._is_id, self._asked)
        if self._played:
            arguments = _renamed(arguments, self._played)
        return call if arguments is call.arguments else replace(call, arguments=arguments)

    def read(self, value: Json) -> Json:
        """An answer in the recorded names."""
        if self._recounted:
            value = _worded(_recounted(value, self._recounted, self._is_id, {}), self._asked)
        return _renamed(value, self._recorded) if self._recorded else value

    def _is_id(self, name: str) -> bool:
        """Whether a plain name is that of an id: `ticketid`, and `id` where there is such a one."""
        return name.endswith(_IDS) and any(full.endswith(name) for full in self._ids)

    def learn(self, fixture: Fixture, played: Json) -> None:
        """Take note of names that differ, and of what has been shown; `played` is an answer of the recorded status."""
        sheet = self._exam.sheet(fixture)
        role = self._exam.roles.of(fixture.call.name)
        needed = self._again & self._named if role == "unknown" else self._again
        if needed and role != "read":
            for _, one, other in align(sheet.form, self._exam.form(fixture, played)):
                text = "" if one is UNSET or isinstance(one, dict | list) else norm(one)
                if text in needed and text not in self._seen and _is_name(other) and norm(other) != text:
                    self._played.setdefault(text, other)
                    self._recorded.setdefault(norm(other), one)
        if role == "create" and self._ids:
            self._count(sheet.value, played)
        self._seen.update(leaf.text for leaf in sheet.leaves)

    def _count(self, recorded: Json, played: Json) -> None:
        """Take note of small numbers that differ, as ids of what the call made."""
        if not isinstance(recorded, dict) or not isinstance(played, dict):
            return
        for key, one in recorded.items():
            other = played.get(key)
            if isinstance(one, dict):
                self._count(one, other)
            elif self._is_id(plain_name(key)) and _is_number(one) and _is_number(other):
                self._counted.setdefault(norm(one), other)
                self._recounted.setdefault(norm(other), one)


async def play(exam: Exam, episode: Episode, player: Player, loop: Loop = "closed") -> tuple[list[Answer], int]:
    """The player's answers to the calls of one episode, and how many names it made up that were taken for others."""
    session = await player.start(episode.name)
    renaming = Renaming(exam, episode) if loop == "closed" else None
    answers: list[Answer] = []
    for fixture in episode.calls:
        call = fixture.call if renaming is None else renaming.ask(fixture.call)
        played = await session.answer(call)
        if loop == "open":
            await session.observe(call, fixture.result)
        recorded, value = comparable(fixture.result, played.result)
        if renaming is not None:
            value = renaming.read(value)
            if played.result.is_error == fixture.result.is_error:
                renaming.learn(fixture, value)
        answers.append(Answer(played, recorded, value))
    return answers, 0 if renaming is None else renaming.names


def _is_name(value: Json) -> bool:
    return (isinstance(value, str) and bool(value)) or (isinstance(value, int) and not isinstance(value, bool))


def _is_number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _recounted(
    value: Json, numbers: dict[str, Json], is_id: Callable[[str], bool], done: dict[str, str], name: str = ""
) -> Json:
    """With other ids in place of small numbers; `done` is told which."""
    if isinstance(value, Mapping):
        return {key: _recounted(part, numbers, is_id, done, plain_name(key)) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_recounted(item, numbers, is_id, done, name) for item in value]
    if not _is_number(value) or not is_id(name):
        return value
    found = numbers.get(norm(value), value)
    if found != value:
        done[str(found)] = str(value)
    return found


def _worded(value: Json, numbers: dict[str, str]) -> Json:
    """With the recorded numbers in texts that repeat those of the call."""
    if isinstance(value, dict):
        return {key: _worded(part, numbers) for key, part in value.items()}
    if isinstance(value, list):
        return [_worded(item, numbers) for item in value]
    if not isinstance(value, str) or not numbers:
        return value
    words = "|".join(map(re.escape, numbers))
    return re.sub(rf"(?<![\w.])(?:{words})(?![\w.]\w)(?!\w)", lambda match: numbers[match.group()], value)


def _renamed(value: Json, names: dict[str, Json]) -> Json:
    if isinstance(value, Mapping):
        return {key: _renamed(part, names) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(item, names) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    found = names.get(norm(value), UNSET)
    if found is not UNSET:
        return found
    if isinstance(value, str):
        for name, new in islice(reversed(names.items()), _MOST_NAMES):
            if len(name) >= _SHORTEST and name in value.casefold():
                whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
                value = whole.sub(lambda _, new=new: str(new), value)  # type: ignore[misc]
    return value
