"""Waiting for people by LangGraph's interrupts. They only ring: what was decided is read from the ledger."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.types import Command, Interrupt, interrupt

from envace_sdk.errors import GuardError
from envace_sdk.guard import Action
from envace_sdk.json import Json
from envace_sdk.ledger import Ledger

__all__ = ["KIND", "approvals_of", "aresume", "resume", "resumption", "wait_for"]

_CHECKPOINTER: Final = "__pregel_checkpointer"
"""Where LangGraph's configuration of a task has the checkpointer; a thread's id is there without one, too."""
_PATIENCE: Final = 10.0
"""Seconds for which a new interrupt waits for those of earlier passes to be raised again."""
KIND: Final = "envace_approvals"
"""The `type` in the value of an interrupt that waits for approvals."""


def wait_for(ledger: Ledger, approvals: Callable[[], Sequence[Mapping[str, Json]]]) -> None:
    """Return once none of the approvals is pending; until then, interrupt the graph.

    Args:
        ledger: where they are decided.
        approvals: what is to be decided, as it stands at the time; it is called again after each resume.
    """
    while waiting := [each for each in approvals() if is_pending(ledger, each)]:
        ring(waiting)


def ring(approvals: Sequence[Mapping[str, Json]]) -> None:
    """Interrupt the graph. Where that was resumed already, return; whatever it was resumed with is not looked at."""
    interrupt({"type": KIND, "approvals": list(approvals)})


def can_pause() -> bool:
    """Whether the graph that is being executed has a checkpointer, so that it could be resumed.

    Without one, LangGraph interrupts all the same, and the run is lost.
    """
    try:
        return get_config().get("configurable", {}).get(_CHECKPOINTER) is not None
    except RuntimeError:
        return False


class Doorbell:
    """The interrupts of one pass over a task.

    LangGraph gives what a task is resumed with to its interrupts in the order in which they come. Each one that was
    raised before must be raised again on a later pass, or its answer would be given to the next: that of another call,
    or one inside the tool. So the ledger counts them.
    """

    def __init__(self, ledger: Ledger, thread: str, task: str) -> None:
        self._ledger = ledger
        self._run = thread or "main"
        self._name = f"{task}/doorbell"
        self._changed = threading.Condition()
        self._rung: dict[str, int] | None = None
        self._left: Counter[str] = Counter()
        self._approvals: list[dict[str, Json]] = []

    def owes(self, action: Action) -> list[dict[str, Json]]:
        """What to interrupt for again before an action is judged; [] where it never did."""
        with self._changed:
            self._load()
            return self._approvals if self._left[action.identity] else []

    def again(self, action: Action) -> None:
        """Interrupt for an action as often as in earlier passes."""
        with self._changed:
            for _ in range(self._left[action.identity]):
                ring([each for each in self._approvals if is_pending(self._ledger, each)] or self._approvals)
                self._left[action.identity] -= 1
                self._changed.notify_all()

    def wait(self, action: Action, approval: Mapping[str, Json]) -> None:
        """Return once an approval is not pending; until then, interrupt the graph."""
        with self._changed:
            self._load()
            self._changed.wait_for(lambda: not self._left.total(), _PATIENCE)
        while is_pending(self._ledger, approval):
            with self._changed:
                rung = self._load()
                rung[action.identity] = rung.get(action.identity, 0) + 1
                self._approvals = [dict(approval)]
            body: dict[str, Json] = {"rung": dict(rung)}
            self._ledger.append(self._run, "note", body, payload={"approvals": self._approvals}, action=self._name)
            ring([approval])

    def _load(self) -> dict[str, int]:
        if self._rung is None:
            last = self._ledger.find(self._run, self._name, "note")
            payload = None if last is None else self._ledger.payload(last)
            self._rung = {} if last is None else {name: int(count) for name, count in last.body["rung"].items()}
            self._left = Counter(self._rung)
            self._approvals = list(payload.get("approvals", [])) if isinstance(payload, Mapping) else []
        return self._rung


def is_pending(ledger: Ledger, approval: Mapping[str, Json]) -> bool:
    """Whether nobody has settled it yet."""
    return ledger.approvals.get(str(approval["approval"])).state == "pending"


def approvals_of(interrupts: Iterable[Interrupt]) -> list[dict[str, Json]]:
    """What is to be decided, of the interrupts of a run or a state: each with the id of its approval, tool, arguments,
    prediction, risk and reasons.
    """
    return [each for one in interrupts if _is_ours(one) for each in one.value["approvals"]]


def resumption(interrupts: Iterable[Interrupt]) -> Command[Any]:
    """The input that lets a graph look at the ledger again, at all of the interrupts at once.

    Raises:
        GuardError: none of them waits for an approval.
    """
    found = {one.id: "look at the ledger" for one in interrupts if _is_ours(one)}
    if not found:
        raise GuardError("nothing waits for an approval here: pass the interrupts of the state of the paused thread")
    return Command(resume=found)


def resume(agent: Any, config: RunnableConfig, **options: Any) -> Any:
    """Let a paused agent run on, as `agent.invoke` does. What has not been decided waits on.

    Args:
        agent: a compiled graph.
        config: of the thread.
        options: for `invoke`.

    Raises:
        GuardError: the thread waits for no approval.
    """
    return agent.invoke(resumption(agent.get_state(config).interrupts), config, **options)


async def aresume(agent: Any, config: RunnableConfig, **options: Any) -> Any:
    """As `resume`, with `ainvoke`."""
    return await agent.ainvoke(resumption((await agent.aget_state(config)).interrupts), config, **options)


def _is_ours(one: Interrupt) -> bool:
    return isinstance(one.value, Mapping) and one.value.get("type") == KIND
