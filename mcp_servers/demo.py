"""The demo: one task, played on a rehearsed server over stdio by the `mcp` client, then checked."""

from __future__ import annotations

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent
from rich.console import Console
from rich.markup import escape

from envace_sdk.errors import TaskError
from envace_sdk.evidence.label import Rehearsed, read_label
from envace_sdk.json import Json
from envace_sdk.rehearse import Environment
from envace_sdk.tasks import Attempt, Score, Task, WorldChanges, judge, load_tasks
from envace_sdk.tasks.witness import substitute
from envace_sdk.tools.model import ToolCall

__all__ = ["run"]

_SHOWN = 600
"""Characters of an answer that are printed."""


def run(source: str, task_id: str | None, seed: int, console: Console | None = None) -> bool:
    """Play a task and print what happens; whether it was solved, and a second run in this process gave the same bytes.

    Raises:
        TaskError: the toolset has no such task.
        EnvaceError: the toolset cannot be loaded.
    """
    console = console or Console(highlight=False, soft_wrap=True)
    environment = Environment.load(source)
    task = _chosen(environment, task_id)
    console.print(
        f"[bold]{environment.toolset.name}[/]: {len(environment.toolset)} rehearsed tools, nothing real behind"
    )
    console.print(f"[bold]task[/] {task.id}: {escape(task.instruction)}\n")
    same, score = asyncio.run(_play(source, environment, task, seed, console))
    for item in score.items:
        mark = "[green]✓[/]" if item.passed else "[red]✗[/]"
        console.print(f"  {mark} {escape(item.says)} {escape(item.reason)}")
    console.print(
        f"\nreward {score.reward:.2f} · the same calls in another process gave {'the same' if same else 'OTHER'} bytes"
    )
    return score.solved and same


def _chosen(environment: Environment, task_id: str | None) -> Task:
    path = environment.tasks_path
    if path is None:
        raise TaskError(f"{environment.toolset.name} has no tasks.jsonl to demonstrate; try --tools retail")
    tasks = load_tasks(path)
    playable = [task for task in tasks if task.witness and task.world == WorldChanges()]
    if task_id is None:
        playable.sort(key=lambda task: not _changes_something(task, environment))
    for task in playable:
        if task_id in {None, task.id}:
            return task
    if any(task.id == task_id for task in tasks):
        raise TaskError(f"{path}: task {task_id!r} has no witness to play, or begins in a changed world")
    raise TaskError(f"{path}: no task {task_id!r}; there are: {', '.join(task.id for task in playable)}")


def _changes_something(task: Task, environment: Environment) -> bool:
    rules = (environment.dynamics.tools.get(step.tool) for step in task.witness or ())
    return len(task.witness or ()) > 2 and any(rule and rule.effect in {"create", "update", "delete"} for rule in rules)


async def _play(source: str, environment: Environment, task: Task, seed: int, console: Console) -> tuple[bool, Score]:
    """The witness's calls, made by a real client on a server process, and once more in this one."""
    attempt = Attempt(environment, task, seed=seed)
    command = ["-m", "envace_sdk", "serve", "--tools", source, "--seed", str(seed)]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    same, results = True, list[Json]()
    async with Client(server) as client:
        console.print(f"[dim]$ envace-sdk {' '.join(command[2:])}   (MCP {client.protocol_version}, stdio)[/]\n")
        for step in task.witness or ():
            arguments = substitute(step.arguments, results, attempt.world.state)
            answered = await client.call_tool(step.tool, arguments)
            repeated = await attempt.call(ToolCall(step.tool, arguments))
            same = same and _text(answered) == repeated.first_text
            results.append(repeated.value())
            _show(console, step.tool, arguments, answered)
    console.print(f"[bold]answer[/] {escape(task.answer)}\n")
    return same, judge(task, attempt.episode(task.answer))


def _show(console: Console, tool: str, arguments: Json, answered: CallToolResult) -> None:
    console.print(f"[bold cyan]→ {escape(tool)}[/] {escape(json.dumps(arguments, ensure_ascii=False))}")
    text = _text(answered)
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"
    console.print(f"[{'red' if answered.is_error else 'default'}]← {escape(shown)}[/]")
    evidence = read_label(answered.meta or {})
    if isinstance(evidence, Rehearsed):
        label = f"rehearsed · {evidence.layer} · confidence {evidence.confidence:.2f} · {evidence.outcome}"
        console.print(f"  [dim]{label} · world at version {evidence.version}[/]\n")


def _text(result: CallToolResult) -> str:
    return next((block.text for block in result.content if isinstance(block, TextContent)), "")
