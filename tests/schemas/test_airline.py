"""The policies of the airline toolset: what its tools refuse, what they charge and what they give back."""

import json
import re
from pathlib import Path

import pytest
from airline_books import check_books, stock
from airline_desk import DESK, LOADED, at, call, done

from envace_sdk.world.diff import diff
from envace_sdk.world.expressions import compile_template

_REFUSALS = Path(__file__).parent.parent / "data" / "airline_refusals.jsonl"
REFUSALS = [json.loads(line) for line in _REFUSALS.read_text(encoding="utf-8").splitlines()]
"""Calls with what their refusal says; where the start data are not enough, calls before it, a clock, or a patch."""
CONTACT = {"name": "Ada Lund", "email": "ada.lund@example.org", "phone": "+44 1632 960133"}
ADULT = {"given_name": "Ada", "family_name": "Lund", "birth_date": "1988-04-12"}
CHILD = {"given_name": "Nils", "family_name": "Lund", "birth_date": "2017-02-03"}
BABY = {"given_name": "Per", "family_name": "Lund", "birth_date": "2025-11-30"}
YOUTH = {"given_name": "Siri", "family_name": "Lund", "birth_date": "2012-12-24"}
GUARDIANS = {"brings": {"name": "Ada Lund", "phone": "+44 1632 960133"}}
GUARDIANS["meets"] = {"name": "Sven Lund", "phone": "+44 1632 960134"}


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
