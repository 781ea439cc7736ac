"""The policies of the issue tracker toolset: what its tools refuse, and what they change."""

import asyncio
import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.shipped import shipped
from envace_sdk.world.diff import diff
from envace_sdk.world.seed_data import read_start
from envace_sdk.world.state import State

_REFUSALS = Path(__file__).parent.parent / "data" / "issue_tracker_refusals.jsonl"
REFUSALS = [json.loads(line) for line in _REFUSALS.read_text(encoding="utf-8").splitlines()]
FOLDER = shipped()["issue_tracker"]
WHOLE = Environment.load(FOLDER)
NOW, COLLECTIONS = read_start(json.loads((FOLDER / "world.json").read_text(encoding="utf-8")), "world.json")
# Without the recordings, so that every answer here comes from the rules.
WORKS = Environment(
    WHOLE.toolset,
    dynamics=WHOLE.dynamics,
    start=State.start(clock=NOW, collections=COLLECTIONS, dynamics=WHOLE.dynamics),
)


def call(world, tool, arguments):
    return asyncio.run(WORKS.call(world, ToolCall(tool, arguments)))


def done(world, tool, **arguments):
    rehearsal = call(world, tool, arguments)
    assert not rehearsal.result.is_error, rehearsal.result.first_text
    return rehearsal.result.structured


def move(world, number, status, actor, **rest):
    return done(world, "set_issue_status", issue_id=number, status=status, actor=actor, **rest)


def changed(world):
    return sorted(f"{change.collection}/{change.key}" for change in diff(WORKS.start, world.state))


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: f"{case['tool']}: {case['says'][:50]}")
def test_a_call_against_the_rules_is_refused_and_changes_nothing(case):
    world = WORKS.world(clock=datetime.fromisoformat(case["clock"]) if "clock" in case else None)
    for step in case.get("after", []):
        done(world, step["tool"], **step["arguments"])
    before = world.state
    refused = call(world, case["tool"], case["arguments"])
    assert refused.result.is_error
    assert refused.result.first_text == case["says"]
    assert (refused.layer, refused.outcome) == ("dynamics", case["status"])
    assert diff(before, world.state) == []


def test_every_precondition_of_every_tool_is_among_the_refusals():
    for name, rule in WORKS.dynamics.tools.items():
        said = [case["says"] for case in REFUSALS if case["tool"] == name]
        for requirement in rule.requires:
            pattern = ".+".join(map(re.escape, re.split(r"\{[^{}]*\}", requirement.error)))
            assert any(re.fullmatch(pattern, text) for text in said), (name, requirement.error)


def test_recordings_leave_the_start_data_as_they_are():
    assert WHOLE.fixtures
    assert diff(WORKS.start, WHOLE.start) == []


def test_a_look_that_was_recorded_changes_nothing_when_it_is_replayed():
    for fixture in WHOLE.fixtures:
        if fixture.episode == "monday-round" and not fixture.result.is_error:
            world = WHOLE.world()
            replayed = asyncio.run(WHOLE.call(world, fixture.call))
            assert (replayed.layer, diff(WHOLE.start, world.state)) == ("fixture", []), fixture.call


def test_passing_an_issue_sets_free_what_only_it_blocked():
    world = WORKS.world()
    assert move(world, "W-2123", "tuning", "dunstan")["unblocked"] == []
    passed = move(world, "W-2123", "done", "siiri", resolution="made")
    assert passed["unblocked"] == ["W-2126"]
    assert passed["issue"]["closed_at"] == passed["issue"]["updated_at"]
    # The treble is blocked by two: the bearings alone do not set it free.
    done(world, "log_work", issue_id="W-2126", hours=2, note="Jacks brought up.", actor="joan")
    done(world, "assign_issue", issue_id="W-2126", assignee="joan", actor="noor")
    for status in ("booked", "on_site"):
        move(world, "W-2126", status, "joan")
    assert move(world, "W-2126", "done", "joan", resolution="made")["unblocked"] == []
    assert done(world, "get_issue", issue_id="W-2127")["blocked_by"] == ["W-2120"]


def test_reopening_an_issue_of_a_frozen_release_thaws_it():
    world = WORKS.world()
    move(world, "W-2124", "proving", "ines")
    assert not move(world, "W-2124", "done", "petra", resolution="made")["release_thawed"]
    reopened = move(world, "W-2136", "doing", "ines", note="Not in the log.")
    assert reopened["release_thawed"]
    assert reopened["issue"]["resolution"] is None
    assert reopened["issue"]["history"][-1]["entry"] == "Reopened: done → doing. Not in the log."
    release = done(world, "check_release", release="strike-4.1.1")
    assert (release["release"]["state"], release["missing_sign_offs"]) == ("planned", ["proving", "keeping"])
    assert changed(world) == ["issues/W-2124", "issues/W-2136", "releases/strike-4.1.1"]


