"""Arguments of a search that are no field of what is searched must not hide everything."""

import pytest

from envace_sdk.world.infer import infer

ORDERS = """
create_order(customer!, total: num, age: int)
get_order(order_id!)
close_order(order_id!)
"""


def _two(call):
    return [call("create_order", customer=c, total=t, age=a)["order_id"] for c, t, a in (("amy", 5, 40), ("bo", 9, 20))]


def _listed(answer):
    return [found["customer"] for found in answer["orders"]]


@pytest.mark.parametrize(
    ("arguments", "given", "expected"),
    [
        ("sort_by, order", {"sort_by": "total", "order": "desc"}, ["bo", "amy"]),
        ("order_by, order", {"order_by": "total", "order": "DESC"}, ["bo", "amy"]),
        ("sort, order", {"sort": "total", "order": "asc"}, ["amy", "bo"]),
        ("query: {match: str}, from: int, size: int", {"from": 1, "size": 1}, ["bo"]),
        ("from: int, size: int", {"from": 0, "size": 10}, ["amy", "bo"]),
        ("locale", {"locale": "de"}, ["amy", "bo"]),
        ("language", {"language": "de"}, ["amy", "bo"]),
        ("timezone", {"timezone": "UTC"}, ["amy", "bo"]),
        ("currency", {"currency": "EUR"}, ["amy", "bo"]),
        ("api_version", {"api_version": "2"}, ["amy", "bo"]),
        ("detail_level: brief|full", {"detail_level": "full"}, ["amy", "bo"]),
        ("user_google_email!", {"user_google_email": "me@x.org"}, ["amy", "bo"]),
        ("workspace: str", {"workspace": "w"}, ["amy", "bo"]),
        ("min_age: int", {"min_age": 30}, ["amy"]),
        ("max_age: int", {"max_age": 30}, ["bo"]),
        ("min_weight: int", {"min_weight": 30}, ["amy", "bo"]),
        ("customer", {"customer": "bo"}, ["bo"]),
    ],
)  # fmt: skip
def test_only_what_things_have_narrows_a_list(arguments, given, expected, client_of):
    call = client_of(f"{ORDERS}list_orders({arguments})")
    _two(call)
    assert _listed(call("list_orders", **given)) == expected


@pytest.mark.parametrize("status", ["", "status, ", "status: open|closed, "])
def test_closed_ones_are_left_out_unless_included(status, client_of):
    call = client_of(f"{ORDERS}list_orders({status}include_closed: bool)")
    one, _ = _two(call)
    call("close_order", order_id=one)
    assert _listed(call("list_orders", include_closed=False)) == ["bo"]
    assert _listed(call("list_orders", include_closed=True)) == ["amy", "bo"]


def test_fields_that_steps_set_or_schemas_show_do_narrow(client_of):
    call = client_of(
        """
        create_order(customer!)
        ship_order(order_id!)
        get_order(order_id!) => {order_id: str, customer: str, status: str, country: str}
        list_orders(status, country) => {orders: [{order_id: str, customer: str, status: str, country: str}]}
        """
    )
    one = call("create_order", customer="amy")["order_id"]
    call("create_order", customer="bo")
    call("ship_order", order_id=one)
    assert _listed(call("list_orders", status="shipped")) == ["amy"]
    assert _listed(call("list_orders", country="xx")) == []


def test_what_is_ignored_is_said_and_lowers_the_confidence(tools_of):
    rules = infer(tools_of(f"{ORDERS}list_orders(customer)\nfind_orders(customer, planet)")).tools
    assert rules["find_orders"].confidence < rules["list_orders"].confidence
    assert "planet" in rules["find_orders"].reason


def test_a_name_of_blanks_is_no_key(tools_of):
    tools = tools_of("get_order(x!)")
    tools[0].input_schema.update({"properties": {"\x85": {"type": "string"}}, "required": ["\x85"]})
    infer(tools)
