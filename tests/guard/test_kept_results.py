import pytest
from guarded_desk import action, environment

from envace_sdk.errors import EvidenceError
from envace_sdk.guard import as_result
from envace_sdk.guard.known import KnownWorld
from envace_sdk.guard.results import restored, stored
from envace_sdk.json import UNSET
from envace_sdk.tools.model import ToolResult


@pytest.mark.parametrize(
    ("returned", "text", "structured"),
    [
        ("plain", "plain", UNSET),
        ({"a": 1}, '{"a": 1}', {"a": 1}),
        (None, "null", None),
        ([1, 2], "[1, 2]", [1, 2]),
        ({"content": [{"type": "text", "text": "x"}], "structuredContent": 5}, "x", 5),
        ({"content": ["no block"]}, '{"content": ["no block"]}', {"content": ["no block"]}),
        (ToolResult.text("x"), "x", UNSET),
        (range(2), "range(0, 2)", UNSET),
    ],
)
def test_whatever_a_tool_returns_becomes_a_result_that_can_be_kept(returned, text, structured):
    made = as_result(returned)
    assert (made.first_text, made.structured) == (text, structured)
    again = restored(stored(made))
    assert (again.content, again.structured, again.is_error) == (made.content, made.structured, made.is_error)


def test_labels_of_ours_that_come_from_outside_are_taken_off():
    block = {"type": "text", "text": "x", "_meta": {"dev.envace/evidence": {}, "a": 1}}
    made = as_result(ToolResult((block,), meta={"dev.envace/evidence": {"kind": "observed"}, "b": 2}))
    assert made.meta == {"b": 2}
    assert made.content[0]["_meta"] == {"a": 1}


def test_what_is_no_result_cannot_be_restored():
    with pytest.raises(EvidenceError):
        restored({"content": "x"})


def test_an_observation_is_followed_once():
    world = KnownWorld(environment())
    opened = ToolResult.json({"case_id": "C-1", "order_id": "O-1"}, structured=True)
    call = action("open_case", {"order_id": "O-1"}).call
    before, after = world.observe(call, opened, name="one")
    assert after is not before
    assert world.observe(call, opened, name="one") == (after, after)
    assert len(world.state.collection("cases")) == 1
