"""The way to a verdict: look into the ledger, rehearse, judge, and ask where a person must decide."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from envace_sdk.json import Json
from envace_sdk.ledger import Approval
from envace_sdk.ledger.spans import Spans
from envace_sdk.world.state import State

from . import asking
from .action import Action
from .case import Case
from .forecast import Forecaster
from .journal import Journal, Progress, Switch
from .judging import assessed, judged
from .known import KnownWorld, basis, basis_now
from .policy import Decision, Policy
from .prediction import Prediction
from .risk import Risks
from .verdict import Verdict
from .waiting import Waiting
from .webhook import Webhook

__all__ = ["Deciding", "Judged"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, with what is needed to act on it."""

    verdict: Verdict
    progress: Progress
    switch: Switch
    world: str | None = None
    """The version of the world that the approval must hold for."""
    payload: Mapping[str, Json] | None = None
    """With `ask`, what to show a person."""
    failure: bool = False
    """Whether the guard could not judge at all."""

    @classmethod
    def failed(cls, error: BaseException, *, shadow: bool) -> Judged:
        """A refusal, because the guard itself failed."""
        reason = f"the guard failed, so it stays undone: {type(error).__name__}: {error}"
        return cls(Verdict("block", (reason,), shadow=shadow), Progress("", "not_started"), Switch(), failure=True)


@dataclass(frozen=True, slots=True)
class _Looked:
    switch: Switch
    progress: Progress
    prediction: Prediction | None = None


