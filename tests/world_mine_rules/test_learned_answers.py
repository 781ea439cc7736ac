"""What successful calls answer, as the member of a rule."""

import pytest
from mined_calls import ORDER, moment, orders

from envace_sdk.world.mine.answering import learn_answer
from envace_sdk.world.mine.computed import computed_views
from envace_sdk.world.mine.effects import Effects
from envace_sdk.world.mine.evaluating import evaluate
from envace_sdk.world.mine.learned import Learned
from envace_sdk.world.mine.phrasing import FORM
from envace_sdk.world.mine.returning import returns
from envace_sdk.world.mine.roles import Cast
from envace_sdk.world.mine.texts import Slot, Template

ORDERS = [{"id": f"o{n}", "item": f"thing {n}", "price": 3 * n + 1, "quantity": n % 4 + 2} for n in range(12)]
SHOWN = {"path": ""}


def told(moments, structure, *, effect="read", phrases=None):
    answer = learn_answer(moments, structure, set())
    return returns(Learned("do", Cast("do", (ORDER,)), moments, answer=answer), phrases or {}, effect=effect)


def looked_at(order, value, **more):
    return moment({"id": order["id"], **more}, value, order=order)


def test_a_thing_that_is_shown_as_it_is_is_a_projection_of_its_fields():
    moments = [looked_at(order, {"id": order["id"], "price": order["price"]}) for order in ORDERS]
    assert told(moments, orders(SHOWN)) == {"fields": ["id", "price"]}


def test_a_thing_inside_a_member_is_wrapped():
    moments = [looked_at(order, {"order": order}) for order in ORDERS]
    assert told(moments, orders({"path": "order"})) == {"fields": [*ORDERS[0]], "wrap": "order"}


def test_an_object_of_arguments_and_of_what_is_computed_from_fields():
    moments = [
        looked_at(order, {"of": order["id"], "total": order["price"] * order["quantity"], "ok": True})
        for order in ORDERS
    ]
    found = told(moments, orders())["object"]
    assert {name: evaluate(source, moments[3].scope) for name, source in found.items()} == moments[3].step.value


def test_without_an_entity_the_rule_does_not_project_one():
    moments = [looked_at(order, {"id": order["id"], "price": order["price"]}) for order in ORDERS]
    assert told(moments, orders(SHOWN), effect="compute") == {"object": {"id": "entity.id", "price": "entity.price"}}


def test_a_text_that_was_taken_apart_is_put_together_again():
    form = Template(("Order ", Slot("number", "word"), " costs ", Slot("price", "integer"), " crowns."))
    moments = []
    for order in ORDERS:
        one = looked_at(order, f"Order {order['id']} costs {order['price']} crowns.")
        one.step.value = {FORM: 0, "number": order["id"], "price": order["price"]}
        moments.append(one)
    found = told(moments, orders(), phrases={("do", 0): form})
    assert [*found] == ["text"]
    assert evaluate(found["text"][1:-1], moments[5].scope) == moments[5].step.text


def test_answers_of_two_shapes_are_told_apart_by_an_argument():
    moments = [
        looked_at(order, {"price": order["price"]} if brief else {"item": order["item"]}, brief=brief)
        for order in ORDERS
        for brief in (True, False)
    ]
    found = told(moments, orders())
    assert [*found] == ["value"]
    for one in moments:
        assert evaluate(found["value"], one.scope) == one.step.value


def test_an_optional_field_is_shown_where_it_is_there():
    moments = []
    for number, order in enumerate(ORDERS):
        known = order if number % 2 else {**order, "note": f"for guest {number}"}
        moments.append(looked_at(known, known))
    assert told(moments, orders(SHOWN)) == {"fields": [*ORDERS[0], "note"]}


def test_an_answer_that_nothing_explains_is_left_open():
    moments = [looked_at(order, f"{hash_} went by") for order, hash_ in zip(ORDERS, "qzjxvkwypbfm", strict=True)]
    assert told(moments, orders()) == {}


def test_an_object_of_which_half_is_explained_is_told_with_likely_values():
    codes = ["QX-1", "ZV-7", "JJ-4", "PW-9", "AB-3", "KL-5", "RT-8", "UE-2", "MN-6", "CD-0", "GH-1", "YS-3"]
    moments = [looked_at(order, {"id": order["id"], "code": code}) for order, code in zip(ORDERS, codes, strict=True)]
    assert told(moments, orders())["object"] == {"id": "args.id", "code": 'pattern("[A-Z]{2}\\\\-[0-9]")'}


def test_no_calls_no_answer():
    assert learn_answer([], orders(), set()) is None


def totals(value_of, viewer="do"):
    moments = [looked_at(order, {"total": value_of(order)}) for order in ORDERS]
    return computed_views(moments, orders({"path": "", "argument": "id", "key": ""}), Effects())


def test_a_field_that_follows_from_the_others_is_not_kept():
    assert totals(lambda order: order["price"] * order["quantity"]) == [("do", "orders", "total")]


@pytest.mark.parametrize("value_of", [lambda order: 7, lambda order: pow(order["price"], 5, 97)])
def test_a_field_that_never_varies_or_follows_from_nothing_is_kept(value_of):
    assert totals(value_of) == []