def test_publishing_ships_what_is_done_and_leaves_what_was_dropped():
    world = WORKS.world()
    bench = {"release": "frame-batch-17", "actor": "hedda"}
    move(world, "W-2153", "dropped", "hedda", resolution="declined", note="Mended on the pattern.")
    for number in ("W-2120", "W-2123"):
        if number == "W-2120":
            move(world, number, "casting", "hedda")
        move(world, number, "tuning", "hedda")
        move(world, number, "done", "siiri", resolution="made")
    for sign_off, actor in (("proving", "siiri"), ("keeping", "hedda"), ("bells", "agathe")):
        signed = done(world, "sign_off_release", release="frame-batch-17", sign_off=sign_off, actor=actor)
    assert (signed["release"]["state"], signed["missing_sign_offs"]) == ("frozen", [])
    out = done(world, "publish_release", notes="A treble and four bearings.", **bench)
    assert out["shipped"] == ["W-2120", "W-2123"]
    assert world.state.get("issues", "W-2153")["shipped_at"] is None
    assert world.state.get("issues", "W-2120")["shipped_at"] == out["release"]["published_at"]


def test_a_duplicate_leaves_its_release_and_takes_its_watchers_along_and_comes_back_without_them():
    world = WORKS.world()
    pair = {"from_issue_id": "W-2131", "kind": "duplicates", "to_issue_id": "W-2119"}
    linked = done(world, "create_link", actor="ines", **pair)
    assert (linked["issue_status"], linked["new_watchers"]) == ("dropped", ["ines"])
    dropped = world.state.get("issues", "W-2131")
    assert (dropped["resolution"], dropped["release"], dropped["stage"]) == ("duplicate", None, "closed")
    undone = done(world, "delete_link", link_id=linked["link"]["link_id"], actor="yusuf")
    back = world.state.get("issues", "W-2131")
    assert (undone["reopened"], back["status"], back["resolution"], back["closed_at"]) == ("W-2131", "new", None, None)
    assert "ines" in world.state.get("issues", "W-2119")["watchers"]


def test_an_issue_handed_over_begins_anew_and_keeps_what_fits():
    world = WORKS.world()
    done(world, "update_issue", issue_id="W-2106", priority="high", release="strike-4.3", actor="ines")
    handed = done(world, "transfer_issue", issue_id="W-2106", project="TOWER", reason="The heating.", actor="ines")
    issue = handed["issue"]
    assert (handed["labels_dropped"], handed["keeper_name"]) == (["display"], "Noor Jaziri")
    assert (issue["status"], issue["release"], issue["assignee"], issue["priority"]) == ("new", None, None, "high")


def test_hours_add_up_on_issue_day_and_week():
    world = WORKS.world()
    before = done(world, "get_workload", handle="bram")
    entry = {"issue_id": "W-2160", "note": "Counted strokes.", "actor": "bram"}
    assert done(world, "log_work", hours=4, **entry)["over_estimate"] is False
    more = done(world, "log_work", hours=2.25, **entry)
    assert (more["spent_hours"], more["day_total"], more["over_estimate"]) == (8.75, 6.25, True)
    assert more["entry"]["worked_on"] == "2026-06-08"
    after = done(world, "get_workload", handle="bram")
    assert after["hours_last_7_days"] - before["hours_last_7_days"] == 6.25


def test_watching_twice_and_leaving_twice_change_nothing():
    world = WORKS.world()
    once = done(world, "watch_issue", issue_id="W-2156", actor="lioba")
    assert done(world, "watch_issue", issue_id="W-2156", actor="lioba") == once
    left = done(world, "unwatch_issue", issue_id="W-2156", actor="lioba")
    assert done(world, "unwatch_issue", issue_id="W-2156", actor="lioba") == left
    assert changed(world) == []


def test_closed_issues_are_found_when_they_are_asked_for():
    world = WORKS.world()
    strike = {"project": "STRIKE", "limit": 50}
    everything = done(world, "search_issues", include_closed=True, **strike)["total"]
    ended = done(world, "search_issues", stage="closed", **strike)
    assert everything == done(world, "search_issues", **strike)["total"] + ended["total"]
    assert {issue["stage"] for issue in ended["issues"]} == {"closed"}
    assert {issue["assignee"] for issue in done(world, "search_issues", unassigned=True)["issues"]} == {None}


def test_pages_together_hold_everything_once():
    world = WORKS.world()
    whole = done(world, "search_issues", include_closed=True, limit=50)
    found, cursor = [], None
    while True:
        page = done(world, "search_issues", include_closed=True, limit=9, **({"cursor": cursor} if cursor else {}))
        found += page["issues"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found[:50] == whole["issues"]
    assert len(found) == whole["total"] == len({issue["issue_id"] for issue in found})


@settings(max_examples=60, deadline=None)
@given(days=st.integers(0, 250), release=st.sampled_from(["card-2026-summer", "strike-4.1.1", "card-2026-advent"]))
def test_a_release_goes_out_through_an_open_gate_and_no_other(days, release):
    world = WORKS.world(clock=NOW + timedelta(days=days))
    keeper = {"card": "rosalind", "strike": "ines"}[release.partition("-")[0]]
    call(world, "sign_off_release", {"release": release, "sign_off": "keeping", "actor": keeper})
    gate = done(world, "check_release", release=release)
    published = call(world, "publish_release", {"release": release, "notes": "For the towers.", "actor": keeper})
    assert gate["ready"] is not published.result.is_error, (gate["hindrances"], published.result.first_text)
    assert gate["ready"] is (gate["hindrances"] == [])
