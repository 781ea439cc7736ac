"""The policies of the banking toolset: what its tools refuse, and what they work out."""

import asyncio
import json
import re
from datetime import datetime
from pathlib import Path

import pytest
from banking_books import available, check_bank

from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.shipped import shipped
from envace_sdk.world.diff import diff
from envace_sdk.world.expressions import compile_template
from envace_sdk.world.keys import key_text
from envace_sdk.world.seed_data import read_start
from envace_sdk.world.state import State

_REFUSALS = Path(__file__).parent.parent / "data" / "banking_refusals.jsonl"
REFUSALS = [json.loads(line) for line in _REFUSALS.read_text(encoding="utf-8").splitlines()]
"""Calls with what their refusal says; where the start data are not enough, calls before it, or fields of an entity."""
FOLDER = shipped()["banking"]
LOADED = Environment.load(FOLDER)
CLOCK, COLLECTIONS = read_start(json.loads((FOLDER / "world.json").read_text(encoding="utf-8")), "world.json")
# Without the recordings, so that every answer here comes from the rules.
BANK = Environment(
    LOADED.toolset,
    dynamics=LOADED.dynamics,
    start=State.start(clock=CLOCK, collections=COLLECTIONS, dynamics=LOADED.dynamics),
)


def call(world, tool, arguments):
    return asyncio.run(BANK.call(world, ToolCall(tool, arguments)))


def done(world, tool, **arguments):
    rehearsal = call(world, tool, arguments)
    assert not rehearsal.result.is_error, rehearsal.result.first_text
    check_bank(world.state)
    return rehearsal.result.structured


def refused(world, tool, **arguments):
    rehearsal = call(world, tool, arguments)
    assert rehearsal.result.is_error, rehearsal.result.structured
    return rehearsal.result.first_text


def at(moment):
    return BANK.world(clock=datetime.fromisoformat(moment))


def patch(world, collection, key, **fields):
    name = key_text(key)
    world.commit(world.state.put(collection, name, {**world.state.get(collection, name), **fields}))


def payee(account_id, name):
    (found,) = (p for p in BANK.start.collection("payees").find("account_id", account_id) if p["name"] == name)
    return {"account_id": account_id, "payee_id": found["payee_id"]}


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: f"{case['tool']}: {case['says'][:50]}")
def test_a_policy_refuses_in_its_own_words_and_changes_nothing(case):
    world = at(case["clock"]) if "clock" in case else BANK.world()
    for collection, key, fields in case.get("with", ()):
        patch(world, collection, key, **fields)
    for earlier in case.get("before", ()):
        assert not call(world, earlier["tool"], earlier["arguments"]).result.is_error, earlier
    before = world.state
    rehearsal = call(world, case["tool"], case["arguments"])
    assert rehearsal.result.is_error
    assert rehearsal.result.first_text == case["says"]
    assert (rehearsal.layer, rehearsal.outcome) == ("dynamics", case["status"])
    assert diff(before, world.state) == []


def test_every_precondition_of_every_tool_is_among_the_refusals():
    missing = []
    for name, rule in BANK.dynamics.tools.items():
        said = [case["says"] for case in REFUSALS if case["tool"] == name]
        wordings = [requirement.error for requirement in rule.requires] + ([rule.missing] if rule.missing else [])
        for wording in wordings:
            parts = compile_template(wording).parts
            form = "".join(re.escape(part) if isinstance(part, str) else ".*" for part in parts)
            if not any(re.fullmatch(form, text) for text in said):
                missing.append((name, wording))
    assert missing == []


OARS = {**payee("AG-4402-1188", "Osier & Sons Boatbuilders"), "amount": 54000, "purpose": "Oars"}


def test_an_order_on_a_two_key_account_is_booked_with_the_second_signature():
    world = BANK.world()
    first = done(world, "create_payment", **OARS, instructed_by="M-19877")["payment"]
    assert (first["status"], first["signed_by"], first["signatures_needed"]) == ("awaiting_release", ["M-19877"], 2)
    assert world.state.get("accounts", "AG-4402-1188") == BANK.start.get("accounts", "AG-4402-1188")
    both = done(world, "release_payment", payment_id=first["payment_id"], signed_by="M-19702")
    assert (both["payment"]["status"], both["payment"]["leaves_at"]) == ("booked", "2026-06-16T15:30:00Z")
    assert both["available"] == available(BANK.start, "AG-4402-1188") - 54000


