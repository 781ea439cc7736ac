"""Names that come from outside and stand for files: none leads out of its folder."""

import json

import pytest
from envace_sdk.mcp_servers.control import Control
from envace_sdk.mcp_servers.http import HttpOptions, build_app

from envace_sdk import Environment
from envace_sdk.errors import TaskError, ToolsetError, WorldError
from envace_sdk.rehearse import Worlds
from envace_sdk.world.naming import checked_name

HOSTILE = [
    "..", ".", "../up", "a/../../b", "/etc/passwd", "a/b", "a\\b", "C:\\x", "a\x00b", "a\nb", "", " ", "~", "-rf",
    ".hidden",     "a" * 101, "\u202eabc", "\uff0e\uff0e", "%2e%2e", "a\u2215b",
]  # fmt: skip
TOOLS = {"tools": [{"name": "../../x", "inputSchema": {"type": "object"}}]}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["world", "snapshot"])
def test_a_name_of_a_world_is_no_path(name, kind):
    with pytest.raises(WorldError):
        checked_name(name, kind)


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "a" * 101])
def test_a_toolset_that_is_named_like_a_path_is_not_served(name, tmp_path):
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    worlds = Worlds(Environment.load(str(tmp_path)), seed=1)
    with pytest.raises(ToolsetError, match="cannot be a path"):
        build_app({name: worlds}, Control({name: worlds}, transport="http"), HttpOptions(names=None))


@pytest.mark.parametrize("name", ["..", ".", "../up", "/etc", "a/b"])
def test_a_manifest_of_tasks_names_folders_beside_it_alone(name, tmp_path):
    folder = pytest.importorskip("envace_sdk.training.tasks.folder")
    inner = tmp_path / "sets"
    inner.mkdir()
    (tmp_path / "up").mkdir()
    (tmp_path / "up" / "train.jsonl").write_text("secret")
    for toolsets in ({name: {"source": "retail"}}, {"shop": {"source": "retail", "folder": name}}):
        (inner / folder.MANIFEST).write_text(json.dumps({"toolsets": toolsets}))
        with pytest.raises(TaskError, match="can be no toolset"):
            folder.read_task_sets(inner)


def test_a_tool_named_like_a_path_touches_no_file(tmp_path):
    (tmp_path / "twin").mkdir()
    (tmp_path / "twin" / "tools.json").write_text(json.dumps(TOOLS))
    before = {*tmp_path.rglob("*")}
    Environment.load(str(tmp_path / "twin")).world(seed=1)
    assert {*tmp_path.rglob("*")} == before
