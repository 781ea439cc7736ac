"""`envace-sdk serve`: what it makes of its options."""

import importlib.util
import subprocess
import sys

import pytest

from envace_sdk.cli.tools_options import named_source


@pytest.mark.parametrize(
    ("text", "name", "source"),
    [
        ("retail", None, "retail"),
        ("shop=retail", "shop", "retail"),
        ("crm=./tools.json", "crm", "./tools.json"),
        ("http://127.0.0.1:9/mcp?key=1", None, "http://127.0.0.1:9/mcp?key=1"),
        ("./a=b.json", None, "./a=b.json"),
        ("=x", None, "=x"),
    ],
)
def test_a_source_may_be_given_a_name(text, name, source):
    assert named_source(text) == (name, source)


def test_a_file_whose_name_holds_an_equals_sign_is_a_file(tmp_path, monkeypatch):
    (tmp_path / "a=b").write_text("")
    monkeypatch.chdir(tmp_path)
    assert named_source("a=b") == (None, "a=b")


def test_help_teaches_by_example_and_loads_no_server(cli):
    said = cli("serve", "--help")
    assert said.code == 0
    assert "envace-sdk serve --tools retail --http 127.0.0.1:8000" in said.out
    probe = "import sys, envace_sdk.cli.serve_command; sys.exit('mcp' in sys.modules or 'sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe]).returncode == 0


@pytest.mark.parametrize("words", [["serve", "--tools", "retail"], ["gateway", "--", "server"]])
def test_a_missing_extra_is_named_with_its_install_command(words, cli, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "mcp" else find(name))
    said = cli(*words)
    assert said.code != 0
    assert "pip install 'envace-sdk[mcp]'" in said.err


def test_a_catalogue_cannot_come_where_the_requests_come_from(cli):
    said = cli("serve", "--tools", "-")
    assert said.code == 2
    assert "--http" in said.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--clock", "yesterday"), "--clock"),
        (("--page-size", "0"), "--page-size"),
        (("--http", "nowhere"), "--http"),
        (("--fixtures", "missing.jsonl"), "missing.jsonl"),
        (("--seed-data", "missing.json"), "missing.json"),
    ],
)
def test_a_wrong_option_is_named(folder, cli, words, says):
    said = cli("serve", "--tools", folder, *words)
    assert said.code in (2, 3)
    assert says in said.err
