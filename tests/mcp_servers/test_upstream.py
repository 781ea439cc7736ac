"""Live servers on stdio: what they list, byte for byte, and why they fail."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import scripted_server
from envace_sdk.mcp_servers import upstream

from envace_sdk.errors import UpstreamError
from envace_sdk.tools import Toolset
from envace_sdk.tools.upstream import Target, connect, pull, pull_now

A = '{"name":"a","inputSchema":{"type":"object"}}'
B = '{"name":"b","inputSchema":{"type":"object"}}'
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
WEIRD = '{"x-vendor":{"b":1e-07,"a":1.0,"a":2E3},"name":"\\u00e9\\/<\\u003c>","inputSchema":{},"outputSchema":true}'


def scripted(timeout=20.0, handshake="auto", **script):
    command = (sys.executable, scripted_server.__file__, json.dumps(script))
    return Target(command=command, timeout=timeout, handshake=handshake)


def said(target):
    with pytest.raises(UpstreamError) as refused:
        pull_now(target)
    return str(refused.value)


@pytest.mark.parametrize(
    ("era", "handshake", "spoken"),
    [
        ("legacy", "auto", "2025-11-25"),
        ("legacy", "legacy", "2025-11-25"),
        ("modern", "auto", "2026-07-28"),
        ("modern", "modern", "2026-07-28"),
        ("both", "auto", "2026-07-28"),
        ("both", "legacy", "2025-11-25"),
    ],
)
def test_the_era_is_what_the_server_knows_or_what_is_asked_for(era, handshake, spoken):
    catalogue = pull_now(scripted(pages=[f"[{A}]"], era=era, handshake=handshake))
    assert catalogue.era == spoken
    assert catalogue.texts == (A,)
    assert catalogue.server == {"name": "scripted", "version": "9"}


@pytest.mark.parametrize(("era", "handshake"), [("legacy", "modern"), ("modern", "legacy")])
def test_a_server_of_another_era_than_asked_for_is_refused(era, handshake):
    assert "does not speak MCP there: Method not found" in said(scripted(era=era, handshake=handshake))


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_off_spec_tools_survive_in_their_own_words(era):
    catalogue = pull_now(scripted(pages=[f"[ {A} ,{WEIRD}, 5 ]"], era=era))
    assert catalogue.texts == (A, WEIRD, "5")
    assert list(catalogue.definitions) == [json.loads(A), json.loads(WEIRD), 5]
    toolset = Toolset.from_catalogue(catalogue, name="x")
    assert [tool.name for tool in toolset] == ["a"]
    assert toolset.raw.decode() == f"[{A},{WEIRD},5]"


def test_a_tool_that_utf_8_cannot_hold_survives_in_its_own_words():
    broken = '{"name":"a\\ud800","inputSchema":{"type":"object"}}'
    assert pull_now(scripted(pages=[f"[{broken}]"])).texts == (broken,)


def test_all_pages_are_read():
    catalogue = pull_now(scripted(pages=[f"[{A}]", "[]", f"[{B}]"], cursors=['"1"', '"2"', None]))
    assert catalogue.texts == (A,)
    catalogue = pull_now(scripted(pages=[f"[{A}]", f"[{B}]"]))
    assert catalogue.texts == (A, B)
    assert catalogue.pages == 2
    assert catalogue.findings == ()


@pytest.mark.parametrize(
    ("pages", "cursors"),
    [
        ([f"[{A}]"], ['"0"']),
        ([f"[{A}]", f"[{B}]"], ['"1"', '"1"']),
        ([f"[{A}]", f"[{B}]"], ['"1"', '"2"']),
        ([f"[{A}]"], ["7"]),
        ([f"[{A}]"], ['"10"']),
    ],
    ids=["the same again", "never advances", "round and round", "not a string", "always new"],
)
def test_pages_that_never_end_are_read_once_and_said_to_be_endless(pages, cursors):
    catalogue = pull_now(scripted(pages=pages, cursors=cursors))
    assert catalogue.texts == tuple(page[1:-1] for page in pages)
    assert [(finding.tool, finding.rule) for finding in catalogue.findings] == [("*", "endless-list")]


def test_a_list_that_is_none_is_refused():
    assert "without a list of tools" in said(scripted(list_result='{"tools":{}}'))
    assert "without a list of tools" in said(scripted(list_result="{}"))


def test_a_refusal_is_told_in_the_servers_words():
    assert "tools/list was refused: not today (-32000)" in said(scripted(refuses=["tools/list"]))


def test_a_command_that_is_not_there_is_named():
    target = Target(command=("surely-no-such-command", "secret"))
    assert said(target) == "surely-no-such-command …: command not found: surely-no-such-command"


def test_a_command_that_cannot_be_run_is_named(tmp_path):
    file = tmp_path / "plain"
    file.write_text("not a program", encoding="utf-8")
    assert "command not found" in said(Target(command=(str(file),)))
    file.chmod(0o755)
    assert "cannot be started" in said(Target(command=(str(file),)))
    assert "working directory" in said(Target(command=(sys.executable,), cwd=tmp_path / "gone"))


def test_a_server_that_ends_is_quoted_with_its_exit_code_and_the_end_of_its_stderr():
    code = "import sys; sys.stderr.write('noise\\n' * 1000 + 'API_KEY is not set\\x1b[2J\\n'); sys.exit(3)"
    told = said(Target(command=(sys.executable, "-c", code)))
    assert "ended with exit code 3" in told
    assert "API_KEY is not set" in told
    assert "\x1b" not in told
    assert len(told) < 1000


def test_a_server_that_ends_later_is_quoted_too():
    told = said(scripted(dies_on=["tools/list"], exit=7, stderr="warming up\n"))
    assert "the connection ended during tools/list; it ended with exit code 7" in told
    assert "warming up" in told


def test_a_server_that_ends_over_the_first_question_of_2026_is_asked_again_as_before():
    assert pull_now(scripted(dies_on=["server/discover"], pages=[f"[{A}]"])).texts == (A,)


@pytest.mark.parametrize("method", ["initialize", "tools/list"])
def test_a_server_that_does_not_answer_is_given_up_in_time(method):
    begin = time.monotonic()
    told = said(scripted(mute_on=[method], timeout=0.5))
    assert "within 0.5 s" in told
    assert time.monotonic() - begin < 8


def test_lines_that_are_no_messages_are_passed_over():
    noise = ["Server listening", "{", '{"jsonrpc": "2.0"}', "[1]", "", '{"level":"info"}']
    assert pull_now(scripted(before=noise, pages=[f"[{A}]"])).texts == (A,)


def test_a_program_that_is_no_server_is_told_by_what_it_prints():
    code = "while True: print('hello')"
    told = said(Target(command=(sys.executable, "-u", "-c", code), timeout=30))
    assert "it prints text that is not MCP" in told
    assert "hello" in told


def test_a_very_long_line_is_read_whole():
    long = f'{{"name":"a","inputSchema":{{"type":"object"}},"description":"{"x" * 3_000_000}"}}'
    code = (
        f"import sys; sys.path.insert(0, {str(Path(scripted_server.__file__).parent)!r}); import scripted_server as s;"
        f"s.main({{'pages': ['[' + {A!r}[:-1] + ',\"description\":\"' + 'x' * 3_000_000 + '\"}}]']}})"
    )
    catalogue = pull_now(Target(command=(sys.executable, "-c", code)))
    assert len(catalogue.texts[0]) == len(long)


@pytest.mark.anyio
async def test_a_command_gets_its_environment_and_only_the_harmless_part_of_ours(monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET_OF_OURS", "1")
    command = (sys.executable, scripted_server.__file__, "{}")
    connection = await connect(Target(command=command, env={"GIVEN": "2"}, cwd=tmp_path))
    try:
        result = await connection.call_raw("t", {"a": [1]})
    finally:
        await connection.close()
    assert result["environ"]["GIVEN"] == "2"
    assert "SECRET_OF_OURS" not in result["environ"]
    assert result["environ"]["PATH"] == os.environ["PATH"]
    assert result["cwd"] == str(tmp_path)
    assert result["echo"] == {"name": "t", "arguments": {"a": [1]}}


@pytest.mark.anyio
async def test_a_modern_call_carries_its_protocol_in_the_message():
    connection = await connect(scripted(era="modern"))
    try:
        result = await connection.call_raw("t", {})
    finally:
        await connection.close()
    assert result["echo"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"


@pytest.mark.anyio
async def test_a_closed_connection_can_be_closed_again_and_asked_no_more():
    connection = await connect(scripted())
    await connection.close()
    await connection.close()
    with pytest.raises(UpstreamError, match="closed"):
        await connection.list_tools_raw()


@pytest.mark.anyio
async def test_several_questions_may_be_asked_at_once_from_several_tasks():
    connection = await connect(scripted(pages=[f"[{A}]"]))
    try:
        catalogues = await asyncio.gather(*(connection.list_tools_raw() for _ in range(5)))
    finally:
        await connection.close()
    assert {catalogue.texts for catalogue in catalogues} == {(A,)}


@needs_proc
@pytest.mark.anyio
async def test_closing_ends_the_process_even_if_it_does_not_want_to():
    code = (
        "import os, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f"sys.path.insert(0, {str(Path(scripted_server.__file__).parent)!r}); import scripted_server as s;"
        "s.main({})\nwhile True: signal.pause()"
    )
    connection = await connect(Target(command=(sys.executable, "-c", code)))
    [child] = _children()
    await connection.close()
    assert child not in _children()


@needs_proc
@pytest.mark.anyio
async def test_a_cancelled_connect_leaves_no_process():
    task = asyncio.create_task(pull(scripted(mute_on=["server/discover", "initialize"])))
    while not (children := _children()):  # noqa: ASYNC110  the operating system sets no event
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not set(children) & set(_children())


def _children():
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()


def test_a_list_is_read_from_inside_a_running_loop_too():
    async def inside():
        return pull_now(scripted(pages=[f"[{A}]"]))

    assert asyncio.run(inside()).texts == (A,)


def test_the_number_of_pages_is_bounded(monkeypatch):
    monkeypatch.setattr(upstream, "MAX_PAGES", 3)
    pages = [f'[{{"name":"{n}","inputSchema":{{"type":"object"}}}}]' for n in range(5)]
    assert "goes on after 3 pages" in said(scripted(pages=pages))


@needs_proc
def test_an_interrupted_pull_ends_at_once_and_takes_its_process_along(tmp_path):
    marker = tmp_path / "started"
    code = (
        f"import pathlib, sys; sys.path.insert(0, {str(Path(scripted_server.__file__).parent)!r});"
        f"import scripted_server as s; pathlib.Path({str(marker)!r}).write_text('x');"
        "s.main({'mute_on': ['server/discover', 'initialize']})"
    )
    words = [sys.executable, "-c", "from envace_sdk.cli.main import main; main()", "tools", "pull", "-o", str(tmp_path)]
    with subprocess.Popen([*words, "--", sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as process:
        while not marker.exists():
            time.sleep(0.01)
        child = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert "Traceback" not in process.stderr.read()
    assert child
    assert not any(Path(f"/proc/{pid}").exists() for pid in child)