def test_what_a_bookkeeper_prepares_needs_two_others():
    world = BANK.world()
    order = done(world, "create_payment", **OARS, instructed_by="M-20562")["payment"]
    assert order["signed_by"] == []
    for member, status in (("M-19702", "awaiting_release"), ("M-19877", "booked")):
        released = done(world, "release_payment", payment_id=order["payment_id"], signed_by=member)["payment"]
        assert released["status"] == status


def test_a_flag_waits_for_the_call_back_of_the_last_signer():
    world = BANK.world()
    joinery = payee("AG-4407-8871", "Fenwick & Daughters Joinery")
    order = done(world, "create_payment", **joinery, amount=140000, purpose="Sluice", instructed_by="M-20205")[
        "payment"
    ]
    assert order["flags"] == []  # it was paid before
    patch(world, "payments", order["payment_id"], flags=["name_differs"])
    last = {"payment_id": order["payment_id"], "signed_by": "M-19702"}
    assert "call Hamish Quillfeather back" in refused(world, "release_payment", **last)
    booked = done(world, "release_payment", **last, callback_number="+441632960702")["payment"]
    assert booked["callback"] == {
        "number": "+44 1632 960 702",
        "member_id": "M-19702",
        "at": "2026-06-16T09:20:01Z",
    }


@pytest.mark.parametrize(
    ("account_id", "name", "amount", "who", "flags"),
    [
        ("AG-4479-3521", "Fenwick & Daughters Joinery", 99999, "M-20602", []),
        ("AG-4479-3521", "Fenwick & Daughters Joinery", 100000, "M-20602", ["new_payee"]),
        ("AG-4479-3521", "Quickcoin Trading", 100, "M-20602", ["watched_bank"]),
        ("AG-4492-0345", "Brightwell Solicitors", 650000, "M-20688", ["empties_account"]),
        ("AG-4492-0345", "Brightwell Solicitors", 299999, "M-20688", []),
        ("AG-4480-9316", "Fenwick Joinery", 500, "M-20615", ["name_differs"]),
        ("AG-4410-2284", "Ottilie Brandreth", 1000000, "M-20417", []),
    ],
)
def test_flags_follow_the_house_rules(account_id, name, amount, who, flags):
    order = {**payee(account_id, name), "amount": amount, "instructed_by": who}
    previewed = done(BANK.world(), "preview_payment", **order)
    assert previewed["flags"] == flags
    assert previewed["status"] == ("awaiting_release" if flags else "booked")


@pytest.mark.parametrize(
    ("clock", "speed", "value_date"),
    [
        ("2026-06-16T15:29:59Z", "batch", "2026-06-16"),
        ("2026-06-16T15:30:00Z", "batch", "2026-06-17"),
        ("2026-06-23T16:00:00Z", "batch", "2026-06-25"),  # over Weavers' Fair
        ("2026-06-19T18:00:00Z", "batch", "2026-06-22"),  # over the weekend
        ("2026-06-20T11:00:00Z", "batch", "2026-06-22"),
        ("2026-06-20T11:00:00Z", "instant", "2026-06-20"),
    ],
)
def test_the_batch_leaves_on_banking_days_and_instant_payments_at_once(clock, speed, value_date):
    order = {**payee("AG-4488-5562", "Greyfriars Dental Practice"), "amount": 8460, "instructed_by": "M-20672"}
    assert done(at(clock), "preview_payment", **order, speed=speed)["value_date"] == value_date


