import json
import sys

import pytest

from envace_sdk.cli.main import main
from envace_sdk.world.dynamics import Dynamics


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs `envace-sdk learn`; gives the exit code, standard output and standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["envace-sdk", "learn", *map(str, words)])
        monkeypatch.setenv("COLUMNS", "160")
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = leaving.code or 0
        return code, *capsys.readouterr()

    return run


def line(tool, arguments, result, is_error=False, episode="e"):
    call = {"episode": episode, "tool": tool, "arguments": arguments, "result": result, "is_error": is_error}
    return json.dumps(call) + "\n"


@pytest.fixture
def folder(tmp_path):
    """A catalogue, and beside its folder a recording of it."""
    path = tmp_path / "pets"
    path.mkdir()
    tools = [
        {"name": "double", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        {"name": "idle", "inputSchema": {"type": "object"}},
    ]
    (path / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    lines = [line("double", {"n": n}, {"twice": 2 * n}, episode=f"e{n // 4}") for n in range(3, 27)]
    (tmp_path / "rec.jsonl").write_text("".join(lines), encoding="utf-8")
    return path


def rows(out):
    return {words[0]: words for words in map(str.split, out.splitlines()) if words}


def test_it_writes_the_rules_beside_the_tools_and_prints_what_they_rest_on(run, folder):
    code, out, err = run("--tools", folder, "--recordings", folder.parent / "rec.jsonl")
    assert (code, err) == (0, "")
    rule = Dynamics.load(folder / "dynamics.yaml").tools["double"]
    assert (rule.effect, rule.support) == ("compute", 24)
    row = rows(out)["double"]
    assert row[1:5] == ["compute", "24", f"{rule.confidence:.2f}", "new"]
    assert "as recorded in 24 of 24 calls" in out
    assert rows(out)["idle"][1:] == ["never", "called:", "record", "some", "calls"]
    assert "2 tools, 1 explained, 0 opaque, 1 never called: inferred from the schema" in out
    assert "24 calls in 7 episodes (7 new)" in out
    assert (folder / "recordings.jsonl").exists()


def test_the_same_again_changes_nothing_and_says_so(run, folder):
    recording = folder.parent / "rec.jsonl"
    run("--tools", folder, "--recordings", recording)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    _, out, _ = run("--tools", folder, "--recordings", recording)
    assert "(0 new, 7 known already)" in out
    assert out.endswith("nothing has changed\n")
    assert "nothing has changed" in run("--tools", folder)[1]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_dry_run_writes_nothing(run, folder):
    _, out, _ = run("--tools", folder, "--recordings", folder.parent / "rec.jsonl", "--dry-run")
    assert out.endswith("nothing was written\n")
    assert [path.name for path in folder.iterdir()] == ["tools.json"]


def test_recordings_are_left_out_when_asked(run, folder):
    run("--tools", folder, "--recordings", folder.parent / "rec.jsonl", "--no-recordings")
    assert not (folder / "recordings.jsonl").exists()
    assert (folder / "dynamics.yaml").exists()


def test_a_file_of_tools_has_its_rules_beside_it_and_other_places_can_be_named(run, folder, tmp_path):
    run("--tools", folder / "tools.json", "--recordings", folder.parent / "rec.jsonl")
    assert (folder / "dynamics.yaml").exists()
    run("--tools", folder, "--recordings", folder.parent / "rec.jsonl", "-o", tmp_path / "twin" / "rules.yaml")
    assert (tmp_path / "twin" / "rules.yaml").exists()


def test_an_edited_rule_is_shown_as_yours_and_what_speaks_against_it_is_told(run, folder):
    run("--tools", folder, "--recordings", folder.parent / "rec.jsonl")
    file = folder / "dynamics.yaml"
    rule = "tools:\n  double:\n    effect: compute\n    returns:\n      object:\n        twice: 3 * args.n # sic\n"
    file.write_text("format: 1\n" + rule, encoding="utf-8")
    code, out, err = run("--tools", folder)
    assert code == 0
    assert rows(out)["double"][2:4] == ["24", "1.00"]
    assert rows(out)["double"][4] == "yours"
    assert "double: your rule speaks against 24 of 24 recorded calls, as in episode 'e0' at call 1" in err
    assert "recorded 6, the rule gives 9" in err
    assert rule in file.read_text(encoding="utf-8")
    assert rows(run("--tools", folder, "--force")[1])["double"][4] == "changed"
    assert "sic" not in file.read_text(encoding="utf-8")


def test_explain_prints_the_evidence_instead_of_the_table(run, folder):
    code, out, _ = run("--tools", folder, "--recordings", folder.parent / "rec.jsonl", "--explain", "double")
    assert code == 0
    lines = [" ".join(text.split()) for text in out.splitlines()]
    assert lines[:2] == ["double: compute", "24 recorded calls"]
    assert any(text.startswith("24 right 0 wrong twice = ") for text in lines)
    assert "RECORD NEXT" not in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--explain", "triple"), "Unknown tool: triple"),
        ((), "nothing to learn from"),
    ],
)
def test_what_cannot_be_done_is_an_input_error(run, folder, words, said):
    code, _, err = run("--tools", folder, *words)
    assert code == 3
    assert said in err
    assert not (folder / "dynamics.yaml").exists()


def test_where_to_write_must_be_known(run, folder):
    code, _, err = run("--tools", "retail#x", "--recordings", folder.parent / "rec.jsonl")
    assert code in (2, 3)
    assert err


def test_wrong_lines_are_told_of_and_the_others_are_learned_from(run, folder):
    recording = folder.parent / "rec.jsonl"
    with recording.open("a", encoding="utf-8") as file:
        file.write('{"tool": 3}\nnonsense\n')
        file.write(line("double", {"n": 3}, "gone", is_error=True, episode="e0"))
        file.write(line("triple", {}, 1))
        file.write('{"tool": "double", "argum')
    code, out, err = run("--tools", folder, "--recordings", recording)
    assert code == 0
    assert "rec.jsonl: expected the tool's name" in err
    assert err.count("not JSON") >= 2
    assert "1 call left out: pets has no 'triple'" in err
    assert rows(out)["double"][2] == "25"
    assert "1 error not foreseen" in out


def test_a_file_with_nothing_but_wrong_lines_says_what_is_wrong(run, folder):
    recording = folder.parent / "bad.jsonl"
    recording.write_text("nonsense\n", encoding="utf-8")
    code, _, err = run("--tools", folder, "--recordings", recording)
    assert code == 3
    assert "not JSON" in err
    assert "nothing to learn from" in err


def test_a_broken_file_of_rules_is_named_and_left_alone(run, folder):
    (folder / "dynamics.yaml").write_text("tools: {double: {effect: fly}}\n", encoding="utf-8")
    code, _, err = run("--tools", folder, "--recordings", folder.parent / "rec.jsonl")
    assert code == 3
    assert "dynamics.yaml: tools.double.effect" in err


def test_calls_that_are_answered_otherwise_the_second_time_are_told_of(run, folder):
    recording = folder.parent / "odd.jsonl"
    lines = [line("double", {"n": 1}, {"twice": n}, episode="odd") for n in (2, 5)]
    recording.write_text("".join(lines), encoding="utf-8")
    _, _, err = run("--tools", folder, "--recordings", recording, "--recordings", folder.parent / "rec.jsonl")
    assert "double: the call of line 1 again, and answered otherwise" in err
