import json
import resource
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from envace_sdk.cli.main import COMMANDS, cli, main


def run_cli(*words, **more):
    return subprocess.run(
        [sys.executable, "-m", "envace_sdk", *words], capture_output=True, text=True, timeout=60, check=False, **more
    )


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom envace_sdk.cli.main import cli\n"
        "try: cli(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'pydantic', 'sqlalchemy', 'mcp', 'mcp_types', 'jsonschema', 'mimesis', 'yaml', 'rich', 'celpy'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_and_an_entry_that_matches_it(name):
    result = CliRunner().invoke(cli, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert "Usage:" in result.output


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"version", "doctor", "world", "tools", "tasks"}))
def test_the_help_of_a_command_teaches_by_example(name):
    assert "Example" in CliRunner().invoke(cli, [name, "--help"]).output


def test_an_input_error_is_one_line_on_stderr_and_exit_code_3(tmp_path):
    bad = tmp_path / "tools.json"
    bad.write_text("{")
    run = run_cli("call", "--tools", str(bad), "x")
    assert run.returncode == 3
    assert run.stderr.startswith("error: ")
    assert str(bad) in run.stderr
    assert "Traceback" not in run.stderr


def test_all_input_errors_look_alike(tmp_path):
    run = run_cli("ledger", "show", "--ledger", str(tmp_path / "none\x1b[2J.db"))
    assert run.returncode == 3
    assert run.stderr.startswith(f"error: {tmp_path}/none\\x1b[2J.db: there is no ledger")


def test_a_full_disk_is_an_error_like_others(tmp_path):
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    words = ("tools", "convert", "retail", "--to", "openai", "-o", str(tmp_path / "out.json"))
    run = run_cli(*words, preexec_fn=limited)
    assert run.returncode == 3
    assert run.stderr.startswith("error: ")
    assert "Traceback" not in run.stderr


def test_a_wrong_command_line_is_exit_code_2():
    assert run_cli("call").returncode == 2
    assert run_cli("nonsense").returncode == 2


def test_whatever_ends_a_command_early_is_the_exit_code(monkeypatch):
    """Click gives the code of `Exit` back as if it were a result."""

    def leave(context):
        raise click.exceptions.Exit(7)

    monkeypatch.setattr(cli, "invoke", leave)
    monkeypatch.setattr(sys, "argv", ["envace-sdk", "version"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 7


@pytest.fixture
def tickets(tmp_path):
    text = {"type": "string"}
    tools = [
        {
            "name": "create_ticket",
            "inputSchema": {"type": "object", "properties": {"title": text}, "required": ["title"]},
        },
        {
            "name": "get_ticket",
            "inputSchema": {"type": "object", "properties": {"ticket_id": text}, "required": ["ticket_id"]},
        },
    ]
    path = tmp_path / "tickets.json"
    path.write_text(json.dumps({"tools": tools}))
    return path


def test_call_prints_the_answer_with_its_label(tickets):
    run = run_cli("call", "--tools", str(tickets), "create_ticket", '{"title": "Printer on fire"}')
    assert run.returncode == 0, run.stderr
    assert "Printer on fire" in run.stdout
    assert "rehearsed · dynamics" in run.stdout


def test_call_runs_several_calls_on_one_world_and_reports_the_last_ones_error(tickets):
    run = run_cli(
        "call", "--tools", str(tickets), "--format", "json",
        "create_ticket", '{"title": "A"}', "get_ticket", '{"ticket_id": "nope"}',
    )  # fmt: skip
    made, missing = map(json.loads, run.stdout.splitlines())
    assert made["result"]["isError"] is False
    assert missing["result"]["isError"] is True
    assert run.returncode == 1


def test_call_reads_arguments_from_stdin(tickets):
    run = run_cli("call", "--tools", str(tickets), "create_ticket", "-", input='{"title": "From a pipe"}')
    assert "From a pipe" in run.stdout


@pytest.mark.parametrize(("words", "says"), [(["{}"], "name a tool"), (["t", "{"], "not JSON"), (["t", "[]"], "error")])
def test_call_says_what_is_wrong_with_its_words(tickets, words, says):
    run = run_cli("call", "--tools", str(tickets), *words)
    assert run.returncode in {2, 3}
    assert says in run.stderr


def test_version_and_doctor_work():
    assert run_cli("version").stdout.strip()
    doctor = run_cli("doctor")
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    assert "retail" in doctor.stdout


def test_a_tool_that_is_not_there_brings_the_nearest_names(tickets):
    run = run_cli("call", "--tools", str(tickets), "create_tickets")
    assert run.returncode == 3
    assert "did you mean create_ticket" in run.stderr


def test_client_config_refuses_a_source_that_is_nowhere():
    assert "no toolset of that name" in run_cli("client-config", "nosuch").stderr
