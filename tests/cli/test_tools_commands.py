import json
import sys
from pathlib import Path

import pytest
import scripted_server

from envace_sdk.cli.main import main
from envace_sdk.tools import Toolset, loading
from envace_sdk.tools.upstream import Catalogue, OAuth, Target

GOOD = {
    "name": "get_city",
    "description": "Finds a city.\nBy its name.",
    "inputSchema": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "land": {"type": "string"}},
        "required": ["name"],
    },
    "annotations": {"readOnlyHint": True},
}
WARNED = {**GOOD, "name": "warned", "inputSchema": {"type": "object"}}
BAD = {"name": "bad", "inputSchema": {}}


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the command line; gives the exit code, standard output and standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["envace-sdk", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = leaving.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    monkeypatch.delenv("ENVACE_TOKEN", raising=False)
    monkeypatch.delenv("ENVACE_OAUTH_CLIENT_SECRET", raising=False)
    return run


@pytest.fixture
def catalogue(tmp_path):
    def write(*definitions):
        path = tmp_path / "cities.json"
        path.write_text(json.dumps({"tools": definitions}), encoding="utf-8")
        return path

    return write


@pytest.fixture
def pulled(monkeypatch):
    """What would be pulled from; a live server lists GOOD and BAD."""
    targets = []

    def pull_now(target):
        targets.append(target)
        return Catalogue((GOOD, BAD), (json.dumps(GOOD), json.dumps(BAD)), "2026-07-28", {"name": "the cities!"})

    monkeypatch.setattr("envace_sdk.tools.upstream.pull_now", pull_now)
    monkeypatch.setattr(loading, "pull_now", pull_now)
    return targets


def scripted(**script):
    return [sys.executable, scripted_server.__file__, json.dumps(script)]


def test_list_without_a_source_shows_what_comes_with_the_package(run):
    code, out, _ = run("tools", "list")
    assert code == 0
    assert out.splitlines()[0].split() == ["NAME", "TOOLS", "TASKS", "DESCRIPTION"]
    code, out, _ = run("tools", "list", "--format", "json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert {"it_operations", "retail"} <= rows.keys()
    assert rows["retail"]["tools"] == len(Toolset.load("retail"))
    assert rows["retail"]["tasks"] >= 20


def test_list_shows_the_tools_of_a_source_those_in_quarantine_too(run, catalogue):
    code, out, _ = run("tools", "list", catalogue(GOOD, BAD))
    assert code == 0
    assert out.splitlines()[1].split() == [
        "get_city",
        "read",
        "name",
        "[land]",
        "Finds",
        "a",
        "city.",
        "By",
        "its",
        "name.",
    ]
    assert out.splitlines()[2].split() == ["bad", "quarantined"]


def test_what_a_stranger_wrote_cannot_move_the_cursor(run, catalogue):
    nasty = {
        **GOOD,
        "description": "a\x1b[2Jb",
        "inputSchema": {"type": "object", "properties": {"\x1b": {"$ref": "#\x1b"}}},
    }
    for words in (["list"], ["lint"], ["convert", "--to", "openai"]):
        code, out, err = run("tools", *words, catalogue(nasty, {**GOOD, "name": "n\x1b[2J"}, {"name": "\ud800"}))
        assert code in (0, 1)
        assert "\x1b" not in out + err
    assert run("tools", "lint", "--format", "json", catalogue({"name": "\ud800"}))[0] == 1


@pytest.mark.parametrize(
    ("definitions", "flags", "code"),
    [
        ([GOOD], [], 0),
        ([GOOD], ["--strict"], 0),
        ([WARNED], [], 0),
        ([WARNED], ["--strict"], 1),
        ([WARNED], ["--strict", "--errors-only"], 1),
        ([GOOD, BAD], [], 1),
        ([GOOD, BAD], ["--format", "json"], 1),
    ],
)
def test_lint_fails_on_errors_and_if_strict_on_anything(run, catalogue, definitions, flags, code):
    assert run("tools", "lint", *flags, catalogue(*definitions))[0] == code


def test_lint_says_where_why_and_what_to_do_once_for_many_tools(run, catalogue):
    code, out, err = run("tools", "lint", catalogue(*({**BAD, "name": f"bad{n}"} for n in range(8)), WARNED))
    assert code == 1
    assert err == ""
    assert out.count("input-type") == 1
    assert "    bad0/inputSchema\n" in out
    assert "    and 3 more\n" in out
    assert '  → add "type": "object"' in out
    assert out.index("input-type") < out.index("no-properties")
    assert out.endswith("cities: 9 tools, 1 served, 8 quarantined; 8 errors, 1 warning\n")


@pytest.fixture
def folder(tmp_path):
    for name, tool in (("cities", GOOD), ("roads", BAD)):
        (tmp_path / "many" / name).mkdir(parents=True)
        (tmp_path / "many" / name / "tools.json").write_text(json.dumps({"tools": [tool]}))
    return tmp_path / "many"


def test_lint_judges_each_toolset_in_a_folder_of_them(run, folder):
    code, out, _ = run("tools", "lint", folder)
    assert code == 1
    assert out.index("cities: 1 tool, 1 served") < out.index("input-type") < out.index("roads: 1 tool, 0 served")
    code, out, _ = run("tools", "lint", "--format", "json", folder)
    assert code == 1
    assert [(one["source"], one["served"]) for one in json.loads(out)] == [("cities", 1), ("roads", 0)]


def test_a_folder_that_is_a_toolset_itself_is_judged_alone(run, folder):
    (folder / "tools.json").write_text(json.dumps({"tools": [GOOD]}))
    code, out, _ = run("tools", "lint", folder)
    assert (code, out) == (0, "many: 1 tool, 1 served, 0 quarantined; 0 errors, 0 warnings\n")


def test_where_one_toolset_is_wanted_a_folder_of_them_says_which_there_are(run, folder):
    for words in (["tools", "list", folder], ["serve", "--tools", folder]):
        code, _, err = run(*words)
        assert code == 3
        assert (
            f"a folder of 2 toolsets (cities, roads), where one is wanted: name one of them, such as {folder}/cities"
            in err
        )


def test_lint_as_json_is_for_machines(run, catalogue):
    _, out, _ = run("tools", "lint", "--format", "json", catalogue(GOOD, BAD))
    report = json.loads(out)
    assert {key: report[key] for key in ("source", "tools", "served", "quarantined")} == {
        "source": "cities",
        "tools": 2,
        "served": 1,
        "quarantined": 1,
    }
    assert report["findings"][0]["rule"] == "input-type"


def test_a_source_that_cannot_be_read_is_exit_code_3(run):
    code, out, err = run("tools", "lint", "nowhere.json")
    assert (code, out) == (3, "")
    assert err.startswith("error: nowhere.json: no such file")


def test_a_mistyped_toolset_is_answered_with_the_nearest_one(run):
    code, _, err = run("tools", "list", "retial")
    assert code == 3
    assert "shipped toolset; did you mean retail? (shipped: airline" in err


def test_pull_writes_the_definitions_as_they_came(run, tmp_path):
    odd = '{"name":"\\u00e9","inputSchema":{},"n":1E0}'
    good = json.dumps(GOOD)
    code, out, err = run("tools", "pull", "-o", tmp_path / "twin", "--", *scripted(pages=[f"[{good}]", f"[ {odd} ]"]))
    assert (code, out) == (0, "")
    text = (tmp_path / "twin" / "tools.json").read_text(encoding="utf-8")
    assert text.splitlines()[1:] == ['"tools": [', f"{good},", odd, "]}"]
    assert json.loads(text)["_meta"] == {
        "dev.envace/pulled": {"server": {"name": "scripted", "version": "9"}, "protocolVersion": "2025-11-25"}
    }
    assert Toolset.load(tmp_path / "twin").raw.decode() == f"[{good},{odd}]"
    assert "input-type" in err
    assert "2 tools, 1 served, 1 quarantined" in err


def test_pull_counts_the_warnings_about_a_server_that_is_not_the_users(run, tmp_path):
    _, _, err = run("tools", "pull", "-o", tmp_path, "--", *scripted(pages=[f"[{json.dumps(WARNED)}]"]))
    assert "0 errors, 1 warning\n" in err
    assert f"envace-sdk tools lint {tmp_path} shows the warnings" in err
    assert "→" not in err


def test_pull_needs_no_dashes_before_a_command(run, tmp_path):
    assert run("tools", "pull", "-o", tmp_path, *scripted(pages=[f"[{json.dumps(GOOD)}]"]))[0] == 0


def test_pull_says_what_changed_since_the_last_time(run, pulled, tmp_path, catalogue):
    changed = {**GOOD, "description": "other"}
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [changed, WARNED]}))
    _, _, err = run("tools", "pull", "-o", tmp_path, "https://a.example/mcp")
    assert "(1 added, 1 removed, 1 changed); protocol 2026-07-28" in err
    (tmp_path / "tools.json").write_text("{")
    assert run("tools", "pull", "-o", tmp_path, "https://a.example/mcp")[0] == 0


