"""What the airline's tools do for a journey: moves, waitlists, seats, bags and what can be looked up."""

from airline_books import check_books
from airline_desk import DESK, at, done, refused


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
    assert done(world, "calculate_move_charge", **{**move, "booking_ref": "BK40319"})["move"]["charge"] == 66
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
