"""Makes the pictures of the studio anew: the refund agent asks, its request is photographed, approved, and its run too.

python docs/images/studio.py [--into FOLDER]

It needs the extras `langchain` and `studio`, playwright and a Chromium.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from chromium import chromium  # noqa: E402  it lies beside the tests

AGENT = ROOT / "examples" / "refund_agent" / "agent.py"
STUDIO = "from envace_sdk.cli.main import main; main()"
WIDTH, HEIGHT = 1200, 900


def main() -> None:
    """Make `studio.png`, `studio-dark.png` and `studio-timeline.png`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path(__file__).parent, help="the folder of the pictures")
    into = parser.parse_args().into
    with tempfile.TemporaryDirectory() as found, chromium() as browser:
        folder = Path(found)
        with started([str(AGENT), "--folder", str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
            said(agent.stdout, "predicted:")  # it waits for an answer now
            studio = ["-c", STUDIO, "studio", "--http", "127.0.0.1:0", "--ledger", str(folder / "ledger.db")]
            with started([*studio, "--by", "ann"], stderr=subprocess.PIPE) as server:
                base = said(server.stderr, "studio at ").strip()
                for scheme, name in (("light", "studio"), ("dark", "studio-dark")):
                    photograph(browser, base, scheme, into / f"{name}.png", follow="cancel_order")
                agent.communicate("y\n", timeout=120)
                photograph(browser, base, "light", into / "studio-timeline.png", view="/runs/view?name=chat-1")


def photograph(browser: Any, base: str, scheme: str, file: Path, *, view: str = "/", follow: str = "") -> None:
    """Keep a picture of a view, or of what a link in it leads to."""
    size = {"width": WIDTH, "height": HEIGHT}
    page = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    page.goto(base + view)
    if follow:
        page.get_by_role("link", name=follow).click()
        page.get_by_role("button", name="Approve once").wait_for()
    page.screenshot(path=file)
    page.close()


@contextlib.contextmanager
def started(words: list[str], **pipes: int) -> Iterator[subprocess.Popen[str]]:
    """A Python program that runs as long as it is needed."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "ENVACE_REDACTION_KEY": "pictures"}
    program = subprocess.Popen([sys.executable, *words], env=environment, text=True, **pipes)  # type: ignore[call-overload]  # noqa: S603
    try:
        yield program
    finally:
        program.terminate()
        program.wait(30)


def said(stream: IO[str] | None, beginning: str) -> str:
    """What a program says after some words, once it does."""
    for line in stream or ():
        if line.startswith(beginning):
            return line.removeprefix(beginning)
    raise RuntimeError(f"it ended before it said {beginning!r}")


if __name__ == "__main__":
    main()
