"""Work in a second process, beside what this one does meanwhile.

The other process is a fresh interpreter that shares nothing with this one: it is given a function of this package and
its arguments, and gives back what that returns. (`multiprocessing` would run the caller's main module a second time,
which a script without a guard does not survive.) Where there is no second process to be had, or it fails, the work is
done here when its result is asked for; so the result is the same either way.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import IO, TypeVar

__all__ = ["apart", "cores"]

_Result = TypeVar("_Result")


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def apart(function: Callable[..., _Result], *arguments: object) -> Iterator[Callable[[], _Result]]:
    """Call a function in another process beside the body, which is given what waits for its result.

    Args:
        function: what is called; its module has it by its name.
        arguments: what it is called with; they can be pickled, and so can what it returns.
    """
    with tempfile.TemporaryFile() as told:
        process = _started((function, arguments), told)

        def result() -> _Result:
            if process is None or process.wait() != 0:
                return function(*arguments)
            told.seek(0)
            found: _Result = pickle.load(told)  # noqa: S301  our own process has written it
            return found

        try:
            yield result
        finally:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


def _started(call: tuple[Callable[..., object], Sequence[object]], told: IO[bytes]) -> subprocess.Popen[bytes] | None:
    """A process that makes the call and writes the pickled result; None where none can be started."""
    if not sys.executable or getattr(sys, "frozen", False):
        return None
    with tempfile.TemporaryFile() as asked:
        pickle.dump(call, asked, pickle.HIGHEST_PROTOCOL)
        asked.seek(0)
        try:
            return subprocess.Popen(  # noqa: S603  our own module
                [sys.executable, "-P", "-m", __name__],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=asked,
                stdout=told,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return None


def _answer() -> None:
    function, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301  who started this process has written it
    with redirect_stdout(sys.stderr):
        found = function(*arguments)
    pickle.dump(found, sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    _answer()
