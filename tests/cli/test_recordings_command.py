import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from envace_sdk.cli.recordings_commands import recordings
from envace_sdk.errors import FixtureError
from envace_sdk.recordings import Recording

DATA = Path(__file__).parents[1] / "recordings" / "data"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "calls.jsonl"
    recording = Recording().add("get", {"id": 1}, {"n": 1}).add("get", {"id": 2}, "gone", is_error=True)
    recording.add("login", {"password": "hunter2"}, "welcome", episode="b").save(path, redact=lambda value: value)
    return path


def run(*arguments, fails=False):
    result = CliRunner().invoke(recordings, [*map(str, arguments)], catch_exceptions=fails)
    assert fails or result.exit_code in (0, 1), result.output
    return result


def test_show_counts_calls_and_errors_of_each_tool(file):
    result = run("show", file)
    assert result.exit_code == 0
    assert "calls, one a line" in result.stdout
    assert "2 episodes, 3 calls, 1 error (33%)" in result.stdout
    assert ["2", "1", "50%", "1", "get"] in [line.split() for line in result.stdout.splitlines()]


def test_show_names_what_is_wrong_and_ends_with_exit_code_1(file):
    with file.open("a") as lines:
        lines.write('{"tool": "get", "arguments": 5, "result": 1}\n' * 7)
    result = run("show", file)
    assert result.exit_code == 1
    assert f"error {file}: expected an object, or JSON text of one" in result.stdout
    assert "    line 4, arguments\n" in result.stdout
    assert "    and 2 more\n" in result.stdout


def test_show_gives_only_so_many_findings_unless_all_are_asked_for(file):
    with file.open("a") as lines:
        lines.writelines(f'{{"tool": "get", "x{n}": 5, "result": 1}}\n' for n in range(30))
    assert "and 10 more findings" in run("show", file).stdout
    assert "'x29'" in run("show", file, "--all").stdout


def test_show_cannot_be_made_to_play_tricks_on_a_terminal(file):
    Recording().add("\x1b[31mred", {}, 1).save(file)
    assert "\x1b" not in run("show", file).stdout


def test_show_says_the_same_as_json(file):
    told = json.loads(run("show", file, DATA / "mcp_sdk.otlp.jsonl", "--format", "json").stdout)
    assert [one["form"] for one in told["files"]] == ["calls, one a line", "OpenTelemetry spans"]
    assert told["episodes"] == {"default": 2, "b": 1}
    assert (told["calls"], told["errors"]) == (3, 1)
    assert told["tools"][0] == {"tool": "get", "calls": 2, "errors": 1, "episodes": 1}
    assert told["findings"][0]["line"] == 2


def test_convert_makes_one_recording_of_several_files(file, tmp_path):
    out = tmp_path / "deep" / "out.jsonl"
    result = run("convert", file, DATA / "langsmith_runs.jsonl", "-o", out)
    assert f"wrote {out}: 9 calls in 3 episodes" in result.stdout
    assert list(Recording.load(out, strict=True).episodes) == ["default", "b", "thread-7"]
    assert "hunter2" not in out.read_text()


def test_convert_writes_the_native_form_too(file, tmp_path):
    run("convert", file, "-o", tmp_path / "out.jsonl", "--to", "native", "--no-redact")
    assert Recording.load(tmp_path / "out.jsonl").calls == Recording.load(file).calls
    assert '"kind":"header"' in (tmp_path / "out.jsonl").read_text().splitlines()[0]


def test_convert_prints_to_standard_output(file):
    lines = run("convert", file, "-o", "-").stdout.splitlines()
    assert [json.loads(line)["tool"] for line in lines] == ["get", "get", "login"]
    assert "hunter2" not in "".join(lines)


def test_convert_tells_what_it_left_out_on_the_error_stream(tmp_path):
    result = run("convert", DATA / "mcp_sdk.otlp.jsonl", "-o", "-")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "turn on the recording of content" in result.stderr


def test_convert_overwrites_nothing_unless_told_to(file):
    before = file.read_bytes()
    result = run("convert", DATA / "openai_chat.jsonl", "-o", file, fails=True)
    assert isinstance(result.exception, FixtureError)
    assert "--force" in str(result.exception)
    assert file.read_bytes() == before
    run("convert", DATA / "openai_chat.jsonl", "-o", file, "--force")
    assert len(Recording.load(file)) == 6


def test_convert_writes_nothing_if_it_is_strict_and_something_is_wrong(tmp_path):
    result = run("convert", DATA / "mcp_sdk.otlp.jsonl", "-o", tmp_path / "out.jsonl", "--strict", fails=True)
    assert isinstance(result.exception, FixtureError)
    assert list(tmp_path.iterdir()) == []


def test_convert_to_native_needs_a_file(file):
    assert run("convert", file, "-o", "-", "--to", "native", fails=True).exit_code == 2
