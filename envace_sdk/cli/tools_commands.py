"""`envace-sdk tools`: list, lint, pull and convert tool catalogues."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .tools_diff import diff
from .tools_options import (
    access_options,
    oauth_access_options,
    parse_env,
    parse_headers,
    source_argument,
    target_of,
)

if TYPE_CHECKING:
    from envace_sdk.tools.finding import Finding
    from envace_sdk.tools.toolset import Toolset

__all__ = ["quiet_clients", "tools"]


@click.group(
    epilog="""\b
Examples:
  envace-sdk tools list
  envace-sdk tools lint ./tools.json
  envace-sdk tools pull -o twin/ -- npx -y @modelcontextprotocol/server-memory
  envace-sdk tools convert ./openapi.yaml --to mcp -o tools.json
  envace-sdk tools diff ./tools.json https://mcp.example.com/mcp
""",
)
def tools() -> None:
    """List, lint, pull, compare and convert tool catalogues.

    A SOURCE is a file, a folder with a tools.json in it, - for standard input, the URL of a live MCP server or of a
    .json or .yaml document, a server of a client's configuration as mcp.json#NAME, or the name of a toolset that comes
    with the package. A file holds MCP, OpenAI or Anthropic tools, or an OpenAPI 3 description.
    """


@tools.command(
    name="list",
    epilog="""\b
Examples:
  envace-sdk tools list                     the toolsets that come with the package
  envace-sdk tools list retail              the tools of one
  envace-sdk tools list ./openapi.yaml --format json
\b
Exit codes: 0 done; 2 wrong command line; 3 the source cannot be read.
""",
)
@source_argument(required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@access_options
def list_(source: str | None, form: str, **access: Any) -> None:
    """List the toolsets that come with the package, or the tools of SOURCE."""
    from .tools_print import shipped_rows, table, tool_rows

    columns: tuple[str, ...] = ("name", "tools", "tasks", "description")
    if source is None:
        rows = shipped_rows()
    else:
        columns = ("name", "effect", "arguments", "output", "description")
        rows = tool_rows(_load(source, access))
    if form == "json":
        _print_json(rows)
    else:
        click.echo(table(rows, columns))


@tools.command(
    epilog="""\b
Examples:
  envace-sdk tools lint ./tools.json
  envace-sdk tools lint --strict --format json ./tools.json     for CI
  envace-sdk tools lint schemas/                                each toolset in a folder of them
  envace-sdk tools lint https://mcp.example.com/mcp --token "$TOKEN"
  curl -s https://api.example.com/openapi.json | envace-sdk tools lint -
\b
An error quarantines its tool: no MCP client could be given it. A warning is served: some client, or some revision of
the protocol, trips on it.
\b
Exit codes: 0 no errors; 1 errors (with --strict: any finding); 2 wrong command line; 3 the source cannot be read.
""",
)
@source_argument()
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@click.option("--errors-only", is_flag=True, help="Leave warnings out.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@access_options
def lint(source: str, strict: bool, errors_only: bool, form: str, **access: Any) -> None:
    """Say what is wrong with the tools of SOURCE: where, by which rule, and what mends it.

    Of a folder with a dynamics.yaml, each rule in it is compiled too. Of a folder of toolsets, each is judged; as JSON,
    they are a list.
    """
    from envace_sdk.tools.folders import toolsets_in

    from .tools_print import findings_text, summary

    inside = toolsets_in(Path(source).expanduser())
    every: list[Finding] = []
    documents = []
    for place in [str(each) for each in inside] or [source]:
        toolset = _load(place, access)
        _check_dynamics(toolset)
        every += toolset.findings
        found = [finding for finding in toolset.findings if finding.severity == "error" or not errors_only]
        if form == "json":
            counts = {
                "tools": len(toolset.definitions),
                "served": len(toolset),
                "quarantined": len(toolset.quarantined),
            }
            documents.append({"source": toolset.name, **counts, "findings": [finding.to_json() for finding in found]})
        else:
            click.echo(findings_text(found) + summary(toolset))
    if form == "json":
        _print_json(documents if inside else documents[0])
    _exit_on(every, strict=strict)


@tools.command(
    context_settings={"allow_interspersed_args": False},
    epilog="""\b
Examples:
  envace-sdk tools pull -o twin/ -- npx -y @modelcontextprotocol/server-memory
  envace-sdk tools pull --env GITHUB_TOKEN -- uvx some-server
  envace-sdk tools pull https://mcp.example.com/mcp --header 'x-team: blue'
  envace-sdk tools pull --oauth-client-id ID --oauth-issuer https://login.example.com https://mcp.example.com/mcp
  envace-sdk tools pull --from .vscode/mcp.json#github
