"""What the page on compatibility says of versions is so."""

import re

import pytest
from documents import ROOT, read

from envace_sdk.faults import plan
from envace_sdk.guard import policyfile
from envace_sdk.ledger import entry
from envace_sdk.recordings import format as recordings
from envace_sdk.store import migrate
from envace_sdk.tools.eras import ERAS
from envace_sdk.world import dynamics, state

PAGE = read("docs/compatibility.md")
ROWS = {cells[0]: cells[1:] for cells in re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)}
CHECKPOINT = re.search(r"^_FORMAT = (\d+)$", (ROOT / "training/checkpoint.py").read_text(), re.MULTILINE)[1]


@pytest.mark.parametrize(
    ("file", "version"),
    [
        (f"recordings (`{recordings.FORMAT}`)", recordings.VERSION),
        ("`dynamics.yaml` (`format`)", dynamics.FORMAT),
        ("fault plans (`format`)", plan.FORMAT),
        ("policies (`format`)", policyfile.FORMAT),
        ("worlds: `world snapshot --output`, stores", state.FORMAT),
        ("ledger entries", f"`{entry.FORMAT}`"),
        ("databases of ledger, worlds and training runs", migrate.HEAD),
        ("training checkpoints", CHECKPOINT),
    ],
)
def test_the_version_of_a_file_format_is_the_one_that_is_written(file, version):
    assert ROWS[file][0] == str(version)


def test_the_revisions_of_the_protocol_are_those_that_are_served():
    assert sorted(re.findall(r"\b20\d\d-\d\d-\d\d\b", PAGE.partition("## Optional")[0])) == sorted(ERAS)


@pytest.mark.parametrize("lock", sorted(set(re.findall(r"`(locks/[\w.-]+\.txt)`", PAGE))))
def test_versions_are_those_of_the_locks(lock):
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE))
    for row in [line for line in PAGE.splitlines() if f"`{lock}`" in line]:
        for name, version in re.findall(r"([a-z][\w-]+) (\d+\.\d+[\w.]*)", row):
            locks = {**locked, **_beside(row)}
            assert locks[name] == version, f"{lock} has {name} {locks[name]}"


def _beside(row):
    found = {}
    for lock in re.findall(r"`(locks/[\w.-]+\.txt)`", row):
        found |= dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE))
    return found
