"""The books of the airline: true at the start, and whatever is done after it."""

import asyncio
import json
import re
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from airline_books import check_books, moment, stock
from airline_desk import DESK, FOLDER
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.jsonschema import compile_schema
from envace_sdk.tasks import load_tasks
from envace_sdk.tools.model import ToolCall

START = DESK.start
STOCK = stock(START)
SHOWN = {  # where a tool's output schema describes a whole entity
    "airports": ("get_flight", "Airport"),
    "bookings": ("get_booking", "Booking"),
    "passengers": ("get_booking", "Passenger"),
    "tickets": ("get_booking", "Ticket"),
    "bags": ("get_booking", "Bag"),
    "waitlist_entries": ("get_booking", "WaitlistEntry"),
    "vouchers": ("search_vouchers", "Voucher"),
    "baggage_claims": ("create_baggage_claim", "Claim"),
}


def documents(collection):
    return list(START.collection(collection).values())


def test_the_books_balance_at_the_start():
    check_books(START)


def test_there_is_enough_of_everything():
    least = {"flights": 150, "bookings": 50, "passengers": 60, "tickets": 100, "bags": 25, "vouchers": 12}
    assert {name: len(documents(name)) for name in least if len(documents(name)) < least[name]} == {}
    assert {b["status"] for b in documents("bookings")} == {"held", "confirmed", "cancelled", "lapsed", "completed"}
    assert {f["status"] for f in documents("flights")} == {"scheduled", "delayed", "cancelled", "departed", "arrived"}


@pytest.mark.parametrize("collection", SHOWN)
def test_entities_fit_the_schema_under_which_tools_show_them(collection):
    tool, name = SHOWN[collection]
    output = DESK.toolset[tool].output_schema
    validator = compile_schema({"$ref": f"#/$defs/{name}", "$defs": output["$defs"]})
    for document in documents(collection):
        assert validator.violations(document) == [], document


@pytest.mark.parametrize("collection", [name for name, rule in DESK.dynamics.collections.items() if rule.mint])
def test_new_keys_begin_after_those_that_are_there(collection):
    rule = DESK.dynamics.collections[collection]
    prefix = rule.mint[: rule.mint.index("{")]
    assert max(int(key.removeprefix(prefix)) for key in START.collection(collection)) < rule.start_at


def test_flights_are_where_the_clock_says():
    for flight in documents("flights"):
        name, status = flight["flight_id"], flight["status"]
        departs, arrives = moment(flight["departs_at"]), moment(flight["arrives_at"])
        late = moment(flight["expected_departs_at"]) - departs
        assert moment(flight["expected_arrives_at"]) - arrives == late >= timedelta(0), name
        assert departs < arrives < departs + timedelta(hours=3), name
        assert name == f"{flight['flight_number']}-{departs:%d%b}".upper(), name
        assert flight["date"] == f"{departs:%Y-%m-%d}", name
        assert (status == "cancelled" or late > timedelta(0)) is (flight["cause"] is not None), name
        if status != "cancelled":
            begun, over = departs + late <= START.clock, arrives + late <= START.clock
            assert status == ("arrived" if over else "departed" if begun else "delayed" if late else "scheduled"), name
        prices = [flight["prices"][fare] for fare in ("spark", "glow", "blaze") if flight["prices"][fare] is not None]
        assert prices == sorted(prices), name


def test_nobody_lands_or_takes_off_at_a_closed_airport_today():
    closed = {a["airport"] for a in documents("airports") if a["status"] == "closed"}
    today = [f for f in documents("flights") if f["date"] == f"{START.clock:%Y-%m-%d}"]
    touching = [f for f in today if {f["origin"], f["destination"]} & closed]
    assert touching
    assert {f["status"] for f in touching} == {"cancelled"}


