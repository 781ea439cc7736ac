"""What must be true of the airline at any time: references hold, seats, weights and money add up."""

from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise

from envace_sdk.world.state import State

LIVE = {"open", "checked_in"}
HEAVIEST = {"suitcase": 23, "sports": 32, "kennel": 40}


def cents(amount):
    assert abs(amount * 100 - round(amount * 100)) < 1e-6, amount
    return round(amount * 100)


def moment(text):
    return datetime.fromisoformat(text)


def age(born, day):
    return int(day[:4]) - int(born[:4]) - (day[5:] < born[5:])


def stock(state: State) -> dict[str, tuple]:
    """Per flight: seats, hold weight and places for minors, sold to our bookings or free, and the seats that others
    have. No call makes or loses any of it.
    """
    found = {
        f["flight_id"]: [f["seats_left"], f["hold_kg_left"], f["minors_left"], set(f["seats_taken"])]
        for f in state.collection("flights").values()
    }
    for ticket in state.collection("tickets").values():
        passenger, counts = state.get("passengers", ticket["passenger_id"]), found[ticket["flight_id"]]
        if ticket["status"] != "void":
            counts[0] += passenger["kind"] != "infant"
            counts[2] += passenger["unaccompanied"]
            counts[3].discard(ticket["seat"])
    for bag in state.collection("bags").values():
        if bag["status"] != "cancelled":
            found[state.get("tickets", bag["ticket_no"])["flight_id"]][1] += bag["weight_kg"]
    return {flight: tuple(counts) for flight, counts in found.items()}


def check_books(state: State) -> None:
    """All that must be true of the airline at any time."""
    spent: Counter[str] = Counter()
    for booking in state.collection("bookings").values():
        check_booking(booking, state)
        if booking["voucher_code"] is not None:
            spent[booking["voucher_code"]] += cents(booking["paid_voucher"]) - cents(booking["refunded_voucher"])
    for voucher in state.collection("vouchers").values():
        assert 0 <= voucher["balance"] <= voucher["value"], voucher
        assert cents(voucher["value"]) - cents(voucher["balance"]) == spent[voucher["voucher_code"]], voucher
        assert voucher["issued_on"] < voucher["valid_until"], voucher
        assert voucher["booking_ref"] is None or state.get("bookings", voucher["booking_ref"]), voucher
    for flight in state.collection("flights").values():
        check_flight(flight, state)
    for ticket in state.collection("tickets").values():
        check_ticket(ticket, state)
    for bag in state.collection("bags").values():
        check_bag(bag, state)
    check_waitlists(state)
    for claim in state.collection("baggage_claims").values():
        bag, ticket = state.get("bags", claim["bag_id"]), state.get("tickets", claim["ticket_no"])
        assert (bag["ticket_no"], bag["booking_ref"]) == (claim["ticket_no"], claim["booking_ref"]), claim
        assert state.get("flights", ticket["flight_id"])["status"] == "arrived", claim
        assert (claim["kind"] == "missing") is (claim["deliver_to"] is not None), claim
        assert claim["kind"] != "missing" or claim["status"] == "settled" or bag["status"] == "missing", claim


def check_booking(booking, state: State) -> None:
    name = booking["booking_ref"]
    tickets = list(state.collection("tickets").find("booking_ref", name))
    passengers = list(state.collection("passengers").find("booking_ref", name))
    bags = list(state.collection("bags").find("booking_ref", name))
    assert len(passengers) == booking["party"], name
    assert len(tickets) == len(passengers) * (len(booking["route"]) - 1), name
    sold = sum(cents(t["price"]) + cents(t["seat_price"]) for t in tickets) + sum(cents(b["price"]) for b in bags)
    assert cents(booking["total"]) == sold + cents(booking["fees"]), name
    paid = cents(booking["paid_card"]) + cents(booking["paid_voucher"])
    status = booking["status"]
    if status in {"cancelled", "lapsed"}:
        assert paid in {0, cents(booking["total"])}, name
        assert booking["due"] == 0, name
    else:
        assert paid + cents(booking["due"]) == cents(booking["total"]), name
        assert (booking["due"] > 0) is (status == "held"), name
    assert 0 <= booking["refunded_card"] <= booking["paid_card"], name
    assert 0 <= booking["refunded_voucher"] <= booking["paid_voucher"], name
    assert booking["voucher_code"] is not None or booking["paid_voucher"] == 0, name
    assert (booking["cancelled_at"] is not None) is (status == "cancelled"), name
    assert (booking["hold_until"] is not None) is (status in {"held", "lapsed"}), name
    assert (booking["guardians"] is not None) is booking["unaccompanied"], name
    live = [t for t in tickets if t["status"] in LIVE]
    assert bool(live) is (status in {"held", "confirmed"}), name
    assert all(t["status"] == "void" for t in tickets if status == "lapsed"), name
    assert all(one["at"] <= other["at"] for one, other in pairwise(booking["history"])), name
    for passenger in passengers:
        check_passenger(passenger, booking, passengers, tickets, state)


