"""The policies of the airline toolset: what its tools refuse, what they work out, and what they change."""

import asyncio
import json
import re
from datetime import datetime
from pathlib import Path

import pytest
from airline_books import check_books, stock

from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.shipped import shipped
from envace_sdk.world.diff import diff
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.expressions import compile_template
from envace_sdk.world.infer import infer
from envace_sdk.world.seed_data import read_start
from envace_sdk.world.state import State

_REFUSALS = Path(__file__).parent.parent / "data" / "airline_refusals.jsonl"
REFUSALS = [json.loads(line) for line in _REFUSALS.read_text(encoding="utf-8").splitlines()]
"""Calls with what their refusal says; where the start data are not enough, calls before it, a clock, or a patch."""
FOLDER = shipped()["airline"]
LOADED = Environment.load(FOLDER)
NOW, COLLECTIONS = read_start(json.loads((FOLDER / "world.json").read_text(encoding="utf-8")), "world.json")
# Without the recordings, so that every answer here comes from the rules.
DESK = Environment(
    LOADED.toolset,
    dynamics=LOADED.dynamics,
    start=State.start(clock=NOW, collections=COLLECTIONS, dynamics=LOADED.dynamics),
)
CONTACT = {"name": "Ada Lund", "email": "ada.lund@example.org", "phone": "+44 1632 960133"}
ADULT = {"given_name": "Ada", "family_name": "Lund", "birth_date": "1988-04-12"}
CHILD = {"given_name": "Nils", "family_name": "Lund", "birth_date": "2017-02-03"}
BABY = {"given_name": "Per", "family_name": "Lund", "birth_date": "2025-11-30"}
YOUTH = {"given_name": "Siri", "family_name": "Lund", "birth_date": "2012-12-24"}
GUARDIANS = {"brings": {"name": "Ada Lund", "phone": "+44 1632 960133"}}
GUARDIANS["meets"] = {"name": "Sven Lund", "phone": "+44 1632 960134"}


def call(world, tool, arguments):
    return asyncio.run(DESK.call(world, ToolCall(tool, arguments)))


def done(world, tool, **arguments):
    rehearsal = call(world, tool, arguments)
    assert not rehearsal.result.is_error, rehearsal.result.first_text
    assert rehearsal.layer == "dynamics"
    return rehearsal.result.structured


def refused(world, tool, **arguments):
    rehearsal = call(world, tool, arguments)
    assert rehearsal.result.is_error
    return rehearsal.result.first_text


def book(world, flights, passengers=(ADULT,), fare="glow", payment="card", **more):
    return done(
        world,
        "create_booking",
        fare=fare,
        flight_ids=list(flights),
        passengers=list(passengers),
        payment=payment,
        **{"contact": CONTACT, **more},
    )


def at(moment):
    return DESK.world(clock=datetime.fromisoformat(moment))


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: f"{case['tool']}: {case['says'][:50]}")
def test_a_policy_refuses_in_its_own_words_and_changes_nothing(case):
    world = at(case["clock"]) if "clock" in case else DESK.world()
    for collection, documents in case.get("patch", {}).items():
        for key, fields in documents.items():
            world.commit(world.state.put(collection, key, {**world.state.get(collection, key), **fields}))
    for earlier in case.get("before", ()):
        done(world, earlier["tool"], **earlier["arguments"])
    before = world.state
    rehearsal = call(world, case["tool"], case["arguments"])
    assert rehearsal.result.is_error
    assert rehearsal.result.first_text == case["says"]
    assert (rehearsal.layer, rehearsal.outcome) == ("dynamics", case["status"])
    assert diff(before, world.state) == []


def test_every_precondition_of_every_tool_is_among_the_refusals():
    missing = []
    for name, rule in DESK.dynamics.tools.items():
        said = [case["says"] for case in REFUSALS if case["tool"] == name]
        for requirement in rule.requires:
            parts = compile_template(requirement.error).parts
            form = "".join(re.escape(part) if isinstance(part, str) else ".+" for part in parts)
            if not any(re.fullmatch(form, text) for text in said):
                missing.append((name, requirement.error))
    assert missing == []


