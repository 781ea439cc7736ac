"""`envace-sdk world`: look into the worlds of running servers, and change them."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from envace_sdk.variables import CONTROL_TOKEN

__all__ = ["world"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _target(command: _Command) -> _Command:
    """The options that say which server is meant, and how to print."""
    options = [
        click.option("--toolset", metavar="NAME", help="Where several toolsets have a world of that name."),
        click.option("--pid", type=int, help="Where several servers have a world of that name."),
        click.option("--url", metavar="URL", help="A server elsewhere, by its /control (http://127.0.0.1:8000)."),
        click.option("--token", envvar=CONTROL_TOKEN, show_envvar=True, help="The --control-token of that server."),
        click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.group(
    epilog="""\b
Examples:
  envace-sdk world list
  envace-sdk world show default --collection orders --limit 5
  envace-sdk world snapshot default before-refund
  envace-sdk world diff default --since before-refund
  envace-sdk world restore default before-refund
  envace-sdk world snapshot default --output state.json
  envace-sdk world reset default
  envace-sdk world fork default attempt-2
  envace-sdk world diff attempt-2 default
  envace-sdk world faults default rate-limited
  envace-sdk world faults default off
  envace-sdk world list --url http://127.0.0.1:8000 --token "$TOKEN"
\b
A running `envace-sdk serve` is found by the name of its world, through a socket that only you can open.
""",
)
def world() -> None:
    """Look into the worlds of running servers; reset, fork, snapshot, restore and compare them."""


@world.command("list")
@click.option("--url", metavar="URL", help="A server elsewhere, by its /control.")
@click.option("--token", envvar=CONTROL_TOKEN, show_envvar=True, help="The --control-token of that server.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_worlds(url: str | None, token: str | None, form: str) -> None:
    """List the worlds of all running servers."""
    client = _client()
    listings = [_http(client, url, token).ask("list")] if url else [listing for _, listing in client.running()]
    rows = [{"pid": listing["pid"], **found} for listing in listings for found in listing["worlds"]]
    if form == "json":
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    elif not rows:
        click.echo("no world: no server is running", err=True)
    else:
        _table([("PID", "TOOLSET", "WORLD", "VERSION", "CLOCK", "ENTITIES")] + [_row(row) for row in rows])


@world.command()
@click.argument("name", metavar="WORLD")
@click.option("--collection", metavar="NAME", help="Show the documents of this collection.")
@click.option("--key", metavar="KEY", help="Show only this one.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1), help="Most documents shown.")
@click.option("--offset", default=0, show_default=True, type=click.IntRange(min=0), help="Documents to skip.")
@_target
def show(name: str, collection: str | None, key: str | None, limit: int, offset: int, form: str, **target: Any) -> None:
    """Show a world: its clock, version and collections, or the documents of one collection."""
    if key is not None and collection is None:
        raise click.UsageError("--key needs --collection")
    chosen = {"collection": collection, "key": key, "limit": limit, "offset": offset} if collection else {}
    result = _ask("show", name, target, **chosen)
    if form == "json":
        click.echo(json.dumps(result, ensure_ascii=False, indent=2))
        return
    if "documents" in result:
        for found, document in result["documents"]:
            click.echo(f"{found}\t{json.dumps(document, ensure_ascii=False)}")
        return
    _print_summary(result)
    for collection_name, count in result["entities"].items():
        click.echo(f"  {collection_name}: {count}")
    click.echo(f"snapshots: {', '.join(result['snapshots']) or 'none'}")


@world.command()
@click.argument("name", metavar="WORLD")
@_target
def reset(name: str, form: str, **target: Any) -> None:
    """Take a world back to where it began."""
    _print(_ask("reset", name, target), form)


@world.command()
@click.argument("name", metavar="WORLD")
@click.argument("new", metavar="NEW")
@_target
def fork(name: str, new: str, form: str, **target: Any) -> None:
    """Copy a world under another name; the copy costs next to nothing."""
    _print(_ask("fork", name, target, to=new), form)


@world.command()
@click.argument("name", metavar="WORLD")
@click.argument("snapshot_name", metavar="[SNAPSHOT]", required=False)
@click.option("--output", type=click.Path(dir_okay=False, writable=True), help="Also write the state to this file.")
@_target
def snapshot(name: str, snapshot_name: str | None, output: str | None, form: str, **target: Any) -> None:
    """Keep the state of a world under a name, to compare with or to go back to."""
    chosen = {} if snapshot_name is None else {"name": snapshot_name}
    result = _ask("snapshot", name, target, state=output is not None, **chosen)
    if output is not None:
        try:
            Path(output).write_text(json.dumps(result.pop("state")) + "\n", encoding="utf-8")
        except OSError as error:
            raise click.ClickException(f"{output}: cannot be written: {error.strerror or error}") from error
    _print(result, form)


@world.command()
@click.argument("name", metavar="WORLD")
@click.argument("snapshot_name", metavar="[SNAPSHOT]", required=False)
@click.option("--input", "file", type=click.Path(exists=True, dir_okay=False), help="A file from snapshot --output.")
@_target
def restore(name: str, snapshot_name: str | None, file: str | None, form: str, **target: Any) -> None:
    """Take a world to a snapshot of it, or of another world of the same toolset."""
    if (snapshot_name is None) == (file is None):
        raise click.UsageError("give a SNAPSHOT or --input FILE")
    if file is None:
        _print(_ask("restore", name, target, name=snapshot_name), form)
        return
    try:
        state = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise click.ClickException(f"{file}: not a state file: {error}") from error
    _print(_ask("restore", name, target, state=state), form)


@world.command()
@click.argument("name", metavar="WORLD")
@click.argument("other", metavar="[OTHER]", required=False)
@click.option("--since", metavar="SNAPSHOT", help="Compare with this snapshot.")
@_target
def diff(name: str, other: str | None, since: str | None, form: str, **target: Any) -> None:
    """Show what changed in a world since it began, since a snapshot, or against the OTHER world."""
    if since is not None and other is not None:
        raise click.UsageError("give --since or OTHER, not both")
    chosen = {key: value for key, value in (("since", since), ("other", other)) if value is not None}
    result = _ask("diff", name, target, **chosen)
    if form == "json":
        click.echo(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        for change in result["changes"]:
            click.echo(_change_line(change))
        if not result["changes"]:
            click.echo("no differences", err=True)


@world.command()
@click.argument("name", metavar="WORLD")
@click.argument("plan", metavar="[PRESET|FILE|off]", required=False)
@_target
def faults(name: str, plan: str | None, form: str, **target: Any) -> None:
    """Show the faults that calls on a world meet and how often they struck, or switch to other ones."""
    chosen = {}
    if plan is not None:
        from envace_sdk.faults import fault_plan

        found = fault_plan(plan)
        chosen["plan"] = None if found is None else found.to_document()
    result = _ask("faults", name, target, **chosen)
    if form == "json":
        click.echo(json.dumps(result, ensure_ascii=False, indent=2))
        return
    click.echo(f"{result['toolset']}/{result['world']}: faults {result['faults'] or 'off'}")
    if result["plan"] is not None:
        for fault, counts in zip(result["plan"]["faults"], result["counts"], strict=True):
            told = ", ".join(f"{field} {json.dumps(value)}" for field, value in fault.items() if field != "kind")
            struck = f"struck {counts['given']} of {counts['seen']} matching calls"
            click.echo(f"  {fault['kind']}: {struck}" + (f" ({told})" if told else ""))


def _client() -> Any:
    return importlib.import_module("envace_sdk.mcp_servers.control_client")


def _http(client: Any, url: str, token: str | None) -> Any:
    if token is None:
        raise click.UsageError(f"--url needs --token, or {CONTROL_TOKEN} in the environment")
    return client.HttpServer(url, token)


def _ask(do: str, name: str, target: dict[str, Any], /, **arguments: Any) -> Any:
    client, toolset = _client(), target["toolset"]
    if target["url"]:
        server = _http(client, target["url"], target["token"])
    else:
        server = client.with_world(name, toolset=toolset, pid=target["pid"])
    if toolset is not None:
        arguments["toolset"] = toolset
    return server.ask(do, **{"world": name, **arguments})


def _print(result: dict[str, Any], form: str) -> None:
    if form == "json":
        click.echo(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        _print_summary(result)


def _print_summary(result: dict[str, Any]) -> None:
    kept = f", snapshot {result['snapshot']}" if "snapshot" in result else ""
    place = f"{result['toolset']}/{result['world']}"
    faults = f", faults {result['faults']}" if result["faults"] else ""
    click.echo(f"{place}: version {result['version']}, clock {result['clock']}, seed {result['seed']}{faults}{kept}")


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    return str(row["pid"]), row["toolset"], row["world"], str(row["version"]), row["clock"], _count(row["entities"])


def _count(entities: dict[str, int]) -> str:
    return str(sum(entities.values()))


def _table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _change_line(change: dict[str, Any]) -> str:
    mark = {"created": "+", "updated": "~", "deleted": "-"}[change["kind"]]
    fields = []
    for path, sides in change["fields"].items():
        before = json.dumps(sides["before"], ensure_ascii=False) if "before" in sides else "nothing"
        after = json.dumps(sides["after"], ensure_ascii=False) if "after" in sides else "nothing"
        fields.append(f"{path} {before} → {after}" if change["kind"] == "updated" else f"{path} {after}")
    said = "" if change["kind"] == "deleted" else ": " + ", ".join(fields)
    return f"{mark} {change['collection']}/{change['key']}{said}"
