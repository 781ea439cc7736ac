"""`envace-sdk tools diff`: drift between two catalogues."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from .tools_options import access_options, parse_env, parse_headers

__all__ = ["diff"]


@click.command(
    epilog="""\b
Examples:
  envace-sdk tools diff ./tools.json https://mcp.example.com/mcp
      does the server still offer what you built on?
  envace-sdk tools diff recordings/old.jsonl recordings/new.jsonl --format json
\b
Breaking: a tool or a property is gone, arguments that were valid are not any more, an answer may be what it could not
be before, a tool is no longer read-only.
\b
Exit codes: 0 nothing breaks; 1 something does (with --strict: anything has changed); 2 wrong command line; 3 a source
cannot be read.
""",
)
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@click.option("--strict", is_flag=True, help="Fail on any change.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@access_options
def diff(before: str, after: str, strict: bool, form: str, **access: Any) -> None:
    """Say what has changed from the catalogue BEFORE to AFTER, breaking changes first."""
    from envace_sdk.tools.compare import compare
    from envace_sdk.tools.toolset import Toolset

    headers, env = parse_headers(access["header"]), parse_env(access["env"])
    old, new = (Toolset.load(source, headers=headers, env=env, token=access["token"]) for source in (before, after))
    changes = compare(old.definitions, new.definitions)
    breaking = sum(change.is_breaking for change in changes)
    if form == "json":
        click.echo(json.dumps([change.to_json() for change in changes], indent=2, ensure_ascii=False))
    else:
        for change in changes:
            click.echo(str(change))
        click.echo(f"{len(changes)} changes, {breaking} of them breaking")
    sys.exit(1 if breaking or (strict and changes) else 0)