def test_recordings_leave_the_start_data_as_they_are():
    assert LOADED.fixtures
    assert diff(DESK.start, LOADED.start) == []


def test_most_of_the_rules_can_be_inferred_from_the_catalogue_alone():
    written, inferred = Dynamics.load(FOLDER / "dynamics.yaml"), infer(LOADED.toolset)
    missed = [
        (name, part)
        for name, rule in written.tools.items()
        for part in ("effect", "key")
        if getattr(inferred.tools.get(name), part, "absent") != getattr(rule, part)
    ]
    assert len(missed) <= 0.1 * 2 * len(written.tools), missed


# ---------------------------------------------------------------------------------------------- fares and prices
def test_children_pay_three_quarters_and_infants_a_tenth():
    world = DESK.world()
    booked = book(world, ["CB203-30MAY", "CB204-31MAY"], [ADULT, CHILD, BABY])
    assert [ticket["price"] for ticket in booked["tickets"]] == [56, 64, 42, 48, 5.6, 6.4]
    assert booked["booking"]["total"] == booked["booking"]["paid_card"] == 222
    assert booked["booking"]["route"] == ["CVN", "SLV", "CVN"]
    left = DESK.start.get("flights", "CB203-30MAY")["seats_left"]
    assert world.state.get("flights", "CB203-30MAY")["seats_left"] == left - 2
    check_books(world.state)


def test_children_alone_pay_the_escort_and_older_ones_travel_as_adults():
    world = DESK.world()
    alone = book(world, ["CB203-30MAY"], [CHILD], guardians=GUARDIANS)
    assert alone["booking"]["unaccompanied"]
    assert alone["booking"]["guardians"] == GUARDIANS
    assert alone["tickets"][0]["price"] == 56 * 0.75 + 35
    older = book(world, ["CB203-30MAY"], [YOUTH])
    assert (older["booking"]["unaccompanied"], older["tickets"][0]["price"]) == (False, 56)
    check_books(world.state)


@pytest.mark.parametrize(("born", "kind"), [("2014-05-30", "adult"), ("2014-05-31", "child"), ("2024-05-31", "infant")])
def test_age_counts_on_the_first_day_of_travel(born, kind):
    booked = book(DESK.world(), ["CB203-30MAY"], [ADULT, {**CHILD, "birth_date": born}])
    assert booked["passengers"][1]["kind"] == kind


def test_a_voucher_is_spent_first_and_what_is_left_of_it_stays():
    world = DESK.world()
    contact = {**CONTACT, "email": "Adriana.Bellini@Example.org"}
    booked = book(world, ["CB203-30MAY"], fare="spark", contact=contact, voucher_code="EM-20417")
    assert (booked["booking"]["paid_voucher"], booked["booking"]["paid_card"]) == (38, 0)
    found = done(world, "search_vouchers", holder_email="ADRIANA.bellini@example.org")
    assert (found["vouchers"][0]["balance"], found["usable_balance"]) == (82, 82)
    check_books(world.state)


def test_a_held_booking_keeps_seats_until_it_is_paid_or_given_up():
    world = DESK.world()
    ref = book(world, ["CB203-30MAY"], payment="hold")["booking"]["booking_ref"]
    assert stock(world.state) == stock(DESK.start)
    held = done(world, "get_booking", booking_ref=ref)["booking"]
    assert (held["status"], held["due"], held["hold_until"]) == ("held", 56, "2026-05-21T07:30:00Z")
    confirmed = done(world, "confirm_booking", booking_ref=ref)["booking"]
    assert (confirmed["due"], confirmed["paid_card"], confirmed["hold_until"]) == (0, 56, None)
    other = book(world, ["CB203-30MAY"], payment="hold")["booking"]["booking_ref"]
    given_up = done(world, "cancel_booking", booking_ref=other, agreed_total=0)
    assert given_up["refund"]["reason"] == "not_paid"
    check_books(world.state)


