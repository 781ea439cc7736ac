"""Whatever is on the command line, and in the files it names: a line that says what is wrong, never a traceback."""

import json
import sys

import pytest

from envace_sdk.cli.main import main

DEEP = "[" * 100_000
NESTED = '{"a":' * 10_000


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep.json").write_text(DEEP)
    (tmp_path / "deep.yaml").write_text(DEEP)
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}))
    (tmp_path / "policy.yaml").write_text("rules: [{name: all, when: 'true', then: ask}]")
    (tmp_path / "clients.json").write_text(json.dumps({"mcpServers": {"a": {"url": "http://[::1"}}}))


@pytest.mark.parametrize(
    "words",
    [
        ("serve", "--tools", "http://[::1"),
        ("serve", "--tools", "deep.json"),
        ("serve", "--tools", "tools.json", "--dynamics", "deep.yaml"),
        ("serve", "--tools", "tools.json", "--faults", "deep.yaml"),
        ("serve", "--tools", "tools.json", "--store", "postgresql://host:abc/name"),
        ("serve", "--tools", "tools.json", "--http", "a..b:80"),
        ("serve", "--tools", "tools.json", "--http", f"{'a' * 70}:80"),
        ("tools", "list", "http://[::1/tools.json"),
        ("tools", "list", "http://localhost:abc/tools.json"),
        ("tools", "list", "http://localhost:99999/tools.json"),
        ("tools", "list", "http://localhost/a b.json"),
        ("tools", "list", "http://localhost:abc/"),
        ("tools", "list", "clients.json#a"),
        ("record", "--upstream", "http://[::1", "-o", "r.jsonl"),
        ("world", "restore", "default", "--input", "deep.json"),
        ("world", "list", "--url", "http://[::1", "--token", "x"),
        ("world", "list", "--url", "http://localhost:abc", "--token", "x"),
        ("world", "list", "--url", "http://localhost/ x", "--token", "x"),
        ("world", "list", "--url", "http://localhost:1", "--token", "a\nb"),
        ("world", "list", "--url", "http://localhost:1", "--token", "☃"),
        ("call", "--tools", "tools.json", "a", NESTED),
        ("guard", "check", "policy.yaml", "--tools", "tools.json", "--call", "a", NESTED),
        ("call", "--tools", "tools.json", "a", "--seed-data", "deep.json"),
    ],
)
def test_wrong_input_is_answered_with_a_line(files, monkeypatch, capsys, words):
    monkeypatch.setattr(sys, "argv", ["envace-sdk", *words])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code in (2, 3)
    assert capsys.readouterr().err.strip()
