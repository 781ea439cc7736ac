import json
import sys

import pytest

from envace_sdk.cli.main import main

TOOL = {
    "name": "get",
    "description": "Gets.",
    "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}},
}


@pytest.fixture
def diff(tmp_path, monkeypatch, capsys):
    """Compares two catalogues on the command line; gives the exit code and what was printed."""

    def run(before, after, *options):
        for name, tools in (("before", before), ("after", after)):
            (tmp_path / f"{name}.json").write_text(json.dumps({"tools": tools}))
        words = ["tools", "diff", *options, str(tmp_path / "before.json"), str(tmp_path / "after.json")]
        monkeypatch.setattr(sys, "argv", ["envace-sdk", *words])
        code = 0
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code
        return code, capsys.readouterr().out

    return run


def test_a_breaking_change_stands_first_and_is_exit_code_1(diff):
    code, out = diff([TOOL], [{**TOOL, "description": "Fetches.", "inputSchema": {"type": "object"}}])
    assert code == 1
    assert out.splitlines() == [
        "BREAKING  get/inputSchema/properties/id: is gone",
        'change  get/description: was "Gets.", is "Fetches."',
        "2 changes, 1 of them breaking",
    ]


def test_other_changes_are_exit_code_0_unless_strict(diff):
    changed = [{**TOOL, "description": "Fetches."}]
    assert diff([TOOL], changed)[0] == 0
    assert diff([TOOL], changed, "--strict")[0] == 1
    assert diff([TOOL], [TOOL], "--strict") == (0, "0 changes, 0 of them breaking\n")


def test_the_changes_can_be_had_as_json(diff):
    code, out = diff([TOOL], [], "--format", "json")
    assert code == 1
    assert json.loads(out) == [{"tool": "get", "pointer": "", "message": "the tool is gone", "breaking": True}]