# ---------------------------------------------------------------------------------------------- coming back
@pytest.mark.parametrize(
    ("ref", "reason", "card", "voucher", "new"),
    [
        ("BK40244", "disrupted", 288, 0, 0),  # cancelled for ash, front seats of the return included
        ("BK40328", "disrupted", 180, 0, 0),  # retimed
        ("BK40325", "disrupted", 244, 0, 0),  # connection missed
        ("BK40357", "second_thoughts", 180, 0, 0),
        ("BK40262", "fare_rules", 33.6, 150, 0),  # Glow, less the fee, infants without one
        ("BK40265", "fare_rules", 16, 0, 54),  # Spark: a share as a voucher, the bag as money
        ("BK40259", "fare_rules", 244, 0, 0),  # Blaze: all of it
        ("BK40347", "fare_rules", 91, 0, 0),  # a minor's escort comes back with the ticket
    ],
)
def test_what_comes_back_follows_from_the_ground(ref, reason, card, voucher, new):
    world = DESK.world()
    refund = done(world, "calculate_refund", booking_ref=ref)["refund"]
    assert refund == {
        "to_card": card,
        "to_voucher": voucher,
        "as_new_voucher": new,
        "total": pytest.approx(card + voucher + new),
        "reason": reason,
    }
    cancelled = done(world, "cancel_booking", booking_ref=ref, agreed_total=refund["total"])
    assert cancelled["refund"] == refund
    assert (cancelled["new_voucher_code"] is None) is (new == 0)
    check_books(world.state)
    assert stock(world.state) == stock(DESK.start)


def test_glow_brings_nothing_back_on_the_last_day():
    refund = done(at("2026-05-24T07:00:00+00:00"), "calculate_refund", booking_ref="BK40253")["refund"]
    assert (refund["total"], refund["reason"]) == (0, "fare_rules")


def test_a_refund_to_an_expired_voucher_makes_it_valid_for_thirty_days():
    world = DESK.world()
    done(world, "cancel_booking", booking_ref="BK40262", agreed_total=183.6)
    assert world.state.get("vouchers", "EM-20431")["valid_until"] == "2027-02-14"
    late = DESK.world()
    voucher = late.state.get("vouchers", "EM-20431")
    late.commit(late.state.put("vouchers", "EM-20431", {**voucher, "valid_until": "2026-05-01"}))
    done(late, "cancel_booking", booking_ref="BK40262", agreed_total=183.6)
    assert late.state.get("vouchers", "EM-20431")["valid_until"] == "2026-06-19"


# ---------------------------------------------------------------------------------------------- moving
def test_a_disrupted_booking_moves_free_of_charge_with_its_bags():
    world = DESK.world()
    arguments = {"booking_ref": "BK40241", "flight_id": "CB403-20MAY", "new_flight_id": "CB403-22MAY"}
    assert done(world, "calculate_move_charge", **arguments)["move"] == {
        "free": True,
        "fee": 0,
        "difference": 0,
        "charge": 0,
    }
    moved = done(world, "move_booking", agreed_charge=0, **arguments)
    assert [t["flight_id"] for t in moved["tickets"]] == ["CB403-22MAY"] * 3
    assert moved["tickets"][0]["earlier_flight_ids"] == ["CB403-20MAY"]
    before = DESK.start.get("flights", "CB403-22MAY")
    after = world.state.get("flights", "CB403-22MAY")
    assert before["seats_left"] - after["seats_left"] == 3
    assert before["hold_kg_left"] - after["hold_kg_left"] == 20
    check_books(world.state)


def test_a_move_by_choice_costs_fee_and_difference_and_a_cheaper_flight_brings_nothing_back():
    world = DESK.world()
    dearer = {"booking_ref": "BK40253", "flight_id": "CB102-24MAY", "new_flight_id": "CB104-24MAY"}
    assert done(world, "move_booking", agreed_charge=72, **dearer)["booking"]["fees"] == 48
    back = {"booking_ref": "BK40253", "flight_id": "CB104-24MAY", "new_flight_id": "CB102-24MAY"}
    assert done(world, "move_booking", agreed_charge=48, **back)["move"]["difference"] == 0
    assert world.state.get("tickets", "BK40253-P1-L1")["price"] == 159
    assert world.state.get("tickets", "BK40253-P1-L1")["seat"] is None
    check_books(world.state)


