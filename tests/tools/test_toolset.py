import contextlib
import io
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import ToolsetError, UnknownToolError, UpstreamError
from envace_sdk.tools import Catalogue, Toolset, loading, shipped
from envace_sdk.tools.upstream import Target, pull_now

A = {"name": "a", "description": "A.", "inputSchema": {"type": "object", "properties": {}}}
B = {"name": "b", "description": "B.", "inputSchema": {"type": "object", "properties": {}}}
BAD = {"name": "bad", "inputSchema": {}}


@pytest.fixture
def listed(monkeypatch):
    """A live server that lists A, and what it was asked with."""
    asked = []

    def pulled(target):
        asked.append(target)
        return Catalogue((A,), (json.dumps(A),), "2025-11-25", {"name": "live"})

    monkeypatch.setattr(loading, "pull_now", pulled)
    return asked


@pytest.fixture
def httpserver_document():
    """A web server on this machine with a document, a redirect to it, and the headers it saw."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append({name.lower(): value for name, value in self.headers.items()})
            path = self.path.partition("?")[0]
            if path == "/redirect.json":
                self.send_response(302)
                self.send_header("Location", "/lending/openapi.json")
                self.end_headers()
            elif path == "/lending/openapi.json":
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps([A]).encode())
            else:
                self.send_error(404)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()
        thread.join()


def write(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def test_a_toolset_is_a_collection_of_tools_by_name_in_order():
    toolset = Toolset.from_definitions([B, BAD, A], name="mine")
    assert [tool.name for tool in toolset] == ["b", "a"]
    assert len(toolset) == 2
    assert "a" in toolset
    assert "bad" not in toolset
    assert 5 not in toolset
    assert toolset["a"].definition is A
    assert toolset.definitions == (B, BAD, A)
    assert toolset.quarantined == (BAD,)
    with pytest.raises(UnknownToolError, match="nope"):
        toolset["nope"]


def test_a_toolset_cannot_be_changed():
    toolset = Toolset.from_definitions([A], name="mine")
    with pytest.raises(AttributeError):
        toolset.name = "yours"


def test_a_file_is_named_after_itself_or_its_folder(tmp_path):
    assert Toolset.load(write(tmp_path / "shop.json", [A])).name == "shop"
    assert Toolset.load(write(tmp_path / "lending" / "tools.json", [A])).name == "lending"
    assert Toolset.load(str(tmp_path / "shop.json"), name="mine").name == "mine"


def test_a_folder_is_remembered_for_what_lies_beside_the_tools(tmp_path):
    write(tmp_path / "lending" / "tools.json", {"tools": [A]})
    write(tmp_path / "lending" / "openapi.json", "nonsense that is not looked at")
    toolset = Toolset.load(tmp_path / "lending")
    assert (toolset.name, toolset.folder) == ("lending", tmp_path / "lending")
    assert Toolset.load(tmp_path / "lending" / "tools.json").folder is None


def test_a_folder_with_one_likely_file_is_read_from_that(tmp_path):
    write(tmp_path / "dynamics.yaml", "x: 1")
    write(tmp_path / "world.json", {})
    write(tmp_path / "shop-api.json", [A])
    assert [tool.name for tool in Toolset.load(tmp_path)] == ["a"]
    write(tmp_path / "other.yaml", "[]")
    with pytest.raises(ToolsetError, match=r"expected a tools\.json, found 2 files"):
        Toolset.load(tmp_path)


def test_an_empty_folder_says_what_it_lacks(tmp_path):
    with pytest.raises(ToolsetError, match=r"expected a tools\.json"):
        Toolset.load(tmp_path)


def test_standard_input_is_read_from_a_dash(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(json.dumps([A]).encode())))
    toolset = Toolset.load("-")
    assert (toolset.name, len(toolset)) == ("stdin", 1)


def test_shipped_toolsets_are_found_by_name_and_a_path_wins(tmp_path, monkeypatch):
    assert {"it_operations", "retail"} <= shipped().keys()
    assert Toolset.load("retail").folder == shipped()["retail"]
    write(tmp_path / "retail" / "tools.json", [A])
    monkeypatch.chdir(tmp_path)
    assert [tool.name for tool in Toolset.load("retail")] == ["a"]


def test_the_exact_text_of_the_definitions_is_kept(tmp_path):
    text = '{"tools": [{"name":"a","inputSchema":{"type":"object","x":1e0,"y":"\\u00e9"}} , {"name":"b"}]}'
    assert Toolset.load(write(tmp_path / "x.json", text)).raw.decode() == text[10:-1]
    pretty = json.dumps({"tools": [A, BAD]}, indent=2)
    assert json.loads(Toolset.load(write(tmp_path / "y.json", pretty)).raw) == [A, BAD]
    assert b"\n" not in Toolset.load(tmp_path / "y.json").raw


def test_there_is_no_exact_text_of_definitions_that_were_rewritten_or_are_yaml(tmp_path):
    rewritten = [{"name": "a", "input_schema": {"type": "object"}}]
    assert Toolset.load(write(tmp_path / "a.json", rewritten)).raw is None
    assert Toolset.load(write(tmp_path / "b.yaml", "- name: a\n  inputSchema: {type: object}")).raw is None


@pytest.mark.parametrize("source", ["nowhere.json", "nowhere", "a#b", "x\x00y", "n" * 5000])
def test_a_source_that_is_not_there_is_answered_with_what_is(source):
    with pytest.raises(ToolsetError):
        Toolset.load(source)
    with pytest.raises(ToolsetError, match="retail"):
        Toolset.load("nowhere.json")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ToolsetError, match=r"tools\.json: not JSON"):
        Toolset.load(write(tmp_path / "x" / "tools.json", "{"))


def test_a_url_is_a_live_server_that_is_given_headers_and_a_token(listed):
    toolset = Toolset.load("https://a.example/mcp", headers={"x": "y"}, token="t")
    assert (toolset.name, [tool.name for tool in toolset]) == ("a.example", ["a"])
    assert toolset.raw.decode() == json.dumps([A])
    assert listed == [Target(url="https://a.example/mcp", headers={"x": "y"}, token="t")]


def test_a_server_of_a_clients_configuration_is_asked_by_name(listed, tmp_path):
    config = write(
        tmp_path / "mcp.json",
        '// mine\n{"mcpServers": {"one": {"command": "run", "env": {"A": "1"}}, "two": {"url": "https://a.example"},}}',
    )
    toolset = Toolset.load(f"{config}#one", env={"B": "2"})
    assert toolset.name == "one"
    assert listed == [Target(command=("run",), env={"A": "1", "B": "2"})]
    with pytest.raises(ToolsetError, match="one, two"):
        Toolset.load(config)
    assert len(listed) == 1


def test_only_a_configuration_has_named_servers(listed, tmp_path):
    path = write(tmp_path / "tools.json", [A])
    with pytest.raises(ToolsetError, match="named servers"):
        Toolset.load(f"{path}#a")


def test_a_catalogue_with_comments_is_refused(tmp_path):
    with pytest.raises(ToolsetError, match="not JSON"):
        Toolset.load(write(tmp_path / "tools.json", '[ // no\n {"name": "a"}]'))


def test_the_url_of_a_document_is_fetched(httpserver_document):
    url, seen = httpserver_document
    toolset = Toolset.load(f"{url}/lending/openapi.json?x=1", headers={"X-A": "b"}, token="secret")
    assert (toolset.name, [tool.name for tool in toolset]) == ("lending", ["a"])
    assert seen[0]["x-a"] == "b"
    assert seen[0]["authorization"] == "Bearer secret"


def test_a_redirect_does_not_take_credentials_along(httpserver_document):
    url, seen = httpserver_document
    Toolset.load(f"{url}/redirect.json", headers={"X-A": "b"}, token="secret")
    assert "authorization" in seen[0]
    assert "authorization" not in seen[1]
    assert "x-a" not in seen[1]


def test_a_document_that_cannot_be_fetched_is_an_upstream_error_without_the_query(httpserver_document):
    url, _ = httpserver_document
    with pytest.raises(UpstreamError, match="HTTP 404") as refused:
        Toolset.load(f"{url}/missing.json?key=secret")
    assert "secret" not in str(refused.value)
    with pytest.raises(UpstreamError, match="cannot be fetched"):
        Toolset.load("http://127.0.0.1:9/tools.json")


def test_without_the_extra_a_live_server_is_refused_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "envace_sdk.mcp_servers.upstream", None)
    with pytest.raises(UpstreamError, match=r"pip install 'envace-sdk\[mcp\]'"):
        pull_now(Target(url="https://a.example/mcp"))


def test_importing_the_package_imports_nothing_heavy():
    heavy = "openapi_pydantic mimesis mcp jsonschema jsonschema_rs yaml pydantic sqlalchemy"
    code = f"import sys, envace_sdk.tools; print([m for m in '{heavy}'.split() if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_file_is_read_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(data)
    with contextlib.suppress(ToolsetError):
        Toolset.load(path)
