"""What strangers wrote reaches a terminal and a log as text that cannot steer either."""

import json
import logging
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress

import click
import pytest
from click.testing import CliRunner

from envace_sdk.cli.main import cli, main
from envace_sdk.cli.screen import guarded_terminals
from envace_sdk.errors import StoreError
from envace_sdk.logs import log_to_stderr
from envace_sdk.store import Store

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202eevil\u2066\x08\x00\x7f"
TOOLS = {
    "tools": [
        {
            "name": "get_thing",
            "title": ESCAPES,
            "description": f"Gets {ESCAPES}",
            "annotations": {"title": ESCAPES},
            "inputSchema": {
                "type": "object",
                "properties": {f"id{ESCAPES}": {"type": "string", "description": ESCAPES}},
            },
            "outputSchema": {"type": "object", "properties": {ESCAPES: {"type": "string", "enum": [ESCAPES]}}},
        },
        {"name": f"bad{ESCAPES}", "description": ESCAPES, "inputSchema": {"type": ESCAPES}},
        {"name": "get_thing", "inputSchema": {"$ref": f"#/{ESCAPES}"}},
    ]
}


def is_plain(text):
    """Whether nothing but line breaks and the colours of our own could do anything."""
    text = re.sub(r"\x1b\[[0-79;]{1,5}m", "", text)
    return all(character.isprintable() or character in "\n\t" for character in text)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    (tmp_path / "tasks.jsonl").write_text(json.dumps({"id": ESCAPES, ESCAPES: 1}) + "\n")
    (tmp_path / "policy.yaml").write_text(json.dumps({"rules": [{"name": ESCAPES, ESCAPES: ESCAPES}]}))
    (tmp_path / "plan.yaml").write_text(json.dumps({"faults": [{"kind": ESCAPES}]}))
    (tmp_path / "rules.yaml").write_text(json.dumps({"tools": {ESCAPES: {"effect": ESCAPES}}}))
    (tmp_path / "r.jsonl").write_text(json.dumps({"call": {"name": ESCAPES}, "result": ESCAPES}) + "\n")
    return tmp_path


COMMANDS = [
    ("tools", "list", "tools.json"),
    ("tools", "lint", "tools.json"),
    ("tools", "show", "tools.json", "get_thing"),
    ("call", "--tools", "tools.json", "get_thing"),
    ("call", "--tools", "tools.json", ESCAPES),
    ("call", "--tools", "tools.json", "get_thing", json.dumps({ESCAPES: ESCAPES})),
    ("call", "--tools", "tools.json", "--dynamics", "rules.yaml", "get_thing"),
    ("tasks", "check", "."),
    ("infer", "tools.json"),
    ("serve", "--tools", "tools.json", "--faults", "plan.yaml"),
    ("serve", "--tools", ESCAPES),
    ("recordings", "show", "r.jsonl"),
    ("guard", "check", "--tools", "tools.json", "--policy", "policy.yaml"),
    ("learn", "tools.json", "r.jsonl"),
    ("world", "reset", ESCAPES),
    (ESCAPES,),
    ("tools", "list", f"--{ESCAPES}"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]).encode("unicode_escape").decode())
def test_no_command_lets_a_stranger_steer_the_terminal(folder, monkeypatch, capsys, words):
    monkeypatch.setattr(sys, "argv", ["envace-sdk", *words])
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    with suppress(SystemExit):
        main()
    told = capsys.readouterr()
    assert told.out + told.err
    assert is_plain(told.out), repr(told.out)
    assert is_plain(told.err), repr(told.err)


def test_a_real_terminal_gets_escapes_and_a_pipe_gets_what_was_said(folder):
    command = [sys.executable, "-m", "envace_sdk", "call", "--tools", "tools.json", "get_thing"]
    master, slave = pty.openpty()
    with subprocess.Popen(command, stdout=slave, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL):
        os.close(slave)
        shown = b""
        with suppress(OSError):
            while data := os.read(master, 65536):
                shown += data
    os.close(master)
    assert is_plain(shown.decode().replace("\r\n", "\n")), shown
    assert b"rehearsed" in shown
    piped = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=True)
    assert ESCAPES in json.loads(piped.stdout)["result"]["structuredContent"]


@pytest.mark.parametrize("text", ["\x1b[8m", "\x1b[2J", "\x1b]0;x\x07", "\x9b31m", "\x1b[?1049h", "\x1b[31;8m"])
def test_colours_pass_and_nothing_else_does(text, monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with guarded_terminals():
        click.echo(f"\x1b[1m\x1b[38;5;9ma{text}b\x1b[0m", color=True)
    assert capsys.readouterr().out == f"\x1b[1m\x1b[38;5;9ma{text.encode('unicode_escape').decode()}b\x1b[0m\n"


def test_a_message_is_no_longer_than_can_be_read(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["envace-sdk", "tools", "list", "x" * 100_000])
    with pytest.raises(SystemExit):
        main()
    assert len(capsys.readouterr().err) < 25_000


def test_a_log_record_is_one_line_whatever_it_quotes(capsys):
    before = logging.getLogger().handlers[:]
    try:
        log_to_stderr("info")
        logging.getLogger("a").warning("no tool %s", f"x\nINFO b: all is well{ESCAPES}")
        try:
            raise ValueError(f"x\nINFO b: all is well{ESCAPES}")
        except ValueError:
            logging.getLogger("a").exception("failed")
    finally:
        logging.basicConfig(handlers=before, force=True)
        logging.captureWarnings(False)
    told = capsys.readouterr().err
    assert is_plain(told)
    lines = told.splitlines()
    assert lines[0].startswith("WARNING a: no tool x\\nINFO b")
    assert [line for line in lines if not line.startswith(" ")] == [lines[0], "ERROR a: failed"]


def test_the_password_of_a_database_is_in_no_message(tmp_path):
    for url in (
        "postgresql://ann:hunter2@127.0.0.1:1/x",
        "postgresql://ann:hunter2@host:abc/x",
        "nope://ann:hunter2@h/x",
    ):
        with pytest.raises(StoreError) as refused:
            Store.open(url)
        assert "hunter2" not in str(refused.value)
        told = CliRunner().invoke(cli, ["serve", "--tools", "retail", "--store", url])
        assert "hunter2" not in f"{told.output}{told.exception}"
