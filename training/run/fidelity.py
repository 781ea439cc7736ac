"""How well the policy rehearses: its responses to calls of held-out tasks, scored as any environment's are.

The calls are those of validation tasks' solutions, answered by the environment's ladder where a recording or a rule
speaks; a twin of a real server so stands in for that server's own recordings. Each call is put to the policy alone,
with the world and the history that truly preceded it (the open loop), as training puts calls to it.

Tasks of other templates may make the same calls. Those that training cannot have shown it are scored apart too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Self

from envace_sdk.errors import EnvaceError, MalformedResponseError
from envace_sdk.evaluate import Episode, Exam, FidelityReport, Played, examine
from envace_sdk.evidence import digest
from envace_sdk.models import Completion, Request, Sampling
from envace_sdk.rehearse import Environment
from envace_sdk.rehearse.base import Rehearsal
from envace_sdk.roles import RESPONSE, response_schema
from envace_sdk.roles.stream import Parsed
from envace_sdk.tasks import start_state
from envace_sdk.tasks.witness import substitute
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.state import State

from ..grounding import EVIDENCE
from ..rollout import Case, RolloutSource, Script, Stage
from ..rollout.scripts import seed_of
from ..tokens import ChatTokens
from ..warmup import answers_to, written
from .live import Live

__all__ = ["KnownCall", "RoleFidelity", "known_calls", "role_fidelity"]

_NAME: Final = "policy"


class KnownCall(NamedTuple):
    """A call that training may have shown the answer to."""

    toolset: str
    tool: str
    arguments: str
    """Their digest."""

    @classmethod
    def of(cls, environment: Environment, call: ToolCall) -> Self:
        """A call of a toolset."""
        return cls(environment.toolset.name, call.name, digest(dict(call.arguments)))


@dataclass(frozen=True, slots=True)
class RoleFidelity:
    """What the rehearsing role's answers are worth."""

    fidelity: float
    """From 0 to 1: the mean over the toolsets, weighted by their calls."""
    readable: float
    """The share of answers that are a response at all."""
    calls: int
    reports: dict[str, FidelityReport]
    """By toolset."""
    new: float | None = None
    """The fidelity on calls that are not known; None where there is none, or it was not asked."""
    new_calls: int = 0
    """How many these are."""

    def missing(self, gate: float) -> str:
        """What keeps it below the gate, in words; empty where it is not below."""
        if self.fidelity >= gate:
            return ""
        if not self.calls:
            return (
                "the gate cannot be reached: no call that is measured on is answered by a recording or a rule, so "
                "nothing tells how well it rehearses; leave the gate, or write dynamics for the tools"
            )
        parts = [f"{self.readable:.0%} of its answers can be read"]
        for name, report in self.reports.items():
            scores = report.overall
            axes = {
                "status": scores.balanced_status,
                "structure": scores.structure,
                "values": scores.entailed,
            }
            known = {axis: value for axis, value in axes.items() if value is not None}
            if known:
                weakest = min(known, key=lambda axis: known[axis])
                parts.append(f"{name}: weakest in {weakest} ({known[weakest]:.2f})")
        return f"the rehearsing role's fidelity is {self.fidelity:.2f}, below the gate of {gate:g}: " + "; ".join(parts)


async def known_calls(cases: Iterable[Case], environments: Iterable[Environment]) -> frozenset[KnownCall]:
    """The calls that the cases' witnesses make, and those that are recorded of the toolsets, which prompts may show."""
    found = {
        KnownCall.of(environment, fixture.call)
        for environment in environments
        for fixture in environment.seen
        if fixture.is_call
    }
    for case in cases:
        stage = Stage(case.environment, case.task, start_state(case.environment, case.task))
        async for _, call, _ in _witnessed(case, stage):
            found.add(KnownCall.of(case.environment, call))
    return frozenset(found)


async def role_fidelity(
    cases: Sequence[Case],
    live: Live,
    *,
    temperature: float,
    constrained: bool = False,
    known: Container[KnownCall] | None = None,
) -> RoleFidelity:
    """Put the calls of the cases' witnesses to the policy, and score its answers.

    Args:
        cases: whose calls.
        live: the policy.
        temperature: of sampling.
        constrained: ask as where a model is served: in prompts of the rehearsing role's own, whatever the rendering,
            and with answers held to the tools' schemas while they are decoded. In rollouts they are not held to them,
            since the policy must learn to write them.
        known: score the answers to other calls than these apart, as `new`.

    Raises:
        ModelError: the model cannot be run.
    """
    limits = live.config.rollout.rehearse
    sampling = Sampling(limits.max_tokens, temperature, seed=live.config.seed)
    source = live.serving if constrained else live.source
    asked: list[_Asked] = []
    for case in cases:
        asked += await _asked(case, source, live.tokens, sampling, constrained=constrained)
    completions = await live.models["rehearse"].complete([one.request for one in asked])
    answered = [(one, one.played(completion)) for one, completion in zip(asked, completions, strict=True)]
    fidelity, reports = await _scored(answered)
    readable = sum(answer.layer == "model" for _, answer in answered)
    found = RoleFidelity(fidelity, readable / len(answered) if answered else 0.0, len(answered), reports)
    if known is None:
        return found
    new = [(one, answer) for one, answer in answered if KnownCall.of(one.environment, one.fixture.call) not in known]
    return replace(found, new=(await _scored(new))[0] if new else None, new_calls=len(new))


