"""Public servers from npm and PyPI: their catalogues pulled, and served again as they were."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import pytest

from envace_sdk.tools import Toolset
from envace_sdk.tools.exact import element_texts, find_array, join
from envace_sdk.tools.upstream import Target

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SERVERS = json.loads((Path(__file__).parent / "data" / "public_servers.json").read_text(encoding="utf-8"))
LEGACY, MODERN = "2025-11-25", "2026-07-28"
TWIN = [sys.executable, "-c", "from envace_sdk.cli.main import main; main()", "serve"]


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


def _install(server, folder):
    if server["registry"] == "npm":
        words = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder)]
        words.append(f"{server['package']}@{server['version']}")
    else:
        venv.create(folder, with_pip=True)
        words = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        words += [f"{server['package']}=={server['version']}", *server.get("with", [])]
    subprocess.run(words, check=True)


@pytest.fixture(
    params=[
        pytest.param(server, id=server["package"], marks=[pytest.mark.node] if server["registry"] == "npm" else [])
        for server in SERVERS
    ]
)
def public(request, tmp_path):
    """How to run one public server."""
    server = request.param
    folder = tmp_path / "data"
    folder.mkdir()
    program, *arguments = server["run"]
    words = [str(installed(server) / program), *(word.format(folder=folder) for word in arguments)]
    env = {name: value.format(folder=folder) for name, value in server.get("env", {}).items()}
    return Target(command=tuple(words), env=env, timeout=120)


def listed(command, era, env=None):
    """The text of the tools array on the wire, by the least client that speaks the era."""
    if era == MODERN:
        meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
        questions = [_message("tools/list", {"_meta": meta}, 2)]
    else:
        client = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "least", "version": "0"}}
        questions = [
            _message("initialize", client, 1),
            _message("notifications/initialized"),
            _message("tools/list", {}, 2),
        ]
    environment = {**os.environ, **(env or {})}
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment
        ) as process,
    ):
        try:
            for question in questions:
                process.stdin.write(json.dumps(question).encode() + b"\n")
                process.stdin.flush()
                if "id" in question:
                    answer = _answer(process.stdout, question["id"], errors)
        finally:
            process.stdin.close()
            process.terminate()
    assert "error" not in json.loads(answer), answer
    return find_array(answer, "result", "tools")


def _message(method, params=None, request_id=None):
    message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
    return message if request_id is None else {**message, "id": request_id}


def _answer(stream, request_id, errors):
    for line in stream:
        if line.startswith(b"{") and json.loads(line).get("id") == request_id:
            return line.decode()
    errors.seek(0)
    raise AssertionError(f"no answer; its stderr: {errors.read().decode(errors='replace')}")


def test_ten_of_the_public_servers_are_there():
    assert len(SERVERS) >= 10
    assert {server["registry"] for server in SERVERS} == {"npm", "pypi"}


def test_a_public_servers_catalogue_is_pulled_byte_for_byte_and_served_again_as_it_was(public, tmp_path):
    folder = pull_by_command(public, tmp_path / "twin")
    toolset = Toolset.load(folder)
    pulled_in = json.loads((folder / "tools.json").read_text())["_meta"]["dev.envace/pulled"]["protocolVersion"]
    # A server of both eras may write one catalogue in two ways.
    originals = {era: listed(public.command, era, public.env) for era in {LEGACY, pulled_in}}
    exact = join(element_texts(originals[pulled_in]))

    assert toolset.raw.decode() == exact
    assert toolset.quarantined == ()
    assert len(toolset) > 0
    for era in (LEGACY, MODERN):
        twin = json.loads(listed([*TWIN, "--tools", str(folder)], era))
        if era in originals:
            assert twin == json.loads(originals[era])
        assert twin == [less_what_cannot_be_carried(tool.definition, era) for tool in toolset]
        assert listed([*TWIN, "--exact", "--tools", str(folder)], era) == exact


def less_what_cannot_be_carried(definition, era):
    """What verbatim means, told again without the code under test."""
    lost = {"execution"} if era == MODERN else set()
    if era == LEGACY and definition.get("outputSchema", {"type": "object"}).get("type") != "object":
        lost.add("outputSchema")
    return {key: value for key, value in definition.items() if key not in lost}


def pull_by_command(target, folder):
    words = [*TWIN[:-1], "tools", "pull", "-o", str(folder), "--timeout", "120"]
    for name, value in target.env.items():
        words += ["--env", f"{name}={value}"]
    done = subprocess.run([*words, "--", *target.command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder
