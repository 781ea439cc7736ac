"""The policies of the retail toolset: what its tools refuse, and what they work out."""

import asyncio
import json
import re
from pathlib import Path

import pytest
from retail_books import check_books

from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.shipped import shipped
from envace_sdk.world.expressions import compile_template

_REFUSALS = Path(__file__).parent.parent / "data" / "retail_refusals.jsonl"
REFUSALS = [json.loads(line) for line in _REFUSALS.read_text(encoding="utf-8").splitlines()]
"""Calls with what their refusal says; where the start data are not enough, calls before it, or fields of an order."""
LOADED = Environment.load(shipped()["retail"])
# Without the recordings, so that every answer here comes from the rules.
SHOP = Environment(LOADED.toolset, dynamics=LOADED.dynamics, start=LOADED.start)


def call(world, tool, arguments):
    return asyncio.run(SHOP.call(world, ToolCall(tool, arguments)))


def done(*calls):
    """Make calls on a fresh world; answers what the last one gave, and the state after it."""
    world, value = SHOP.world(), None
    for tool, arguments in calls:
        rehearsal = call(world, tool, arguments)
        assert not rehearsal.result.is_error, rehearsal.result.first_text
        value = rehearsal.result.structured
    return value, world.state


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: f"{case['tool']}: {case['says'][:50]}")
def test_a_policy_refuses_in_its_own_words_and_changes_nothing(case):
    world = SHOP.world()
    for order_id, fields in case.get("order", {}).items():
        order = world.state.get("orders", order_id)
        world.commit(world.state.put("orders", order_id, {**order, **fields}))
    for earlier in case.get("before", ()):
        assert not call(world, earlier["tool"], earlier["arguments"]).result.is_error, earlier
    before = world.state
    rehearsal = call(world, case["tool"], case["arguments"])
    assert rehearsal.result.is_error
    assert rehearsal.result.first_text == case["says"]
    assert rehearsal.layer == "dynamics"
    assert rehearsal.outcome in {"not_found", "conflict", "permission_error", "validation_error"}
    assert world.state.collections == before.collections


def test_every_precondition_of_every_tool_is_among_the_refusals():
    missing = []
    for name, rule in SHOP.dynamics.tools.items():
        said = [case["says"] for case in REFUSALS if case["tool"] == name]
        for requirement in rule.requires:
            parts = compile_template(requirement.error).parts
            form = "".join(re.escape(part) if isinstance(part, str) else ".+" for part in parts)
            if not any(re.fullmatch(form, text) for text in said):
                missing.append((name, requirement.error))
    assert missing == []


def line(sku, quantity=1, **more):
    return {"sku": sku, "quantity": quantity, **more}


def order_of(customer="C-30217", lines=(), label="home", method="standard", pay="card", **more):
    return {
        "customer_id": customer,
        "lines": list(lines) or [line("WAX007-STD")],
        "address_label": label,
        "delivery_method": method,
        "payment_method": pay,
        **more,
    }


def return_of(order, sku, quantity=1, reason="changed_mind", refund_to="original_payment"):
    return {"order_id": order, "lines": [line(sku, quantity)], "reason": reason, "refund_to": refund_to}


def grant(customer, order, reason, amount, **more):
    return {
        "customer_id": customer,
        "order_id": order,
        "reason": reason,
        "amount": amount,
        "note": "As agreed.",
        **more,
    }


PAID_WITH_CREDIT = ("place_order", order_of("C-31487", [line("MUG044-300", 4)], use_store_credit=True))


def test_an_order_by_bank_transfer_waits_and_sets_stock_aside():
    order, state = done(("place_order", order_of(lines=[line("FEN210-43", 2)], pay="bank_transfer")))
    assert (order["status"], order["payment"]["due"], order["payment"]["charged"]) == ("awaiting_payment", 378, 0)
    assert order["lines"][0]["warehouse"] == "GHENT"
    assert state.get("stock", '["FEN210-43", "GHENT"]')["available"] == 1
    assert order["points_earned"] == 378
    check_books(state)


def test_store_credit_is_spent_first_and_comes_back_on_cancelling():
    order, state = done(PAID_WITH_CREDIT)
    assert (order["payment"]["store_credit_used"], order["payment"]["charged"]) == (57, 8.1)
    assert state.get("customers", "C-31487")["store_credit"] == 0
    check_books(state)
    cancelled, state = done(
        PAID_WITH_CREDIT, ("cancel_order", {"order_id": order["order_id"], "reason": "changed_mind"})
    )
    assert cancelled["payment"]["refunded"] == 65.1
    assert state.get("customers", "C-31487")["store_credit"] == 57
    assert state.get("customers", "C-31487")["points"] == SHOP.start.get("customers", "C-31487")["points"]
    check_books(state)


