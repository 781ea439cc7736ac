"""`envace-sdk ledger`: look into the audit trail, check it, hand it on, and erase what must go."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .ledger_options import by_option, check_run, ledger_option, me, open_ledger

if TYPE_CHECKING:
    from envace_sdk.ledger import Entry, Ledger

__all__ = ["ledger"]


@click.group(
    epilog="""\b
Examples:
  envace-sdk ledger show                                the runs
  envace-sdk ledger show thread-7 --payloads            what happened in one
  envace-sdk ledger verify --note heads.json            check everything, note where each run ends
  envace-sdk ledger verify --against heads.json         … and later, that nothing was cut off
  envace-sdk ledger export --form cloudevents -o trail.jsonl
  envace-sdk ledger tail --follow
  envace-sdk ledger erase --containing ann@example.com --reason "request 17"
  envace-sdk ledger erase --older-than 90
\b
The ledger is append-only: nothing here changes an entry. Erasing takes payloads (arguments, results), and leaves the
chain valid and a note of what went.
""",
)
def ledger() -> None:
    """Look into the audit trail of rehearsals, decisions and observations; verify, export and erase."""


@ledger.command()
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--action", metavar="ID", help="Only what is about this action.")
@click.option("--kind", metavar="KIND", help="Only entries of this kind: rehearsed, decision, commit, observed …")
@click.option("--payloads", is_flag=True, help="Also show arguments and results.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(min=1), help="Most entries shown.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@ledger_option
def show(
    run: str | None, action: str | None, kind: str | None, payloads: bool, limit: int, form: str, where: str | None
) -> None:
    """List the runs; or the entries of a RUN, or about an action."""
    with open_ledger(where) as opened:
        if run is None and action is None and kind is None:
            _show_runs(opened, form)
            return
        check_run(opened, run)
        found, more = _limited(opened.entries(run, action=action, kind=_kind(kind)), limit)
        if form == "json":
            click.echo(json.dumps([_as_json(opened, entry, payloads) for entry in found], indent=2))
            return
        _print(opened, found, payloads)
        if more:
            click.echo(f"… and more: --limit {limit * 10}", err=True)
        if not found:
            click.echo("no such entry", err=True)


@ledger.command()
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--note", type=click.Path(dir_okay=False), help="Write length and head of every run to this file.")
@click.option("--against", type=click.Path(exists=True, dir_okay=False), help="A file from --note: all is still there.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@ledger_option
def verify(run: str | None, note: str | None, against: str | None, form: str, where: str | None) -> None:
    """Recompute every digest of a RUN, or of all.

    Says what was tampered with, and what cannot be told because a later version wrote it. Exit code 1 for either.
    Who owns the database can write a whole run anew: keep the file of --note where they cannot reach it.
    """
    with open_ledger(where) as opened:
        check_run(opened, run)
        name = opened.database.place
        found = opened.verify(run, anchors=None if against is None else _anchors(against))
    if note is not None and found.ok:
        _write(Path(note), json.dumps({name: list(head) for name, head in found.heads.items()}, indent=2) + "\n")
    findings = [{"run": f.run, "seq": f.seq, "kind": f.kind, "what": f.what} for f in found.findings]
    counts = {"runs": found.runs, "entries": found.entries, "erased": found.erased}
    if form == "json":
        click.echo(json.dumps({"ok": found.ok, "ledger": name, **counts, "findings": findings}, indent=2))
    else:
        _print_verification(name, findings, counts)
    if not found.ok:
        sys.exit(1)


@ledger.command()
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--form", type=click.Choice(["jsonl", "cloudevents"]), default="jsonl", show_default=True)
@click.option("--payloads", is_flag=True, help="Also write arguments and results, which may be personal data.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, writable=True), help="A file; default: standard output."
)
@ledger_option
def export(run: str | None, form: str, payloads: bool, output: str | None, where: str | None) -> None:
    """Write a RUN, or all, a JSON object a line: entries as they are, or CloudEvents 1.0."""
    with open_ledger(where) as opened:
        check_run(opened, run)
        lines = (json.dumps(_as_form(opened, entry, payloads, form)) for entry in opened.entries(run))
        if output is None:
            for line in lines:
                click.echo(line)
            return
        try:
            with Path(output).open("w", encoding="utf-8") as file:
                count = sum(1 for line in lines if file.write(f"{line}\n"))
        except OSError as error:
            raise click.ClickException(f"{output}: cannot be written: {error.strerror or error}") from error
    click.echo(f"{output}: {count} entries", err=True)


@ledger.command()
@click.argument("run", metavar="[RUN]", required=False)
@click.option("-n", "--lines", default=10, show_default=True, type=click.IntRange(min=0), help="Entries of each run.")
@click.option("-f", "--follow", is_flag=True, help="Go on as entries are written, until interrupted.")
@click.option("--payloads", is_flag=True, help="Also show arguments and results.")
@ledger_option
def tail(run: str | None, lines: int, follow: bool, payloads: bool, where: str | None) -> None:
    """Show the last entries of a RUN, or of every run."""
    with open_ledger(where) as opened:
        seen: dict[str, int] = {}
        first = True
        while True:
            for found in opened.runs():
                if run is not None and found.name != run:
                    continue
                after = seen.get(found.name, max(0, found.length - lines) if first else 0)
                if found.length > after:
                    entries = list(opened.entries(found.name, after=after))
                    _print(opened, entries, payloads)
                    after = entries[-1].seq if entries else after
                seen[found.name] = after
            if not follow:
                return
            first = False
            time.sleep(0.5)


@ledger.command()
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--action", metavar="ID", help="Only payloads of this action.")
@click.option("--older-than", metavar="DAYS", type=click.FloatRange(min=0), help="Only payloads older than that.")
@click.option("--containing", metavar="TEXT", help="Only payloads that hold this text, whatever its case.")
@click.option("--reason", default="", help="Why. It stays in the ledger: do not repeat what is erased.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@by_option
@ledger_option
def erase(
    run: str | None,
    action: str | None,
    older_than: float | None,
    containing: str | None,
    reason: str,
    yes: bool,
    by: str | None,
    where: str | None,
) -> None:
    """Erase payloads (arguments, results) for good. The chain stays valid, and says what went, by whom and why."""
    if run is None and action is None and older_than is None and containing is None:
        raise click.UsageError("say which payloads: a RUN, --action, --older-than or --containing")
    with open_ledger(where) as opened:
        before = None if older_than is None else opened.now() - timedelta(days=older_than)
        if not yes:
            click.confirm("These payloads cannot be brought back. Erase them?", abort=True, err=True)
        done = opened.erase(run, action=action, before=before, containing=containing, by=by or me(), reason=reason)
    click.echo(f"erased {done.count} payload{'' if done.count == 1 else 's'} in {len(done.entries)} run(s)")


def _show_runs(opened: Ledger, form: str) -> None:
    from envace_sdk.tools.finding import printable

    runs = opened.runs()
    if form == "json":
        click.echo(json.dumps([{"run": run.name, "length": run.length, "head": run.head} for run in runs], indent=2))
        return
    for run in runs:
        click.echo(f"{printable(run.name)}  {run.length} entries  head {run.head[:12]}…")
    if not runs:
        click.echo("the ledger is empty", err=True)


def _print(opened: Ledger, entries: list[Entry], payloads: bool) -> None:
    from envace_sdk.json import UNSET
    from envace_sdk.tools.finding import printable

    from .ledger_print import entry_text

    run: str | None = None
    for entry in entries:
        if entry.run != run:
            run = entry.run
            click.echo(click.style(f"run {printable(run)}", bold=True))
        payload = opened.payload(entry) if payloads else UNSET
        erased = payloads and payload is UNSET and entry.payload_digest is not None
        click.echo("  " + entry_text(entry, payload, erased=erased).replace("\n", "\n  "))


def _print_verification(name: str, findings: list[dict[str, Any]], counts: dict[str, int]) -> None:
    from envace_sdk.tools.finding import printable

    for finding in findings:
        colour = "red" if finding["kind"] == "tampered" else "yellow"
        place = printable(finding["run"]) + ("" if finding["seq"] is None else f" #{finding['seq']}")
        click.echo(f"{click.style(finding['kind'], fg=colour)} {place}: {printable(finding['what'])}")
    said = f"{printable(name)}: {counts['runs']} runs, {counts['entries']} entries, {counts['erased']} erased payloads"
    problems = "1 finding" if len(findings) == 1 else f"{len(findings)} findings"
    click.echo(f"{click.style('ok', fg='green')}: {said}" if not findings else f"{problems} in {said}")


def _limited(entries: Iterator[Entry], limit: int) -> tuple[list[Entry], bool]:
    found: list[Entry] = []
    for entry in entries:
        if len(found) == limit:
            return found, True
        found.append(entry)
    return found, False


def _as_json(opened: Ledger, entry: Entry, payloads: bool) -> dict[str, Any]:
    return _as_form(opened, entry, payloads, "jsonl")


def _as_form(opened: Ledger, entry: Entry, payloads: bool, form: str) -> dict[str, Any]:
    from envace_sdk.json import UNSET
    from envace_sdk.ledger.export import as_cloudevent, as_json

    payload = opened.payload(entry) if payloads else UNSET
    return as_cloudevent(entry, payload) if form == "cloudevents" else as_json(entry, payload)


def _kind(kind: str | None) -> Any:
    from envace_sdk.ledger.entry import KINDS

    if kind is not None and kind not in KINDS:
        raise click.UsageError(f"there is no kind {kind!r}: {', '.join(sorted(KINDS))}")
    return kind


def _anchors(file: str) -> dict[str, tuple[int, str]]:
    try:
        noted = json.loads(Path(file).read_text(encoding="utf-8"))
        return {str(name): (int(length), str(head)) for name, (length, head) in noted.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise click.ClickException(f"{file}: not a file from --note: {error}") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror or error}") from error
