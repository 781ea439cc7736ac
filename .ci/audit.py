"""Look up what locks hold among known vulnerabilities: `audit.py LOCK...`.

Ends with 0 where nothing is known, 1 where something is, and 3 where not everything could be looked up: then nothing is
said of it, least of all that it is harmless. Without access to PyPI or OSV that is the end of every run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

CLEAN, VULNERABLE, NOT_ASKED = 0, 1, 3


def audited(lock: str, *options: str) -> tuple[list[str], list[str]]:
    """The vulnerabilities of what a lock holds, and what could not be looked up, each as a line."""
    tool = [sys.executable, "-m", "pip_audit", "--requirement", lock, "--disable-pip", "--no-deps", "--format", "json"]
    run = subprocess.run(  # noqa: S603
        [*tool, "--progress-spinner", "off", "--timeout", "20", *options], capture_output=True, text=True, check=False
    )
    try:
        found = json.loads(run.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        said = run.stderr.strip().splitlines() or ["nothing"]
        return [], [f"{lock}: pip-audit says: {said[-1][:300]}"]
    # The tool calls a package that its source does not know "skipped", and ends as if all were well.
    skipped = [one for one in found if "skip_reason" in one]
    known = [
        f"{lock}: {one['name']} {one['version']}: {hole['id']} (mended in {', '.join(hole['fix_versions'])})"
        for one in found
        for hole in one.get("vulns", ())
    ]
    if not found:
        return known, [f"{lock}: nothing in it was looked up"]
    return known, [f"{lock}: {len(skipped)} of {len(found)} not looked up: {one['skip_reason']}" for one in skipped[:1]]


def main(words: list[str]) -> int:
    """Audit locks; options of pip-audit may stand behind `--`."""
    locks, options = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    known: list[str] = []
    open_: list[str] = []
    for lock in locks:
        if not Path(lock).is_file():
            open_.append(f"{lock}: there is no such file")
            continue
        holes, unasked = audited(lock, *options)
        known += holes
        open_ += unasked
    for line in (*known, *open_):
        sys.stdout.write(f"{line}\n")
    if known:
        sys.stdout.write(f"{len(known)} known vulnerabilities\n")
        return VULNERABLE
    if open_:
        sys.stdout.write("not audited: no source of advisories knows all of this, or none can be reached from here\n")
        return NOT_ASKED
    sys.stdout.write("no known vulnerabilities\n")
    return CLEAN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