def test_nothing_in_the_start_data_happens_after_the_clock():
    now = START.clock.strftime("%Y-%m-%dT%H:%M:%SZ")
    for name in ("bookings", "waitlist_entries", "baggage_claims"):
        for document in documents(name):
            for at in re.findall(r'"(?:\w+_at|at)": "([^"]+)"', json.dumps(document)):
                assert at <= now, document
    for name, field in (("bookings", "booked_at"), ("waitlist_entries", "joined_at"), ("vouchers", "voucher_code")):
        assert [d[field] for d in documents(name)] == sorted(d[field] for d in documents(name)), name
    for booking in documents("bookings"):
        first = next(iter(START.collection("tickets").find("booking_ref", booking["booking_ref"])))
        assert booking["booked_at"] < START.get("flights", first["flight_id"])["departs_at"], booking
        assert booking["status"] != "held" or booking["hold_until"] > now, booking


def test_the_waitlists_are_for_flights_that_are_full():
    for entry in documents("waitlist_entries"):
        flight = START.get("flights", entry["flight_id"])
        assert flight["status"] in {"scheduled", "delayed"}, entry
        asked = sum(e["seats"] for e in START.collection("waitlist_entries").find("flight_id", entry["flight_id"]))
        assert asked >= flight["seats_left"], entry
        assert moment(entry["joined_at"]) > moment(START.get("bookings", entry["booking_ref"])["booked_at"]), entry


def test_aircraft_are_turned_round_with_time_on_the_ground():
    """The same type does not leave an outstation before the flight that brings it has landed."""
    by_day: dict[tuple[str, str], list[dict]] = {}
    for flight in documents("flights"):
        by_day.setdefault((flight["date"], flight["flight_number"][:3]), []).append(flight)
    for flights in by_day.values():
        flights.sort(key=lambda f: f["departs_at"])
        for one, other in pairwise(flights):
            if (one["destination"], one["origin"]) == (other["origin"], other["destination"]):
                assert moment(other["departs_at"]) - moment(one["arrives_at"]) >= timedelta(minutes=20), other


@pytest.mark.parametrize("task", load_tasks(FOLDER), ids=lambda task: task.id)
def test_the_books_balance_after_every_witness(task):
    world = DESK.world(clock=task.world.clock)
    for call in task.witness:
        if "$cel" not in str(call.arguments):
            asyncio.run(DESK.call(world, ToolCall(call.tool, call.arguments)))
    check_books(world.state)
    assert stock(world.state) == STOCK


BOOKINGS = [b for b in documents("bookings") if b["status"] in {"held", "confirmed"}]
TICKETS = [t for t in documents("tickets") if t["status"] in {"open", "checked_in"}]
REFS = st.sampled_from([b["booking_ref"] for b in BOOKINGS] + ["BK40361"])
TICKET_NUMBERS = st.sampled_from([t["ticket_no"] for t in TICKETS] + ["BK40361-P1-L1", "BK40361-P2-L1"])
FLIGHTS = [f for f in documents("flights") if f["status"] in {"scheduled", "delayed"}]
ADULT = {"given_name": "Ada", "family_name": "Lund", "birth_date": "1988-04-12"}
CHILD = {"given_name": "Nils", "family_name": "Lund", "birth_date": "2017-02-03"}
BABY = {"given_name": "Per", "family_name": "Lund", "birth_date": "2025-11-30"}
GUARDIAN = {"name": "Ada Lund", "phone": "+44 1632 960133"}


def some(tool, optional=None, **fields):
    return st.tuples(st.just(tool), st.fixed_dictionaries(fields, optional=optional or {}))


def same_route(ticket):
    """Other flights than the ticket's on its route: calls that stand a chance."""
    own = START.get("flights", ticket["flight_id"])
    return st.sampled_from(
        [
            f["flight_id"]
            for f in FLIGHTS
            if (f["origin"], f["destination"]) == (own["origin"], own["destination"])
            and f["flight_id"] != own["flight_id"]
        ]
    )


def passage(tool, own, other):
    return st.sampled_from([t for t in TICKETS if t["passenger_id"].endswith("-P1")]).flatmap(
        lambda ticket: some(
            tool,
            booking_ref=st.just(ticket["booking_ref"]),
            **{own: st.just(ticket["flight_id"]), other: same_route(ticket)},
        )
    )


