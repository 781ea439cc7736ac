"""Playing an episode: the recorded calls, one after another, put to a player."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal

from envace_sdk.json import UNSET, Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall

from .episodes import Episode
from .exam import Exam
from .forms import comparable, norm
from .outline import align, leaves_of
from .players import Played, Player

__all__ = ["Answer", "Loop", "Renaming", "play"]

Loop = Literal["closed", "open"]
"""closed: the player goes on from its own answers; open: after each call it learns what that really returned."""

_SHORTEST: Final = 4
"""Characters of a name that is also changed inside of texts."""
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

    @property
    def names(self) -> int:
        """How many there are."""
        return len(self._played)

    def ask(self, call: ToolCall) -> ToolCall:
        """The call in the player's names."""
        self._seen.update(leaf.text for leaf in leaves_of(dict(call.arguments)))
        if not self._played:
            return call
        return replace(call, arguments=_renamed(call.arguments, self._played))

    def read(self, value: Json) -> Json:
        """An answer in the recorded names."""
        return _renamed(value, self._recorded) if self._recorded else value

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
        self._seen.update(leaf.text for leaf in sheet.leaves)


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
