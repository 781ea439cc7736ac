"""The reference of the command line: every command's own help, as it is printed."""

from __future__ import annotations

import click

from envace_sdk.cli.main import cli

__all__ = ["cli_reference"]


def cli_reference() -> str:
    """One page of Markdown, a heading for each command."""
    text = "# Command line\n\nThe help of every command, as `envace-sdk COMMAND --help` prints it.\n"
    for words, command in _commands():
        with click.Context(command, info_name=" ".join(words), **_settings(command)) as context:
            shown = command.get_help(context)
        text += f"\n## {' '.join(words)}\n\n````text\n{shown}\n````\n"
    return text


def _commands() -> list[tuple[tuple[str, ...], click.Command]]:
    found: list[tuple[tuple[str, ...], click.Command]] = []
    waiting: list[tuple[tuple[str, ...], click.Command]] = [(("envace-sdk",), cli)]
    while waiting:
        words, command = waiting.pop()
        found.append((words, command))
        if isinstance(command, click.Group):
            context = click.Context(command)
            inner = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
            waiting += [((*words, name), one) for name, one in inner if one is not None]
    return sorted(found, key=lambda one: one[0])


def _settings(command: click.Command) -> dict[str, object]:
    return {**cli.context_settings, **command.context_settings, "terminal_width": 100}
