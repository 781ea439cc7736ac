import pytest
from click.testing import CliRunner

from envace_sdk.cli.main import cli

pytest.importorskip("jinja2", reason="the extra `studio` is not installed: jinja2 is missing")


def run(*arguments):
    return CliRunner().invoke(cli, ["studio", *arguments])


def test_an_address_that_others_can_reach_must_be_allowed():
    ended = run("--http", "0.0.0.0:0")
    assert ended.exit_code == 2
    assert "--allow-remote" in ended.output


def test_a_token_that_can_be_guessed_is_refused():
    ended = run("--token", "short")
    assert ended.exit_code == 2
    assert "can be guessed" in ended.output


def test_a_port_that_is_taken_is_named(tmp_path):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = run("--http", address, "--ledger", str(tmp_path / "none.db"))
    assert ended.exit_code == 1  # of click's own runner; the program's is 3
    assert f"cannot listen on {address}" in ended.output
