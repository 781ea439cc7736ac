import json

import pytest

from envace_sdk.errors import WorldError
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.mine.worldfile import WorldFile

DYNAMICS = Dynamics.parse("collections: {lamps: {key: lamp}, session: {key: id}}\n")


def merged(folder, lamps, digests=None, **more):
    return WorldFile.merged(folder / "world.json", {"lamps": lamps, **more}, digests or {}, DYNAMICS)


def lamp(name, **fields):
    return {"lamp": name, **fields}


def write(folder, collections, **more):
    (folder / "world.json").write_text(json.dumps({**more, "collections": collections}), encoding="utf-8")


def test_what_was_learned_is_an_entity_a_line(tmp_path):
    world = merged(tmp_path, [lamp("a", lit=True), lamp("ü")])
    assert world.text() == (
        '{\n  "collections": {\n    "lamps": [\n      {"lamp": "a", "lit": true},\n      {"lamp": "ü"}\n    ]\n  }\n}\n'
    )
    assert json.loads(merged(tmp_path, []).text()) == {"collections": {}}


def test_a_collection_nobody_changed_is_learned_anew(tmp_path):
    first = merged(tmp_path, [lamp("a"), lamp("b")])
    (tmp_path / "world.json").write_text(first.text(), encoding="utf-8")
    again = merged(tmp_path, [lamp("b", lit=True)], first.digests)
    assert again.collections == {"lamps": [lamp("b", lit=True)]}
    assert again.notes == ()


def test_an_edited_collection_is_kept_and_what_is_new_is_added(tmp_path):
    first = merged(tmp_path, [lamp("a"), lamp("b")])
    write(tmp_path, {"lamps": [lamp("a", watt=40)]}, clock="2026-05-01T10:00:00Z")
    again = merged(tmp_path, [lamp("a"), lamp("c")], first.digests)
    assert again.collections == {"lamps": [lamp("a", watt=40), lamp("c")]}
    assert again.notes == ("world.json: lamps is yours: 1 entity kept, 1 added",)
    assert json.loads(again.text())["clock"] == "2026-05-01T10:00:00Z"
    (tmp_path / "world.json").write_text(again.text(), encoding="utf-8")
    assert merged(tmp_path, [lamp("a"), lamp("c")], again.digests).collections == again.collections


def test_a_hand_made_file_is_kept_whole(tmp_path):
    write(tmp_path, {"lamps": [lamp("a")]})
    assert merged(tmp_path, [lamp("a", lit=True)]).collections == {"lamps": [lamp("a")]}


def test_a_collection_that_was_taken_out_stays_out(tmp_path):
    first = merged(tmp_path, [lamp("a")])
    write(tmp_path, {})
    again = merged(tmp_path, [lamp("a")], first.digests)
    assert again.collections == {}
    assert again.notes == ("world.json: lamps was taken out, and stays out",)


def test_an_edited_session_gets_the_fields_that_it_lacks(tmp_path):
    write(tmp_path, {"session": [{"id": "session", "user": "ana"}]})
    world = merged(tmp_path, [], session=[{"id": "session", "user": "ben", "cwd": "/"}])
    assert world.collections["session"] == [{"id": "session", "user": "ana", "cwd": "/"}]


def test_what_no_world_can_hold_is_left_out(tmp_path):
    documents = [lamp("a"), {"lit": True}, lamp("a", lit=True), lamp("b", text="\ud800"), lamp("c", n=float("nan"))]
    assert merged(tmp_path, documents).collections == {"lamps": [lamp("a")]}


@pytest.mark.parametrize(
    ("collections", "said"),
    [
        ({"beds": [{"bed": 1}]}, "collections.beds: no such collection is in the rules"),
        ({"lamps": [{"bed": 1}]}, "collections.lamps[0]: no key: the rules want 'lamp'"),
        ({"lamps": 3}, "collections.lamps: expected a list"),
        ("x", "expected"),
    ],
)
def test_a_file_that_does_not_go_with_the_rules_is_refused(tmp_path, collections, said):
    write(tmp_path, collections)
    with pytest.raises(WorldError) as error:
        merged(tmp_path, [])
    assert said in str(error.value)
    assert "world.json" in str(error.value)
