"""The files in `deploy/`: linted here, and not run, since nothing here runs containers."""

import hashlib
import os
import re
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from envace_sdk.cli.serve_command import serve

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DCLINT = "dclint@3.1.0"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


@pytest.fixture(scope="module")
def kubernetes():
    return {found["kind"]: found for found in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())}


def _cache():
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "envace-sdk"


@pytest.fixture(scope="module")
def linters():
    """The folder of the linters' programs, installed where they are missing."""
    lock = ROOT / "locks" / "deploy.txt"
    digest = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = _cache() / "venvs" / f"deploy-{digest}"
    if not (folder / ".ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        install = [folder / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*install, "--require-hashes", "-r", lock], check=True)
        (folder / ".ready").touch()
    return folder / "bin"


@pytest.mark.slow
def test_hadolint_finds_nothing_in_the_containerfile(linters):
    run = subprocess.run([linters / "hadolint", DEPLOY / "Containerfile"], capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout) == (0, ""), run.stdout


@pytest.mark.slow
def test_the_manifests_are_valid_to_the_schemas_of_kubernetes(linters):
    script = (
        "import sys, yaml, kubernetes_validate as k\n"
        "for one in yaml.safe_load_all(open(sys.argv[1])):\n"
        "    k.validate(one, k.latest_version(), strict=True)\n"
    )
    command = [linters / "python", "-c", script]
    good = subprocess.run([*command, DEPLOY / "kubernetes.yaml"], capture_output=True, text=True, timeout=120)
    assert good.returncode == 0, good.stderr


@pytest.mark.slow
def test_a_wrong_manifest_would_be_found(linters, tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text((DEPLOY / "kubernetes.yaml").read_text().replace("readinessProbe:", "readyProbe:"))
    script = "import sys, yaml, kubernetes_validate as k\n"
    script += "[k.validate(one, k.latest_version(), strict=True) for one in yaml.safe_load_all(open(sys.argv[1]))]"
    run = subprocess.run([linters / "python", "-c", script, wrong], capture_output=True, text=True, timeout=120)
    assert run.returncode != 0
    assert "readyProbe" in run.stderr


@pytest.mark.slow
@pytest.mark.node
def test_the_compose_file_is_valid_to_the_schema_of_compose():
    folder = _cache() / "node" / DCLINT
    program = folder / "node_modules" / ".bin" / "dclint"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder), DCLINT]
        subprocess.run(install, check=True)
    command = [str(program), "--quiet", str(DEPLOY / "compose.yaml")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr


def _serve_parsed(words):
    """Raises where `envace-sdk serve` does not know an option, or what it is given."""
    assert words[0] == "serve"
    context = serve.make_context("serve", list(words[1:]), resilient_parsing=False)
    return context.params


def test_what_is_started_are_options_that_serve_has(compose, kubernetes):
    container = kubernetes["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    for words in (container["args"], compose["services"]["server"]["command"]):
        found = _serve_parsed(words)
        assert found["workers"] > 1
        assert found["allow_remote"]
        assert found["migrate"]
        assert found["address"] == "0.0.0.0:8000"
    command = re.search(r"^CMD (\[\"serve.*\])$", CONTAINERFILE, re.MULTILINE)
    _serve_parsed(yaml.safe_load(command[1]))


def test_secrets_are_in_no_command_line_and_under_names_that_serve_reads(compose, kubernetes):
    shown = CliRunner().invoke(serve, ["--help"]).output
    container = kubernetes["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    for variable in (*compose["services"]["server"]["environment"], *(entry["name"] for entry in container["env"])):
        assert variable in shown
    assert all("valueFrom" in entry for entry in container["env"])
    assert not [word for word in container["args"] if "token" in word or "postgresql:" in word]


def test_nothing_runs_as_root_or_may_become_it(compose, kubernetes):
    assert re.findall(r"^USER (.*)$", CONTAINERFILE, re.MULTILINE) == ["10001:10001"]
    pod = kubernetes["Deployment"]["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "privileged": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    server = compose["services"]["server"]
    assert (server["read_only"], server["cap_drop"]) == (True, ["ALL"])
    assert "privileged" not in server


def test_a_server_is_probed_where_it_answers_and_given_the_time_it_asks_for(kubernetes, compose):
    pod = kubernetes["Deployment"]["spec"]["template"]["spec"]
    container = pod["containers"][0]
    probes = {name: container[name]["httpGet"]["path"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert probes == {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    grace = _serve_parsed(container["args"])["grace"]
    wait = float(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > grace + wait + 2
    server = compose["services"]["server"]
    assert float(server["stop_grace_period"].removesuffix("s")) > _serve_parsed(server["command"])["grace"] + 2


def test_a_disruption_leaves_servers_and_the_selectors_meet(kubernetes):
    labels = kubernetes["Deployment"]["spec"]["template"]["metadata"]["labels"]
    budget = kubernetes["PodDisruptionBudget"]["spec"]
    assert budget["selector"]["matchLabels"] == kubernetes["Service"]["spec"]["selector"] == labels
    assert 0 < budget["minAvailable"] < kubernetes["Deployment"]["spec"]["replicas"]


def test_the_container_installs_a_lock_with_hashes_and_all_that_serving_needs():
    lock = (ROOT / "locks" / "serve.txt").read_text()
    requirements = re.findall(r"^([a-z0-9-]+)(?:\[.*\])?==", lock, re.MULTILINE)
    assert {"mcp", "psycopg-binary", "prometheus-client", "uvicorn", "setuptools"} <= set(requirements)
    assert not {"torch", "pytest"} & set(requirements)
    for block in re.split(r"\n(?=[a-z0-9-]+==)", lock.split("==", 1)[1]):
        assert "--hash=sha256:" in block
    assert "--require-hashes" in CONTAINERFILE
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", CONTAINERFILE, re.MULTILINE)
    for path in (part for words in copied for part in shlex.split(words)):
        assert (ROOT / path).exists(), path


def test_the_documents_say_that_these_files_were_not_run():
    assert "linted, not run" in (ROOT / "docs" / "scale.md").read_text()
    assert "linted, not run" in (DEPLOY / "README.md").read_text()
