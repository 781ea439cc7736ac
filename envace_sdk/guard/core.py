"""The guard: it rehearses an action, judges it, perhaps asks, lets it be executed once, and learns from the outcome."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from envace_sdk.errors import (
    AlreadyCommittedError,
    ApprovalError,
    CommittedError,
    EnvaceError,
    InDoubtError,
    NotExecutedError,
    Refused,
)
from envace_sdk.json import Json
from envace_sdk.ledger import Ledger
from envace_sdk.ledger.spans import Mark, Spans
from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolResult
from envace_sdk.world.state import State

from .action import Action
from .blocking import blocking
from .budget import Budget
from .deciding import Deciding, Judged
from .executing import Executing, Going
from .flow import is_control_flow
from .forecast import DryRun, Forecaster
from .journal import Journal
from .known import KnownWorld
from .oversight import Oversight
from .policy import Policy
from .results import as_result
from .risk import Risks
from .stopping import stopped
from .verdict import Outcome, Verdict
from .waiting import Waiting
from .webhook import Webhook

__all__ = ["Context", "Execute", "Guard", "Read"]

Execute = Callable[[], Awaitable[Any]]
"""Executes the action for real, with exactly its arguments."""
Read = Callable[[Any], ToolResult]
"""Makes a tool's result of what a framework's executor returned."""
Context = Mapping[str, Json]
"""What a person should know besides the action, such as what the user asked for. `asked_by` names whom the agent acts
for, where that is not the same for all actions of the guard."""

logger = logging.getLogger(__name__)

_TRIES = 3


class Guard(Oversight):
    """Stands between an agent and its tools. One guard serves any number of conversations, threads and event loops.

    Whatever goes wrong inside it, an action that was not judged is not executed. Exceptions by which a framework
    pauses or cancels a run pass through untouched.

    Args:
        environment: rehearses the tools; its start state is the world as the guard knows it at first.
        ledger: where everything is written down, and where approvals and the kill switch live.
        policy: what becomes of an action; where it passes, a person is asked.
        samples: rehearsals per prediction, where one may differ from the next.
        budget: of one prediction.
        dry_runs: by pattern of tool names, the provider's own dry run.
        shadow: judge and write down, but never stop anything; only the kill switch does.
        state: the world as it is known, if not the environment's start.
        complete: whether that is all there is, so that what is not in it is missing. Otherwise it is unknown how a call
            ends that looks for what was never observed.
        trusted: servers whose annotations are believed, besides those of the policy; "" is the one without a name.
        asked_by: whom the agent acts for; under the four-eyes principle, that person may not approve.
        webhooks: are told of each approval that is requested.
        spans: of OpenTelemetry; by default those of the global tracer, where there is one.
    """

    def __init__(
        self,
        environment: Environment,
        ledger: Ledger,
        policy: Policy,
        *,
        samples: int = 1,
        budget: Budget | None = None,
        dry_runs: Mapping[str, DryRun] | None = None,
        shadow: bool = False,
        state: State | None = None,
        complete: bool = False,
        trusted: Sequence[str] = (),
        asked_by: str = "",
        webhooks: Sequence[Webhook] = (),
        spans: Spans | None = None,
    ) -> None:
        self.environment = environment
        self.ledger = ledger
        self.policy = policy
        self.shadow = shadow
        self.webhooks = tuple(webhooks)
        self._spans = spans or Spans()
        self.world = KnownWorld(environment, state, complete=complete)
        """The world as the guard knows it from observations."""
        self.journal = Journal(ledger)
        self._waiting = Waiting(ledger, self.world)
        believed: frozenset[str] = frozenset(getattr(policy, "trusted", ()))
        self._deciding = Deciding(
            journal=self.journal,
            policy=policy,
            world=self.world,
            waiting=self._waiting,
            forecaster=Forecaster(environment, samples=samples, budget=budget, dry_runs=dry_runs),
            risks=Risks(environment, trusted=believed | frozenset(trusted)),
            shadow=shadow,
            asked_by=asked_by,
            webhooks=self.webhooks,
            spans=self._spans,
        )
        self._executing = Executing(self.journal, self.world, self._waiting, shadow=shadow, spans=self._spans)

    # Judging

    async def decide(self, action: Action, context: Context | None = None) -> Verdict:
        """Judge an action, and execute nothing.

        On a later pass over the same action, the same prediction is judged again, unless the world has moved. Whatever
        goes wrong blocks it.
        """
        return (await self._judge(action, context)).verdict

    def decide_sync(self, action: Action, context: Context | None = None) -> Verdict:
        """As `decide`, blocking."""
        return blocking(self.decide(action, context))

    # Executing

    async def run(
        self, action: Action, execute: Execute, context: Context | None = None, *, read: Read = as_result
    ) -> Outcome:
        """Judge an action and execute it, at most once: what was executed before is answered from the ledger.

        Args:
            action: what is about to be called.
            execute: calls it. It raises `NotExecutedError` if the tool itself never ran.
            context: what a person should know besides.
            read: makes a result of what `execute` returns.

        Raises:
            ApprovalRequired: a person must decide first; come back with the same action.
            Refused: the verdict is no.
            InDoubtError: it may have been executed before, or its outcome could not be written down.
            EvidenceError: its recorded outcome was erased.
            StoreError: the ledger cannot be written; it was not executed.
            Whatever `execute` raises; it is written down as the outcome, unless it leaves that open.
        """
        begun = await self.begin(action, context)
        if isinstance(begun, Outcome):
            return begun
        with self.execution(action) as mark:
            try:
                value = await execute()
            except BaseException as error:
                mark.set_attribute("error.type", type(error).__name__)
                self.fail(begun, error)  # not awaited: a cancelled task may get no further chance
                raise
            self._executing.tell(mark, begun, value, read)
        finishing = asyncio.ensure_future(asyncio.to_thread(self.finish, begun, value, read=read))
        try:
            return await asyncio.shield(finishing)
        except asyncio.CancelledError:
            await asyncio.wait([finishing])  # else who comes back at once finds it in doubt
            raise

    def run_sync(
        self, action: Action, execute: Callable[[], Any], context: Context | None = None, *, read: Read = as_result
    ) -> Outcome:
        """As `run`, blocking; `execute` is called in the caller's own thread and context."""
        begun = self.begin_sync(action, context)
        if isinstance(begun, Outcome):
            return begun
        with self.execution(action) as mark:
            try:
                value = execute()
            except BaseException as error:
                mark.set_attribute("error.type", type(error).__name__)
                self.fail(begun, error)
                raise
            self._executing.tell(mark, begun, value, read)
        return self.finish(begun, value, read=read)

    def close(self) -> None:
        """Deliver what webhooks still hold; the ledger stays open, for it was opened by somebody else."""
        for webhook in self.webhooks:
            webhook.close()

    # For frameworks that execute a tool themselves, between one hook and another

    async def begin(self, action: Action, context: Context | None = None) -> Going | Outcome:
        """Take the right to execute an action, where `run` cannot be used; or get the outcome that is there already.

        Whoever has the right must call `finish` or `fail` with it. One that never does leaves the action in doubt.

        Raises:
            As `run`, except for what `execute` raises.
        """
        for _ in range(_TRIES):
            judged = await self._judge(action, context)
            verdict = judged.verdict
            if verdict.done:
                return await asyncio.to_thread(self._executing.replay, judged.progress.id, verdict)
            if judged.progress.status == "in_doubt":
                raise InDoubtError(action.identity, f"{action.name}: {verdict.reason}")
            if not verdict.proceeds:
                raise stopped(action, judged)
            if judged.failure:
                return Going(action, "", verdict, journaled=False)
            try:
                if await asyncio.to_thread(self.journal.switch) != judged.switch:
                    continue
                return await self._committed(action, judged)
            except AlreadyCommittedError:
                return await asyncio.to_thread(self._executing.replay, judged.progress.id, verdict)
            except CommittedError:
                raise
            except ApprovalError as error:
                logger.info("%s: %s", action.name, error)  # used or expired meanwhile: judged anew
            except EnvaceError:
                if not verdict.shadow:
                    raise
                logger.exception("%s: the ledger failed, and shadow mode stops nothing", action.name)
                return Going(action, "", verdict, journaled=False)
        raise Refused(f"{action.name}: what its verdict rests on kept changing", reasons=("try again",))

    def begin_sync(self, action: Action, context: Context | None = None) -> Going | Outcome:
        """As `begin`, blocking."""
        return blocking(self.begin(action, context))

    def finish(self, going: Going, value: Any, *, read: Read = as_result, claimed_by: str = "") -> Outcome:
        """Write down what an executed action returned. It blocks for a write to the ledger.

        Args:
            going: the right to execute it.
            value: what came.
            read: makes a result of it.
            claimed_by: who says that this came, where it is not what the real environment answered: it is then kept as
                a claim, and no prediction is held against it.

        Raises:
            InDoubtError: the outcome could not be written down.
        """
        return self._executing.finish(going, value, read, claimed_by)

    def fail(self, going: Going, error: BaseException) -> None:
        """Write down that execution ended with an exception, as far as that says what happened. It blocks likewise."""
        self._executing.fail(going, error)

    def execution(self, action: Action) -> AbstractContextManager[Mark]:
        """The span of an execution, where `run` does not execute; open it while the tool is called."""
        return self._spans.execution(
            action.name, call_id=action.call_id, arguments=action.arguments, conversation=action.thread
        )

    # Parts of the above

    async def _committed(self, action: Action, judged: Judged) -> Going:
        """Take the right to execute. Who is cancelled meanwhile gives it back: nobody is there who would execute."""
        taking = asyncio.ensure_future(asyncio.to_thread(self._executing.commit, action, judged))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            await asyncio.wait([taking])
            if not taking.cancelled() and taking.exception() is None:
                self.fail(taking.result(), NotExecutedError("it was cancelled before it began"))
            raise

    async def _judge(self, action: Action, context: Context | None) -> Judged:
        try:
            with self._spans.decision(action.name, action=action.identity, conversation=action.thread) as mark:
                judged = await self._deciding.judge(action, context or {})
                mark.set_attribute("envace.verdict", judged.verdict.kind)
                return judged
        except BaseException as error:
            if is_control_flow(error):
                raise
            logger.exception("%s: the guard failed", action.name)
            return Judged.failed(error, shadow=self.shadow)
