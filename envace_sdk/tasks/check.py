"""Proving tasks: the witness solves each, doing nothing does not, and every item of a checklist can tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, Literal

from envace_sdk.errors import EnvaceError, ExpressionError
from envace_sdk.json import Json
from envace_sdk.rehearse.environment import Environment
from envace_sdk.world.expressions.expression import Expression

from .attempt import Attempt
from .checklist import Scene, compile_condition
from .episode import Episode
from .evaluate import Score, judge
from .havoc import havoc
from .mistakes import mistakes
from .model import Task
from .witness import WitnessRun, run_witness

__all__ = ["CheckReport", "Problem", "TaskReport", "check"]

_GENEROUS: Final = 0.5
"""Reward for doing nothing above which a task hardly tells attempts apart."""
_OTHERS: Final = 30
"""Witnesses of other tasks on which an item is tried."""

Kind = Literal[
    "duplicate id",
    "world",
    "environment",
    "broken condition",
    "no witness",
    "invalid witness",
    "unexpected outcome",
    "not solved",
    "solved by nothing",
    "generous",
    "tells nothing",
]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a task. Errors make it useless; warnings make it worse than it could be."""

    kind: Kind
    message: str
    severity: Literal["error", "warning"] = "error"
    item: str | None = None
    """The checklist item in question."""

    def as_json(self) -> dict[str, Json]:
        """As plain JSON."""
        return {"kind": self.kind, "severity": self.severity, "item": self.item, "message": self.message}


@dataclass(frozen=True, slots=True)
class TaskReport:
    """What checking one task found."""

    task: Task
    problems: tuple[Problem, ...]
    witness: Score | None = None
    """Of the witness; None when it could not be run."""
    idle: Score | None = None
    """Of doing nothing and answering nothing; None when the world could not be built."""

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return all(problem.severity != "error" for problem in self.problems)

    def as_json(self) -> dict[str, Json]:
        """As plain JSON."""
        return {
            "id": self.task.id,
            "ok": self.ok,
            "problems": [problem.as_json() for problem in self.problems],
            "witness": self.witness.as_json() if self.witness else None,
            "idle": self.idle.as_json() if self.idle else None,
        }


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What checking tasks found."""

    tasks: tuple[TaskReport, ...]

    @property
    def ok(self) -> bool:
        """Whether no task has errors."""
        return all(report.ok for report in self.tasks)

    def as_json(self) -> dict[str, Json]:
        """As plain JSON."""
        return {"ok": self.ok, "tasks": [report.as_json() for report in self.tasks]}


@dataclass(slots=True)
class _Checked:
    """A task on its way to a report."""

    task: Task
    problems: list[Problem] = field(default_factory=list)
    idle: Episode | None = None
    witness: Episode | None = None
    idle_score: Score | None = None
    witness_score: Score | None = None

    def add(
        self, kind: Kind, message: str, severity: Literal["error", "warning"] = "error", item: str | None = None
    ) -> None:
        if not any((p.kind, p.message, p.item) == (kind, message, item) for p in self.problems):
            self.problems.append(Problem(kind, message, severity, item))


async def check(
    environment: Environment, tasks: Iterable[Task], *, progress: Callable[[Task], None] | None = None
) -> CheckReport:
    """Check tasks against the environment they are for. What is wrong with a task is reported, never raised.

    Args:
        environment: the tools, their dynamics and the start data.
        tasks: what to check.
        progress: called with each task when it is done.
    """
    tasks = list(tasks)
    times = Counter(task.id for task in tasks)
    found: list[_Checked] = []
    for task in tasks:
        checked = _Checked(task)
        if times[task.id] > 1:
            checked.add("duplicate id", f"{times[task.id]} tasks have the id {task.id!r}")
        _inspect(checked, environment)
        try:
            await _run(checked, environment)
        except EnvaceError as error:
            checked.add("environment", str(error))
        found.append(checked)
        if progress is not None:
            progress(task)
    _find_empty_items(found, environment)
    return CheckReport(tuple(TaskReport(c.task, tuple(c.problems), c.witness_score, c.idle_score) for c in found))


def _inspect(checked: _Checked, environment: Environment) -> None:
    """What can be said of the conditions without running anything."""
    tools = {tool.name for tool in environment.toolset}
    collections = {*environment.dynamics.collections, *environment.start.collections}
    for item in checked.task.checklist:
        try:
            wrong = mistakes(compile_condition(item.that).node, tools, collections)
        except ExpressionError as error:
            wrong = [str(error)]
        for message in wrong:
            checked.add("broken condition", message, item=item.id)


async def _run(checked: _Checked, environment: Environment) -> None:
    task = checked.task
    try:
        checked.idle = Attempt(environment, task).episode()
    except EnvaceError as error:
        checked.add("world", str(error).removeprefix(f"task {task.id!r}: "))
        return
    if task.witness is None:
        checked.add("no witness", "nothing shows that the task can be solved: add the calls that solve it")
    else:
        _judge_witness(checked, await run_witness(environment, task))
    _judge_idle(checked, checked.idle)


def _judge_witness(checked: _Checked, run: WitnessRun) -> None:
    for message in run.unexpected:
        checked.add("unexpected outcome", message, "warning")
    if run.invalid:
        checked.add("invalid witness", run.invalid)
        return
    checked.witness = run.episode
    checked.witness_score = judge(checked.task, run.episode)
    for item in checked.witness_score.items:
        if item.broken:
            checked.add("broken condition", f"after the witness: {item.reason}", item=item.id)
        elif not item.passed:
            checked.add("not solved", f"after the witness: {item.reason}", item=item.id)


def _judge_idle(checked: _Checked, episode: Episode) -> None:
    checked.idle_score = judge(checked.task, episode)
    known = {problem.item for problem in checked.problems if problem.kind == "broken condition"}
    for item in checked.idle_score.items:
        if item.broken and item.id not in known:
            checked.add("broken condition", f"when nothing is done: {item.reason}", "warning", item.id)
    if checked.idle_score.solved:
        checked.add("solved by nothing", "every item holds when nothing is done and nothing is answered")
    elif checked.idle_score.reward > _GENEROUS:
        share = f"{checked.idle_score.reward:.2f}"
        checked.add("generous", f"doing nothing is worth {share}: give more weight to what has to be done", "warning")


def _find_empty_items(found: Sequence[_Checked], environment: Environment) -> None:
    """Report the items that hold whatever is done: nothing, the right thing, other things, or havoc."""
    witnesses = [(checked, Scene(checked.witness)) for checked in found if checked.witness is not None]
    for checked in found:
        if checked.idle is None or checked.idle_score is None:
            continue
        idle = Scene(checked.idle)
        cases = [Scene(checked.witness)] if checked.witness is not None else []
        cases += [scene for other, scene in witnesses[:_OTHERS] if other is not checked]
        for item, score in zip(checked.task.checklist, checked.idle_score.items, strict=True):
            if not score.passed:
                continue
            condition = compile_condition(item.that)
            worst = havoc(condition, idle, checked.idle.start, environment)
            if all(_holds(condition, scene) for scene in chain(cases, worst)):
                checked.add("tells nothing", "it holds whatever is done", "warning", item.id)


def _holds(condition: Expression, scene: Scene) -> bool:
    try:
        return scene.holds(condition)
    except ExpressionError:
        return False