def test_a_payment_within_the_house_arrives_at_once_and_is_free():
    world = BANK.world()
    haulage = payee("AG-4417-0931", "Lockside Haulage")
    paid = done(world, "create_payment", **haulage, amount=92500, purpose="June", instructed_by="M-20033")["payment"]
    assert (paid["fee"], paid["leaves_at"], paid["status"]) == (0, None, "booked")
    got = world.state.get("accounts", "AG-4421-5503")["balance"]
    assert got == BANK.start.get("accounts", "AG-4421-5503")["balance"] + 92500
    (entry,) = done(world, "list_entries", account_id="AG-4421-5503", text="kilnhouse", booked_from="2026-06-16")[
        "entries"
    ]
    assert (entry["amount"], entry["balance_after"], entry["counterparty"]) == (92500, got, "Kilnhouse Ceramics")


def test_a_payment_within_the_house_arrives_with_the_last_signature():
    world = BANK.world()
    (order,) = (p for p in BANK.start.collection("payments").values() if p["purpose"] == "Share of the jetty lamp")
    released = done(world, "release_payment", payment_id=order["payment_id"], signed_by="M-20205")
    assert released["payment"]["status"] == "booked"
    for account_id, change in (("AG-4407-8871", -12500), ("AG-4402-1188", 12500)):
        assert available(world.state, account_id) == available(BANK.start, account_id) + change


def test_a_cancelled_payment_gives_back_amount_and_fee_and_the_fee_only_once():
    world = BANK.world()
    (order,) = (p for p in BANK.start.collection("payments").values() if p["purpose"] == "Invoice 5-4701")
    (fee,) = (
        e for e in BANK.start.collection("entries").find("payment_id", order["payment_id"])
        if e["kind"] == "fee" and e["account_id"] == "AG-4419-6208"
    )  # fmt: skip
    cancelled = done(
        world, "cancel_payment", payment_id=order["payment_id"], instructed_by="M-20340", reason="Wrong invoice"
    )
    assert cancelled["returned"] == 118260 + 12
    assert "given back already" in refused(world, "refund_fee", entry_id=fee["entry_id"], reason="courtesy")


def test_a_fee_that_was_refunded_does_not_come_back_with_the_payment():
    world = BANK.world()
    (order,) = (p for p in BANK.start.collection("payments").values() if p["purpose"] == "Invoice 5-4701")
    entries = world.state.collection("entries").find("payment_id", order["payment_id"])
    (fee,) = (e for e in entries if e["kind"] == "fee" and e["account_id"] == "AG-4419-6208")
    done(world, "refund_fee", entry_id=fee["entry_id"], reason="courtesy")
    cancelled = done(
        world, "cancel_payment", payment_id=order["payment_id"], instructed_by="M-20340", reason="Wrong invoice"
    )
    assert cancelled["returned"] == 118260


def test_the_batch_can_be_stopped_until_it_leaves():
    (order,) = (p for p in BANK.start.collection("payments").values() if p["purpose"] == "Leek seedlings")
    cancel = {"payment_id": order["payment_id"], "instructed_by": "M-20588", "reason": "Too many leeks"}
    assert "left with the batch" in refused(at("2026-06-16T15:30:00Z"), "cancel_payment", **cancel)
    assert done(at("2026-06-16T15:29:59Z"), "cancel_payment", **cancel)["returned"] == 6480


def test_a_paused_order_is_taken_up_again_and_an_ended_one_is_not():
    world = BANK.world()
    (paused,) = (o for o in BANK.start.collection("standing_orders").values() if o["status"] == "paused")
    change = {"standing_order_id": paused["standing_order_id"], "instructed_by": "M-20661"}
    again = done(world, "update_standing_order", **change, status="active", next_on="2026-09-08")["standing_order"]
    assert (again["status"], again["next_on"]) == ("active", "2026-09-08")
    ended = done(world, "update_standing_order", **change, status="ended")["standing_order"]
    assert (ended["status"], ended["next_on"]) == ("ended", None)
    assert "has ended" in refused(world, "update_standing_order", **change, status="active")


def test_a_lower_amount_needs_no_second_signature():
    world = BANK.world()
    (mooring,) = (o for o in BANK.start.collection("standing_orders").find("account_id", "AG-4402-1188"))
    change = {"standing_order_id": mooring["standing_order_id"], "instructed_by": "M-19877"}
    assert "has two keys" in refused(world, "update_standing_order", **change, amount=24501)
    assert done(world, "update_standing_order", **change, amount=20000)["standing_order"]["amount"] == 20000


