"""The retail toolset's books balance at the start, and whatever is done after it."""

import asyncio
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retail_books import WAREHOUSES, check_books

from envace_sdk.rehearse import Environment
from envace_sdk.tasks import load_tasks
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.shipped import shipped

RETAIL = shipped()["retail"]
LOADED = Environment.load(RETAIL)
# Without the recordings, so that every answer here comes from the rules.
SHOP = Environment(LOADED.toolset, dynamics=LOADED.dynamics, start=LOADED.start)


def test_the_books_balance_at_the_start():
    check_books(SHOP.start)


def test_every_variant_has_a_product_and_stock_in_each_warehouse():
    start = SHOP.start
    for variant in start.collection("variants").values():
        assert start.get("products", variant["product_id"]), variant
        assert all(start.get("stock", f'["{variant["sku"]}", "{place}"]') for place in WAREHOUSES), variant
    for product in start.collection("products").values():
        prices = [v["price"] for v in start.collection("variants").find("product_id", product["product_id"])]
        assert product["price_from"] == min(prices), product
        assert product["returnable"] is (product["return_exclusion"] is None), product
        assert (product["variant_axis"] is None) is (len(prices) == 1), product


def test_nothing_in_the_start_data_happens_after_the_clock_or_a_customer_had_joined():
    start = SHOP.start
    now = start.clock.strftime("%Y-%m-%dT%H:%M:%SZ")
    for name in ("orders", "shipments", "returns", "credit_entries", "cases"):
        for document in start.collection(name).values():
            for field, value in document.items():
                assert not (field.endswith("_at") and value is not None) or value <= now, (document, field)
    for order in start.collection("orders").values():
        assert start.get("customers", order["customer_id"])["joined_on"] <= order["placed_at"], order["order_id"]


def test_addresses_of_start_data_are_written_as_the_post_wants_them():
    forms = {"DE": r"\d{5}", "AT": r"\d{4}", "BE": r"\d{4}", "DK": r"\d{4}", "FR": r"\d{5}", "NL": r"\d{4} [A-Z]{2}"}
    for customer in SHOP.start.collection("customers").values():
        for address in customer["addresses"]:
            assert re.fullmatch(forms[address["country"]], address["postal_code"]), address


@pytest.mark.parametrize("task", load_tasks(RETAIL), ids=lambda task: task.id)
def test_the_books_balance_after_every_witness(task):
    world = SHOP.world()
    for call in task.witness:
        if "$cel" not in str(call.arguments):
            asyncio.run(SHOP.call(world, ToolCall(call.tool, call.arguments)))
    check_books(world.state)


def keys(collection):
    return st.sampled_from(sorted(SHOP.start.collection(collection)))


ORDERS = keys("orders") | st.sampled_from(["TT-26-04156", "TT-26-04157"])
SKUS = keys("variants")
REASONS = st.sampled_from(["changed_mind", "wrong_size", "faulty"])


def some(tool, **fields):
    return st.tuples(st.just(tool), st.fixed_dictionaries(fields))


def of_order(tool, make):
    """Calls that fit an order of the start data: without them, almost every call would be refused."""
    orders = [order for order in SHOP.start.collection("orders").values() if order["status"] != "cancelled"]
    return st.sampled_from(orders).flatmap(lambda order: st.tuples(st.just(tool), make(order)))


def goods_of(order):
    line = st.sampled_from(order["lines"])
    return st.lists(
        line.flatmap(
            lambda chosen: st.fixed_dictionaries(
                {"sku": st.just(chosen["sku"]), "quantity": st.integers(1, chosen["quantity"])}
            )
        ),
        min_size=1,
        max_size=3,
    )


CALLS = st.one_of(
    st.tuples(
        st.just("place_order"),
        st.fixed_dictionaries(
            {
                "customer_id": keys("customers"),
                "lines": st.lists(
                    st.fixed_dictionaries({"sku": SKUS, "quantity": st.integers(1, 3)}), min_size=1, max_size=3
                ),
                "address_label": st.just("home"),
                "delivery_method": st.sampled_from(["standard", "express", "freight"]),
                "payment_method": st.sampled_from(["card", "direct_debit", "bank_transfer", "store_credit"]),
                "use_store_credit": st.booleans(),
            },
            optional={"voucher_code": keys("vouchers"), "gift_wrap": st.booleans()},
        ),
    ),
    of_order(
        "swap_variant",
        lambda order: st.sampled_from(order["lines"]).flatmap(
            lambda line: st.fixed_dictionaries(
                {
                    "order_id": st.just(order["order_id"]),
                    "sku": st.just(line["sku"]),
                    "new_sku": SKUS.filter(lambda sku: sku.startswith(line["product_id"])),
                }
            )
        ),
    ),
    some("apply_voucher", order_id=ORDERS, voucher_code=keys("vouchers")),
    some("set_gift_options", order_id=ORDERS, wrapped=st.booleans(), note=st.none()),
    some("cancel_order", order_id=ORDERS, reason=st.just("changed_mind")),
    of_order(
        "open_return",
        lambda order: st.fixed_dictionaries(
            {
                "order_id": st.just(order["order_id"]),
                "lines": goods_of(order),
                "reason": REASONS,
                "refund_to": st.sampled_from(["original_payment", "store_credit"]),
            }
        ),
    ),
    some("withdraw_return", return_id=keys("returns") | st.just("RT-05124")),
    st.sampled_from(list(SHOP.start.collection("returns").values())).flatmap(
        lambda back: some(
            "settle_return",
            return_id=st.just(back["return_id"]),
            inspection=st.tuples(
                *(
                    st.fixed_dictionaries(
                        {"sku": st.just(line["sku"]), "condition": st.sampled_from(["as_new", "worn", "damaged"])}
                    )
                    for line in back["lines"]
                )
            ).map(list),
        )
    ),
    of_order(
        "grant_store_credit",
        lambda order: st.fixed_dictionaries(
            {
                "customer_id": st.just(order["customer_id"]),
                "order_id": st.just(order["order_id"]),
                "reason": st.sampled_from(["goodwill", "late_delivery", "price_adjustment"]),
                "amount": st.integers(1, 4000).map(lambda amount: amount / 100),
                "sku": st.just(order["lines"][0]["sku"]),
                "note": st.just("As agreed."),
            }
        ),
    ),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(CALLS, min_size=1, max_size=12))
def test_the_books_balance_whatever_is_done(calls):
    world = SHOP.world()
    for tool, arguments in calls:
        rehearsal = asyncio.run(SHOP.call(world, ToolCall(tool, arguments)))
        assert rehearsal.layer == "dynamics", (rehearsal.layer, rehearsal.result.first_text)
    check_books(world.state)
