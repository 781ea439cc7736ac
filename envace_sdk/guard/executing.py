"""The way from a verdict to an outcome: commit once, execute, write down what came of it, and learn from it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from envace_sdk.errors import EnvaceError, GuardError, InDoubtError, NotExecutedError
from envace_sdk.evidence.label import Claimed, Observed, label
from envace_sdk.ledger.spans import Mark, Spans
from envace_sdk.tools.model import ToolResult
from envace_sdk.world.diff import EntityChange, diff

from .action import Action
from .deciding import Judged
from .flow import is_control_flow, is_lost_answer, is_pause
from .journal import Journal
from .known import KnownWorld
from .prediction import Prediction
from .results import as_result, failure, labelled
from .scoring import observed_status, score
from .verdict import Outcome, Score, Verdict
from .waiting import Waiting

__all__ = ["Executing", "Going"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Going:
    """An action whose execution may begin: nobody else can get the same right."""

    action: Action
    name: str
    verdict: Verdict
    journaled: bool = True
    """False in shadow mode when the ledger fails: the action goes ahead unseen."""


class Executing:
    """Every method blocks, so that what is begun is finished, whatever becomes of the task that waits for it."""

    def __init__(self, journal: Journal, world: KnownWorld, waiting: Waiting, *, shadow: bool, spans: Spans) -> None:
        self._journal = journal
        self._world = world
        self._waiting = waiting
        self._shadow = shadow
        self._spans = spans

    def commit(self, action: Action, judged: Judged) -> Going:
        """Take the right to execute.

        Raises:
            CommittedError: somebody has it, or had it.
            ApprovalError: the approval does not allow it, or no longer.
            GuardError: the action is not the one that was judged.
        """
        if replace(action).digest != action.digest:
            raise GuardError(f"{action.name}: the arguments were changed after the action was judged")
        self._journal.commit(action, judged.progress.id, judged.verdict.approval, judged.world)
        return Going(action, judged.progress.id, judged.verdict)

    def replay(self, name: str, verdict: Verdict | None) -> Outcome:
        """The recorded outcome of an action that was executed before. Raises: EvidenceError if it was erased."""
        result, raised, claimed_by = self._journal.outcome(name)
        evidence: Observed | Claimed
        if claimed_by:
            result, evidence = _claimed(result, claimed_by)
        else:
            result, evidence = labelled(result)
        return Outcome(result, evidence, result.value(), verdict, replayed=True, raised=raised)

    def finish(self, going: Going, value: Any, read: Callable[[Any], ToolResult], claimed_by: str = "") -> Outcome:
        """Write down an outcome.

        Raises:
            InDoubtError: it cannot be written. The tool has been executed; who asks again must not execute it again.
        """
        result = self._read(going, value, read)
        kept = self._keep(going, result, "", claimed_by)
        evidence: Observed | Claimed
        result, evidence = _claimed(result, claimed_by) if claimed_by else labelled(result)
        return Outcome(result, evidence, value, going.verdict, score=kept)

    def fail(self, going: Going, error: BaseException) -> None:
        """Write down that execution ended with an exception, which the caller then raises again.

        A pause, or a tool that the framework never came to call, gives the right back. Where the answer was lost, or
        the task was cancelled, nothing is written: it is in doubt what happened.
        """
        if not going.journaled:
            return
        try:
            if isinstance(error, NotExecutedError) or is_pause(error):
                self._journal.released(going.action, going.name, type(error).__name__)
            elif is_control_flow(error) or is_lost_answer(error):
                logger.warning("%s: in doubt after %r", going.action.name, error)
            else:
                self._keep(going, failure(error), type(error).__name__)
        except EnvaceError as trouble:
            # The exception of the tool goes on; the missing entry leaves the action in doubt, which is the truth.
            logger.exception("%s: its failure could not be written down: %s", going.action.name, trouble)

    def tell(self, mark: Mark, going: Going, value: Any, read: Callable[[Any], ToolResult]) -> None:
        """Put on its span what came of an execution: that it was an error, and the result where content is wanted."""
        result = self._read(going, value, read)
        if result.is_error:
            mark.set_attribute("error.type", "tool_error")
        self._spans.result(mark, result.value())

    def settle(self, action: Action, by: str, happened: bool, result: ToolResult | None) -> None:
        """Write down what a person says of an action that is in doubt. Raises: GuardError, StoreError."""
        name, status = self._journal.progress(action).id, self._journal.progress(action).status
        if status != "in_doubt" or not by:
            what = "nobody is named who says so" if status == "in_doubt" else f"it is not in doubt, but {status}"
            raise GuardError(f"{action.name} cannot be settled: {what}")
        if not happened:
            self._journal.released(action, name, f"{by} says that it did not happen")
            return
        told = as_result(result or ToolResult.text(f"{by} says that it happened"))
        self._journal.observed(action, name, told, status=observed_status(told), claimed_by=by)
        self._follow(action, name, told)

    def observe(self, action: Action, result: ToolResult) -> Score | None:
        """Take note of an action that was executed elsewhere."""
        status = observed_status(result)
        name = action.identity
        prediction = self._journal.prediction(name)
        self._journal.observed(action, name, result, status=status, outside=True)
        return self._learn(action, name, result, prediction)

    def _read(self, going: Going, value: Any, read: Callable[[Any], ToolResult]) -> ToolResult:
        try:
            return as_result(read(value))
        except Exception as error:
            # It has been executed: that its answer cannot be read must not make it look as if it had not.
            logger.warning("%s: its answer cannot be read: %r", going.action.name, error)
            return ToolResult.text(f"(an answer that cannot be read: {error!r:.200})")

    def _keep(self, going: Going, result: ToolResult, raised: str, claimed_by: str = "") -> Score | None:
        if not going.journaled:
            self._follow(going.action, going.name, result)
            return None
        status = observed_status(result)
        try:
            self._journal.observed(
                going.action, going.name, result, status=status, raised=raised, claimed_by=claimed_by
            )
        except EnvaceError as error:
            if self._shadow:
                logger.exception("%s: its outcome could not be written down", going.action.name)
                return None
            raise InDoubtError(
                going.name, f"{going.action.name} was executed, and its outcome could not be written down: {error}"
            ) from error
        # A prediction comes true by what is real alone.
        return self._learn(going.action, going.name, result, None if claimed_by else going.verdict.prediction)

    def _learn(self, action: Action, name: str, result: ToolResult, prediction: Prediction | None) -> Score | None:
        """Let the known world follow, and score the prediction. What fails here leaves the outcome as it is."""
        try:
            changed = self._follow(action, name, result)
            self._world.note_missing(prediction, result)
            if prediction is None or prediction.kind == "none" or prediction.unseen:
                return None
            found = score(prediction, result, changed)
            why = "; ".join(found.differences)
            with self._spans.score(
                action.name, name="prediction", value=float(found.right), label=found.observed, why=why
            ):
                self._journal.scored(action, name, found)
        except EnvaceError as error:
            logger.exception("%s: its prediction could not be scored: %s", action.name, error)
            return None
        return found

    def _follow(self, action: Action, name: str, result: ToolResult) -> list[EntityChange]:
        before, after = self._world.observe(action.call, result, name=name)
        if after is not before:
            self._waiting.review()
        return diff(before, after)


def _claimed(result: ToolResult, by: str) -> tuple[ToolResult, Claimed]:
    """An answer that nobody saw the real environment give, with its label, and the label."""
    evidence = Claimed(text=f"{by} says that this came of it")
    return replace(result, meta=label(evidence, result.meta)), evidence
