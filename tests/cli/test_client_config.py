import asyncio
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from envace_sdk.cli.client_config import client_config
from envace_sdk.cli.client_snippets import CLIENTS
from envace_sdk.errors import ToolsetError

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


def guarded(client, *words):
    code, out, said = run("--gateway", "--client", client, "--name", "shop", "--", *words)
    assert code == 0, said
    document = tomllib.loads(out) if client == "codex" else json.loads(out)
    [servers] = document.values()
    return servers["shop"], said


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "policy.yaml").write_text("rules: []")
    (tmp_path / "twin").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ENVACE_LEDGER", raising=False)
    return tmp_path


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_can_start_a_gateway_from_any_folder(client, folder):
    words = ["--policy", "policy.yaml", "--tools", "twin", "--ledger", "l.db", "--shadow"]
    given, _ = guarded(client, *words, "--seed-data", "orders=o.csv", "--", sys.executable, "server.py", "--loud")
    assert given["args"] == [
        "gateway",
        *("--policy", f"{folder}/policy.yaml", "--tools", f"{folder}/twin", "--seed-data", f"orders={folder}/o.csv"),
        *("--ledger", f"{folder}/l.db", "--shadow", "--cwd", str(folder), "--", sys.executable, "server.py", "--loud"),
    ]
    assert subprocess.run([given["command"], "--version"], capture_output=True, check=True).returncode == 0


def test_what_the_environment_says_of_a_gateway_is_written_down_and_its_secrets_are_not(folder, monkeypatch):
    monkeypatch.setenv("ENVACE_LEDGER", "mine.db")
    monkeypatch.setenv("ENVACE_WEBHOOK_SECRET", "s3cret")
    given, _ = guarded("generic", "server")
    assert given["args"] == ["gateway", "--ledger", f"{folder}/mine.db", "--cwd", str(folder), "--", "server"]


def test_names_urls_and_ledgers_that_are_no_paths_stay_as_they_are(folder):
    given, _ = guarded("generic", "--tools", "retail", "--ledger", "postgresql://h/d", "--cwd", ".", "--", "server")
    assert given["args"][1:7] == ["--tools", "retail", "--ledger", "postgresql://h/d", "--cwd", str(folder)]


def test_a_gateway_before_a_url_is_pointed_at_and_how_to_start_it_is_said(folder):
    given, said = guarded("vscode", "--upstream", "https://example.com/mcp", "--http", "127.0.0.1:9000")
    assert given == {"type": "http", "url": "http://127.0.0.1:9000/mcp"}
    assert "envace-sdk gateway --upstream https://example.com/mcp --http 127.0.0.1:9000" in said


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["npx", "-y", "@modelcontextprotocol/server-filesystem", "/tmp"], "filesystem"),
        (["python3.11", "orders_server.py"], "orders_server"),
        (["uvx", "mcp-server-git@1.2", "--repository", "."], "mcp-server-git"),
        (["--upstream", "https://mcp.example.com/mcp"], "mcp-example-com"),
        (["--name", "my shop", "--", "server"], "my-shop"),
    ],
)
def test_a_gateway_is_called_after_its_server(words, name, folder):
    code, out, _ = run("--gateway", "--", *words)
    assert code == 0
    assert list(json.loads(out)["mcpServers"]) == [name]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "name the tools: SOURCE"),
        (["--gateway"], "needs what it stands before"),
        (["--gateway", "--", "--shadow"], "give a command after --"),
        (["--gateway", "--", "--policy", "none.yaml", "server"], "File 'none.yaml' does not exist"),
        (["--gateway", "--", "--no-such-option", "server"], "--no-such-option"),
        (["--gateway", "--", "--api", "127.0.0.1:1"], "--api serves no MCP"),
        (["--gateway", "--url", URL, "--", "server"], "--gateway has its own --upstream"),
    ],
)
def test_a_wrong_command_line_of_a_gateway_says_what_to_do(words, why, folder):
    code, out, said = run(*words)
    assert (code, out) == (2, "")
    assert why in said


def test_a_gateway_before_what_is_no_url_is_refused(folder):
    words = ["--gateway", "--", "--upstream", "http://[::1"]
    with pytest.raises(ToolsetError, match="not a URL"):
        CliRunner().invoke(client_config, words, catch_exceptions=False)


@pytest.mark.slow
def test_the_entry_of_a_gateway_starts_it_from_a_folder_of_the_clients_own(folder, monkeypatch):
    from mcp import Client, StdioServerParameters

    example = Path(__file__).parents[2] / "examples" / "gateway"
    monkeypatch.chdir(example)
    words = ["--policy", "policy.yaml", "--dynamics", "dynamics.yaml", "--ledger", str(folder / "l.db")]
    given, _ = guarded("generic", *words, "--", sys.executable, "orders_server.py", str(folder / "orders.db"))

    async def listed():
        async with Client(StdioServerParameters(command=given["command"], args=given["args"], cwd="/")) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert "refund_order" in asyncio.run(listed())
