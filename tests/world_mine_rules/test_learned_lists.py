"""Lists: which things are in them, in what order, and what is shown of each."""

import pytest
from mined_calls import moment, orders

from envace_sdk.world.mine.answering import Part, learn_answer
from envace_sdk.world.mine.evaluating import evaluate
from envace_sdk.world.mine.searching import learn_listing

CITIES = ["Turku", "Oslo", "Bergen"]
ORDERS = [
    {"id": f"o{n}", "city": CITIES[n % 3], "price": (n * 7) % 31, "tags": ["new"] if n % 4 else ["old", "big"]}
    for n in range(18)
]
SITE = {"path": "[]"}


def listing(calls, things=ORDERS, *, label="", key="id", session=None, **site):
    """What is learned of calls: arguments, and what each lists."""
    structure = orders({**SITE, **site}, label=label, key=key)
    [where] = structure.sites_of("do")
    known = {"orders": {str(thing[key]): thing for thing in things}}
    moments = [
        moment(args, shown, named=(), things=known, session=session(args) if session else None) for args, shown in calls
    ]
    return learn_listing(moments, where, structure)


def by(condition, arguments):
    return [(args, [order for order in ORDERS if condition(order, args)]) for args in arguments]


@pytest.mark.parametrize(
    ("argument", "values", "condition", "expected"),
    [
        ("city", CITIES, lambda held, given: held["city"] == given, {"field": "city"}),
        ("city", ["turku", "OSLO", "bergen"], lambda held, given: held["city"].lower() == given.lower(),
         {"field": "city", "op": "iequals"}),
        ("query", ["tu", "er", "OSL"], lambda held, given: given.lower() in held["city"].lower(),
         {"field": "city", "op": "contains"}),
        ("tag", ["new", "old", "big"], lambda held, given: given in held["tags"], {"field": "tags", "op": "has"}),
        ("most", [5, 14, 21, 28], lambda held, given: held["price"] <= given, {"field": "price", "op": "lte"}),
        ("least", [5, 14, 21, 28], lambda held, given: held["price"] >= given, {"field": "price", "op": "gte"}),
        ("above", [5, 14, 21, 28], lambda held, given: held["price"] > given, {"field": "price", "op": "gt"}),
    ],
)  # fmt: skip
def test_an_argument_narrows_the_list(argument, values, condition, expected):
    found = listing(by(lambda order, args: condition(order, args[argument]), [{argument: v} for v in values]))
    assert found.filters == {argument: expected}


def test_a_filter_that_is_not_given_narrows_nothing():
    calls = by(lambda order, args: args.get("city") in (None, order["city"]), [{}, *({"city": c} for c in CITIES)])
    assert listing(calls).filters == {"city": {"field": "city"}}


def test_things_that_are_never_listed_are_left_out_by_a_condition():
    found = listing(by(lambda order, args: order["price"] > 15, [{}, {}, {}]))
    assert found.filters == {}
    shown = [order for order in ORDERS if evaluate(found.where, {"args": {}, "session": {}, "entity": order}) is True]
    assert shown == [order for order in ORDERS if order["price"] > 15]


@pytest.mark.parametrize(("key", "sign"), [("price", ""), ("price", "-"), ("city", "")])
def test_the_order_is_that_of_a_field(key, sign):
    shown = sorted(ORDERS, key=lambda order: order[key], reverse=bool(sign))
    assert listing([({}, shown), ({"x": 1}, shown)]).order_by == [sign + key]


def test_things_in_the_order_in_which_they_were_made_need_no_order():
    assert listing([({}, ORDERS), ({"x": 1}, ORDERS)]).order_by == []


def test_some_fields_are_shown_and_the_answer_around_the_list_is_told():
    shown = [{"id": order["id"], "city": order["city"]} for order in ORDERS]
    found = listing([({}, shown), ({"x": 1}, shown)])
    assert found.shown == ["id", "city"]
    part = Part(
        is_object=True,
        members={"orders": Part(listing=found.site), "n": Part("total"), "page": Part("1"), "by": Part("args.x")},
    )
    told = found.returns(part)
    assert told == {"fields": ["id", "city"], "wrap": "orders", "count": "n", "extra": {"page": "1", "by": "args.x"}}


