"""What must be true of the retail shop at any time: references hold, totals add up, no money appears from nowhere."""

from envace_sdk.world.state import State

WAREHOUSES = ["KIEL", "GHENT", "GRAZ"]


def cents(amount):
    assert abs(amount * 100 - round(amount * 100)) < 1e-6, amount
    return round(amount * 100)


def check_books(state: State) -> None:
    """All that must be true of the shop at any time."""
    get = state.get
    credit: dict[str, int] = {}
    for entry in state.collection("credit_entries").values():
        assert get("customers", entry["customer_id"]), entry
        assert entry["order_id"] is None or get("orders", entry["order_id"])["customer_id"] == entry["customer_id"], (
            entry
        )
        credit[entry["customer_id"]] = credit.get(entry["customer_id"], 0) + cents(entry["amount"])
    for customer in state.collection("customers").values():
        assert cents(customer["store_credit"]) == credit.get(customer["customer_id"], 0), customer["customer_id"]
        assert customer["points"] >= 0, customer["customer_id"]
        labels = [address["label"] for address in customer["addresses"]]
        assert len(set(labels)) == len(labels), customer["customer_id"]
    for order in state.collection("orders").values():
        check_order(order, state)
    for shipment in state.collection("shipments").values():
        order = get("orders", shipment["order_id"])
        carried = [line["sku"] for line in order["lines"] if line["shipment_id"] == shipment["shipment_id"]]
        assert shipment["skus"] == carried, shipment
        assert order["placed_at"] < shipment["dispatched_at"], shipment
        assert (shipment["status"] == "delivered") is (shipment["delivered_at"] is not None), shipment
    for back in state.collection("returns").values():
        check_return(back, state)
    for case in state.collection("cases").values():
        assert get("customers", case["customer_id"]), case
        assert case["order_id"] is None or get("orders", case["order_id"])["customer_id"] == case["customer_id"], case
    for level in state.collection("stock").values():
        assert level["available"] >= 0, level


def check_order(order, state: State) -> None:
    name, totals, payment = order["order_id"], order["totals"], order["payment"]
    customer = state.get("customers", order["customer_id"])
    assert customer, name
    for line in order["lines"]:
        variant, product = state.get("variants", line["sku"]), state.get("products", line["product_id"])
        assert (variant["product_id"], variant["option"], product["name"]) == (
            line["product_id"],
            line["option"],
            line["name"],
        ), name
        assert cents(line["line_total"]) == cents(line["unit_price"]) * line["quantity"], name
        assert line["warehouse"] in WAREHOUSES, name
        assert line["engraving"] is None or product["engravable"], name
        returned = sum(
            part["quantity"]
            for back in state.collection("returns").values()
            for part in back["lines"]
            if back["order_id"] == name and part["sku"] == line["sku"]
        )
        assert line["quantity_returned"] == returned <= line["quantity"], name
        gone = order["status"] in {"dispatched", "delivered"}
        assert (line["shipment_id"] is not None) is gone or order["status"] == "part_dispatched", name
        if line["shipment_id"]:
            assert state.get("shipments", line["shipment_id"])["warehouse"] == line["warehouse"], name
    skus = [line["sku"] for line in order["lines"]]
    assert len(set(skus)) == len(skus), name
    assert cents(totals["goods"]) == sum(cents(line["line_total"]) for line in order["lines"]), name
    total = cents(totals["goods"]) - cents(totals["discount"]) + cents(totals["gift_wrap"]) + cents(totals["delivery"])
    assert cents(totals["total"]) == total, name
    paid = cents(payment["store_credit_used"]) + cents(payment["charged"])
    if order["status"] == "cancelled":
        assert payment["due"] == 0, name
        assert cents(payment["refunded"]) == paid, name
    else:
        assert paid + cents(payment["due"]) == total, name
    assert cents(payment["refunded"]) <= paid, name
    assert (payment["due"] > 0) is (order["status"] == "awaiting_payment"), name
    assert (order["voucher_code"] is None) or state.get("vouchers", order["voucher_code"]), name
    assert order["voucher_code"] is not None or totals["discount"] == 0, name
    assert (totals["gift_wrap"] > 0) is order["gift"]["wrapped"], name
    bulky = any(state.get("products", line["product_id"])["bulky"] for line in order["lines"])
    assert (order["delivery"]["method"] == "freight") is bulky, name
    assert (order["delivered_at"] is not None) is (order["status"] == "delivered"), name
    assert (order["return_until"] is not None) is (order["status"] == "delivered"), name
    assert (order["cancelled_at"] is not None) is (order["status"] == "cancelled"), name
    saved = [{**address, "label": None} for address in customer["addresses"]]
    assert set(order["ship_to"]) == set(saved[0]) - {"label"}, name


def check_return(back, state: State) -> None:
    name, order = back["return_id"], state.get("orders", back["order_id"])
    assert order["status"] == "delivered", name
    assert order["customer_id"] == back["customer_id"], name
    assert order["delivered_at"] < back["created_at"], name
    assert cents(back["goods_value"]) == sum(cents(line["value"]) for line in back["lines"]), name
    kept = sum(cents(back[fee]) for fee in ("restocking_fee", "parcel_fee", "deduction"))
    assert cents(back["refund_amount"]) == max(0, cents(back["goods_value"]) - kept), name
    assert (back["settled_at"] is not None) is (back["status"] == "settled"), name