def test_pull_names_the_folder_after_the_server(run, pulled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("tools", "pull", "https://a.example/mcp")[0] == 0
    assert Path("the-cities/tools.json").exists()


def test_pull_writes_to_standard_output(run, pulled):
    _, out, err = run("tools", "pull", "-o", "-", "--indent", "https://a.example/mcp")
    assert json.loads(out)["tools"] == [GOOD, BAD]
    assert "written to standard output" in err


def test_pull_passes_on_how_to_get_in(run, pulled, tmp_path, monkeypatch):
    monkeypatch.setenv("ENVACE_TOKEN", "from-env")
    monkeypatch.setenv("ENVACE_OAUTH_CLIENT_SECRET", "hush")
    url = "https://a.example/mcp"
    run("tools", "pull", "-o", tmp_path, "--header", "X-A: b: c", "--timeout", "5", "--protocol", "modern", url)
    run("tools", "pull", "-o", tmp_path, "--oauth-client-id", "me", "--oauth-issuer", "https://i.example", url)
    run("tools", "pull", "-o", tmp_path, "--oauth", "--oauth-scope", "read", url)
    first = Target(url=url, headers={"X-A": "b: c"}, token="from-env", timeout=5.0, handshake="modern")
    credentials = OAuth(issuer="https://i.example", client_id="me", client_secret="hush")
    assert pulled == [
        first,
        Target(url=url, token="from-env", oauth=credentials),
        Target(url=url, token="from-env", oauth=OAuth(scope="read")),
    ]


def test_pull_gives_a_command_its_environment_and_never_the_token(run, pulled, tmp_path, monkeypatch):
    monkeypatch.setenv("ENVACE_TOKEN", "from-env")
    monkeypatch.setenv("PASSED", "1")
    run("tools", "pull", "-o", tmp_path, "--env", "PASSED", "--env", "A=b=c", "--cwd", tmp_path, "--", "run", "-x")
    assert pulled == [Target(command=("run", "-x"), env={"PASSED": "1", "A": "b=c"}, cwd=tmp_path)]


def test_pull_takes_a_server_of_a_clients_configuration(run, pulled, tmp_path):
    config = tmp_path / "mcp.json"
    config.write_text('{"servers": {"a": {"command": "run", "env": {"X": "1"}}, "b": {"url": "https://b.example"}}}')
    run("tools", "pull", "-o", tmp_path, "--from", f"{config}#a", "--env", "Y=2")
    assert pulled == [Target(command=("run",), env={"X": "1", "Y": "2"})]
    assert run("tools", "pull", "-o", tmp_path, "--from", config)[0] == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give a command after --, a URL, or --from"),
        (["--from", "mcp.json#a", "--", "run"], "give a command after --, a URL, or --from"),
        (["--header", "secret", "https://a.example"], "--header: expected 'NAME: VALUE'"),
        (["--env", "ENVACE_SURELY_NOT_SET", "--", "run"], "not set in the environment"),
        (["--header", "a: b", "--", "run"], "are for a URL"),
        (["--token", "t", "--", "run"], "are for a URL"),
        (["--env", "a=b", "https://a.example"], "are for a command"),
        (["https://a.example", "--header", "a: b"], "options go before the URL"),
        (["--timeout", "0", "https://a.example"], "more than 0"),
        (["--oauth-client-id", "a", "https://a.example"], "needs a secret"),
        (["--oauth-issuer", "https://i.example", "https://a.example"], "goes with --oauth-client-id"),
        (["--oauth", "--oauth-client-id", "a", "https://a.example"], "exclude each other"),
    ],
)
def test_pull_refuses_options_that_do_not_fit_together(run, pulled, words, said):
    code, _, err = run("tools", "pull", *words)
    assert code == 2
    assert said in err
    assert pulled == []


