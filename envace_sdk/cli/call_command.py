"""`envace-sdk call`: rehearse one call, or several on one world."""

from __future__ import annotations

import asyncio
import difflib
import json
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from envace_sdk.models import ChatModel
    from envace_sdk.rehearse import Environment, Rehearsal
    from envace_sdk.tools.model import ToolCall

__all__ = ["call"]


@click.command(
    epilog="""\b
Examples:
  envace-sdk call --tools retail search_catalogue '{"text": "tent"}'
  envace-sdk call --tools ./tools.json create_ticket '{"title": "Printer on fire"}' get_ticket '{"ticket_id": "…"}'
  echo '{"text": "boots"}' | envace-sdk call --tools retail search_catalogue -
  envace-sdk call --tools ./tools.json --model openai:qwen3@http://localhost:8000/v1 forecast '{"city": "Graz"}'
\b
Several calls run one after the other on the same world. Exit code 1: the last one was answered with an error.
""",
)
@click.option("--tools", "source", required=True, metavar="SOURCE", help="Shipped name, file, folder or URL.")
@click.option("--seed", default=0, show_default=True, help="Of the world: the same seed gives the same answers.")
@click.option("--dynamics", type=click.Path(exists=True, dir_okay=False), help="Rules to use instead of the toolset's.")
@click.option(
    "--fixtures", multiple=True, type=click.Path(exists=True, dir_okay=False), help="Recordings to answer from."
)
@click.option("--seed-data", multiple=True, metavar="FILE", help="Start data: .json, .jsonl, .csv or .yaml.")
@click.option("--model", "uri", metavar="URI", help="Model that answers what no rule does: openai:NAME@URL, …")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.argument("calls", nargs=-1, required=True, metavar="TOOL [ARGUMENTS] ...")
def call(
    source: str,
    seed: int,
    dynamics: str | None,
    fixtures: tuple[str, ...],
    seed_data: tuple[str, ...],
    uri: str | None,
    form: str,
    calls: tuple[str, ...],
) -> None:
    """Rehearse tool calls and print each answer with the label that says where it came from.

    ARGUMENTS is a JSON object, or `-` to read it from standard input; left out, it is {}.
    """
    from pathlib import Path

    from envace_sdk.errors import ToolsetError
    from envace_sdk.rehearse import Environment, ModelRehearser
    from envace_sdk.tools.model import ToolCall

    model = None
    if uri is not None:
        from envace_sdk.models import load_model

        model = load_model(uri)
    parsed = [ToolCall(name, arguments) for name, arguments in _parse(calls)]
    environment = Environment.load(
        source,
        dynamics=Path(dynamics) if dynamics else None,
        fixtures=[Path(path) for path in fixtures],
        seed_data=seed_data,
        model=None if model is None else ModelRehearser(model),
    )
    for finding in environment.toolset.findings:
        if finding.severity == "error":
            click.echo(f"quarantined: {finding}", err=True)
    for name in (call.name for call in parsed if call.name not in environment.toolset):
        close = difflib.get_close_matches(name, [tool.name for tool in environment.toolset], n=3, cutoff=0.5)
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        raise ToolsetError(f"{environment.toolset.name} has no tool {name!r}{hint}")
    failed = asyncio.run(_play(environment, seed, parsed, _as_json if form == "json" else _as_text, model))
    sys.exit(1 if failed else 0)


async def _play(
    environment: Environment,
    seed: int,
    calls: list[ToolCall],
    shown: Callable[[ToolCall, Rehearsal], str],
    model: ChatModel | None,
) -> bool:
    """Rehearse the calls one after the other on one world; whether the last was answered with an error."""
    world = environment.world(seed=seed)
    failed = False
    try:
        for call in calls:
            rehearsal = await environment.call(world, call)
            failed = rehearsal.result.is_error
            click.echo(shown(call, rehearsal))
    finally:
        if model is not None:
            await model.close()
    return failed


def _parse(words: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
    """Tool names, each followed or not by its arguments, which start with `{` or are `-`."""
    found: list[tuple[str, dict[str, Any]]] = []
    for word in words:
        if word != "-" and not word.lstrip().startswith("{"):
            found.append((word, {}))
            continue
        if not found:
            raise click.UsageError("name a tool before its arguments")
        text = sys.stdin.read() if word == "-" else word
        try:
            arguments = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise click.UsageError(f"arguments of {found[-1][0]}: not JSON: {error}") from error
        if not isinstance(arguments, dict):
            raise click.UsageError(f"arguments of {found[-1][0]}: expected a JSON object")
        found[-1] = (found[-1][0], arguments)
    return found


def _as_text(_: ToolCall, rehearsal: Rehearsal) -> str:
    value = rehearsal.result.value()
    body = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    note = f"rehearsed · {rehearsal.layer} · confidence {rehearsal.confidence:.2f} · {rehearsal.outcome}"
    return f"{body}\n{click.style(f'── {note}', dim=True)}"


def _as_json(call: ToolCall, rehearsal: Rehearsal) -> str:
    from envace_sdk.json import UNSET

    result = rehearsal.result
    wire = {"content": list(result.content), "isError": result.is_error, "_meta": dict(result.meta)}
    if result.structured is not UNSET:
        wire["structuredContent"] = result.structured
    return json.dumps({"tool": call.name, "result": wire}, ensure_ascii=False)