def test_a_key_under_another_name_is_told_by_an_expression():
    structure = orders({"path": "[]", "key": "number"})
    [site] = structure.sites_of("do")
    known = {"orders": {order["id"]: order for order in ORDERS}}
    shown = [{"number": order["id"], "city": order["city"]} for order in ORDERS]
    found = learn_listing([moment({}, shown, named=(), things=known)] * 2, site, structure)
    items = evaluate(found.listed(), {"items": ORDERS})
    assert items == shown


FILES = [{"path": path} for path in ["/a/x", "/a/y", "/b/x", "/b/z", "/b/c/w", "/a/d/v"]]


def test_names_in_a_directory_are_the_last_parts_of_the_paths_in_it():
    calls = [
        ({"dir": where}, [one["path"].rpartition("/")[2] for one in FILES if one["path"].rpartition("/")[0] == where])
        for where in ["/a", "/b", "/b/c", "/a/d"]
    ]
    join = "joinpath(args.dir, item.path)"
    found = listing(calls, FILES, label="name", key="path", bare=True, join=join)
    assert found.where == "dirname(entity.path) == args.dir"
    assert found.item == "basename(item.path)"
    assert found.filters == {}


def test_the_directory_may_be_that_of_the_session():
    names = {"/a": ["x", "y"], "/b": ["x", "z"]}
    calls = [({"n": n}, shown) for n, shown in enumerate(names.values())]
    join = "joinpath(session.cwd, item.path)"
    found = listing(
        calls, FILES, label="name", key="path", bare=True, join=join, session=lambda args: {"cwd": [*names][args["n"]]}
    )
    assert found.where == "dirname(entity.path) == session.cwd"


def test_a_list_of_what_was_never_seen_teaches_nothing():
    assert listing([({}, [{"id": "other"}])]) is None


def test_a_list_of_few_of_many_things_for_no_reason_is_not_explained():
    picks = [[0, 5], [3, 16], [7, 8], [2, 11]]
    assert listing([({"n": n}, [ORDERS[k] for k in few]) for n, few in enumerate(picks)]) is None


def test_the_list_is_found_in_the_answer():
    structure = orders({"path": "orders.[]"})
    moments = [moment({}, {"orders": ORDERS[:n], "n": n}, named=(), counts={"total": n}) for n in (2, 3, 5)]
    [(condition, part)] = learn_answer(moments, structure, set()).cases
    assert condition == ""
    assert part.members["orders"].listing is structure.sites_of("do")[0]
    assert part.members["n"].source == "total"


PEOPLE = ["ann", "bob", "cem"]


def owned(*, forgetful=False):
    """Notes, each somebody's; of some it is not known whose."""
    notes = [{"id": f"n{n}", "text": f"t{n}", "author": PEOPLE[n % 3]} for n in range(18)]
    known = [
        {what: part for what, part in note.items() if what != "author" or not forgetful or n % 4}
        for n, note in enumerate(notes)
    ]
    calls = [({"n": n}, [note for note in notes if note["author"] == who]) for n, who in enumerate(PEOPLE * 2)]
    return known, calls


def who_is_in(args):
    return {"user": (PEOPLE * 2)[args["n"]], "place": "desk"}


@pytest.mark.parametrize("forgetful", [False, True])
def test_a_list_of_what_is_ones_own_is_told_by_who_is_logged_in(forgetful):
    known, calls = owned(forgetful=forgetful)
    shown = [(args, [{"id": note["id"], "text": note["text"]} for note in found]) for args, found in calls]
    where = listing(shown, known, session=who_is_in).where
    for who in PEOPLE:
        scope = {"args": {}, "session": {"user": who, "place": "desk"}}
        listed = [note for note in known if evaluate(where, {**scope, "entity": note}) is True]
        assert [note["author"] for note in listed if "author" in note] == [who] * sum(
            note.get("author") == who for note in known
        )


def test_what_is_listed_whoever_is_logged_in_is_nobodys():
    known, calls = owned()
    everything = [(args, [{"id": note["id"], "text": note["text"]} for note in known]) for args, _ in calls]
    assert listing(everything, known, session=who_is_in).where == ""
