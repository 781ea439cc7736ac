"""Carries out actions through the journal while being killed, again and again. A program of its own, so that it can
fork without threads:

    python journal_until_killed.py URL FOLDER SEED KILLS

Each child goes on where the last one was killed: it looks at every action's status and carries out what was not
started. To carry out is to append a line to a file. The parent lets a child take a seeded number of steps, and kills it
by SIGKILL a seeded part of a step later.
"""

import os
import signal
import sys
import time
from pathlib import Path
from random import Random

from envace_sdk.errors import CommittedError
from envace_sdk.evidence import keyed_redactor
from envace_sdk.ledger import Ledger

MOST_STEPS = 12


def actions(kills):
    """How many there are: more than are ever reached."""
    return 3 * kills


def live(url, done, stepped, numbers, life):
    ledger = Ledger.open(url, redact=keyed_redactor(b"k"))
    step = lambda: os.write(stepped, b"!")  # noqa: E731
    step()
    for number in numbers:
        action, run = f"a{number}", f"run-{number % 3}"
        if ledger.status(action) in {"observed", "in_doubt"}:
            continue
        ledger.append(run, "rehearsed", {"life": life}, payload={"number": number}, action=action)
        step()
        asked = ledger.approvals.request(run, "act", {"number": number}, action=action, expires=None)
        step()
        if asked.state == "pending":
            ledger.approvals.decide(asked.id, "approve", by="ann")
        step()
        try:
            ledger.commit(run, action, approval=asked.id, digest=asked.digest)
        except CommittedError:  # a commit of the last life, on its way when that one was killed
            continue
        step()
        os.write(done, f"{number}\n".encode())
        step()
        ledger.observed(run, action, payload={"done": number})
        step()
    raise RuntimeError("there was nothing left to do")


def main(url, folder, seed, kills):
    random = Random(seed)
    done = os.open(Path(folder) / "done", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for life in range(kills):
        waiting, stepped = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(waiting)
            try:
                live(url, done, stepped, range(actions(kills)), life)
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(1)
        os.close(stepped)
        os.read(waiting, 1)
        begin = time.monotonic()
        steps = random.randrange(MOST_STEPS)
        for _ in range(steps):
            os.read(waiting, 1)
        one = (time.monotonic() - begin) / steps if steps else 0.005
        time.sleep(random.random() * one)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(waiting)
        if not os.WIFSIGNALED(status):
            sys.exit(f"life {life} ended before it was killed")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
