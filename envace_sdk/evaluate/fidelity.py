"""How close a player comes to the recorded environment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence

from envace_sdk.rehearse import Environment
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.toolset import Toolset

from .ceiling import ceilings
from .consistency import Watch, is_undisturbed, repeated_reads
from .episodes import Episode, episodes_of
from .exam import Exam
from .marking import OutputSchemas, alike, mark
from .players import Player
from .playing import Answer, Loop, play
from .rehearsing import Rehearsing
from .replays import CheckedReplay, ExactReplay, NearestReplay
from .report import Case, FidelityReport, report

__all__ = ["examine", "fidelity", "replays"]

Progress = Callable[[str], None]
"""Called with the name of each episode that is done."""


async def fidelity(
    subject: Environment | Player,
    episodes: Iterable[Episode] | Iterable[Fixture],
    *,
    fixtures: Sequence[Fixture] | None = None,
    loop: Loop = "closed",
    toolset: Toolset | None = None,
    progress: Progress | None = None,
) -> FidelityReport:
    """Put held-out episodes to an environment, or another player, and score its answers.

    Args:
        subject: who answers.
        episodes: recorded episodes that the subject has not seen, or their calls.
        fixtures: the recordings that it has seen; by default those of the environment.
        loop: whether the subject goes on from its own answers or from the recorded ones.
        toolset: the tools; by default those of the environment.
        progress: called with the name of each episode that is done.

    Raises:
        ValueError: the subject is no environment, and no toolset is given.
    """
    if isinstance(subject, Environment):
        toolset = toolset or subject.toolset
        fixtures = subject.seen if fixtures is None else fixtures
        player: Player = Rehearsing(subject)
    else:
        player = subject
    if toolset is None:
        raise ValueError("the toolset of a player that is no environment must be given")
    exam = Exam(toolset, _episodes(episodes), fixtures or ())
    return (await examine(exam, [player], loop=loop, progress=progress))[0]


def replays(toolset: Toolset, fixtures: Sequence[Fixture]) -> list[Player]:
    """What the recordings alone can answer: the measure for anything better."""
    tools = {tool.name: tool for tool in toolset}
    return [ExactReplay(fixtures), NearestReplay(fixtures), CheckedReplay(fixtures, tools)]


async def examine(
    exam: Exam,
    players: Sequence[Player],
    *,
    loop: Loop = "closed",
    only: Collection[str] = (),
    progress: Progress | None = None,
) -> list[FidelityReport]:
    """Put the same episodes to several players; a report on each, in their order.

    With `only`, all calls are played, and those of these tools are scored.
    """
    schemas = OutputSchemas(exam.toolset)
    cases: list[list[Case]] = [[] for _ in players]
    pairs: list[list[tuple[str, bool]]] = [[] for _ in players]
    renamed = [0] * len(players)
    for episode in exam.episodes:
        sheets: list[list[Answer]] = []
        for index, player in enumerate(players):
            answers, names = await play(exam, episode, player, loop)
            sheets.append(answers)
            renamed[index] += names
        watch = Watch(exam)
        questions = []
        for position, question in enumerate(exam.questions(episode)):
            checks = watch.checks(question)
            questions.append(question)
            if only and question.fixture.call.name not in only:
                continue
            for index, answers in enumerate(sheets):
                found = mark(question, answers[position], checks, schemas)
                arguments = question.fixture.call.arguments
                cases[index].append(Case(episode.name, position, arguments, found, answers[position]))
        errors = [[answer.played.result.is_error for answer in answers] for answers in sheets]
        for start, end in repeated_reads(exam, questions):
            if only and questions[end].fixture.call.name not in only:
                continue
            for index, answers in enumerate(sheets):
                if not is_undisturbed(exam, questions, errors[index], (start, end)):
                    continue
                pairs[index].append((questions[end].fixture.call.name, alike(answers[start], answers[end])))
        if progress is not None:
            progress(episode.name)
        await asyncio.sleep(0)  # who waits beside a long examination gets a turn
    ceiling = ceilings(exam, only)
    return [
        report(player.name, loop, cases[index], pairs[index], renamed[index], ceiling)
        for index, player in enumerate(players)
    ]


def _episodes(given: Iterable[Episode] | Iterable[Fixture]) -> list[Episode]:
    episodes: list[Episode] = []
    fixtures: list[Fixture] = []
    for one in given:
        if isinstance(one, Episode):
            episodes.append(one)
        else:
            fixtures.append(one)
    return episodes + episodes_of(fixtures)
