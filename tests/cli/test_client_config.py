import json
import subprocess
import sys
import tomllib

import pytest
from click.testing import CliRunner

from envace_sdk.cli.client_config import client_config
from envace_sdk.cli.client_snippets import CLIENTS

URL = "http://127.0.0.1:8000/mcp"


def run(*words):
    result = CliRunner().invoke(client_config, [str(word) for word in words])
    return result.exit_code, result.stdout, result.stderr


def entry(client, *words):
    code, out, _ = run("retail", "--client", client, *words)
    assert code == 0
    document = tomllib.loads(out) if client == "codex" else json.loads(out)
    [servers] = document.values()
    return servers["retail"]


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_can_start_the_server_itself(client):
    given = entry(client)
    command = [given["command"], *given["args"]]
    assert command[1:] == ["serve", "--tools", "retail"]
    assert subprocess.run([command[0], "--version"], capture_output=True, check=True).returncode == 0


@pytest.mark.parametrize(
    ("client", "key"),
    [
        ("claude-code", "url"),
        ("codex", "url"),
        ("cursor", "url"),
        ("gemini", "httpUrl"),
        ("generic", "url"),
        ("vscode", "url"),
        ("windsurf", "serverUrl"),
        ("zed", "url"),
    ],
)
def test_a_running_server_is_given_by_its_url_under_the_clients_own_key(client, key):
    assert entry(client, "--url", URL)[key] == URL


@pytest.mark.parametrize(
    ("client", "header"),
    [
        ("claude-code", "Bearer ${TOKEN}"),
        ("cursor", "Bearer ${env:TOKEN}"),
        ("gemini", "Bearer $TOKEN"),
        ("vscode", "Bearer ${env:TOKEN}"),
        ("windsurf", "Bearer ${env:TOKEN}"),
    ],
)
def test_a_token_is_named_never_written_as_the_client_spells_variables(client, header):
    assert entry(client, "--url", URL, "--token-env", "TOKEN")["headers"] == {"Authorization": header}


def test_codex_takes_the_name_of_the_variable():
    assert entry("codex", "--url", URL, "--token-env", "TOKEN")["bearer_token_env_var"] == "TOKEN"


def test_claude_desktop_reaches_a_url_through_a_bridge():
    given = entry("claude", "--url", URL, "--token-env", "TOKEN")
    assert [given["command"], *given["args"][:3]] == ["npx", "-y", "mcp-remote", URL]
    assert given["args"][3:] == ["--header", "Authorization: Bearer ${TOKEN}"]


@pytest.mark.parametrize(
    ("client", "kind"), [("vscode", "servers"), ("zed", "context_servers"), ("claude", "mcpServers")]
)
def test_servers_are_kept_under_the_clients_own_key(client, kind):
    assert list(json.loads(run("retail", "--client", client)[1])) == [kind]


def test_a_path_is_made_absolute_and_names_the_server(tmp_path, monkeypatch):
    (tmp_path / "my twin").mkdir()
    (tmp_path / "my twin" / "tools.json").write_text("[]")
    monkeypatch.chdir(tmp_path)
    for source in ("my twin", "my twin/tools.json"):
        _, out, _ = run(source)
        [(name, given)] = json.loads(out)["mcpServers"].items()
        assert name == "my-twin"
        assert given["args"][-1] == str(tmp_path.resolve() / source)


def test_options_for_serve_are_passed_on():
    _, out, _ = run("retail", "--name", "shop", "--", "--seed", "7")
    assert json.loads(out)["mcpServers"]["shop"]["args"] == ["serve", "--tools", "retail", "--seed", "7"]


@pytest.mark.parametrize("name", ["a b", "a.b", 'a"b', "żółć"])
def test_a_toml_key_is_quoted_where_it_must_be(name):
    _, out, _ = run("retail", "--client", "codex", "--name", name)
    assert list(tomllib.loads(out)["mcp_servers"]) == [name]


def test_where_it_belongs_is_said_apart_from_what_it_is():
    _, out, err = run("retail", "--client", "claude-code")
    json.loads(out)
    assert ".mcp.json" in err
    assert "claude mcp add-json retail" in err


@pytest.mark.parametrize(
    "words",
    [
        ["retail", "--url", "127.0.0.1:8000"],
        ["retail", "--token-env", "T"],
        ["retail", "--url", URL, "--", "--seed", "7"],
    ],
)
def test_options_that_do_not_fit_together_are_refused(words):
    assert run(*words)[0] == 2


def test_the_default_works_where_the_program_is_not_on_the_path(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert entry("generic")["command"].startswith(str(sys.prefix))


def test_help_teaches_by_examples():
    _, out, _ = run("--help")
    assert "Examples:" in out
    assert "Exit codes:" in out
