"""From an action to a prediction: rehearsed on forks of the known world, or dry-run by the provider itself."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final, TypeAlias

from envace_sdk.errors import EnvaceError
from envace_sdk.evidence.canonical import digest
from envace_sdk.rehearse import Environment, Rehearsal
from envace_sdk.tools.model import ToolResult
from envace_sdk.world.diff import EntityChange, diff
from envace_sdk.world.state import State
from envace_sdk.world.statuses import status_of

from .action import Action
from .budget import Account, Budget, spending
from .flow import is_control_flow
from .known import basis
from .prediction import Prediction, WorldDiff, shortened

__all__ = ["DryRun", "Forecaster"]

DryRun: TypeAlias = Callable[[Action], Awaitable[ToolResult]]
"""Asks the provider what the action would do, without doing it. The answer is in the form of the tool's own; a provider
whose dry run reports success as an error must be translated here."""

logger = logging.getLogger(__name__)

_RULED: Final = frozenset({"arguments", "dynamics", "fixture"})
"""Layers that answer the same each time."""
_DRY: Final = 0.95
"""The confidence in a dry run: it checks everything, and the world may move before the call."""


@dataclass(frozen=True)
class _Sample:
    rehearsal: Rehearsal
    changes: tuple[EntityChange, ...]

    @property
    def shape(self) -> str:
        """Equal for samples that predict the same: ids that are minted, and what is said in words, may differ."""
        return digest([self.rehearsal.outcome, sorted(map(_shape, self.changes))])


class Forecaster:
    """Predicts what an action does, and changes nothing.

    Args:
        environment: what is rehearsed.
        samples: how many rehearsals, where one may differ from the next; rules and recordings need but one.
        budget: of one prediction.
        dry_runs: by pattern of tool names, the provider's own dry run. It decides over the status; the change is
            still the rehearsed one, where that expects the same status.
    """

    def __init__(
        self,
        environment: Environment,
        *,
        samples: int = 1,
        budget: Budget | None = None,
        dry_runs: Mapping[str, DryRun] | None = None,
    ) -> None:
        if samples < 1:
            raise ValueError(f"samples is {samples}; a prediction needs at least one")
        self._environment = environment
        self._samples = samples
        self._budget = budget or Budget()
        self._dry_runs = dict(dry_runs or {})

    async def predict(self, action: Action, state: State) -> Prediction:
        """The prediction for an action in a state. What goes wrong is told in it; it then has the kind `none`."""
        if action.tool not in self._environment.toolset:
            return Prediction(reason=f"no tool {action.tool!r} is known to rehearse")
        dry = next((run for pattern, run in self._dry_runs.items() if fnmatchcase(action.tool, pattern)), None)
        rehearsed = asyncio.ensure_future(self._rehearsed(action, state))
        if dry is None:
            return await rehearsed
        try:
            answered = await asyncio.wait_for(dry(action), self._budget.seconds)
        except BaseException as error:
            if is_control_flow(error):
                rehearsed.cancel()
                raise
            logger.warning("%s: its dry run failed: %r", action.name, error)
            found = await rehearsed
            return replace(found, reason=f"the dry run failed: {error!r:.200}; {found.reason}".rstrip("; "))
        return _dry(answered, await rehearsed)

    async def _rehearsed(self, action: Action, state: State) -> Prediction:
        samples, failures = await self._collect(action, state)
        if not samples:
            return Prediction(reason="; ".join(failures) or "no rehearsal was there in time")
        counts = Counter(sample.shape for sample in samples)
        shape, most = counts.most_common(1)[0]
        agreeing = [sample for sample in samples if sample.shape == shape]
        first = agreeing[0].rehearsal
        share = most / len(samples)
        change = WorldDiff.of(agreeing[0].changes)
        sure = first.layer in _RULED
        return Prediction(
            status=first.outcome,
            change=change,
            confidence=share * sum(each.rehearsal.confidence for each in agreeing) / most,
            disagreement=1 - share,
            layer=first.layer,
            samples=len(samples),
            kind="rehearsal",
            answer=shortened(first.result.first_text),
            reason="; ".join(filter(None, [first.reason, *failures])),
            unseen=tuple(sorted(first.unseen, key=str)),
            basis=basis(action, change, state, sure=sure),
        )

    async def _collect(self, action: Action, state: State) -> tuple[list[_Sample], list[str]]:
        """As many samples as are there in time, and why others are not."""
        account = Account(self._budget.tokens)
        with spending(account):
            tasks = [asyncio.ensure_future(self._sample(action, state, 0))]
            await asyncio.sleep(0)
            if not _is_ruled(tasks[0]):
                # It waits for a model, or has already been given what it draws by chance.
                tasks += [asyncio.ensure_future(self._sample(action, state, at)) for at in range(1, self._samples)]
        try:
            done, late = await asyncio.wait(tasks, timeout=self._budget.seconds)
        except asyncio.CancelledError:
            await _stop(tasks)
            raise
        await _stop(late)
        samples: list[_Sample] = []
        failures: list[str] = []
        for task in tasks:
            if task not in done:
                continue
            error = task.exception()
            if error is None:
                samples.append(task.result())
            elif is_control_flow(error):
                raise error
            else:
                failures.append(str(error) if isinstance(error, EnvaceError) else f"{error!r:.200}")
        if late:
            failures.append(f"{len(late)} of {len(tasks)} rehearsals took longer than {self._budget.seconds:g} s")
        return samples, list(dict.fromkeys(failures))

    async def _sample(self, action: Action, state: State, number: int) -> _Sample:
        fork = state if number == 0 else state.replace(seed=state.random("sample", str(number)).getrandbits(48))
        rehearsal = await self._environment.rehearse(action.call, fork)
        before = fork if rehearsal.supposed is None else rehearsal.supposed
        return _Sample(rehearsal, tuple(diff(before, rehearsal.state)))


def _is_ruled(task: asyncio.Future[_Sample]) -> bool:
    if not task.done() or task.cancelled() or task.exception() is not None:
        return False
    return task.result().rehearsal.layer in _RULED


async def _stop(tasks: Collection[asyncio.Future[_Sample]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.gather(*tasks, return_exceptions=True)


def _shape(change: EntityChange) -> list[str]:
    key = "" if change.kind == "created" else change.key
    return [change.kind, change.collection, key, *sorted(change.fields)]


def _dry(answered: ToolResult, rehearsed: Prediction) -> Prediction:
    status = status_of(answered.first_text) if answered.is_error else "success"
    agrees = status == rehearsed.status
    return replace(
        rehearsed,
        status=status,
        change=rehearsed.change if agrees and not answered.is_error else WorldDiff(),
        confidence=_DRY,
        layer="dry_run",
        kind="dry_run",
        samples=rehearsed.samples + 1,
        unseen=(),
        answer=shortened(answered.first_text),
        reason="the provider's own dry run says so"
        + ("" if agrees or rehearsed.kind == "none" else f"; the rehearsal expected {rehearsed.status}"),
    )
