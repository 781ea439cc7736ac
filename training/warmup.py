"""Rows to warm up on: both roles as they should be played, from witnesses of tasks and from recordings.

A demonstration runs through the very code that plays rollouts, with a teacher in the place of the model: so what is
learned here stands in the same prompts as what is sampled later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from envace_sdk.errors import EnvaceError, TrainingError
from envace_sdk.json import Json
from envace_sdk.models import Completion, Message, Request
from envace_sdk.rehearse.environment import Environment
from envace_sdk.roles import Step, ToolFormat, dialogue
from envace_sdk.tasks import Task, WitnessCall, start_state
from envace_sdk.tasks.witness import substitute
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.state import State

from .rollout.collect import Case, RolloutSource
from .rollout.player import Player
from .rollout.scripts import Script
from .rollout.stage import Stage
from .rows import Role, Row
from .tasks.words import details, request_of
from .tokens import ChatTokens
from .trajectory import Trajectory

__all__ = [
    "UnfitWitnessError",
    "answers_to",
    "demonstrate",
    "recorded_rows",
    "witness_rows",
    "worked_example",
    "written",
]


class UnfitWitnessError(TrainingError):
    """A task's witness cannot be played within the limits of rollouts, or does not say all that is to be said."""


async def demonstrate(case: Case, source: RolloutSource, tokens: ChatTokens) -> Trajectory:
    """The trajectory of a task's witness, with the policy's turns as a teacher writes them.

    Args:
        case: a task with a witness.
        source: whose prompts and limits count.
        tokens: of the model that is to learn.

    Raises:
        UnfitWitnessError: the task has no witness, or it does not lead to its end within the limits.
        TrainingError: the rendering does not go with the model or the format.
    """
    if case.task.witness is None:
        raise UnfitWitnessError(f"task {case.name!r} has no witness to learn from")
    start = start_state(case.environment, case.task)
    trajectory = Trajectory(case.name, 0, "train")
    stage = Stage(case.environment, case.task, start)
    script = source.script(case, list(case.tools.values()))
    teacher = _Teacher(case.task, stage, script, tokens)
    player = Player(case.task, case.tools, stage, script, teacher, source.config, trajectory, (0,), "warm-up")
    await player.play()
    if trajectory.ending != "answered":
        raise UnfitWitnessError(f"task {case.name!r}: its witness ends with {trajectory.ending}; raise rollout limits")
    trajectory.reward = 1.0
    return trajectory


async def witness_rows(cases: Sequence[Case], source: RolloutSource, tokens: ChatTokens) -> list[Row]:
    """Rows of both roles from the witnesses of tasks; tasks whose witness does not fit the limits give none.

    Raises:
        TrainingError: the rendering does not go with the model or the format.
    """
    rows: list[Row] = []
    for case in cases:
        try:
            rows += (await demonstrate(case, source, tokens)).rows()
        except UnfitWitnessError:
            continue
    return rows


def recorded_rows(environment: Environment, source: RolloutSource, tokens: ChatTokens) -> list[Row]:
    """Rows of both roles from the calls that are recorded of a toolset.

    The rehearsing role learns to answer each call as the real server did, told of recordings of other sessions and of
    what came before in its own; the acting role, to make the call when it is put in words.

    Args:
        environment: the toolset with its recordings.
        source: whose prompts count; in a stream, recordings alone give no rows of the rehearsing role.
        tokens: of the model that is to learn.
    """
    rows: list[Row] = []
    for episode, fixtures in _episodes(environment.seen).items():
        state, history = environment.start, list[Step]()
        for place, fixture in enumerate(fixtures):
            if fixture.call.name in environment.toolset:
                name = f"{environment.toolset.name}/recorded/{episode}/{place}"
                rows += _recorded(name, fixture, state, history, environment, source, tokens)
                state = _after(environment, state, fixture)
                history.append((fixture.call, fixture.result))
    return rows


