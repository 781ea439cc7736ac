"""`envace-sdk learn`: mine a toolset's dynamics from recordings of the real server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from envace_sdk.recordings import Finding
    from envace_sdk.tools.toolset import Toolset
    from envace_sdk.world.mine.folder import Lesson
    from envace_sdk.world.mine.learning import Progress

__all__ = ["learn"]

_COLUMNS = ("tool", "effect", "collection", "support", "confidence", "rule", "reason")
_FINDINGS = 12


@click.command(
    epilog="""\b
Examples:
  envace-sdk learn --tools twin/ --recordings rec.jsonl
  envace-sdk learn --tools twin/ --recordings more.jsonl      adds to what is there
  envace-sdk learn --tools twin/ --explain close_ticket --dry-run
\b
Exit codes:
  0  learned; what was left out, and what speaks against your own rules, is told on stderr
  3  the toolset, a recording or a file beside the rules is wrong, or there is nothing to learn from
""",
)
@click.option(
    "--tools", "source", required=True, metavar="SOURCE", help="A toolset's folder, file, URL or shipped name."
)
@click.option(
    "--recordings",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Recordings, calls one a line, or traces; may be repeated.",
)
@click.option("-o", "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="The rules.")
@click.option("--explain", "explained", multiple=True, metavar="TOOL", help="Print what speaks for and against a rule.")
@click.option("--dry-run", is_flag=True, help="Write nothing.")
@click.option("--force", is_flag=True, help="Write rules anew that were edited, unless they say `keep: true`.")
@click.option("--no-recordings", is_flag=True, help="Write rules and world only.")
@click.option("--no-redact", is_flag=True, help="Keep what looks like a secret.")
def learn(
    source: str,
    files: tuple[Path, ...],
    output: Path | None,
    explained: tuple[str, ...],
    dry_run: bool,
    force: bool,
    no_recordings: bool,
    no_redact: bool,
) -> None:
    """Mine what each tool does from recordings, and write it as a dynamics file that is yours to edit.

    Beside `dynamics.yaml` are written `world.json`, what a new world begins with, and `recordings.jsonl`, the
    recordings: the twin answers after them what the rules leave open, and later recordings are added to them. Rules
    that you have edited stay as they are.
    """
    from envace_sdk.recordings import Recording
    from envace_sdk.tools import Toolset
    from envace_sdk.world.mine.apart import cores
    from envace_sdk.world.mine.folder import learn_into

    from .recordings_print import recording_findings_text

    toolset = Toolset.load(source)
    path = _path(source, toolset, output)
    for tool in explained:
        toolset[tool]  # raises for one that is not there, before minutes are spent
    recording = Recording.load(files or filter(None, [toolset.recording]))
    errors = [finding for finding in recording.findings if finding.severity == "error"]
    click.echo(recording_findings_text(errors, _FINDINGS), nl=False, err=True)
    with _progress() as progress:
        lesson = learn_into(
            path,
            toolset,
            recording.files,
            force=force,
            redacted=not no_redact,
            progress=progress,
            processes=cores(),
        )
    written = [] if dry_run else lesson.write(recordings=not no_recordings)
    doubts = [one for one in recording.findings if one.severity != "error" and not _is_expected(one, lesson)]
    click.echo(recording_findings_text(doubts, _FINDINGS), nl=False, err=True)
    for finding in lesson.findings:
        click.echo(f"{click.style('warning', fg='yellow')} {finding}", err=True)
    if explained:
        click.echo("\n".join(lesson.explained(tool) for tool in explained), nl=False)
    else:
        click.echo(_table(lesson))
        click.echo(_to_do(lesson), nl=False)
    click.echo(_totals(lesson, written, dry_run=dry_run))


def _path(source: str, toolset: Toolset, output: Path | None) -> Path:
    if output is not None:
        return output
    if toolset.folder is not None:
        return toolset.folder / "dynamics.yaml"
    beside = Path(source)
    if beside.is_file():
        return beside.parent / "dynamics.yaml"
    raise click.UsageError(f"{source} is no folder and no file: say where to write with -o FILE")


def _is_expected(finding: Finding, lesson: Lesson) -> bool:
    """Whether a doubt about a recording is none, now that it is known what tools do."""
    if " again, and answered " not in finding.message:
        return False
    rule = lesson.dynamics.tools.get(finding.message.partition(": the call ")[0])
    writes = rule is not None and (rule.effect in {"create", "update", "delete"} or bool(rule.also))
    return writes or "answered alike" in finding.message


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar on standard error, if that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("learning", total=None)

        def told(what: str, done: int, whole: int) -> None:
            bar.update(task, description=what, completed=done, total=whole or None)

        yield told


def _table(lesson: Lesson) -> str:
    from .tools_print import table

    rows: list[dict[str, Any]] = []
    for name, rule in lesson.dynamics.tools.items():
        trial = lesson.trials.get(name)
        rows.append(
            {
                "tool": name,
                "effect": rule.effect,
                "collection": rule.collection or "",
                "support": trial.calls if trial is not None else "",
                "confidence": "" if rule.effect == "opaque" else f"{rule.confidence:.2f}",
                "rule": lesson.filing.standing[name],
                "reason": rule.reason,
            }
        )
    for name, standing in lesson.filing.standing.items():
        if standing == "gone":
            rows.append({**dict.fromkeys(_COLUMNS, ""), "tool": name, "rule": "gone", "reason": "no such tool"})
    return table(rows, _COLUMNS)


def _to_do(lesson: Lesson) -> str:
    """What to record next, tools of which the same is said together."""
    from .tools_print import table

    by_advice: dict[str, list[str]] = {}
    for tool, said in lesson.advice.items():
        by_advice.setdefault(said, []).append(tool)
    if not by_advice:
        return ""
    rows = [{"tools": ", ".join(tools), "record next": said} for said, tools in by_advice.items()]
    return f"\n{table(rows, ('tools', 'record next'))}\n"


def _totals(lesson: Lesson, written: Sequence[Path], *, dry_run: bool) -> str:
    from envace_sdk.world.mine.remarks import counted

    recording, gathered = lesson.gathered.recording, lesson.gathered
    rules = lesson.dynamics.tools.values()
    opaque = sum(rule.effect == "opaque" for rule in rules)
    yours = sum(standing == "yours" for standing in lesson.filing.standing.values())
    silent = len(lesson.toolset) - len(rules)
    tools = [counted(len(lesson.toolset), "tool"), f"{len(rules) - opaque} explained", f"{opaque} opaque"]
    tools += [f"{silent} never called: inferred from the schema"] if silent > 0 else []
    tools += [f"{yours} yours"] if yours else []
    calls = [counted(len(recording), "call"), counted(len(recording.episodes), "episode")]
    news = [f"{gathered.added} new", *([f"{gathered.known} known already"] if gathered.known else [])]
    done = f"wrote {', '.join(map(str, written))}" if written else "nothing has changed"
    return (
        f"\n{', '.join(tools)}\n{' in '.join(calls)} ({', '.join(news)})\n{'nothing was written' if dry_run else done}"
    )
