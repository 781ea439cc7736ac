"""`envace-sdk recordings`: look into recordings and traces, and make recordings of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from .recordings_print import recording_findings_text

if TYPE_CHECKING:
    from envace_sdk.recordings import Recording

__all__ = ["recordings"]

_SHOWN: Final = 20
_Form = Literal["plain", "native"]


@click.group(
    epilog="""\b
Examples:
  envace-sdk recordings show traces.jsonl
  envace-sdk recordings show recordings/*.jsonl --format json
  envace-sdk recordings convert traces.jsonl runs.json -o recordings/crm.jsonl
\b
A file is what its content shows: a recording of `envace-sdk record`, calls one a line, OpenTelemetry spans (OTLP JSON
or the console exporter's), LangSmith runs, or chat messages with calls of tools.
""",
)
def recordings() -> None:
    """Look into recordings and traces, and make recordings of traces."""


@recordings.command(
    epilog="""\b
Exit codes:
  0  everything could be read
  1  something was left out; the findings say what, and why
  3  a file cannot be read at all
""",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--all", "everything", is_flag=True, help=f"All findings, not only the first {_SHOWN}.")
def show(files: tuple[Path, ...], form: str, everything: bool) -> None:
    """Show what FILEs hold: their form, episodes, calls and errors of each tool, and what is wrong with them."""
    from envace_sdk.recordings import Recording

    recording = Recording.load(files)
    found = recording.findings
    if form == "json":
        click.echo(json.dumps(_summary(recording), ensure_ascii=False, indent=2))
    else:
        _print(recording, None if everything else _SHOWN)
    sys.exit(1 if any(finding.severity == "error" for finding in found) else 0)


@recordings.command(
    epilog="""\b
Examples:
  envace-sdk recordings convert otel.jsonl -o calls.jsonl
  envace-sdk recordings convert a.jsonl b.jsonl -o both.jsonl --to native
  envace-sdk recordings convert runs.json -o - | grep refund
\b
Exit codes:
  0  done; what was left out is told on stderr
  3  a file cannot be read or written; with --strict also: something is wrong in it
""",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write; `-` for standard output.")
@click.option(
    "--to",
    "form",
    type=click.Choice(["plain", "native"]),
    default="plain",
    show_default=True,
    help="Calls, one a line; or everything, as `record` writes it.",
)
@click.option("--strict", is_flag=True, help="Write nothing if anything would be left out.")
@click.option("--no-redact", is_flag=True, help="Keep what looks like a secret.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
def convert(files: tuple[Path, ...], output: str, form: _Form, strict: bool, no_redact: bool, force: bool) -> None:
    """Make one recording of FILEs, for `serve`, `learn` and `eval`, or to read and edit."""
    from envace_sdk.errors import FixtureError
    from envace_sdk.recordings import Recording, no_redaction

    if output == "-" and form == "native":
        raise click.UsageError("--to native needs a file: -o FILE")
    target = Path(output)
    if output != "-" and target.exists() and not force:
        raise FixtureError(f"{output} is there already: --force overwrites it")
    recording = Recording.load(files, strict=strict)
    if output == "-":
        _print_calls(recording, redacted=not no_redact)
    else:
        recording.save(target, form=form, redact=no_redaction if no_redact else None)
    click.echo(recording_findings_text(recording.findings, _SHOWN), nl=False, err=True)
    if output != "-":
        click.echo(f"wrote {output}: {_count(len(recording), 'call')} in {_count(len(recording.episodes), 'episode')}")


def _print_calls(recording: Recording, *, redacted: bool) -> None:
    from envace_sdk.recordings import SecretRedactor, no_redaction

    redact = SecretRedactor() if redacted else no_redaction
    for call in recording:
        click.echo(json.dumps(redact(call.to_json()), ensure_ascii=False))


def _summary(recording: Recording) -> dict[str, Any]:
    return {
        "files": [
            {"file": str(file.path), "form": file.form, "exchanges": len(file.exchanges)} for file in recording.files
        ],
        "episodes": {name: len(calls) for name, calls in recording.episodes.items()},
        "calls": len(recording),
        "errors": sum(call.is_error for call in recording),
        "tools": _tools(recording),
        "findings": [finding.to_json() for finding in recording.findings],
    }


def _tools(recording: Recording) -> list[dict[str, Any]]:
    """For each tool, by name: calls, errors, and in how many episodes it was called."""
    rows: dict[str, dict[str, Any]] = {}
    episodes: dict[str, set[str]] = {}
    for call in recording:
        row = rows.setdefault(call.tool, {"tool": call.tool, "calls": 0, "errors": 0})
        row["calls"] += 1
        row["errors"] += call.is_error
        episodes.setdefault(call.tool, set()).add(call.episode)
    return [{**row, "episodes": len(episodes[name])} for name, row in sorted(rows.items())]


def _print(recording: Recording, most: int | None) -> None:
    from envace_sdk.tools.finding import printable

    from .tools_print import table

    for file in recording.files:
        click.echo(f"{printable(str(file.path))}: {file.form}")
    errors = sum(call.is_error for call in recording)
    share = f" ({errors / len(recording):.0%})" if recording.calls else ""
    counts = [_count(len(recording.episodes), "episode"), _count(len(recording), "call")]
    click.echo(f"{', '.join(counts)}, {_count(errors, 'error')}{share}")
    rows = [{**row, "error share": f"{row['errors'] / row['calls']:.0%}"} for row in _tools(recording)]
    if rows:
        click.echo("\n" + table(rows, ("calls", "errors", "error share", "episodes", "tool")))
    text = recording_findings_text(recording.findings, most)
    if text:
        click.echo("\n" + text, nl=False)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
