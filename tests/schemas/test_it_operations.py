"""The policies of the IT operations toolset: what its tools refuse, and what they change."""

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

_REFUSALS = Path(__file__).parent.parent / "data" / "it_operations_refusals.jsonl"
REFUSALS = [json.loads(line) for line in _REFUSALS.read_text(encoding="utf-8").splitlines()]
FOLDER = shipped()["it_operations"]
WHOLE = Environment.load(FOLDER)
NOW, COLLECTIONS = read_start(json.loads((FOLDER / "world.json").read_text(encoding="utf-8")), "world.json")
# Without the recordings, so that every answer here comes from the rules.
DESK = Environment(
    WHOLE.toolset,
    dynamics=WHOLE.dynamics,
    start=State.start(clock=NOW, collections=COLLECTIONS, dynamics=WHOLE.dynamics),
)


def call(world, tool, arguments):
    return asyncio.run(DESK.call(world, ToolCall(tool, arguments)))


def done(world, tool, **arguments):
    rehearsal = call(world, tool, arguments)
    assert not rehearsal.result.is_error, rehearsal.result.first_text
    return rehearsal.result.structured


def changed(world):
    return sorted(f"{change.collection}/{change.key}" for change in diff(DESK.start, world.state))


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: f"{case['tool']}: {case['says'][:50]}")
def test_a_call_against_the_rules_is_refused_and_changes_nothing(case):
    world = DESK.world(clock=datetime.fromisoformat(case["clock"]) if "clock" in case else None)
    for step in case.get("after", []):
        done(world, step["tool"], **step["arguments"])
    before = world.state
    refused = call(world, case["tool"], case["arguments"])
    assert refused.result.is_error
    assert case["says"] in refused.result.first_text
    assert (refused.layer, refused.outcome) == ("dynamics", case["status"])
    assert diff(before, world.state) == []


def test_every_precondition_of_every_tool_is_among_the_refusals():
    for name, rule in DESK.dynamics.tools.items():
        said = [case["says"] for case in REFUSALS if case["tool"] == name]
        for requirement in rule.requires:
            pattern = ".+".join(map(re.escape, re.split(r"\{[^{}]*\}", requirement.error)))
            assert any(re.fullmatch(pattern, text) for text in said), (name, requirement.error)


def test_recordings_leave_the_start_data_as_they_are():
    assert WHOLE.fixtures
    assert diff(DESK.start, WHOLE.start) == []


def test_a_services_status_follows_its_incidents():
    world = DESK.world()

    def status():
        return done(world, "get_service", service="tide-feed")["service"]["status"]

    assert status() == "running"
    fault = {"title": "No gale warnings", "service": "tide-feed", "summary": "Nothing since 08:00.", "sites": []}
    opened = done(world, "open_incident", severity="major", reported_by="BL-1041", **fault)
    number = opened["incident"]["incident_id"]
    assert (status(), opened["service_status"], opened["paged_name"]) == ("degraded", "degraded", "Owen Traherne")
    note = {"incident_id": number, "note": "Seen to.", "acting_for": "BL-1069"}
    done(world, "update_incident", severity="minor", lead="BL-1069", **note)
    assert status() == "running"
    done(world, "update_incident", severity="major", **note)
    done(world, "move_incident", to="working", **note)
    done(world, "move_incident", to="contained", **note)
    assert status() == "degraded"
    done(world, "move_incident", to="resolved", cause="Worn out.", fix="Replaced.", **note)
    assert status() == "running"
    done(world, "move_incident", to="working", **note)
    reopened = done(world, "get_incident", incident_id=number)
    assert (status(), reopened["incident"]["cause"]) == ("degraded", None)
    assert reopened["incident"]["timeline"][-1]["entry"] == "Reopened: Seen to."


def test_containing_a_critical_incident_brings_the_service_back_in_part():
    world = DESK.world()
    moved = done(
        world, "move_incident", incident_id="inc-4129", to="contained", note="Mast is up.", acting_for="BL-1080"
    )
    assert moved["service_status"] == "degraded"
    assert changed(world) == ["incidents/inc-4129", "services/quay-network"]


@pytest.mark.parametrize(
    ("severity", "deadline"),
    [("critical", "08:55"), ("major", "09:40"), ("minor", "16:40"), ("notice", "08:40")],
)
def test_the_time_to_respond_depends_on_the_severity(severity, deadline):
    fault = {"title": "No schedule", "service": "sailing-schedule", "summary": "Boards are black.", "sites": []}
    opened = done(DESK.world(), "open_incident", severity=severity, reported_by="BL-1041", **fault)
    assert opened["incident"]["respond_by"][11:16] == deadline


