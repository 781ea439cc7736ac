"""Public servers from npm and PyPI, installed where they are missing."""

import json
import os
import re
import shutil
import subprocess
import venv
from pathlib import Path

SERVERS = json.loads(
    (Path(__file__).parents[1] / "mcp_servers" / "data" / "public_servers.json").read_text(encoding="utf-8")
)


def installed(server):
    """The folder with the server's programs, built where it is missing."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "envace-sdk" / "public-servers"
    name = re.sub(r"[^A-Za-z0-9.]+", "-", f"{server['registry']}-{server['package']}-{server['version']}")
    folder, ready = base / name, base / name / ".ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _install(server, folder)
        ready.touch()
    return folder / "node_modules" / ".bin" if server["registry"] == "npm" else folder / "bin"


def command_of(server, folder):
    """The words and the environment that run a server with a folder for its data."""
    program, *arguments = server["run"]
    words = [str(installed(server) / program), *(word.format(folder=folder) for word in arguments)]
    return words, {name: value.format(folder=folder) for name, value in server.get("env", {}).items()}


def _install(server, folder):
    if server["registry"] == "npm":
        words = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder)]
        words.append(f"{server['package']}@{server['version']}")
    else:
        venv.create(folder, with_pip=True)
        words = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        words += [f"{server['package']}=={server['version']}", *server.get("with", [])]
    subprocess.run(words, check=True)
