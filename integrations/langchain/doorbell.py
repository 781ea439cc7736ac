"""Waiting for people by LangGraph's interrupts. They only ring: what was decided is read from the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, Interrupt, interrupt

from envace_sdk.errors import GuardError
from envace_sdk.json import Json
from envace_sdk.ledger import Ledger

__all__ = ["KIND", "approvals_of", "aresume", "resume", "resumption", "wait_for"]

KIND: Final = "envace_approvals"
"""The `type` in the value of an interrupt that waits for approvals."""


def wait_for(ledger: Ledger, approvals: Callable[[], Sequence[Mapping[str, Json]]]) -> None:
    """Return once none of the approvals is pending; until then, interrupt the graph.

    Whatever the graph is resumed with, it may have been meant for another call of the same task: it is not looked at.

    Args:
        ledger: where they are decided.
        approvals: what is to be decided, as it stands at the time; it is called again after each resume.
    """
    while waiting := [each for each in approvals() if is_pending(ledger, each)]:
        interrupt({"type": KIND, "approvals": waiting})


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