\b
The definitions are written as they came over the wire, byte for byte, one on a line. Findings about them go to
standard error and do not make pulling fail. Secrets are better given as environment variables: ENVACE_TOKEN,
ENVACE_OAUTH_CLIENT_SECRET.
\b
Exit codes: 0 written; 2 wrong command line; 3 the server cannot be reached, or refuses.
""",
)
@click.argument("server", nargs=-1, metavar="[--] COMMAND... | URL", type=click.UNPROCESSED)
@click.option("--from", "config", metavar="FILE#NAME", help="A server of a client's configuration instead.")
@click.option(
    "-o", "--output", metavar="FOLDER", help="Where to write tools.json; - for standard output. Default: its name."
)
@click.option("--indent", is_flag=True, help="Pretty-print: the same JSON, no longer the same bytes.")
@click.option(
    "--protocol",
    type=click.Choice(["auto", "legacy", "modern"]),
    default="auto",
    show_default=True,
    help="Speak a revision up to 2025-11-25 (legacy), from 2026-07-28 on (modern), or what the server knows.",
)
@click.option("--timeout", default=60.0, show_default=True, metavar="SECONDS", help="For each answer.")
@click.option("--cwd", type=click.Path(exists=True, file_okay=False), help="Working directory of the command.")
@oauth_access_options
def pull(
    server: Sequence[str],
    config: str | None,
    output: str | None,
    indent: bool,
    protocol: str,
    timeout: float,
    cwd: str | None,
    **access: Any,
) -> None:
    """Write the catalogue of a live MCP server to a folder, to be rehearsed from there."""
    from envace_sdk.tools.toolset import Toolset
    from envace_sdk.tools.upstream import pull_now

    from .tools_print import findings_text, summary
    from .tools_write import catalogue_text, folder_name, write_catalogue

    quiet_clients()
    target = target_of(server, config, access, protocol=protocol, timeout=timeout, cwd=cwd)
    catalogue = pull_now(target)
    text = catalogue_text(catalogue, indent=indent)
    toolset = Toolset.from_catalogue(catalogue, name=folder_name(catalogue, target))
    folder = None if output == "-" else Path(output or toolset.name)
    if folder is None:
        click.echo(text, nl=False)
        written = "standard output"
    else:
        changes = write_catalogue(folder, text, catalogue)
        written = f"{folder / 'tools.json'}{changes}"
    errors = [finding for finding in toolset.findings if finding.severity == "error"]
    click.echo(findings_text(errors) + summary(toolset), err=True)
    click.echo(f"written to {written}; protocol {catalogue.era}", err=True)
    if folder is not None and len(errors) < len(toolset.findings):
        click.echo(f"envace-sdk tools lint {folder} shows the warnings", err=True)


@tools.command(
    epilog="""\b
Examples:
  envace-sdk tools convert ./tools.json --to openai
  envace-sdk tools convert ./openapi.yaml --to mcp -o tools.json
  envace-sdk tools convert retail --to anthropic -o anthropic.json
\b
What the other format has no place for is left out, with a warning on standard error.
\b
Exit codes: 0 done; 1 with --strict: something was left out or quarantined; 2 wrong command line; 3 the source cannot
be read.
""",
)
@source_argument()
@click.option("--to", "form", type=click.Choice(["mcp", "openai", "openai-responses", "anthropic"]), required=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Where to write; default: standard output.")
@click.option("--strict", is_flag=True, help="Fail if anything is left out.")
@access_options
def convert(source: str, form: Any, output: str | None, strict: bool, **access: Any) -> None:
    """Write the tools of SOURCE in another format: MCP's, OpenAI's or Anthropic's."""
    from envace_sdk.tools.export import export

    from .tools_print import findings_text

    toolset = _load(source, access)
    found = [finding for finding in toolset.findings if finding.severity == "error"]
    exported = []
    for tool in toolset:
        definition, losses = export(tool.definition, form)
        exported.append(definition)
        found.extend(losses)
    text = json.dumps({"tools": exported} if form == "mcp" else exported, indent=2, ensure_ascii=False) + "\n"
    if output is None:
        click.echo(text, nl=False)
    else:
        Path(output).write_text(text, encoding="utf-8")
    if found:
        click.echo(findings_text(found), err=True, nl=False)
    _exit_on(found, strict=strict, errors=strict)


tools.add_command(diff)


def _load(source: str, access: dict[str, Any]) -> Any:
    from envace_sdk.tools.toolset import Toolset

    quiet_clients()
    return Toolset.load(
        source, headers=parse_headers(access["header"]), env=parse_env(access["env"]), token=access["token"]
    )


def _exit_on(found: Sequence[Finding], *, strict: bool, errors: bool = True) -> None:
    if (strict and found) or (errors and any(finding.severity == "error" for finding in found)):
        sys.exit(1)


def _print_json(value: Any) -> None:
    click.echo(_encodable(json.dumps(value, indent=2, ensure_ascii=False), value))


def _encodable(text: str, value: Any) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair, which is quoted from a definition in quarantine.
        return json.dumps(value, indent=2)
    return text


def quiet_clients() -> None:
    """Let the MCP client not log what it then raises: the command line tells it once, in a sentence."""
    import logging

    for name in ("mcp", "client", "httpx2", "httpcore2"):
        logging.getLogger(name).addHandler(logging.NullHandler())


def _check_dynamics(toolset: Toolset) -> None:
    """Compile the rules that lie beside the tools. Raises: DynamicsError where one is wrong."""
    path = None if toolset.folder is None else toolset.folder / "dynamics.yaml"
    if path is None or not path.is_file():
        return
    from envace_sdk.world.dynamics import Dynamics
    from envace_sdk.world.interpret import Interpreter

    rules = Dynamics.load(path)
    Interpreter(rules, str(path)).check()
    quarantined = {finding.tool for finding in toolset.findings}
    for tool in rules.tools:
        if tool not in toolset and tool not in quarantined:
            click.echo(f"warning: {path}: tools.{tool}: there is no tool of that name", err=True)
