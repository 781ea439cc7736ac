"""The commands of every page are run, in order, in a folder of their own; what is shown is what they print.

A command that is not run has a reason in `not_run.yaml`, or a test of its own that runs it.
"""

import fnmatch
import os
import shutil
from pathlib import Path

import pytest
import yaml
from documents import ROOT, blocks, commands, pages
from walk import Walk, differs

REGISTRY = yaml.safe_load(Path(__file__).with_name("not_run.yaml").read_text(encoding="utf-8"))
PATTERNS, ELSEWHERE, SETUP = REGISTRY["not_run"], REGISTRY["run_by"], REGISTRY["prepare"]


def shown_on(page):
    return [one for block in blocks(page) if block.language in {"console", "bash"} for one in commands(block)]


def reason(page, text):
    plain = " ".join(text.split())
    for entry in PATTERNS:
        if page in entry.get("pages", [page]) and any(fnmatch.fnmatch(plain, one) for one in entry["commands"]):
            return entry["because"]
    return None


def to_run(page):
    return [] if page in ELSEWHERE else [one for one in shown_on(page) if reason(page, one.text) is None]


@pytest.fixture
def walk(tmp_path, monkeypatch):
    walk = Walk(tmp_path, ENVACE_REDACTION_KEY="k")
    yield walk
    walk.close()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(shutil.which("bash") is None, reason="the commands are those of a shell")
@pytest.mark.parametrize("page", [page for page in pages() if to_run(page)])
def test_the_commands_of_a_page_do_what_it_shows(page, walk):
    for name in ("examples", "schemas"):
        shutil.copytree(ROOT / name, walk.place / name)
    for name in ("docs", "benchmarks"):
        (walk.place / name).symlink_to(ROOT / name)
    setup = SETUP.get(page, {})
    for line in setup.get("before", []):
        code, printed = walk.run(line)
        assert code == 0, f"{page}: to prepare: {line}\n{printed}"
    for command in to_run(page):
        said = setup.get("said", {}).get(command.text, "")
        code, printed = walk.run(command.text, said)
        expected = setup.get("exit", {}).get(command.text, 0)
        assert code == expected, f"{command}\nended with {code}, not {expected}:\n{printed}"
        missing = differs(command.shown, printed)
        assert missing is None, f"{command}\nshows {missing!r}, but printed:\n{printed}"
        if (line := setup.get("after", {}).get(command.text)) is not None:
            code, printed = walk.run(line)
            assert code == 0, f"{page}: after {command}: {line}\n{printed}"


@pytest.mark.parametrize("page", sorted(ELSEWHERE))
def test_a_test_that_runs_a_page_instead_is_there_and_reads_the_page(page):
    test = (ROOT / ELSEWHERE[page]).read_text(encoding="utf-8")
    assert Path(page).name in test or (page.startswith("schemas/") and "README.md" in test)


def test_every_entry_of_the_registry_is_still_of_use():
    every = [(page, " ".join(one.text.split())) for page in pages() for one in shown_on(page)]
    for entry in PATTERNS:
        for pattern in entry["commands"]:
            of = entry.get("pages", pages())
            assert any(page in of and fnmatch.fnmatch(text, pattern) for page, text in every), f"{pattern}: no command"
    for page, setup in SETUP.items():
        texts = {one.text for one in to_run(page)}
        named = {text for key in ("after", "said", "exit") for text in setup.get(key, {})}
        assert named <= texts, f"{page}: {named - texts}"


def test_a_missing_shell_is_not_why_this_passes_in_ci():
    assert shutil.which("bash") is not None or os.environ.get("CI") != "true"
