"""The file workspace: start data that hold together, policies, and what the tools change."""

import asyncio
import json
import re
from datetime import datetime
from pathlib import Path

import pytest
from workspace_house import check_house

from envace_sdk.jsonschema import compile_schema
from envace_sdk.rehearse import Environment
from envace_sdk.tasks import load_tasks
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.shipped import shipped
from envace_sdk.world.diff import diff
from envace_sdk.world.expressions import compile_template
from envace_sdk.world.seed_data import read_start
from envace_sdk.world.state import State

FOLDER = shipped()["file_workspace"]
_REFUSALS = Path(__file__).parent.parent / "data" / "file_workspace_refusals.jsonl"
REFUSALS = [json.loads(line) for line in _REFUSALS.read_text(encoding="utf-8").splitlines()]
"""Calls with what their refusal says; where the start data are not enough, calls before it, or an area to be sealed."""
WHOLE = Environment.load(FOLDER)
NOW, COLLECTIONS = read_start(json.loads((FOLDER / "world.json").read_text(encoding="utf-8")), "world.json")
# Without the recordings, so that every answer here comes from the rules.
HOUSE = Environment(
    WHOLE.toolset,
    dynamics=WHOLE.dynamics,
    start=State.start(clock=NOW, collections=COLLECTIONS, dynamics=WHOLE.dynamics),
)
PLAN = "/almanac-2028/plan.md"


def call(world, tool, arguments):
    return asyncio.run(HOUSE.call(world, ToolCall(tool, arguments)))


def done(world, tool, **arguments):
    rehearsal = call(world, tool, arguments)
    assert not rehearsal.result.is_error, rehearsal.result.first_text
    return rehearsal.result.structured


def test_the_start_data_hold_together_and_there_is_enough_of_them():
    check_house(HOUSE.start)
    least = {"members": 10, "areas": 6, "folders": 20, "files": 40, "versions": 10, "trash": 5, "shares": 5}
    assert {name: n for name, n in least.items() if len(HOUSE.start.collection(name)) < n} == {}


def test_what_has_happened_lies_in_the_past():
    moments = re.findall(
        r'"(?:created_at|updated_at|saved_at|deleted_at|since)": "([^"]+)"', json.dumps(COLLECTIONS, ensure_ascii=False)
    )
    assert moments
    assert all(datetime.fromisoformat(moment) <= NOW for moment in moments)


def test_versions_of_a_file_are_in_the_order_in_which_they_were_saved():
    for document in HOUSE.start.collection("files").values():
        earlier = list(HOUSE.start.collection("versions").find("docket", document["docket"]))
        assert [version["version"] for version in earlier] == list(range(1, len(earlier) + 1))
        saved = [*(version["saved_at"] for version in earlier), document["updated_at"]]
        assert saved == sorted(saved)
        assert saved[0] == document["created_at"]


def test_new_numbers_begin_after_those_in_the_start_data():
    for name, numbers in {
        "trash": HOUSE.start.collection("trash"),
        "shares": HOUSE.start.collection("shares"),
        "dockets": [d["docket"] for n in ("files", "trash") for d in HOUSE.start.collection(n).values()],
    }.items():
        assert max(int(number[3:] if name != "dockets" else number[2:]) for number in numbers) < (
            HOUSE.dynamics.collections[name].start_at
        )


def test_files_and_folders_of_the_start_fit_the_schemas_under_which_tools_show_them():
    shown = {
        "files": ("read_file", "File"),
        "folders": ("create_folder", "Folder"),
        "shares": ("create_share", "Share"),
    }
    for name, (tool, definition) in shown.items():
        definitions = HOUSE.toolset[tool].output_schema["$defs"]
        validator = compile_schema({"$ref": f"#/$defs/{definition}", "$defs": definitions})
        for document in HOUSE.start.collection(name).values():
            assert validator.violations({k: v for k, v in document.items() if k != "content"}) == []


def test_recordings_leave_the_start_data_as_they_are():
    assert WHOLE.fixtures
    assert diff(HOUSE.start, WHOLE.start) == []


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: f"{case['tool']}: {case['says'][:50]}")
def test_a_call_against_the_rules_is_refused_and_changes_nothing(case):
    world = HOUSE.world(clock=datetime.fromisoformat(case["clock"]) if "clock" in case else None)
    if "sealed" in case:
        area = world.state.get("areas", case["sealed"])
        world.commit(world.state.put("areas", case["sealed"], {**area, "stage": "sealed"}))
    for earlier in case.get("before", ()):
        done(world, earlier["tool"], **earlier["arguments"])
    before = world.state
    refused = call(world, case["tool"], case["arguments"])
    assert refused.result.is_error
    assert refused.result.first_text == case["says"]
    assert (refused.layer, refused.outcome) == ("dynamics", case["status"])
    assert diff(before, world.state) == []


def test_every_precondition_of_every_tool_is_among_the_refusals():
    missing = []
    for name, rule in HOUSE.dynamics.tools.items():
        said = [case["says"] for case in REFUSALS if case["tool"] == name]
        for requirement in rule.requires:
            parts = compile_template(requirement.error).parts
            form = "".join(re.escape(part) if isinstance(part, str) else ".*" for part in parts)
            if not any(re.fullmatch(form, text, re.DOTALL) for text in said):
                missing.append((name, requirement.error))
    assert missing == []


def test_whatever_witnesses_and_recordings_do_the_house_stays_in_order():
    worlds = {}
    for fixture in WHOLE.fixtures:
        world = worlds.setdefault(fixture.episode, HOUSE.world())
        call(world, fixture.call.name, fixture.call.arguments)
        check_house(world.state)
    for task in load_tasks(FOLDER):
        world = HOUSE.world()
        for step in task.witness:
            if "$cel" not in json.dumps(step.arguments):
                call(world, step.tool, step.arguments)
                check_house(world.state)