class Deciding:
    """Judges actions. What it raises has executed nothing, and must be taken for a refusal."""

    def __init__(
        self,
        *,
        journal: Journal,
        policy: Policy,
        world: KnownWorld,
        waiting: Waiting,
        forecaster: Forecaster,
        risks: Risks,
        shadow: bool,
        asked_by: str,
        webhooks: Sequence[Webhook],
        spans: Spans,
    ) -> None:
        self._journal = journal
        self._policy = policy
        self._world = world
        self._waiting = waiting
        self._forecaster = forecaster
        self._risks = risks
        self._shadow = shadow
        self._asked_by = asked_by
        self._webhooks = webhooks
        self._spans = spans
        approvers: Any = getattr(policy, "approvers", None)
        self._approvers: Mapping[str, Any] = approvers or {}

    async def judge(self, action: Action, context: Mapping[str, Json]) -> Judged:
        """The verdict on an action; it is in the ledger when this returns.

        Raises:
            EnvaceError: whatever goes wrong.
        """
        state = self._world.state
        looked = await asyncio.to_thread(self._look, action, state)
        if looked.progress.status in {"observed", "in_doubt"}:
            return Judged(self._past(looked.progress), looked.progress, looked.switch)
        prediction = looked.prediction
        if prediction is None:
            with self._spans.rehearsal(action.name, conversation=action.thread) as mark:
                prediction = self._world.doubted(await self._forecaster.predict(action, state))
                mark.set_attribute("envace.rehearsal.layer", prediction.layer)
                mark.set_attribute("envace.rehearsal.samples", prediction.samples)
            if not prediction.basis:
                prediction = replace(prediction, basis=basis(action, prediction.change, state, sure=False))
        return await asyncio.to_thread(self._conclude, action, prediction, looked, state, context)

    def _look(self, action: Action, state: State) -> _Looked:
        switch, progress = self._journal.switch(), self._journal.progress(action)
        if progress.status in {"observed", "in_doubt", "not_started"}:
            return _Looked(switch, progress)
        # On a later pass the same prediction is judged again: another one might say otherwise than what a person saw.
        known = self._journal.prediction(progress.id)
        if known is None or known.basis != basis_now(action, known, state):
            return _Looked(switch, progress)
        return _Looked(switch, progress, known)

    def _past(self, progress: Progress) -> Verdict:
        if progress.status == "observed":
            reason = "it was executed before; its recorded outcome is given"
            return Verdict("commit", (reason,), done=True)
        return Verdict(
            "block", ("it is in doubt whether it was executed: look at the real system before it is retried",)
        )

    def _conclude(
        self, action: Action, prediction: Prediction, looked: _Looked, state: State, context: Mapping[str, Json]
    ) -> Judged:
        name = looked.progress.id
        known = action.tool in self._world.environment.toolset
        tool = self._world.environment.toolset[action.tool] if known else None
        case = Case(
            action,
            prediction,
            self._risks.assess(action, prediction),
            partial(self._journal.record, action.name),
            tool,
            state,
            self._world.environment.dynamics,
        )
        case = assessed(self._policy, case)
        case = replace(case, prediction=replace(prediction, risk=case.risk.level))
        decision = judged(self._policy, case, looked.switch)
        is_new = looked.prediction is None
        if is_new and decision.kind == "ask":
            # What a person is asked about must be in the ledger before they are.
            self._journal.rehearsed(action, name, case.prediction)
            is_new = False
        world = prediction.basis
        if looked.switch.mode == "ask":
            world = f"{world}; all is asked since {looked.switch.seq}"  # what was approved before does not count
        verdict, payload = self._verdict(case, decision, looked, world, context)
        self._journal.judged(action, name, verdict, is_new=is_new)
        return Judged(verdict, looked.progress, looked.switch, self._holds_for(verdict, world), payload)

    def _verdict(
        self, case: Case, decision: Decision, looked: _Looked, world: str, context: Mapping[str, Json]
    ) -> tuple[Verdict, Mapping[str, Json] | None]:
        plain = Verdict(
            decision.kind, decision.reasons, case.prediction, case.risk, decision.rule, shadow=self._shadow_now(looked)
        )
        if decision.kind == "block" or (decision.kind != "ask" and looked.progress.status != "decided"):
            return plain, None
        name = looked.progress.id
        approval = self._journal.approval(case.action, name)
        stand = asking.standing(approval, world, self._journal.ledger, case.state, self._approvers)
        if stand.kind == "rejected":
            return replace(plain, kind="block", reasons=(stand.reason, *plain.reasons)), None
        if stand.kind == "edited":
            return replace(plain, kind="revise", reasons=(stand.reason,), arguments=stand.arguments), None
        if decision.kind != "ask":
            return plain, None
        if stand.kind == "approved" and approval is not None:
            return replace(plain, kind="commit", reasons=(stand.reason, *plain.reasons), approval=approval.id), None
        if self._carried(looked.progress, case.action, world):
            reason = "approved before; the tool has not been executed since"
            return replace(plain, kind="commit", reasons=(reason, *plain.reasons)), None
        if plain.shadow:
            return plain, None
        if approval is None or stand.kind != "pending":
            reasons = (stand.reason, *decision.reasons) if stand.reason else decision.reasons
            decision = replace(decision, reasons=reasons)
            approval = self._ask(case, name, decision, world, context)
        self._waiting.add(approval.id, case.action, case.prediction)
        payload = asking.payload_of(case, decision, approval.id)
        return replace(plain, reasons=decision.reasons, approval=approval.id), payload

    def _ask(self, case: Case, name: str, decision: Decision, world: str, context: Mapping[str, Json]) -> Approval:
        asked_by = str(context.get("asked_by") or self._asked_by)
        approval = asking.request(
            self._journal.ledger, case, name, decision, world=world, asked_by=asked_by, details=dict(context)
        )
        payload = asking.payload_of(case, decision, approval.id)
        cleaned = self._journal.ledger.redacted(payload)
        for webhook in self._webhooks:
            webhook.send("approval.requested", approval.id, {**cleaned, "run": case.action.run})
        return approval

    def _carried(self, progress: Progress, action: Action, world: str) -> bool:
        """Whether an approval was used up by an attempt in which the tool never ran."""
        if progress.approval is None:
            return False
        used = self._journal.ledger.approvals.get(progress.approval)
        counts = not used.is_over and not asking.unfit(used, self._approvers)
        return counts and used.digest == action.digest and used.world == world

    def _holds_for(self, verdict: Verdict, world: str) -> str | None:
        if verdict.kind != "commit" or verdict.approval is None:
            return world
        return self._journal.ledger.approvals.get(verdict.approval).world

    def _shadow_now(self, looked: _Looked) -> bool:
        return self._shadow and looked.switch.mode == "off"