def test_a_disruption_goes_ahead_of_those_who_only_wish():
    world = DESK.world()
    move = {"booking_ref": "BK40322", "flight_id": "CB122-20MAY", "new_flight_id": "CB124-20MAY", "agreed_charge": 0}
    assert "asked for by the waitlist" in refused(world, "move_booking", **move)
    joined = done(
        world,
        "add_waitlist_entry",
        booking_ref="BK40322",
        flight_id="CB124-20MAY",
        instead_of_flight_id="CB122-20MAY",
    )
    assert (joined["position"], joined["seats_ahead"], joined["entry"]["priority"]) == (1, 0, 1)
    done(world, "move_booking", **move)
    assert world.state.get("waitlist_entries", joined["entry"]["entry_id"]) is None
    check_books(world.state)


def test_those_who_leave_a_waitlist_make_room_for_the_next():
    world = DESK.world()
    move = {"booking_ref": "BK40340", "flight_id": "CB101-22MAY", "new_flight_id": "CB103-22MAY"}
    assert "ahead of BK40340" in refused(world, "calculate_move_charge", **move)
    done(world, "remove_waitlist_entry", entry_id="WL-0931")
    assert done(world, "calculate_move_charge", **move)["move"]["charge"] == 66


def test_the_second_leg_moves_before_the_first():
    world = DESK.world()
    first = {"booking_ref": "BK40247", "flight_id": "CB402-20MAY", "new_flight_id": "CB404-21MAY", "agreed_charge": 0}
    second = {"booking_ref": "BK40247", "flight_id": "CB104-20MAY", "new_flight_id": "CB102-22MAY", "agreed_charge": 0}
    assert "move that flight first" in refused(world, "move_booking", **first)
    assert done(world, "move_booking", **second)["move"]["free"]
    assert done(world, "move_booking", **first)["move"]["free"]
    check_books(world.state)


def test_a_checked_in_passenger_of_a_cancelled_flight_checks_in_again():
    world = DESK.world()
    move = {"booking_ref": "BK40277", "flight_id": "CB122-20MAY", "new_flight_id": "CB122-21MAY", "agreed_charge": 0}
    moved = done(world, "move_booking", **move)
    assert (moved["tickets"][0]["status"], moved["tickets"][0]["seat"]) == ("open", None)
    assert world.state.get("bags", "BG-71229")["status"] == "booked"
    check_books(world.state)


# ---------------------------------------------------------------------------------------------- seats, bags, claims
def test_a_seat_is_paid_once_per_ticket():
    world = DESK.world()
    flight = done(world, "get_flight", flight_id="CB203-23MAY")
    plain = next(seat for seat in flight["free_seats"] if seat[:-1] not in {"1", "2", "7"})
    front = next(seat for seat in flight["free_seats"] if seat[:-1] in {"1", "2"})
    charges = [
        done(world, "assign_ticket_seat", ticket_no="BK40250-P1-L1", seat=seat)["charged"]
        for seat in (plain, plain, front, plain)
    ]
    assert charges == [8, 0, 6, 0]
    assert front in done(world, "get_flight", flight_id="CB203-23MAY")["free_seats"]
    check_books(world.state)


def test_unaccompanied_minors_have_their_front_seat_free_of_charge():
    world = DESK.world()
    assert done(world, "assign_ticket_seat", ticket_no="BK40283-P1-L2", seat="1A")["charged"] == 0


def test_check_in_gives_a_seat_and_takes_the_bags():
    world = DESK.world()
    first = done(world, "check_in_ticket", ticket_no="BK40289-P1-L1")
    second = done(world, "check_in_ticket", ticket_no="BK40289-P2-L1")
    assert first["boarding_at"] == "2026-05-20T15:10:00Z"
    assert first["ticket"]["seat"] != second["ticket"]["seat"]
    assert world.state.get("bags", "BG-71231")["status"] == "checked_in"
    infant = at("2026-05-21T06:00:00+00:00")
    assert done(infant, "check_in_ticket", ticket_no="BK40346-P2-L1")["ticket"]["seat"] is None
    check_books(world.state)