def test_a_file_keeps_docket_and_versions_through_moves_trash_and_back():
    world = HOUSE.world()
    docket = world.state.get("files", PLAN)["docket"]
    done(world, "replace_text", path=PLAN, find="Three", replace_with="Two", note="Fewer", on_behalf_of="jonas.pell")
    done(world, "move_file", path=PLAN, new_path="/almanac-2028/drafts/plan.md", on_behalf_of="jonas.pell")
    entry = done(world, "delete_file", path="/almanac-2028/drafts/plan.md", on_behalf_of="jonas.pell")["trash_entry"]
    restored = done(world, "restore_from_trash", trash_id=entry["trash_id"], new_path=PLAN, on_behalf_of="tobias.renn")
    assert restored["trash_entry"]["restored_to"] == PLAN
    assert (restored["file"]["docket"], restored["file"]["version"]) == (docket, 3)
    read = done(world, "read_file", path=PLAN, version=2)
    assert [version["version"] for version in read["versions"]] == [1, 2, 3]
    assert "Three essays" in read["content"]
    assert done(world, "list_trash", area="almanac-2028")["total"] == 2
    assert done(world, "list_trash", area="almanac-2028", include_restored=True)["total"] == 3
    check_house(world.state)


def test_every_new_file_gets_a_docket_of_its_own_and_a_copy_starts_its_own_history():
    world = HOUSE.world()
    copy = {"copy_of": PLAN, "on_behalf_of": "jonas.pell"}
    made = [done(world, "create_file", path=f"/almanac-2028/plan-{n}.md", **copy)["file"] for n in ("b", "c")]
    assert [file["docket"] for file in made] == ["D-0155", "D-0156"]
    assert {file["version"] for file in made} == {1}
    assert (
        done(world, "read_file", path="/almanac-2028/plan-b.md")["content"]
        == (world.state.get("files", PLAN)["content"])
    )
    check_house(world.state)


def test_a_folder_takes_everything_in_it_along():
    world = HOUSE.world()
    done(world, "unlock_file", path="/almanac-2028/drafts/months/may.md", on_behalf_of="tobias.renn")
    moved = done(
        world,
        "move_folder",
        path="/almanac-2028/drafts",
        new_path="/almanac-2028/ideas/texts",
        on_behalf_of="tobias.renn",
    )
    assert (moved["moved_files"], moved["moved_folders"]) == (2, 1)
    listed = done(world, "list_files", folder="/almanac-2028/ideas/texts", recursive=True)
    assert [file["path"] for file in listed["files"]] == [
        "/almanac-2028/ideas/texts/months/january.md",
        "/almanac-2028/ideas/texts/months/may.md",
    ]
    assert listed["subfolders"] == ["/almanac-2028/ideas/texts/months"]
    assert "/almanac-2028/drafts/months" not in world.state.collection("folders")
    check_house(world.state)


def test_a_lock_keeps_others_out_until_it_runs_out():
    page = "/almanac-2027/months/july.md"
    correct = {"path": page, "find": "Moon", "replace_with": "moon", "note": "Small", "on_behalf_of": "odette.vane"}
    assert call(HOUSE.world(), "replace_text", correct).outcome == "conflict"
    later = HOUSE.world(clock=datetime.fromisoformat("2026-09-17T16:05:00Z"))
    assert done(later, "replace_text", **correct)["replaced"] == 1


def test_locking_again_sets_a_new_end():
    world = HOUSE.world()
    lock = {"path": PLAN, "reason": "Rewriting", "on_behalf_of": "jonas.pell"}
    ends = [done(world, "lock_file", **lock, hours=hours)["file"]["lock"]["until"] for hours in (48, 1)]
    assert ends == ["2026-09-19T10:20:00Z", "2026-09-17T11:20:01Z"]


def test_an_expired_link_neither_shows_nor_holds_a_file():
    page = "/notices/offered/regatta.md"
    later = HOUSE.world(clock=datetime.fromisoformat("2026-09-28T16:35:00Z"))
    assert done(later, "read_file", path=page)["shares"] == []
    done(later, "delete_file", path=page, on_behalf_of="callum.ferrow")


def test_a_correction_that_makes_a_file_shorter_gives_room():
    world = HOUSE.world()
    before = done(world, "get_area", area="notices")
    done(
        world,
        "replace_text",
        path="/notices/offered/regatta.md",
        find=" Full page, 310.00, invoice to follow.",
        replace_with="",
        note="Price belongs to the invoice",
        on_behalf_of="callum.ferrow",
    )
    after = done(world, "get_area", area="notices")
    assert after["free_characters"] - before["free_characters"] == 38
    assert after["used_characters"] + after["free_characters"] == after["quota_characters"]


def test_a_search_shows_the_lines_that_have_the_text_whatever_its_case():
    found = done(HOUSE.world(), "search_files", text="WISE FOLK", kind="markdown")
    assert [(line["path"], line["line"]) for line in found["lines"]] == [
        ("/almanac-2027/months/february.md", 3),
        ("/house/style-sheet.md", 7),
    ]
    assert found["total"] == 2
    assert done(HOUSE.world(), "search_files", area="house")["lines"] == []


def test_pages_of_a_listing_leave_no_gap():
    world, seen, cursor = HOUSE.world(), [], None
    while True:
        page = done(world, "search_files", name="/", limit=11, **({"cursor": cursor} if cursor else {}))
        seen += [file["path"] for file in page["files"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == sorted(HOUSE.start.collection("files"))
