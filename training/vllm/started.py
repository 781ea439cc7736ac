"""A vLLM server that is started for a run, and stopped after it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from envace_sdk.errors import TrainingError

from ..config import TrainConfig
from ..rollout_config import ServerConfig
from .command import serve_command

__all__ = ["rollout_server"]

_PATIENCE: Final = 20.0
_OF_LAUNCHERS: Final = (
    "ACCELERATE_",
    "GROUP_",
    "LOCAL_",
    "MASTER_",
    "RANK",
    "ROLE_",
    "TORCHELASTIC_",
    "WORLD_SIZE",
)
"""What torchrun and accelerate tell the trainer's processes, and must not tell the server's."""


@contextmanager
def rollout_server(
    place: str, config: TrainConfig, server: ServerConfig, note: Callable[[str], None] = lambda _: None
) -> Iterator[str]:
    """The URL of a server on this machine, while in the block.

    Args:
        place: the folder or hub id of the model.
        config: the trainer's settings.
        server: the server's.
        note: told what is being done.

    Raises:
        TrainingError: it does not start; the message has its last words.
    """
    command = serve_command(place, config, server)
    python = server.python or sys.executable
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    given = ["-m", "vllm.entrypoints.openai.api_server", "--model", *command.arguments]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OF_LAUNCHERS)}
    note(f"starting: {command}")
    with tempfile.TemporaryFile() as log:
        try:
            process = subprocess.Popen(  # noqa: S603  the interpreter is the user's choice
                [python, *given, "--host", "127.0.0.1", "--port", str(port)],
                env={**inherited, **command.environment, **server.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise TrainingError(f"rollout.server.python: {python} cannot be run: {error.strerror or error}") from error
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(process, url, log, server, python)
            yield url
        finally:
            _stop(process)


def _wait(process: subprocess.Popen[bytes], url: str, log: IO[bytes], server: ServerConfig, python: str) -> None:
    """Until it answers. Raises: TrainingError where it ends, or takes too long."""
    end = time.monotonic() + server.start_seconds
    while process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):  # noqa: S310  it is our own
                return
        except (urllib.error.URLError, OSError):
            if time.monotonic() > end:
                raise TrainingError(
                    f"the vLLM server does not answer within {server.start_seconds:g} seconds; raise "
                    f"rollout.server.start_seconds, or see what it says:\n{_tail(log)}"
                ) from None
            time.sleep(0.5)
    said = _tail(log)
    if "No module named 'vllm'" in said:
        raise TrainingError(
            f"{Path(python)} has no vLLM: install it there, set rollout.server.python to an interpreter that has it, "
            "or start the server yourself and name it with --rollout-server URL"
        )
    raise TrainingError(f"the vLLM server ended with exit code {process.returncode} before it answered:\n{said}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End it and the processes that it started."""
    try:
        _tell(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
    finally:
        # Also of whoever presses Ctrl-C again rather than wait: no server may be left on the GPU.
        _tell(process, signal.SIGKILL)
        process.wait()


def _tell(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _tail(log: IO[bytes]) -> str:
    size = log.seek(0, os.SEEK_END)
    log.seek(max(0, size - 4000))
    return "\n".join(log.read().decode(errors="replace").splitlines()[-25:])