def check_passenger(passenger, booking, passengers, tickets, state: State) -> None:
    name = passenger["passenger_id"]
    own = sorted((t for t in tickets if t["passenger_id"] == name), key=lambda t: t["leg"])
    flights = [state.get("flights", t["flight_id"]) for t in own]
    assert [t["ticket_no"] for t in own] == [f"{name}-L{leg}" for leg in range(1, len(own) + 1)], name
    assert [f["origin"] for f in flights] + [flights[-1]["destination"]] == booking["route"], name
    for one, other in pairwise(flights):
        least = timedelta(minutes=state.get("airports", other["origin"])["minimum_connection"])
        planned = moment(other["departs_at"]) - moment(one["arrives_at"])
        expected = moment(other["expected_departs_at"]) - moment(one["expected_arrives_at"])
        assert max(planned, expected) >= least, name
    others = [t for t in tickets if t["leg"] == 1 and t["passenger_id"] != name]
    assert all(t["flight_id"] == own[0]["flight_id"] for t in others), name
    years = age(passenger["birth_date"], flights[0]["date"])
    assert passenger["kind"] == ("infant" if years < 2 else "child" if years < 12 else "adult"), name
    grown = [p for p in passengers if age(p["birth_date"], flights[0]["date"]) >= 16]
    assert passenger["unaccompanied"] is (not grown and passenger["kind"] == "child"), name
    assert sum(p["kind"] == "infant" for p in passengers) <= len(grown), name
    small = [t for t, f in zip(own, flights, strict=True) if f["aircraft"] == "dart" and t["status"] in LIVE]
    assert "wheelchair_cabin" not in passenger["assistance"] or not small, name


def check_flight(flight, state: State) -> None:
    name, plane = flight["flight_id"], state.get("aircraft", flight["aircraft"])
    taken, seats = flight["seats_taken"], plane["seats"]
    assert len(set(taken)) == len(taken), name
    assert set(taken) <= set(seats), name
    assert flight["seats_left"] >= 0, name
    assert 0 <= flight["hold_kg_left"] <= plane["hold_kg"], name
    assert 0 <= flight["minors_left"] <= plane["minors"], name
    here = [t for t in state.collection("tickets").find("flight_id", name) if t["status"] in LIVE]
    given = [t["seat"] for t in here if t["seat"] is not None]
    assert len(set(given)) == len(given), name
    assert set(given) <= set(taken), name
    standing = sum(t["seat"] is None and state.get("passengers", t["passenger_id"])["kind"] != "infant" for t in here)
    assert len(taken) + standing + flight["seats_left"] <= len(seats), name  # whoever has no seat yet finds one
    pets = [
        bag
        for bag in state.collection("bags").find("kind", "kennel")
        if bag["status"] in {"booked", "checked_in"} and state.get("tickets", bag["ticket_no"])["flight_id"] == name
    ]
    assert len(pets) <= 1, name


def check_ticket(ticket, state: State) -> None:
    name, flight = ticket["ticket_no"], state.get("flights", ticket["flight_id"])
    passenger, plane = state.get("passengers", ticket["passenger_id"]), state.get("aircraft", flight["aircraft"])
    waiting = flight["status"] in {"scheduled", "delayed", "cancelled"}
    assert ticket["status"] not in LIVE or waiting, name
    assert ticket["status"] not in {"flown", "no_show"} or flight["status"] in {"departed", "arrived"}, name
    assert min(ticket["price"], ticket["seat_price"]) >= 0, name
    for earlier in ticket["earlier_flight_ids"]:
        assert state.get("flights", earlier)["origin"] == flight["origin"], name
    assert passenger["kind"] != "infant" or ticket["seat"] is None, name
    if ticket["status"] in LIVE and ticket["seat"] is not None:
        assert ticket["seat"] in plane["seats"], name
        assert not passenger["unaccompanied"] or ticket["seat"] in plane["front_seats"], name
    assert ticket["status"] != "checked_in" or passenger["kind"] == "infant" or ticket["seat"], name


def check_bag(bag, state: State) -> None:
    name, ticket = bag["bag_id"], state.get("tickets", bag["ticket_no"])
    flight = state.get("flights", ticket["flight_id"])
    assert bag["booking_ref"] == ticket["booking_ref"], name
    assert bag["weight_kg"] <= HEAVIEST[bag["kind"]], name
    assert bag["kind"] == "suitcase" or flight["aircraft"] == "swift", name
    others = state.collection("bags").find("ticket_no", bag["ticket_no"])
    assert sum(other["status"] != "cancelled" for other in others) <= 3, name
    expected = {
        "open": {"booked"},
        "checked_in": {"checked_in"},
        "flown": {"checked_in", "delivered", "missing"},
        "void": {"cancelled"},
    }
    assert bag["status"] in expected[ticket["status"]], name


def check_waitlists(state: State) -> None:
    by_flight: Counter[str] = Counter()
    by_booking: Counter[str] = Counter()
    for entry in state.collection("waitlist_entries").values():
        name, booking = entry["entry_id"], state.get("bookings", entry["booking_ref"])
        flight, own = (state.get("flights", entry[f]) for f in ("flight_id", "instead_of_flight_id"))
        assert booking["status"] == "confirmed", name
        assert not booking["unaccompanied"], name
        assert (flight["origin"], flight["destination"]) == (own["origin"], own["destination"]), name
        tickets = [
            t
            for t in state.collection("tickets").find("booking_ref", entry["booking_ref"])
            if t["flight_id"] == entry["instead_of_flight_id"] and t["status"] in LIVE
        ]
        seated = [t for t in tickets if state.get("passengers", t["passenger_id"])["kind"] != "infant"]
        assert len(seated) == entry["seats"], name
        assert entry["priority"] == 1 or (entry["priority"] == 2) is (booking["fare"] == "blaze"), name
        by_flight[entry["flight_id"]] += entry["seats"]
        by_booking[entry["booking_ref"]] += 1
    assert max(by_flight.values(), default=0) <= 6
    assert max(by_booking.values(), default=0) <= 2
