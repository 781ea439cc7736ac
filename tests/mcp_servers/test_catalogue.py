import json

import pytest
from envace_sdk.mcp_servers.catalogue import Catalogue
from envace_sdk.mcp_servers.eras import HANDSHAKE, STATELESS
from envace_sdk.mcp_servers.exact import Splice
from mcp import MCPError
from mcp.types import INVALID_PARAMS

from envace_sdk.tools.toolset import Toolset

OBJECT = {"type": "object", "properties": {}}


def _toolset(count):
    return Toolset.from_definitions([{"name": f"t{n}", "inputSchema": OBJECT} for n in range(count)], name="t")


def _names(page):
    return [tool["name"] for tool in page["tools"]]


def test_everything_is_on_one_page_unless_told_otherwise():
    page = Catalogue(_toolset(250)).page(STATELESS, None)
    assert len(page["tools"]) == 250
    assert "nextCursor" not in page


def test_pages_lead_from_one_to_the_next_and_end():
    catalogue = Catalogue(_toolset(5), page_size=2)
    seen, cursor = [], None
    for _ in range(3):
        page = catalogue.page(HANDSHAKE, cursor)
        seen += _names(page)
        cursor = page.get("nextCursor")
    assert cursor is None
    assert seen == ["t0", "t1", "t2", "t3", "t4"]


@pytest.mark.parametrize("cursor", ["", "0", "1", "4", "6", "-2", "2.0", "２", "x", "9" * 5000])
def test_a_cursor_that_was_never_given_out_is_an_invalid_parameter(cursor):
    with pytest.raises(MCPError) as caught:
        Catalogue(_toolset(4), page_size=2).page(STATELESS, cursor)
    assert caught.value.code == INVALID_PARAMS


def test_unknown_keys_and_their_order_survive():
    definition = {
        "x-first": None,
        "name": "a",
        "inputSchema": {"type": "object", "x-y": 1},
        "x-last": [{}],
        "title": "A",
    }
    (served,) = Catalogue(Toolset.from_definitions([definition], name="t")).page(STATELESS, None)["tools"]
    assert json.dumps(served) == json.dumps(definition)


def test_labels_in_the_catalogue_are_not_passed_on_unless_it_is_served_exactly():
    meta = {"dev.envace/evidence": {"kind": "observed"}, "DEV.ENVACE/x": 1, "vendor/y": 2}
    definition = {"name": "a", "inputSchema": OBJECT, "_meta": meta}
    toolset = Toolset.from_definitions([definition], name="t")
    for era in (HANDSHAKE, STATELESS):
        (served,) = Catalogue(toolset).page(era, None)["tools"]
        assert served == {**definition, "_meta": {"vendor/y": 2}}
        assert Catalogue(toolset, exact=True).page(era, None)["tools"] == [definition]


def test_a_client_in_the_same_process_cannot_change_the_catalogue():
    catalogue = Catalogue(_toolset(1))
    catalogue.page(STATELESS, None)["tools"][0]["inputSchema"]["properties"]["x"] = 1
    assert catalogue.page(STATELESS, None)["tools"][0]["inputSchema"] == OBJECT


def test_a_quarantined_tool_is_listed_only_when_exact():
    toolset = Toolset.from_definitions([{"name": "good", "inputSchema": OBJECT}, {"name": "bad"}, 7], name="t")
    assert _names(Catalogue(toolset).page(STATELESS, None)) == ["good"]
    assert Catalogue(toolset, exact=True).page(HANDSHAKE, None)["tools"] == list(toolset.definitions)


def test_exact_bytes_keep_numbers_escapes_and_doubled_keys_as_they_were_written(tmp_path):
    text = r"""{"tools": [
      {"name": "a", "inputSchema": {"type": "object", "x": [1.0, 1e3, -0, 12345678901234567890.10]}, "d": "\u00e9 \/"},
      {"inputSchema": {"type": "object", "type": "object"}, "name": "b", "x": "a  b"}
    ]}"""
    (tmp_path / "tools.json").write_text(text)
    catalogue = Catalogue(Toolset.load(tmp_path / "tools.json"), exact=True)
    catalogue.splice = Splice()
    marker = json.dumps(catalogue.page(STATELESS, None)["tools"]).encode()
    spliced = catalogue.splice.apply(marker).decode()
    assert spliced.startswith(
        r'[{"name": "a", "inputSchema": {"type": "object", "x": [1.0, 1e3, -0, 12345678901234567890.10]}'
    )
    assert r"\u00e9 \/" in spliced
    assert '{"type": "object", "type": "object"}' in spliced
    assert '"a  b"' in spliced
    assert "\n" not in spliced


def test_exact_pages_hold_the_definitions_of_their_own(tmp_path):
    catalogue = Catalogue(_toolset(3), exact=True, page_size=2)
    catalogue.splice = Splice()
    pages = [
        catalogue.splice.apply(json.dumps(catalogue.page(STATELESS, c)["tools"]).encode()) for c in (None, "2", None)
    ]
    assert [_names({"tools": json.loads(page)}) for page in pages] == [["t0", "t1"], ["t2"], ["t0", "t1"]]