def test_an_order_can_be_paid_with_store_credit_alone_whatever_becomes_cheaper_comes_back_as_credit():
    calls = [
        (
            "place_order",
            order_of("C-31487", [line("KTL212-BLUE")], pay="store_credit", use_store_credit=True, gift_wrap=True),
        ),
        ("set_gift_options", {"order_id": "TT-26-04156", "wrapped": False, "note": "Groetjes"}),
    ]
    order, state = done(*calls)
    assert order["totals"]["total"] == order["payment"]["store_credit_used"] == 42.4
    assert order["gift"] == {"wrapped": False, "note": "Groetjes"}
    assert state.get("customers", "C-31487")["store_credit"] == 14.6
    check_books(state)


@pytest.mark.parametrize(
    ("more", "delivery"),
    [
        ({"lines": [line("KTL212-BLUE")]}, 5.9),
        ({"lines": [line("KTL212-BLUE", 3)]}, 0),
        ({"lines": [line("KTL212-BLUE")], "voucher_code": "FREEHAUL"}, 0),
        ({"lines": [line("KTL212-BLUE", 3)], "method": "express"}, 12.9),
        ({"customer": "C-30826", "lines": [line("KTL212-BLUE")]}, 0),
        ({"lines": [line("SHV115-STD")], "method": "freight"}, 39),
    ],
)
def test_delivery_costs_what_the_house_rules_say(more, delivery):
    order, state = done(("place_order", order_of(**more)))
    assert order["totals"]["delivery"] == delivery
    check_books(state)


def test_a_swap_at_another_price_moves_totals_points_and_the_charge():
    swap = ("swap_variant", {"order_id": "TT-26-04121", "sku": "CHS504-4", "new_sku": "CHS504-6"})
    order, state = done(swap)
    assert order["totals"]["total"] == order["payment"]["charged"] == 182.5
    assert order["points_earned"] == 228
    points = SHOP.start.get("customers", "C-31442")["points"]
    assert state.get("customers", "C-31442")["points"] == points + 50
    check_books(state)


def test_a_return_of_several_lines_never_brings_more_than_was_paid():
    arguments = {
        "order_id": "TT-26-03948",
        "lines": [line("GAL222-S"), line("HUS118-S"), line("KNT077-PINE")],
        "reason": "faulty",
        "refund_to": "original_payment",
    }
    quote, _ = done(("quote_return", arguments))
    assert 312.88 <= quote["refund_amount"] <= 312.9
    assert (quote["parcel_fee"], quote["restocking_fee"]) == (0, 0)


def test_a_withdrawn_return_can_be_opened_again_while_the_window_is_open():
    again = return_of("TT-26-04021", "SCR115-42", reason="wrong_size")
    back, state = done(("withdraw_return", {"return_id": "RT-05120"}), ("open_return", again))
    assert back["return_id"] == "RT-05124"
    assert state.get("orders", "TT-26-04021")["lines"][0]["quantity_returned"] == 1
    check_books(state)


def test_a_settled_refund_as_store_credit_is_booked_on_the_account():
    arrived = SHOP.world()
    back = arrived.state.get("returns", "RT-05123")
    arrived.commit(arrived.state.put("returns", "RT-05123", {**back, "status": "received"}))
    call = ToolCall(
        "settle_return", {"return_id": "RT-05123", "inspection": [{"sku": "KTL212-BLUE", "condition": "damaged"}]}
    )
    rehearsal = asyncio.run(SHOP.call(arrived, call))
    assert rehearsal.result.value()["refund_amount"] == 36.5
    assert arrived.state.get("customers", "C-30415")["store_credit"] == 36.5
    check_books(arrived.state)


def test_searching_the_catalogue_pages_to_the_end_without_gaps():
    world, seen, cursor = SHOP.world(), [], None
    while True:
        arguments = {"page_size": 7, **({"cursor": cursor} if cursor else {})}
        page = asyncio.run(SHOP.call(world, ToolCall("search_catalogue", arguments))).result.value()
        assert page["total_matches"] == 30
        seen += [product["product_id"] for product in page["products"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == sorted(SHOP.start.collection("products"))


def test_customers_are_found_by_any_saved_postal_code():
    found, _ = done(("find_customers", {"postal_code": "24306"}))
    assert [customer["customer_id"] for customer in found["customers"]] == ["C-30826"]
    found, _ = done(("find_customers", {"query": "brinkmann", "tier": "trail"}))
    assert found["total_matches"] == 2


def test_orders_are_listed_newest_first_and_by_what_they_hold():
    listed, _ = done(("list_orders", {"customer_id": "C-31176", "limit": 2}))
    assert [order["order_id"] for order in listed["orders"]] == ["TT-26-04064", "TT-26-04013"]
    assert listed["total_matches"] == 3
    listed, _ = done(("list_orders", {"customer_id": "C-31176", "containing": "FEN210", "placed_to": "2026-08-15"}))
    assert [order["order_id"] for order in listed["orders"]] == ["TT-26-03801"]
