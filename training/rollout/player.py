"""One trajectory: act, respond, until the last answer or a limit."""

from __future__ import annotations

from dataclasses import dataclass, field

from envace_sdk.errors import EnvaceError, MalformedCallError, MalformedResponseError, UpstreamError
from envace_sdk.models import Completion
from envace_sdk.rehearse.base import Rehearsal
from envace_sdk.roles.stream import Parsed
from envace_sdk.tasks import Task
from envace_sdk.tools.model import Tool, ToolCall, ToolResult

from ..rollout_config import RolloutConfig
from ..trajectory import Ending, Trajectory, Turn
from .lockstep import Asker
from .scripts import Script, seed_of
from .stage import Stage, ToolClient

__all__ = ["Player"]

_NO_ANSWER = "The tool gave no answer that can be read."


class _EndError(Exception):
    """The trajectory is over."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending)
        self.ending = ending


@dataclass(slots=True)
class Player:
    """Plays one trajectory.

    Args:
        task: what the user wants.
        tools: by name, what is shown.
        stage: where calls happen.
        script: how it is put to the model.
        asker: who asks the model.
        config: the limits.
        trajectory: where it is written down.
        place: the player's place among those that play at once.
        seed: of the model's sampling, with the trajectory and the turn.
        client: the real environment, when that answers.
    """

    task: Task
    tools: dict[str, Tool]
    stage: Stage
    script: Script
    asker: Asker
    config: RolloutConfig
    trajectory: Trajectory
    place: tuple[int, ...]
    seed: str
    client: ToolClient | None = None
    _errors: int = field(default=0, init=False)

    async def play(self) -> Trajectory:
        """Play to the end. What goes wrong in an environment masks the trajectory.

        Raises:
            ModelError: the model cannot be run.
        """
        try:
            await self._talk()
        except _EndError as end:
            self.trajectory.ending = end.ending
        self.trajectory.episode = self.stage.episode(self.trajectory.answer)
        return self.trajectory

    async def _talk(self) -> None:
        waiting = [self.task.instruction, *self.task.follow_ups]
        self.script.user(waiting.pop(0))
        for _ in range(self.config.max_turns):
            parsed = await self._act()
            if parsed is None:
                continue
            if parsed.calls:
                for call in parsed.calls:
                    await self._respond(call)
                continue
            self.trajectory.answers.append(parsed.text)
            if not waiting:
                raise _EndError("answered")
            self.script.user(waiting.pop(0))

    async def _act(self) -> Parsed | None:
        completion = await self.asker.ask("act", self.script.act(self._number()), order=self.place)
        turn = Turn("act", completion.text, completion)
        if completion.finish_reason != "stop":
            self._cut_off(turn, completion)
        try:
            parsed = self.script.parse(completion)
            if len(parsed.calls) > self.config.max_calls:
                raise MalformedCallError(f"{len(parsed.calls)} calls at once; at most {self.config.max_calls} may be")
        except MalformedCallError as error:
            self.trajectory.turns.append(_with(turn, problem=str(error)))
            if self.config.malformed == "end":
                raise _EndError("malformed") from None
            self.script.misread(completion, str(error))
            self._count_error()
            return None
        self.trajectory.turns.append(_with(turn, calls=parsed.calls))
        self.script.acted(completion, parsed)
        return parsed

    async def _respond(self, call: ToolCall) -> None:
        tool = self.tools.get(call.name)
        if tool is None:
            result = self.stage.refuse(call, f"Unknown tool: {call.name}")
            self._show(Turn("rehearse", calls=(call,), result=result))
            self._count_error()
            return
        if self.client is not None:
            await self._ask_real(call, self.client)
            return
        before = self.stage.state
        try:
            truth = await self.stage.rehearse(call)
        except EnvaceError as error:
            self.trajectory.masked = f"{call.name}: the environment cannot answer: {error}"
            raise _EndError("errors") from None
        if truth.layer == "arguments" or self.trajectory.source == "grounded":
            # Whether arguments fit the schema is decided by rule, never by a model.
            self._show(Turn("rehearse", calls=(call,), result=truth.result, truth=truth))
            if truth.layer == "arguments":
                self._count_error()
            return
        request = self.script.rehearse(tool, call, before, self._number())
        completion = await self.asker.ask("rehearse", request, order=self.place)
        self._imagined(call, tool, completion, truth)

    def _imagined(self, call: ToolCall, tool: Tool, completion: Completion, truth: Rehearsal) -> None:
        turn = Turn("rehearse", completion.text, completion, (call,), truth=truth)
        if completion.finish_reason != "stop":
            self._cut_off(turn, completion)
        try:
            result = self.script.read(completion, tool)
        except MalformedResponseError as error:
            told = ToolResult.text(_NO_ANSWER, is_error=True)
            if self.config.malformed == "end":
                self.trajectory.turns.append(_with(turn, problem=str(error)))
                raise _EndError("malformed") from None
            self._show(_with(turn, problem=str(error), result=told))
            self._count_error()
            return
        self._show(_with(turn, result=result))

    async def _ask_real(self, call: ToolCall, client: ToolClient) -> None:
        try:
            with self.asker.away():
                result = await client.call(call)
            self.trajectory.server = "twin" if client.is_rehearsal else "server"
            self.stage.observe(call, result)
        except UpstreamError as error:
            self.trajectory.masked = f"{call.name}: the real server cannot answer: {error}"
            raise _EndError("errors") from None
        except EnvaceError as error:
            self.trajectory.masked = f"{call.name}: its effect cannot be told: {error}"
            raise _EndError("errors") from None
        self._show(Turn("rehearse", calls=(call,), result=result))

    def _show(self, turn: Turn) -> None:
        self.trajectory.turns.append(turn)
        if turn.result is None:
            raise AssertionError("what is shown is a result")
        self.script.responded(turn.calls[0], turn.result, turn.completion)

    def _cut_off(self, turn: Turn, completion: Completion) -> None:
        is_long = completion.finish_reason == "length"
        problem = (
            "it was cut off by the token limit" if is_long else completion.error or "the model took no such prompt"
        )
        self.trajectory.turns.append(_with(turn, problem=problem))
        raise _EndError("truncated" if is_long else "refused")

    def _count_error(self) -> None:
        self._errors += 1
        if self._errors >= self.config.max_errors:
            raise _EndError("errors")

    def _number(self) -> int:
        """The seed of the next completion."""
        return seed_of(self.seed, self.trajectory.task, self.trajectory.sample, len(self.trajectory.turns))


def _with(
    turn: Turn, *, calls: tuple[ToolCall, ...] | None = None, result: ToolResult | None = None, problem: str = ""
) -> Turn:
    return Turn(
        turn.role,
        turn.text,
        turn.completion,
        turn.calls if calls is None else calls,
        turn.result if result is None else result,
        turn.truth,
        problem or turn.problem,
    )
