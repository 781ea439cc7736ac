"""`envace-sdk`: the group, its lazily imported commands, and what their exit codes mean."""

from __future__ import annotations

import errno
import importlib
import io
import sys
from typing import Final

import click

from .screen import guarded_terminals

__all__ = ["cli", "main"]

COMMANDS: Final = {
    "approvals": (
        "envace_sdk.cli.approvals_commands:approvals",
        "Answer what agents may not do without a person.",
    ),
    "bench": ("envace_sdk.cli.bench_commands:bench", "Evaluate a model on public benchmarks that are installed."),
    "call": ("envace_sdk.cli.call_command:call", "Rehearse one tool call and print the labelled answer."),
    "client-config": ("envace_sdk.cli.client_config:client_config", "Print the snippet that points a client here."),
    "demo": ("envace_sdk.cli.demo_command:demo", "Rehearse a session through a real MCP client."),
    "doctor": ("envace_sdk.cli.doctor_command:doctor", "Say what is installed and works on this machine."),
    "eval": ("envace_sdk.cli.eval_commands:evaluate", "Measure how close a twin comes to the real server."),
    "gateway": ("envace_sdk.cli.gateway_command:gateway", "Guard a real MCP server, for any client."),
    "guard": ("envace_sdk.cli.guard_commands:guard", "Check policies, score predictions, stop everything at once."),
    "infer": ("envace_sdk.cli.infer_command:infer", "Write a toolset's dynamics from its schemas."),
    "learn": ("envace_sdk.cli.learn_command:learn", "Mine a toolset's dynamics from recordings."),
    "models": ("envace_sdk.cli.models_commands:models", "Fetch and try the language models that rehearse."),
    "ledger": ("envace_sdk.cli.ledger_commands:ledger", "Look into the audit trail; verify, export and erase."),
    "plot": ("envace_sdk.cli.plot_command:plot", "Draw training curves or fidelity into an SVG or PNG."),
    "record": ("envace_sdk.cli.record_command:record", "Record a real MCP server, for its twin."),
    "recordings": (
        "envace_sdk.cli.recordings_commands:recordings",
        "Look into recordings and traces, and convert them.",
    ),
    "report": ("envace_sdk.cli.report_command:report", "Write the studio's views of a run into one HTML file."),
    "serve": ("envace_sdk.cli.serve_command:serve", "Serve rehearsed tools to any MCP client."),
    "studio": ("envace_sdk.cli.studio_command:studio", "Look at everything in a browser, and answer approvals."),
    "tasks": ("envace_sdk.cli.tasks_commands:tasks", "Check a toolset's tasks, and make new ones."),
    "tools": ("envace_sdk.cli.tools_commands:tools", "List, lint, pull and convert tool catalogues."),
    "train": ("envace_sdk.cli.train_commands:train", "Train a model to act with tools and to rehearse their answers."),
    "version": ("envace_sdk.cli.version_command:version", "Print the version."),
    "world": ("envace_sdk.cli.world_commands:world", "Look into running worlds; reset, fork, snapshot them."),
}

INPUT_ERROR: Final = 3
_DISK: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
"""What is wrong with a disk, wherever something is written."""
_LONGEST: Final = 20_000
"""Characters of a message."""


class _Lazy(click.Group):
    """A group that knows its commands by import string, so that `--help` imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  the signature is click's
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_, help_text) in sorted(COMMANDS.items())])


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  envace-sdk serve --tools retail                       on stdio, for an MCP client
  envace-sdk serve --tools ./my-tools.json --http 127.0.0.1:8000
  envace-sdk call --tools retail search_catalogue '{"text": "tent"}'
  envace-sdk tools pull -o twin/ -- npx -y @modelcontextprotocol/server-memory
  envace-sdk client-config retail --client claude
\b
Exit codes:
  0  done
  1  done, and the answer is no: findings, a failed check, a tool's error result
  2  the command line is wrong
  3  the input is wrong: a file, a schema, an unknown tool, an unreachable server
  130  interrupted
""",
)
@click.version_option(package_name="envace-sdk", prog_name="envace-sdk")
def cli() -> None:
    """Rehearse tool servers: the same tools, schemas and errors, a state that remembers, and nothing real touched."""


def _plain(message: str) -> str:
    """Lines that play no tricks on a terminal, of what quotes strangers; at most so many as are read."""
    from envace_sdk.tools.finding import printable

    return "\n".join(map(printable, message[:_LONGEST].split("\n"))) + ("…" if len(message) > _LONGEST else "")


def main() -> None:
    """Run the command line; errors of the SDK end it with one line on stderr and exit code 3."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a world, or a file, may hold what the terminal cannot show
    with guarded_terminals():
        _run()


def _run() -> None:
    from envace_sdk.errors import EnvaceError

    try:
        left = cli(standalone_mode=False)
        if isinstance(left, int):  # what click makes of `Exit`, and of `--help`
            sys.exit(left)
    except click.UsageError as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except (EnvaceError, click.ClickException) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        click.echo(f"error: {_plain(message)}", err=True)
        sys.exit(INPUT_ERROR)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:
        if error.errno not in _DISK:
            raise
        place = f": {_plain(str(error.filename))}" if error.filename else ""
        click.echo(f"error: {error.strerror}{place}", err=True)
        sys.exit(INPUT_ERROR)