async def worked_example(case: Case, form: ToolFormat) -> tuple[Message, ...]:
    """A task's witness as a conversation to show in the acting prompt.

    Raises:
        TrainingError: the task has no witness, or is a conversation of several turns.
    """
    if case.task.witness is None or case.task.follow_ups:
        raise TrainingError(f"task {case.name!r} makes no example: it needs a witness, and one turn of the user's")
    stage = Stage(case.environment, case.task, start_state(case.environment, case.task))
    steps: list[Step] = []
    results: list[Json] = []
    for step in case.task.witness:
        call = ToolCall(step.tool, substitute(step.arguments, results, stage.state))
        result = (await stage.rehearse(call)).result
        results.append(result.value())
        steps.append((call, result))
    return dialogue(case.task.instruction, steps, form=form, answer=case.task.answer)


def answers_to(task: Task) -> list[str]:
    """What the user is told at the end of each of their turns; none where the task does not say it turn by turn."""
    told = task.answer.split("\n") if task.follow_ups else [task.answer]
    return told if len(told) == len(task.follow_ups) + 1 else []


def written(request: Request, text: str, tokens: ChatTokens) -> Completion:
    """A completion that says `text`, in the tokens of a model."""
    prompt = request.prompt_ids or tuple(tokens.encode(request.messages or (), request.tools))
    return Completion(text, (*tokens.tokens(text), tokens.end_id), prompt_ids=prompt)


class _Teacher:
    """Writes what the witness does, and what the environment truly answers."""

    def __init__(self, task: Task, stage: Stage, script: Script, tokens: ChatTokens) -> None:
        self._task = task
        self._stage = stage
        self._script = script
        self._tokens = tokens
        self._left = list(task.witness or ())
        self._turn = 0
        self._answers = answers_to(task)

    async def ask(self, role: Role, request: Request, *, order: tuple[int, ...]) -> Completion:  # noqa: ARG002
        """The teacher's words, in the tokens of the model."""
        text = self._act() if role == "act" else self._script.write_response(self._truth())
        return written(request, text, self._tokens)

    def away(self) -> AbstractContextManager[None]:
        """Nobody waits."""
        return nullcontext()

    def _act(self) -> str:
        if self._left and self._left[0].turn <= self._turn:
            step: WitnessCall = self._left.pop(0)
            made = substitute(step.arguments, [record.result for record in self._stage.calls], self._stage.state)
            return self._script.write_act(ToolCall(step.tool, made))
        if self._turn >= len(self._answers):
            raise UnfitWitnessError(
                f"task {self._task.id!r} does not say what is answered in its turn {self._turn + 1}"
            )
        self._turn += 1
        return self._script.write_act(None, self._answers[self._turn - 1])

    def _truth(self) -> ToolResult:
        latest = self._stage.latest
        if latest is None:
            raise AssertionError("a response is asked for after its call")
        return latest.result


def _recorded(
    name: str,
    fixture: Fixture,
    state: State,
    history: Sequence[Step],
    environment: Environment,
    source: RolloutSource,
    tokens: ChatTokens,
) -> Iterator[Row]:
    tool = environment.toolset[fixture.call.name]
    asked = f"Please {request_of(tool)}. {details(fixture.call.arguments, {})}".strip()
    task = Task.model_validate(
        {"id": "recorded", "instruction": asked, "checklist": [{"id": "-", "says": "-", "that": "true"}]}
    )
    case = Case(environment, task)
    script = source.script(case, [tool])
    script.user(asked)
    yield _row(name, "act", script.act(0), script.write_act(fixture.call), tokens, 0)
    if source.rendering == "split":
        messages = source.prompts(environment).messages(tool, fixture.call, state, history, without=fixture.episode)
        yield _row(name, "rehearse", Request(messages), script.write_response(fixture.result), tokens, 1)


def _row(name: str, role: Role, request: Request, text: str, tokens: ChatTokens, turn: int) -> Row:
    made = written(request, text, tokens)
    return Row(name, 0, role, made.prompt_ids or (), made.token_ids or (), reward=1.0, turn=turn)


def _episodes(fixtures: Sequence[Fixture]) -> dict[str, list[Fixture]]:
    found: dict[str, list[Fixture]] = {}
    for fixture in fixtures:
        if fixture.is_call and fixture.result.fault is None:
            found.setdefault(fixture.episode, []).append(fixture)
    return {episode: sorted(calls, key=lambda fixture: fixture.position) for episode, calls in found.items()}


def _after(environment: Environment, state: State, fixture: Fixture) -> State:
    try:
        return environment.observe(state, fixture.call, fixture.result)
    except EnvaceError:  # what cannot be made sense of changes nothing
        return state