def test_suitcases_beyond_those_of_the_fare_are_charged():
    world = DESK.world()
    prices = [
        done(world, "add_bag", ticket_no="BK40259-P1-L1", kind="suitcase", weight_kg=12)["bag"]["price"]
        for _ in range(3)
    ]
    assert prices == [0, 0, 16]
    removed = done(world, "remove_bag", bag_id="BG-71263")
    assert removed["refunded"] == 16
    assert world.state.get("bookings", "BK40259")["total"] == DESK.start.get("bookings", "BK40259")["total"]
    check_books(world.state)


def test_a_bag_lost_on_the_way_home_brings_no_allowance():
    world = DESK.world()
    lost = {"kind": "missing", "description": "Red soft-sided suitcase.", "deliver_to": "Hotel Lume, Salvera"}
    assert done(world, "create_baggage_claim", bag_id="BG-71208", **lost)["claim"]["allowance"] == 60
    home = world.state.get("bags", "BG-71202")
    world.commit(world.state.put("bags", "BG-71202", {**home, "status": "checked_in"}))
    assert done(world, "create_baggage_claim", bag_id="BG-71202", **lost)["claim"]["allowance"] == 0


def test_a_name_is_corrected_once_and_the_rest_of_a_passenger_as_often_as_needed():
    world = DESK.world()
    corrected = done(world, "update_passenger", passenger_id="BK40304-P1", family_name="Zielińska")["passenger"]
    assert corrected["name_corrected"]
    assert "corrected before" in refused(world, "update_passenger", passenger_id="BK40304-P1", family_name="Zielinska")
    helped = done(world, "update_passenger", passenger_id="BK40304-P1", assistance=["wheelchair_cabin", "sight"])
    assert helped["passenger"]["assistance"] == ["wheelchair_cabin", "sight"]


def test_compensation_goes_by_the_tickets_a_booking_had():
    world = DESK.world()
    note = {"note": "Late, as the customer tells it.", "booking_ref": "BK40230", "flight_id": "CB104-19MAY"}
    assert done(world, "issue_voucher", reason="delay", amount=76.8, **note)["voucher"]["valid_until"] == "2027-05-20"
    check_books(world.state)


# ---------------------------------------------------------------------------------------------- looking
def test_connections_leave_the_time_that_they_take():
    found = done(DESK.world(), "suggest_connections", origin="ALM", destination="ORM", date="2026-05-21")
    tight = found["connections"][0]
    assert (tight["flight_ids"], tight["connection_minutes"]) == (["CB121-21MAY", "CB301-21MAY"], 40)
    today = done(DESK.world(), "suggest_connections", origin="ALM", destination="ORM", date="2026-05-20")
    assert [c["flight_ids"] for c in today["connections"]] == [["CB121-20MAY", "CB303-20MAY"]]


def test_pages_together_hold_everything_once():
    world = DESK.world()
    found, cursor = [], None
    while True:
        more = {"cursor": cursor} if cursor else {}
        page = done(world, "search_flights", date="2026-05-21", limit=7, **more)
        found += [flight["flight_id"] for flight in page["flights"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(found) == len(set(found)) == page["total_matches"]
    assert found == [f["flight_id"] for f in done(world, "search_flights", date="2026-05-21", limit=50)["flights"]]


def test_bookings_are_found_by_who_made_them_and_who_travels():
    world = DESK.world()
    assert [b["booking_ref"] for b in done(world, "search_bookings", passenger_name="clara")["bookings"]] == ["BK40241"]
    assert done(world, "search_bookings", query="960121")["bookings"][0]["booking_ref"] == "BK40211"
    waiting = done(world, "search_bookings", flight_id="CB203-21MAY", fare="glow")["bookings"]
    assert [b["booking_ref"] for b in waiting] == ["BK40316", "BK40313"]
