import json
import subprocess
import sys

import pytest

pytest.importorskip("jinja2", reason="the extra `studio` is not installed: jinja2 is missing")


@pytest.fixture
def run_folder(tmp_path):
    folder = tmp_path / "seed-0"
    folder.mkdir()
    (folder / "metrics.jsonl").write_text(json.dumps({"step": 1, "success": 0.5, "reward/act": 0.25}) + "\n")
    return folder


def run(folder, *arguments):
    words = [sys.executable, "-c", "from envace_sdk.cli.main import main; main()", "report", *map(str, arguments)]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)


def test_a_report_is_written_and_written_again_but_over_nothing_else(tmp_path, run_folder):
    first = run(tmp_path, run_folder)
    assert (first.returncode, first.stdout) == (0, "")
    assert first.stderr.startswith("report.html: 1 page, ")
    report = tmp_path / "report.html"
    assert "<b>Success</b>" in report.read_text(encoding="utf-8")
    assert run(tmp_path, run_folder).returncode == 0

    report.write_text("<!doctype html><p>mine</p>")
    refused = run(tmp_path, run_folder)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "report.html is there, and this command has not made it: --force" in refused.stderr
    assert report.read_text() == "<!doctype html><p>mine</p>"
    assert run(tmp_path, run_folder, "--force", "--title", "A & B").returncode == 0
    assert "<title>A &amp; B</title>" in report.read_text(encoding="utf-8")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["report.html", "seed-0"]


def test_stdout_can_take_it(tmp_path, run_folder):
    done = run(tmp_path, run_folder, "-o", "-")
    assert done.stdout.startswith("<!doctype html>")
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("output", ["none/report.html", "seed-0"])
def test_where_it_cannot_be_written_is_said_before_anything_is_done(tmp_path, run_folder, output):
    done = run(tmp_path, run_folder, "-o", output)
    assert done.returncode == 3
    assert output.partition("/")[0] in done.stderr


def test_a_run_that_is_not_there_is_named(tmp_path):
    done = run(tmp_path, "nowhere", "--ledger", "none.db")
    assert done.returncode == 3
    assert "'nowhere' is no file or folder" in done.stderr
    assert list(tmp_path.iterdir()) == []
