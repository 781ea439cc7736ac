"""Partial instances completed: what may stay stays, what must be there is added, what may not be there goes."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from envace_sdk.errors import UnsatisfiableError
from envace_sdk.jsonschema import compile_schema, complete, generate

CLOCK = datetime(2026, 1, 1, 9, tzinfo=UTC)
LINE = {
    "type": "object",
    "properties": {"sku": {"type": "string"}, "qty": {"type": "integer", "minimum": 1}, "price": {"type": "number"}},
    "required": ["sku", "qty", "price"],
}
CUSTOMER = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "email": {"type": "string", "format": "email"},
        "vip": {"type": "boolean"},
    },
    "required": ["name", "email"],
    "additionalProperties": False,
}
ORDER = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string"},
        "status": {"enum": ["open", "shipped", "in_transit"]},
        "customer": {"$ref": "#/$defs/customer"},
        "items": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "total": {"type": "number", "minimum": 0},
        "created_at": {"type": "string", "format": "date-time"},
        "updated_at": {"type": "string", "format": "date-time"},
        "note": {"type": "string"},
    },
    "required": ["order_id", "status", "customer", "items", "total", "created_at", "updated_at"],
    "additionalProperties": False,
}
DEFS = {"customer": CUSTOMER, "line": LINE}
PAYMENT = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "card"}, "last4": {"type": "string"}, "brand": {"type": "string"}},
            "required": ["kind", "last4", "brand"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"kind": {"const": "bank"}, "iban": {"type": "string"}},
            "required": ["kind", "iban"],
            "additionalProperties": False,
        },
        {"type": "null"},
    ]
}


def fit(schema: Any, known: Any, seed: int = 0, **keywords: Any) -> Any:
    value = complete(schema, known, random=Random(seed), clock=CLOCK, **keywords)
    assert compile_schema(schema).is_valid(value), json.dumps(value)
    return value


def order(**known: Any) -> Any:
    return fit({**ORDER, "$defs": DEFS}, known)


def test_a_valid_value_comes_back_as_it_is() -> None:
    known = {"sku": "X", "qty": 1, "price": 9.99, "color": "red"}
    assert fit(LINE, known) is known
    assert generate(LINE, random=Random(0), clock=CLOCK, known=known) is known


def test_what_is_required_is_added_and_what_is_optional_is_not() -> None:
    value = order(order_id="A-1", customer={"name": "Ada Lovelace"})
    assert set(value) == set(ORDER["required"])  # type: ignore[call-overload]
    assert value["order_id"] == "A-1"
    assert value["customer"] == {"name": "Ada Lovelace", "email": value["customer"]["email"]}


def test_what_is_forbidden_goes_and_what_no_schema_speaks_of_stays() -> None:
    assert "extra" not in order(order_id="A-1", extra=5)
    assert fit(LINE, {"sku": "X", "color": "red"})["color"] == "red"


def test_known_properties_keep_their_order_and_new_ones_follow() -> None:
    assert list(fit(LINE, {"price": 1, "color": "red"})) == ["price", "color", "sku", "qty"]


def test_values_in_another_form_are_mended_rather_than_replaced() -> None:
    value = order(
        status="In-Transit", total="12.50", order_id=77, items=[{"sku": "X", "qty": "2", "price": "$1,250.5"}]
    )
    assert (value["status"], value["total"], value["order_id"]) == ("in_transit", 12.5, "77")
    assert value["items"] == [{"sku": "X", "qty": 2, "price": 1250.5}]


@pytest.mark.parametrize(
    ("schema", "known", "value"),
    [
        ({"type": "string"}, 5, "5"),
        ({"type": "string"}, True, "true"),
        ({"type": "integer"}, "5", 5),
        ({"type": "integer"}, 5.0, 5),
        ({"type": "number"}, "5.25", 5.25),
        ({"type": "boolean"}, "TRUE", True),
        ({"type": "boolean"}, 0, False),
        ({"type": "array", "items": {"type": "integer"}}, "7", [7]),
        ({"type": "integer"}, [7], 7),
        ({"enum": [1, 2, 3]}, "2", 2),
        ({"enum": ["IN_PROGRESS", "DONE"]}, "in progress", "IN_PROGRESS"),
        ({"type": "integer", "maximum": 10}, 99, 10),
        ({"type": "number", "multipleOf": 0.01}, 19.999, 20),
        ({"type": "string", "maxLength": 5}, "abcdefghij", "abcde"),
        ({"type": "string", "pattern": "^[A-Z]{3}$"}, "abc", "ABC"),
        ({"type": "string", "format": "date"}, 1735689600, "2025-01-01"),
        ({"type": "integer"}, "2025-01-01T00:00:00Z", 1735689600),
        ({"type": ["integer", "null"]}, None, None),
    ],
)
def test_scalars_are_brought_into_form(schema: Any, known: Any, value: Any) -> None:
    found = fit(schema, known)
    assert found == value
    assert type(found) in {type(value), float} if isinstance(value, int) else type(found) is type(value)


def test_names_written_otherwise_are_recognised() -> None:
    value = order(orderId="A-1", createdAt="2025-12-30T10:00:00Z")
    assert value["order_id"] == "A-1"
    assert value["created_at"] == "2025-12-30T10:00:00Z" < value["updated_at"] < "2026-01-01T09:00:01Z"


def test_the_id_of_an_entity_serves_as_its_qualified_id() -> None:
    assert order(id="A-9")["order_id"] == "A-9"
    closed = {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
        "additionalProperties": False,
    }
    assert fit(closed, {"ticket_id": "T-1"}) == {"id": "T-1"}
    both = {"type": "object", "properties": {"user_id": {}, "order_id": {}}, "required": ["user_id", "order_id"]}
    value = fit(both, {"id": "A-9"}, name="get_order")
    assert value["order_id"] == "A-9" != value["user_id"]


def test_items_are_fitted_one_by_one() -> None:
    schema = {"type": "array", "items": ORDER, "$defs": DEFS}
    known = [{"order_id": "1"}, {"order_id": "2", "status": "open", "items": [{"sku": "S"}]}, {"orderId": "3"}]
    value = fit(schema, known)
    assert [item["order_id"] for item in value] == ["1", "2", "3"]
    assert value[1]["status"] == "open"
    assert value[1]["items"][0]["sku"] == "S"
    assert len({item["customer"]["email"] for item in value}) == 3


def test_a_list_that_is_too_long_is_cut_and_one_too_short_is_filled() -> None:
    assert fit({"type": "array", "maxItems": 2}, [1, 2, 3]) == [1, 2]
    value = fit({"type": "array", "items": {"type": "integer"}, "minItems": 3}, [7])
    assert value[0] == 7
    assert len(value) == 3
    assert fit({"type": "array", "uniqueItems": True}, [1, 2, 1.0]) == [1, 2]
    assert 5 in fit({"type": "array", "items": {"type": "integer"}, "contains": {"const": 5}}, [1, 2])


@pytest.mark.parametrize(
    ("known", "kept"),
    [
        ({"kind": "bank"}, {"kind": "bank"}),
        ({"kind": "BANK", "iban": "X", "foo": 1}, {"kind": "bank", "iban": "X"}),
        ({"last4": "1234"}, {"kind": "card", "last4": "1234"}),
        ({"iban": "X"}, {"kind": "bank", "iban": "X"}),
        ({"kind": "card", "iban": "X"}, {"kind": "card"}),
    ],
)
def test_the_alternative_that_fits_best_is_chosen(known: Any, kept: dict[str, Any]) -> None:
    for seed in range(5):
        value = fit(PAYMENT, known, seed)
        assert kept.items() <= value.items()
    assert fit(PAYMENT, None) is None


def test_alternatives_nested_in_arrays_and_references_are_chosen_one_by_one() -> None:
    schema = {
        "type": "object",
        "properties": {"paid": {"type": "array", "items": {"$ref": "#/$defs/p"}}},
        "$defs": {"p": PAYMENT},
    }
    value = fit(schema, {"paid": [{"iban": "X"}, {"last4": "1"}, {"kind": "bank", "brand": "v"}]})
    assert [item["kind"] for item in value["paid"]] == ["bank", "card", "bank"]


def test_what_all_parts_of_allof_ask_is_added() -> None:
    base = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    schema = {
        "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"x": {"type": "integer"}}, "required": ["x"]}],
        "unevaluatedProperties": False,
        "$defs": {"base": base},
    }
    assert fit(schema, {"id": 5, "x": "7", "gone": 1}) == {"id": "5", "x": 7}


def test_conditions_follow_what_is_known() -> None:
    schema = {
        "type": "object",
        "properties": {"t": {"enum": ["a", "b"]}, "x": {"type": "integer"}, "y": {"type": "integer"}},
        "required": ["t"],
        "if": {"properties": {"t": {"const": "a"}}},
        "then": {"required": ["x"]},
        "else": {"required": ["y"]},
    }
    for seed in range(5):
        assert fit(schema, {"t": "b", "x": 1}, seed).keys() == {"t", "x", "y"}
        assert fit(schema, {"t": "a"}, seed).keys() == {"t", "x"}


def test_one_property_is_given_up_where_all_together_are_ruled_out() -> None:
    schema = {"type": "object", "not": {"required": ["a", "b"]}}
    assert fit(schema, {"a": 1, "b": 2, "c": 3}) in ({"a": 1, "c": 3}, {"b": 2, "c": 3})
    assert fit({"type": "object", "maxProperties": 2}, {"a": 1, "b": 2, "c": 3}) == {"a": 1, "b": 2}


def test_recursion_is_followed_as_far_as_it_is_known() -> None:
    node = {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
        "required": ["v", "kids"],
        "additionalProperties": False,
    }
    known: Any = {"v": "1", "kids": []}
    for level in range(2, 15):
        known = {"v": str(level), "kids": [known], "z": 1}
    value = fit({"$ref": "#/$defs/n", "$defs": {"n": node}}, known)
    seen = []
    while True:
        seen.append(value["v"])
        if not value["kids"]:
            break
        (value,) = value["kids"]
    assert seen == list(range(14, 0, -1))


def test_what_cannot_be_kept_at_all_is_made_anew() -> None:
    assert isinstance(fit({"type": "integer"}, {"a": 1}), int)
    assert isinstance(fit(PAYMENT, "cash"), dict)
    assert fit({"type": "object", "required": ["a"]}, [1, 2, 3]).keys() >= {"a"}
    with pytest.raises(UnsatisfiableError):
        fit({"not": {}}, {"a": 1})


def test_hints_fill_fields_of_the_same_name_anywhere() -> None:
    hints = {"order-id": "A-77", "Email": "bob@example.com", "qty": "3", "total": "not a number"}
    value = generate({**ORDER, "$defs": DEFS}, random=Random(1), clock=CLOCK, hints=hints)
    assert value["order_id"] == "A-77"
    assert value["customer"]["email"] == "bob@example.com"
    assert {line["qty"] for line in value["items"]} == {3}
    assert isinstance(value["total"], float)
    closed = {"type": "object", "properties": {"status": {"enum": ["open", "closed"]}}, "required": ["status"]}
    assert fit(closed, {}, hints={"status": "Closed"}) == {"status": "closed"}
    assert fit(closed, {}, hints={"status": "lost"})["status"] in {"open", "closed"}


def test_what_is_known_comes_before_hints() -> None:
    assert order(order_id="A-1") == fit({**ORDER, "$defs": DEFS}, {"order_id": "A-1"})
    assert fit({**ORDER, "$defs": DEFS}, {"order_id": "A-1"}, hints={"order_id": "B-2"})["order_id"] == "A-1"


def test_completing_gives_the_same_bytes_for_the_same_seed() -> None:
    known = {"orderId": "A-1", "items": [{}, {"sku": 1}], "customer": {"name": "Ada Lovelace"}}
    values = {json.dumps(fit({**ORDER, "$defs": DEFS}, known, 7)) for _ in range(3)}
    assert len(values) == 1
    assert known == {"orderId": "A-1", "items": [{}, {"sku": 1}], "customer": {"name": "Ada Lovelace"}}


def test_one_bad_item_in_a_thousand_is_mended_in_milliseconds() -> None:
    schema = {"type": "object", "properties": {"orders": {"type": "array", "items": ORDER}}, "$defs": DEFS}
    one = fit({**ORDER, "$defs": DEFS}, {})
    orders = [{**one, "order_id": str(number)} for number in range(1000)]
    orders[500]["total"] = "x"
    fit(schema, {"orders": orders})
    start = time.process_time()
    value = fit(schema, {"orders": orders})["orders"]
    assert time.process_time() - start < 0.5
    assert value[499] is orders[499]
    assert value[500] == {**orders[500], "total": value[500]["total"]}


def test_tens_of_thousands_of_items_may_need_mending() -> None:
    known = [{"iban": str(number)} if number % 2 else {"kind": "card", "extra": number} for number in range(12_000)]
    value = fit({"type": "array", "items": PAYMENT}, known)
    assert [item["kind"] for item in value] == ["card", "bank"] * 6000


def test_values_that_no_wire_can_carry_are_replaced() -> None:
    assert isinstance(fit({"type": "integer"}, float("nan")), int)
    assert isinstance(fit({"type": "string", "pattern": "^a+$"}, "\ud800"), str)
    assert fit({"type": "object", "properties": {"\ud800": {"type": "integer"}}}, {"\ud800": "5"}) == {"\ud800": 5}
    assert fit({"type": "integer"}, 2**80) == 2**80


SEVEN = json.loads(Path(__file__).with_name("seven_schemas.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in SEVEN if not name.startswith(("S2", "S4", "S6"))])
def test_damage_to_one_property_is_repaired_and_the_rest_left_alone(name: str) -> None:
    schema, kept = SEVEN[name], 0
    for seed in range(30):
        chance = Random(seed)
        whole = generate(schema, random=Random(seed), clock=CLOCK)
        damaged = dict(whole)
        hit = chance.choice(list(whole))
        if chance.random() < 0.5:
            del damaged[hit]
        else:
            damaged[hit] = {"damaged": True}
        value = fit(schema, damaged, seed)
        rest = {key: item for key, item in whole.items() if key != hit}
        kept += {key: value.get(key) for key in rest} == rest
    assert kept == 30


@pytest.mark.parametrize("name", SEVEN)
@pytest.mark.parametrize(
    "known", [None, {}, [], "x", 7, {"a": {"b": [1, None]}}, [{"id": 1}], {"kind": "bank"}, float("inf")]
)
def test_whatever_is_known_something_valid_comes_of_it(name: str, known: Any) -> None:
    for seed in range(3):
        fit(SEVEN[name], known, seed)
