import json

import pytest

from envace_sdk.errors import ToolsetError
from envace_sdk.tools.client_files import choose_server, read_servers
from envace_sdk.tools.upstream import Target


def choose(entry, **variables):
    return choose_server({"s": entry}, "s", "mcp.json", **variables)[1]


@pytest.mark.parametrize(
    "document",
    [
        {"mcpServers": {"a": {"command": "x"}}},
        {"servers": {"a": {"command": "x"}}, "inputs": []},
        {"context_servers": {"a": {"command": "x"}}},
        {"mcp": {"servers": {"a": {"command": "x"}}}},
    ],
)
def test_servers_are_found_where_each_client_keeps_them(document):
    assert read_servers(document, "f") == {"a": {"command": "x"}}


def test_the_only_server_needs_no_name_and_several_are_named_in_the_error():
    assert choose_server({"a": {"command": "x"}}, None, "f")[0] == "a"
    with pytest.raises(ToolsetError, match=r"f#NAME: a, b"):
        choose_server({"b": {}, "a": {}}, None, "f")


def test_a_server_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(ToolsetError, match=r"f#c: no such server; there are: a, b"):
        choose_server({"b": {}, "a": {}}, "c", "f")


def test_a_command_has_arguments_environment_and_folder(tmp_path):
    entry = {"command": "npx", "args": ["-y", "x"], "env": {"A": "1", "B": 2, "C": True}, "cwd": str(tmp_path)}
    assert choose(entry) == Target(command=("npx", "-y", "x"), env={"A": "1", "B": "2", "C": "true"}, cwd=tmp_path)


@pytest.mark.parametrize("key", ["url", "httpUrl", "serverUrl"])
def test_a_url_has_headers(key):
    target = choose({"type": "http", key: "https://a.example/mcp", "headers": {"x": "y"}})
    assert target == Target(url="https://a.example/mcp", headers={"x": "y"})


def test_variables_are_filled_in_as_clients_do(monkeypatch, tmp_path):
    monkeypatch.setenv("TOKEN", "secret")
    monkeypatch.delenv("NOT_SET", raising=False)
    folder = tmp_path / ".vscode"
    folder.mkdir()
    entry = {
        "command": "${workspaceFolder}/run",
        "args": ["${env:TOKEN}", "${TOKEN}", "${NOT_SET:-fallback}", "$TOKEN", "${TOKEN:-x}"],
        "env": {"K": "a-${TOKEN}-b"},
    }
    target = choose(entry, file=folder / "mcp.json")
    assert target.command == (f"{tmp_path.resolve()}/run", "secret", "secret", "fallback", "$TOKEN", "secret")
    assert target.env == {"K": "a-secret-b"}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (5, "expected an object"),
        ({}, "a server has a `command` or a `url`"),
        ({"command": ["a"]}, "command: expected a string"),
        ({"command": "a", "args": "b"}, "args: expected a list of strings"),
        ({"command": "a", "args": [1]}, "args: expected a list of strings"),
        ({"command": "a", "env": []}, "env: expected an object"),
        ({"command": "a", "env": {"A": None}}, "env: expected an object"),
        ({"url": "https://a.example", "type": "sse"}, "sse"),
        ({"url": "https://a.example", "headers": {"x": "${input:key}"}}, r"headers.x: \$\{input:key\} is for a client"),
        ({"command": "a", "args": ["${ENVACE_SURELY_NOT_SET}"]}, "ENVACE_SURELY_NOT_SET is not set"),
    ],
)
def test_an_entry_that_is_wrong_is_refused_by_field(entry, said):
    with pytest.raises(ToolsetError, match=said) as refused:
        choose(entry)
    assert str(refused.value).startswith("mcp.json#s: ")


def test_secrets_of_a_target_are_not_in_its_text():
    target = Target(
        url="https://user:secret@a.example/mcp?key=secret", headers={"x": "secret"}, token="secret", env={"E": "secret"}
    )
    assert "secret" not in str(target)
    assert str(target) == "https://a.example/mcp"
    assert "secret" not in repr(target).replace(target.url, "")
    assert str(Target(command=("npx", "--token=secret"))) == "npx …"


def test_a_target_is_a_command_or_a_url():
    for arguments in ({}, {"url": "https://a.example", "command": ("a",)}):
        with pytest.raises(ValueError, match="command or a URL"):
            Target(**arguments)


def test_read_servers_refuses_a_configuration_without_any():
    for document in ({"mcpServers": {}}, {"servers": []}, [], json.loads("null")):
        with pytest.raises(ToolsetError, match="names no server"):
            read_servers(document, "f")