def test_a_team_without_a_watch_at_night_escalates_to_the_desk():
    night = done(DESK.world(), "who_is_on_watch", team="data", at="2026-03-12T23:00:00Z")
    assert night["on_watch"] is None
    assert night["escalate_to"]["name"] == "Lotte Vrieze"
    day = done(DESK.world(), "who_is_on_watch", team="data")
    assert (day["on_watch"]["name"], day["escalate_to"]) == ("Elif Aydin", None)


def test_a_restart_of_faulty_hardware_fails_and_leaves_the_host_down():
    world = DESK.world()
    run = {"runbook": "reset-link", "host": "ter-link-01", "acting_for": "BL-1074", "reason": "No radio"}
    failed = done(world, "run_runbook", incident="inc-4130", **run)["run"]
    assert failed["outcome"] == "failed"
    (host,) = done(world, "search_hosts", query="ter-link-01")["hosts"]
    assert (host["status"], host["last_restart_at"]) == ("down", "2026-03-12T06:48:00Z")
    timeline = done(world, "get_incident", incident_id="inc-4130")["incident"]["timeline"]
    assert timeline[-1]["entry"] == "run-9212 reset-link on ter-link-01 failed."


def test_two_teams_approve_a_change_of_a_tier_1_service():
    world = DESK.world()
    first = done(world, "decide_change", change_id="chg-0388", decision="approve", acting_for="BL-1032")
    assert (first["change"]["state"], first["approvals_missing"]) == ("awaiting_approval", 1)
    second = done(world, "decide_change", change_id="chg-0388", decision="approve", acting_for="BL-1017")
    assert (second["change"]["state"], second["approvals_missing"]) == ("approved", 0)


def test_an_urgent_change_may_fall_into_a_freeze():
    window = {"service": "ship-link", "starts_at": "2026-03-12T14:00:00Z", "ends_at": "2026-03-12T15:00:00Z"}
    checked = done(DESK.world(), "check_window", kind="urgent", **window)
    assert checked["clear"]
    assert [freeze["freeze_id"] for freeze in checked["freezes"]] == ["frz-storm-berit"]
    assert not done(DESK.world(), "check_window", kind="normal", **window)["clear"]
    plan = {"title": "New radio card", "plan": "Change the card.", "back_out": "Put the old one back.", "risk": "low"}
    draft = done(
        DESK.world(), "draft_change", kind="urgent", requested_by="BL-1074", incident="inc-4130", **plan, **window
    )
    assert (draft["change"]["state"], draft["change"]["approvals_needed"]) == ("awaiting_approval", 1)


def test_access_ends_by_itself_and_revoking_is_logged():
    world = DESK.world(clock=datetime.fromisoformat("2026-03-18T09:00:00Z"))
    assert [g["grant_id"] for g in done(world, "search_grants", crew_no="BL-1064")["grants"]] == ["gr-5598"]
    assert done(world, "search_grants", crew_no="BL-1064", include_ended=True)["total"] == 2
    revoked = done(world, "revoke_access", grant_id="gr-5598", acting_for="BL-1053", reason="Left")
    assert (revoked["revoked"]["service"], revoked["grants_left"]) == ("fare-engine", 0)
    (entry,) = (e for e in world.state.collection("access_log").values() if e["grant_id"] == "gr-5598")
    assert (entry["entry_id"], entry["action"], entry["by"]) == ("acl-00883", "revoked", "BL-1053")


def test_pages_together_hold_everything_once():
    world = DESK.world()
    whole = done(world, "search_devices", kind="laptop", limit=50)
    found, cursor = [], None
    while True:
        page = done(world, "search_devices", kind="laptop", limit=7, **({"cursor": cursor} if cursor else {}))
        found += page["devices"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == whole["devices"]
    assert len(found) == whole["total"]


@settings(max_examples=150, deadline=None)
@given(
    service=st.sampled_from(sorted(DESK.start.collection("services"))),
    kind=st.sampled_from(["normal", "routine"]),
    starts=st.integers(-60, 45_000),
    minutes=st.integers(-30, 400),
)
def test_a_window_that_is_clear_can_be_filed_and_no_other(service, kind, starts, minutes):
    begin = NOW + timedelta(minutes=starts)
    window = {"service": service, "kind": kind}
    for name, when in (("starts_at", begin), ("ends_at", begin + timedelta(minutes=minutes))):
        window[name] = when.strftime("%Y-%m-%dT%H:%M:%SZ")
    team = DESK.start.get("services", service)["team"]
    (lead,) = (p for p in DESK.start.collection("people").find("team", team) if p["role"] == "lead")
    plan = {"title": "A change", "plan": "Do it carefully.", "back_out": "Undo it.", "risk": "low"}
    checked = done(DESK.world(), "check_window", **window)
    filed = call(DESK.world(), "draft_change", {**plan, **window, "requested_by": lead["crew_no"]})
    assert checked["clear"] is not filed.result.is_error, (checked, filed.result.first_text)
