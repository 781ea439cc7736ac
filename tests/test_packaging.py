import os
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


@pytest.mark.slow
def test_the_wheel_alone_in_a_new_venv_serves_a_shipped_toolset(wheel, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    bin_ = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pins = tmp_path / "pins.txt"
    pins.write_text(_pins())
    subprocess.run(
        [bin_ / "python", "-m", "pip", "install", "--quiet", "--constraint", pins, f"{wheel}[mcp]"],
        check=True,
        cwd=tmp_path,
    )
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    run = subprocess.run(
        [bin_ / "envace-sdk", "demo"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stdout + run.stderr
    where = subprocess.run(
        [
            bin_ / "python",
            "-c",
            "import envace_sdk, envace_sdk.mcp_servers as m; print(envace_sdk.__file__, m.__file__)",
        ],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert all(Path(file).is_relative_to(tmp_path) for file in where)


def _pins():
    """The lock file as constraints: the same versions, without its hashes."""
    lines = (ROOT / "locks" / "dev.txt").read_text().splitlines()
    return "\n".join(
        line.removesuffix("\\").strip() for line in lines if "==" in line and not line.startswith((" ", "#"))
    )