CALLS = st.one_of(
    some(
        "create_booking",
        fare=st.sampled_from(["spark", "glow", "blaze"]),
        flight_ids=st.lists(st.sampled_from([f["flight_id"] for f in FLIGHTS]), min_size=1, max_size=1),
        passengers=st.sampled_from([[ADULT], [ADULT, CHILD], [ADULT, BABY], [ADULT, ADULT, CHILD, BABY]]),
        contact=st.just({"name": "Ada Lund", "email": "ada.lund@example.org", "phone": "+44 1632 960133"}),
        payment=st.sampled_from(["card", "hold"]),
    ),
    some(
        "create_booking",
        fare=st.just("glow"),
        flight_ids=st.lists(st.sampled_from([f["flight_id"] for f in FLIGHTS]), min_size=1, max_size=1),
        passengers=st.just([CHILD]),
        contact=st.just({"name": "Noemi Castellan", "email": "kai.lindell@example.net", "phone": "+44 1632 960133"}),
        payment=st.just("card"),
        guardians=st.just({"brings": GUARDIAN, "meets": GUARDIAN}),
    ),
    some("confirm_booking", booking_ref=REFS, optional={"voucher_code": st.sampled_from(["EM-20417", "EM-20447"])}),
    some("cancel_booking", booking_ref=REFS),
    passage("move_booking", "flight_id", "new_flight_id"),
    passage("add_waitlist_entry", "instead_of_flight_id", "flight_id"),
    some("remove_waitlist_entry", entry_id=st.sampled_from(sorted(START.collection("waitlist_entries")))),
    some(
        "assign_ticket_seat",
        ticket_no=TICKET_NUMBERS,
        seat=st.tuples(st.integers(1, 12), st.sampled_from("ABCD")).map(lambda seat: f"{seat[0]}{seat[1]}"),
    ),
    some("check_in_ticket", ticket_no=TICKET_NUMBERS),
    some(
        "add_bag",
        ticket_no=TICKET_NUMBERS,
        kind=st.sampled_from(["suitcase", "sports", "kennel"]),
        weight_kg=st.integers(1, 40),
    ),
    some("remove_bag", bag_id=st.sampled_from([*sorted(START.collection("bags")), "BG-71261"])),
    some(
        "update_passenger",
        passenger_id=st.sampled_from(sorted(START.collection("passengers"))),
        assistance=st.sampled_from([[], ["hearing"], ["wheelchair_cabin"]]),
    ),
    some(
        "issue_voucher",
        booking_ref=REFS,
        reason=st.just("goodwill"),
        amount=st.integers(1, 3000).map(lambda amount: amount / 100),
        note=st.just("As agreed."),
    ),
    some(
        "create_baggage_claim",
        bag_id=st.sampled_from(sorted(START.collection("bags"))),
        kind=st.sampled_from(["missing", "damaged"]),
        description=st.just("Blue rucksack with a red cover."),
        deliver_to=st.just("Hotel Lume, Lajedo"),
    ),
)
QUOTES = {"cancel_booking": ("calculate_refund", "refund", "total", "agreed_total")}
QUOTES["move_booking"] = ("calculate_move_charge", "move", "charge", "agreed_charge")


def play(world, tool, arguments):
    """A call; what needs an agreed amount gets the one that is quoted, and is done if and only if there is a quote."""
    quote = None
    if tool in QUOTES:
        asked, group, amount, agreed = QUOTES[tool]
        quote = asyncio.run(DESK.call(world, ToolCall(asked, arguments)))
        told = 0 if quote.result.is_error else quote.result.structured[group][amount]
        arguments = {**arguments, agreed: told}
    rehearsal = asyncio.run(DESK.call(world, ToolCall(tool, arguments)))
    assert rehearsal.layer == "dynamics", (rehearsal.layer, rehearsal.result.first_text)
    assert quote is None or quote.result.is_error is rehearsal.result.is_error, rehearsal.result.first_text
    return rehearsal


@settings(max_examples=80, deadline=None)
@given(
    st.lists(CALLS, min_size=1, max_size=12),
    st.sampled_from([None, "2026-05-20T13:00:00+00:00", "2026-05-22T09:00:00+00:00"]),
)
def test_the_books_balance_whatever_is_done(calls, clock):
    world = DESK.world(clock=datetime.fromisoformat(clock) if clock else None)
    for tool, arguments in calls:
        play(world, tool, arguments)
    check_books(world.state)
    assert stock(world.state) == STOCK