async def _scored(answered: Sequence[tuple[_Asked, Played]]) -> tuple[float, dict[str, FidelityReport]]:
    """The mean over the toolsets, weighted by their calls; and the report of each."""
    reports: dict[str, FidelityReport] = {}
    worth = 0.0
    for environment in {id(one.environment): one.environment for one, _ in answered}.values():
        own = [(one.fixture, answer) for one, answer in answered if one.environment is environment]
        answers = {(fixture.episode, fixture.position): answer for fixture, answer in own}
        episodes: dict[str, list[Fixture]] = {}
        for fixture, _ in own:
            episodes.setdefault(fixture.episode, []).append(fixture)
        exam = Exam(
            environment.toolset, [Episode(name, tuple(calls)) for name, calls in episodes.items()], environment.seen
        )
        (report,) = await examine(exam, [_Sheet(episodes, answers)], loop="open")
        reports[environment.toolset.name] = report
        worth += (report.overall.fidelity or 0.0) * len(own)
    return worth / len(answered) if answered else 0.0, reports


@dataclass(frozen=True, slots=True)
class _Asked:
    environment: Environment
    fixture: Fixture
    request: Request
    script: Script
    """Who reads the answer."""

    def played(self, completion: Completion) -> Played:
        if completion.finish_reason != "stop":
            return Played.miss("it was cut off")
        try:
            result = self.script.read(completion, self.environment.toolset[self.fixture.call.name])
        except MalformedResponseError as error:
            return Played.miss(str(error))
        return Played(result, "model")


async def _asked(
    case: Case, source: RolloutSource, tokens: ChatTokens, sampling: Sampling, *, constrained: bool
) -> list[_Asked]:
    """The calls of a case's witness that something is known about, and how the policy is asked them."""
    stage = Stage(case.environment, case.task, start_state(case.environment, case.task))
    script = source.script(case, list(case.tools.values()))
    script.user(case.task.instruction)
    waiting = list(zip(answers_to(case.task), case.task.follow_ups, strict=False))
    found: list[_Asked] = []
    turn = 0
    async for due, call, (before, truth) in _witnessed(case, stage):
        while turn < due and waiting:
            answer, said = waiting.pop(0)
            _act(script, None, answer, tokens)
            script.user(said)
            turn += 1
        _act(script, call, "", tokens)
        tool = case.environment.toolset[call.name]
        own = replace(sampling, seed=seed_of(sampling.seed, case.name, len(found)))
        request = replace(script.rehearse(tool, call, before, 0), sampling=own)
        if constrained:
            request = replace(request, schema=response_schema(tool), wrap=RESPONSE)
        if truth.layer in EVIDENCE:
            fixture = Fixture(call, truth.result, case.name, len(found))
            found.append(_Asked(case.environment, fixture, request, script))
        script.responded(call, truth.result)
    return found


async def _witnessed(case: Case, stage: Stage) -> AsyncIterator[tuple[int, ToolCall, tuple[State, Rehearsal]]]:
    """A witness played: the user's turn of each call, the call, and the world before it with what it came to."""
    for step in case.task.witness or ():
        try:
            arguments = substitute(step.arguments, [record.result for record in stage.calls], stage.state)
            call, before = ToolCall(step.tool, arguments), stage.state
            truth = await stage.rehearse(call)
        except EnvaceError:
            return
        yield step.turn, call, (before, truth)


def _act(script: Script, call: ToolCall | None, answer: str, tokens: ChatTokens) -> None:
    """Have the acting role do as the witness does."""
    made = written(script.act(0), script.write_act(call, answer), tokens)
    script.acted(made, Parsed((), answer) if call is None else Parsed((call,)))


def _environments(cases: Sequence[Case]) -> Iterator[Environment]:
    yield from {id(case.environment): case.environment for case in cases}.values()


class _Sheet:
    """Answers that were all given before."""

    name = _NAME

    def __init__(self, episodes: dict[str, list[Fixture]], answers: dict[tuple[str, int], Played]) -> None:
        self._episodes = episodes
        self._answers = answers

    async def start(self, episode: str) -> _SheetEpisode:
        """The answers of one episode."""
        return _SheetEpisode([self._answers[(episode, one.position)] for one in self._episodes[episode]])


class _SheetEpisode:
    def __init__(self, answers: list[Played]) -> None:
        self._answers = iter(answers)

    async def answer(self, call: ToolCall) -> Played:  # noqa: ARG002  the answers are in the order of the calls
        """The next one."""
        return next(self._answers)

    async def observe(self, call: ToolCall, result: ToolResult) -> None:
        """Nothing: every call was put on its own."""