def test_pull_that_cannot_write_says_so(run, pulled, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = run("tools", "pull", "-o", tmp_path / "file", "https://a.example")
    assert code == 3
    assert "cannot be written" in err


def test_pull_from_a_server_that_fails_is_one_line_without_a_traceback(run, tmp_path):
    code, _, err = run("tools", "pull", "-o", tmp_path, "--", *scripted(refuses=["tools/list"]))
    assert code == 3
    assert err.count("\n") == 1
    assert "not today" in err


def test_sources_of_other_commands_take_headers_and_tokens(run, pulled):
    code, out, _ = run("tools", "list", "--header", "A: b", "--token", "t", "https://a.example/mcp")
    assert code == 0
    assert "get_city" in out
    assert pulled == [Target(url="https://a.example/mcp", headers={"A": "b"}, token="t")]


def test_convert_writes_other_formats_and_says_what_is_lost(run, catalogue, tmp_path):
    code, out, err = run("tools", "convert", catalogue(GOOD, BAD), "--to", "anthropic")
    assert code == 0
    assert json.loads(out) == [
        {key: GOOD[key] for key in ("name", "description")} | {"input_schema": GOOD["inputSchema"]}
    ]
    assert "anthropic has no place for annotations" in err
    assert "input-type" in err
    assert run("tools", "convert", "--strict", catalogue(GOOD), "--to", "anthropic")[0] == 1
    assert run("tools", "convert", "--strict", catalogue(GOOD), "--to", "mcp", "-o", tmp_path / "o.json")[0] == 0
    assert json.loads((tmp_path / "o.json").read_text()) == {"tools": [GOOD]}


@pytest.mark.parametrize("words", [["tools"], *(["tools", name] for name in ("list", "lint", "pull", "convert"))])
def test_help_teaches_by_examples_and_documents_exit_codes(run, words):
    code, out, _ = run(*words, "--help")
    assert code == 0
    assert "Examples:" in out
    assert len(words) == 1 or "Exit codes:" in out
