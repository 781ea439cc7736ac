"""`envace-sdk demo`: a task of a toolset, played through a real MCP client."""

from __future__ import annotations

import importlib
import sys

import click

__all__ = ["demo"]


@click.command(
    epilog="""\b
Examples:
  envace-sdk demo
  envace-sdk demo --tools it_operations --task TASK-ID
\b
Exit code 1: the task was not solved, or a second run gave other bytes.
""",
)
@click.option("--tools", "source", default="retail", show_default=True, metavar="SOURCE", help="A toolset with tasks.")
@click.option("--task", "task_id", help="Which task; default: the first.")
@click.option("--seed", default=0, show_default=True, help="Of the world.")
def demo(source: str, task_id: str | None, seed: int) -> None:
    """Start a rehearsed server, play a task on it through a real MCP client, and check the outcome.

    The same calls are then rehearsed once more in this process: the same seed must give the same bytes.
    """
    try:
        played = importlib.import_module("envace_sdk.mcp_servers.demo")
    except ModuleNotFoundError as missing:
        raise click.ClickException(
            f"{missing.name} is not installed; the demo needs it: pip install 'envace-sdk[mcp]'"
        ) from missing
    sys.exit(0 if played.run(source, task_id, seed) else 1)