def test_who_may_only_view_may_still_stop_a_card():
    world = BANK.world()
    card = {"card_id": "CD-5515", "instructed_by": "M-20650"}
    assert done(world, "update_card", **card, frozen=True)["card"]["status"] == "frozen"
    assert "may freeze card" in refused(world, "update_card", **card, frozen=False)
    assert done(world, "block_card", **card, reason="misused")["card"]["status"] == "blocked"


@pytest.mark.parametrize(
    ("reason", "police_reference", "fee"),
    [("lost", None, 1000), ("stolen", None, 1000), ("stolen", "AP204417", 0), ("misused", None, 0), (None, None, 0)],
)
def test_a_new_card_costs_what_the_house_rules_say(reason, police_reference, fee):
    world = BANK.world()
    before = available(world.state, "AG-4476-0077")
    card = {"card_id": "CD-5524", "instructed_by": "M-20588"}
    if reason:
        done(world, "block_card", **card, reason=reason)
    more = {"police_reference": police_reference} if police_reference else {}
    new = done(world, "replace_card", **card, deliver_to="address", **more)
    assert (new["fee"], new["ready_on"], new["card"]["expires_on"]) == (fee, "2026-06-22", "2030-06-30")
    assert available(world.state, "AG-4476-0077") == before - fee
    old = world.state.get("cards", "CD-5524")
    assert (old["status"], old["block_reason"], old["replaced_by"]) == ("blocked", reason or "worn", "CD-5542")


@pytest.mark.parametrize(
    ("counterparty", "reason", "amount", "credited"),
    [
        ("Nightjar Electronics", "unauthorised", None, 59900),
        ("Nightjar Electronics", "unauthorised", 5000, 0),
        ("Northlight Streaming", "direct_debit_objection", None, 1290),
        ("Otterbank Cafe", "not_as_described", None, 0),
    ],
)
def test_a_dispute_credits_what_the_house_rules_say(counterparty, reason, amount, credited):
    world = BANK.world()
    done(world, "block_card", card_id="CD-5522", instructed_by="M-20533", reason="stolen")
    entries = world.state.collection("entries").find("account_id", "AG-4470-2288")
    entry = next(e for e in entries if e["counterparty"] == counterparty)
    more = {"amount": amount} if amount else {}
    opened = done(
        world, "open_dispute", entry_id=entry["entry_id"], instructed_by="M-20533", reason=reason,
        note="This is what happened.", **more,
    )  # fmt: skip
    assert opened["dispute"]["credited"] == credited
    assert opened["available"] == available(BANK.start, "AG-4470-2288") + credited


def test_holds_count_until_their_last_day():
    for clock, fuel in (("2026-06-18T23:00:00Z", 12000), ("2026-06-19T00:00:00Z", 0)):
        account = done(at(clock), "get_account", account_id="AG-4410-2276")
        assert account["available"] == account["account"]["balance"] + 150000 - 32000 - fuel
    world = BANK.world()
    lapsed = next(h for h in BANK.start.collection("holds").find("account_id", "AG-4498-2803"))
    freed = done(world, "release_hold", hold_id=lapsed["hold_id"], instructed_by="M-20650")
    assert freed["available"] == available(BANK.start, "AG-4498-2803")  # it had not counted any more


def test_orders_to_sign_are_found_for_whoever_may_sign_them():
    waiting = done(BANK.world(), "list_payments", signable_by="M-19702")["payments"]
    assert {p["purpose"] for p in waiting} == {"Sails for two dinghies", "Wheel paddles, second part"}
    assert done(BANK.world(), "list_payments", signable_by="M-20562")["total"] == 0


def test_pages_together_hold_everything_once():
    world = BANK.world()
    whole = done(world, "list_entries", account_id="AG-4421-5503", limit=50)
    found, cursor = [], None
    while True:
        more = {"cursor": cursor} if cursor else {}
        page = done(world, "list_entries", account_id="AG-4421-5503", limit=7, **more)
        found += page["entries"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == whole["entries"]
    assert len(found) == whole["total"]
    assert found == sorted(found, key=lambda e: (e["booked_at"], e["entry_id"]), reverse=True)
