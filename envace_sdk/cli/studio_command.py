"""`envace-sdk studio`: one local web page over the ledger, worlds, toolsets and training runs."""

from __future__ import annotations

from pathlib import Path

import click

from .extras import listening_address, load
from .ledger_options import approvers_option, ledger_option, me, read_approvers
from .tools_options import named_source

__all__ = ["studio"]

TOKEN = "ENVACE_STUDIO_TOKEN"  # noqa: S105  the name of a variable


@click.command(
    epilog="""\b
Examples:
  envace-sdk studio                                     http://127.0.0.1:8811, your own ledger
  envace-sdk studio --ledger ledger.db --by ann
  envace-sdk studio --tools retail --tools twin/ --store sqlite:///worlds.db
  envace-sdk studio --tools twin/ --recordings heldout.jsonl
  envace-sdk studio --runs runs/
  ENVACE_STUDIO_TOKEN=… envace-sdk studio --http 0.0.0.0:8811 --allow-remote
\b
Whoever can reach the page can answer approvals, in the name that --by gives. It is served to this machine
alone, unless --allow-remote; then it asks for a token, which is made and printed where none is given. It
speaks plain HTTP: towards other machines, put a proxy with TLS before it.
""",
)
@click.option(
    "--http", "address", default="127.0.0.1:8811", show_default=True, metavar="HOST:PORT", help="Where to listen."
)
@click.option("--by", metavar="NAME", help="In whose name approvals are answered; default: your user name here.")
@click.option("--allow-remote", is_flag=True, help="Allow an address that other machines can reach.")
@click.option("--allow-host", "allowed_hosts", multiple=True, metavar="NAME", help="A further own host name.")
@click.option("--token", envvar=TOKEN, show_envvar=True, metavar="TOKEN", help="That visitors must know.")
@click.option(
    "--tools", "sources", multiple=True, metavar="SOURCE", help="Toolsets to show; default: the shipped ones."
)
@click.option(
    "--store", metavar="URL", help="Where their worlds are kept, as with `serve --store`; default: in memory."
)
@click.option(
    "--runs",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="A training run, or a folder with several.",
)
@click.option(
    "--recordings",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Held-out recordings, to examine the one --tools against.",
)
@approvers_option
@ledger_option
def studio(
    address: str,
    by: str | None,
    allow_remote: bool,
    allowed_hosts: tuple[str, ...],
    token: str | None,
    sources: tuple[str, ...],
    store: str | None,
    runs: tuple[Path, ...],
    recordings: tuple[Path, ...],
    approvers: str | None,
    where: str | None,
) -> None:
    """Look at runs, worlds and training in a browser, and answer approvals there."""
    if recordings and len(sources) != 1:
        raise click.UsageError("--recordings needs one --tools, which is examined against them")
    serving = load("studio.serving", command="studio", extra="studio")
    listening = listening_address(address, command="studio", allow_remote=allow_remote, extra="studio")
    try:
        options = serving.Options(
            address=listening,
            by=by or me(),
            ledger=where,
            tools=tuple(map(named_source, sources)),
            store=store,
            runs=runs,
            recordings=recordings,
            approvers=read_approvers(approvers),
            token=token,
            allowed_hosts=allowed_hosts,
        )
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--token") from error
    try:
        serving.run(options)
    except OSError as error:
        raise click.ClickException(f"cannot listen on {address}: {error.strerror or error}") from error
