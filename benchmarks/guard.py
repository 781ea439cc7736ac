"""What the guard costs a LangChain agent: a guarded turn beside the bare one, with the same model in the same run.

    python benchmarks/guard.py [--turns 20] [--latency 200] [--folder .]

A turn is two answers of the model with one tool call between them. The model answers after a fixed time, and instantly
for the cost in milliseconds; the rehearser is a rule, which answers instantly. The ledger is flushed to the disk, in
`--folder`. Bare and guarded agents take turns, both with a checkpointer in memory. The ratio is of medians; `--limit
1.2` ends with exit code 1 where it is greater.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from envace_sdk.integrations.langchain import RehearsalMiddleware
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from envace_sdk.guard import Guard, parse_policy
from envace_sdk.ledger import Ledger
from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall

POLICY = "rules: [{when: risk.level == 'low', then: commit}]"
CALL: Any = {"type": "tool_call", "name": "get_order", "args": {"order_id": "TT-26-04124"}, "id": "c1"}


class Model(BaseChatModel):
    """Calls a tool, then says that it is done."""

    seconds: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self

    def _answer(self, messages: list[BaseMessage]) -> ChatResult:
        done = isinstance(messages[-1], ToolMessage)
        said = AIMessage("The order is on its way.") if done else AIMessage("", tool_calls=[CALL])
        return ChatResult(generations=[ChatGeneration(message=said)])

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        time.sleep(self.seconds)
        return self._answer(messages)

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        await asyncio.sleep(self.seconds)
        return self._answer(messages)


def instant(answer: Any) -> StructuredTool:
    """The real side: a tool that answers at once."""

    def called(order_id: str) -> Any:  # noqa: ARG001
        return answer

    async def awaited(order_id: str) -> Any:  # noqa: ARG001
        return answer

    return StructuredTool.from_function(called, awaited, name=CALL["name"], description="Look an order up.")


class Turns:
    """Bare and guarded turns of one kind, timed in turns."""

    def __init__(self, guard: Guard, tool: StructuredTool, seconds: float, *, is_async: bool) -> None:
        model = Model(seconds=seconds)
        self.bare = create_agent(model, [tool], checkpointer=InMemorySaver())
        self.guarded = create_agent(
            model, [tool], middleware=[RehearsalMiddleware(guard)], checkpointer=InMemorySaver()
        )
        self.is_async = is_async

    async def timed(self, agent: Any, thread: str) -> float:
        given = {"messages": [HumanMessage("Where is my order?")]}
        config = {"configurable": {"thread_id": thread}}
        begin = time.perf_counter()
        if self.is_async:
            state = await agent.ainvoke(given, config)
        else:
            state = agent.invoke(given, config)
        seconds = time.perf_counter() - begin
        assert state["messages"][-1].text == "The order is on its way."
        return seconds

    async def run(self, name: str, turns: int) -> tuple[float, float]:
        """Medians, bare and guarded."""
        bare, guarded = [], []
        for number in range(turns + 2):
            bare.append(await self.timed(self.bare, f"{name}/{number}"))
            guarded.append(await self.timed(self.guarded, f"{name}/{number}"))
        return statistics.median(bare[2:]), statistics.median(guarded[2:])


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--latency", type=float, default=200.0, help="milliseconds that the model takes to answer")
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="on the disk of the ledger")
    parser.add_argument("--limit", type=float, help="the greatest ratio of a turn with that latency")
    options = parser.parse_args()
    environment = Environment.load("retail")
    answer = await environment.call(environment.world("shop", seed=7), ToolCall(CALL["name"], CALL["args"]))
    tool = instant(answer.result.value())
    worst = 0.0
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        ledger = Ledger.open(Path(folder) / "ledger.db")
        guard = Guard(environment, ledger, parse_policy(POLICY))
        print(f"{options.turns} turns, Python {platform.python_version()}, {platform.machine()}\n")
        print(f"| {'Turn':<36} | {'Bare':>11} | {'Guarded':>11} | {'Difference':>11} | {'Ratio':>6} |")
        print(f"|{'-' * 38}|{'-' * 12}:|{'-' * 12}:|{'-' * 12}:|{'-' * 7}:|")
        for latency in (options.latency, 0.0):
            for is_async in (False, True):
                kind = f"{'async' if is_async else 'sync'}, model answers in {latency:.0f} ms"
                turns = Turns(guard, tool, latency / 1e3, is_async=is_async)
                bare, guarded = await turns.run(kind, options.turns)
                ratio = guarded / bare
                worst = max(worst, ratio) if latency else worst
                print(
                    f"| {kind:<36} | {bare * 1e3:8.1f} ms | {guarded * 1e3:8.1f} ms "
                    f"| {(guarded - bare) * 1e3:8.1f} ms | {ratio:6.2f} |"
                )
        ledger.close()
    if options.limit is not None and worst > options.limit:
        sys.exit(f"a guarded turn takes {worst:.2f} times as long as the bare one, over the limit of {options.limit}")


if __name__ == "__main__":
    asyncio.run(main())
