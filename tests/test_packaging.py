import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def folder_of(package):
    """The folder that a package's files lie in, by the longest prefix that `package-dir` maps."""
    parts = package.split(".")
    for cut in range(len(parts), 0, -1):
        mapped = SETUP["package-dir"].get(".".join(parts[:cut]))
        if mapped is not None:
            return ROOT.joinpath(mapped, *parts[cut:])
    raise AssertionError(package)


def test_every_package_in_the_tree_is_listed_for_the_wheel():
    listed = {folder_of(package) for package in SETUP["packages"]}
    mapped = [ROOT / folder for folder in SETUP["package-dir"].values()]
    present = {path.parent for folder in mapped for path in folder.rglob("__init__.py")}
    assert listed == present


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    tree = tmp_path_factory.mktemp("tree") / "envace-sdk"
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout.split(b"\0")
    for name in filter(None, map(os.fsdecode, files)):
        if (ROOT / name).is_file():
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, tree],
        check=True,
        capture_output=True,
    )
    [built] = out.glob("*.whl")
    return built


@pytest.mark.slow
def test_the_wheel_holds_code_types_migrations_and_the_data_of_the_shipped_toolsets(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"envace_sdk/py.typed", "envace_sdk/mcp_servers/server.py", "envace_sdk/store/migrations/env.py"} <= names
    toolsets = [path.parent.name for path in ROOT.glob("schemas/*/tools.json")]
    assert {"retail", "it_operations"} <= set(toolsets)
    for toolset in toolsets:
        for file in ("tools.json", "dynamics.yaml", "world.json", "fixtures.jsonl", "tasks.jsonl", "README.md"):
            assert f"envace_sdk/schemas/{toolset}/{file}" in names
    assert not [name for name in names if name.startswith(("tests/", "mcp_servers/", "schemas/"))]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Runs a command of a new virtual environment that has the wheel, and pytest, and nothing of this tree."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=True)
    bin_ = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pins = folder / "pins.txt"
    pins.write_text(_pins())
    subprocess.run(
        [bin_ / "python", "-m", "pip", "install", "--quiet", "--constraint", pins, f"{wheel}[mcp]", "pytest"],
        check=True,
        cwd=folder,
    )
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(command, *arguments, cwd):
        words = [bin_ / command, *arguments]
        return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)

    return run


@pytest.mark.slow
def test_the_wheel_alone_in_a_new_venv_serves_a_shipped_toolset(installed, tmp_path):
    demo = installed("envace-sdk", "demo", cwd=tmp_path)
    assert demo.returncode == 0, demo.stdout + demo.stderr
    where = installed(
        "python",
        "-c",
        "import envace_sdk, envace_sdk.mcp_servers as m; print(envace_sdk.__file__, m.__file__)",
        cwd=tmp_path,
    )
    files = where.stdout.split()
    assert len(files) == 2
    assert not [file for file in files if Path(file).is_relative_to(ROOT)]


@pytest.mark.slow
def test_the_sample_project_uses_the_plugin_of_the_wheel_and_its_real_call_fails(installed, tmp_path):
    project = shutil.copytree(ROOT / "examples" / "pytest_project", tmp_path / "project")
    passed = installed("pytest", cwd=project)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "5 passed, 1 skipped" in passed.stdout
    failed = installed("pytest", "--run-real", cwd=project)
    assert failed.returncode == 1
    assert "1 failed, 5 passed" in failed.stdout
    assert "this test called something real, which was refused:" in failed.stdout
    assert "look-up of the host rates.example.com, from agent.py:" in failed.stdout


def _pins():
    """The lock file as constraints: the same versions, without its hashes."""
    lines = (ROOT / "locks" / "dev.txt").read_text().splitlines()
    return "\n".join(
        line.removesuffix("\\").strip() for line in lines if "==" in line and not line.startswith((" ", "#"))
    )
