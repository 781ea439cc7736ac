import click
import pytest

from envace_sdk.cli.extras import load


def test_a_part_that_is_not_installed_says_how_to_install_the_clone():
    with pytest.raises(click.ClickException, match=r"envace_sdk\.no_such_part is not beside .*pip install -e \."):
        load("no_such_part", command="serve", extra="mcp")


def test_a_part_that_is_there_is_loaded():
    assert load("mcp_servers.address", command="serve", extra="mcp").__name__ == "envace_sdk.mcp_servers.address"
