"""From the options of `envace-sdk record` to a running relay."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from envace_sdk.json import Json
from envace_sdk.logs import log_to_stderr
from envace_sdk.recordings import (
    Episode,
    Matching,
    RecordMode,
    SecretRedactor,
    Tape,
    Writer,
    no_redaction,
    read_recording,
)
from envace_sdk.recordings.replay import Replay
from envace_sdk.tools.upstream import Target

if TYPE_CHECKING:
    from .address import Address

__all__ = ["Options", "replays_only", "run"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Options:
    """What to record, where to, and how."""

    target: Target
    output: Path
    mode: RecordMode = RecordMode.ALL
    address: Address | None = None
    """Where to listen for HTTP clients; None: one client on standard input and output."""
    ignore: tuple[str, ...] = ()
    redact: bool = True
    redact_keys: tuple[str, ...] = ()
    redact_patterns: tuple[str, ...] = ()
    durable: bool = False
    allowed_hosts: tuple[str, ...] = ()
    log_level: str = "warning"
    auth_token: str | None = field(default=None, repr=False)


def replays_only(options: Options) -> bool:
    """Whether the real server is not to be asked at all. Raises: FixtureError, when the file cannot be read."""
    if options.mode is RecordMode.ONCE:
        return options.output.is_file() and bool(read_recording(options.output).exchanges)
    return options.mode is RecordMode.NONE


def run(options: Options) -> int:
    """Relay and record until the client, the server or a signal ends it; gives the exit code.

    Raises:
        EnvaceError: the server cannot be started or reached, the file is no recording or cannot be written.
        OSError: the address cannot be listened on.
    """
    log_to_stderr(options.log_level)
    redact = SecretRedactor(options.redact_keys, options.redact_patterns) if options.redact else no_redaction
    Matching(options.ignore)  # a wrong path is told before anything is written
    with Writer(options.output, redact=redact, ignore=options.ignore, durable=options.durable) as writer:
        replay = Replay.of_file(options.output) if options.mode is RecordMode.NEW else None
        if options.address is not None:
            asyncio.run(_http(options, options.address, writer, replay))
            return 0
        return _stdio(options, writer, replay)


def _stdio(options: Options, writer: Writer, replay: Replay | None) -> int:
    from . import relay_stdio

    def answer(_: bytes, message: Json) -> bytes | None:
        answered = replay.answer(message) if replay is not None else None
        return None if answered is None else json.dumps(answered, ensure_ascii=False).encode() + b"\n"

    target = options.target
    return relay_stdio.relay(
        target.command,
        Tape(Episode("stdio")),
        writer.write,
        env=target.env,
        cwd=target.cwd,
        answer=answer if replay is not None else None,
    )


async def _http(options: Options, address: Address, writer: Writer, replay: Replay | None) -> None:
    from . import http
    from .address import Names
    from .relay_http import build_relay

    names = Names(address, also=options.allowed_hosts)
    answer = replay.answer if replay is not None else None
    app = build_relay(options.target, writer.write, names=names, answer=answer)
    with address.listen() as listener:
        url = address.url(listener.getsockname()[1])
        sys.stderr.write(f"recording {options.target} at {url}/mcp\n")
        await http.serve(app, listener)
