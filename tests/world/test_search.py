from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.errors import DynamicsError
from envace_sdk.json import UNSET
from envace_sdk.tools.model import Tool
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.filtering import test as make_test
from envace_sdk.world.interpret import Emitted, Interpreter
from envace_sdk.world.keys import get_path
from envace_sdk.world.state import State

TOOL = Tool({"name": "tool", "inputSchema": {"type": "object"}})
ORDERS = [
    {"id": "a", "status": "open", "n": 3, "at": "2026-01-03T10:00:00Z", "tags": ["x", "Y"], "who": {"name": "Ann"}},
    {"id": "b", "status": "closed", "n": "10", "at": "2026-01-01T10:00:00Z", "tags": [], "who": {"name": "bob"}},
    {"id": "c", "status": "open", "n": None, "at": "2026-01-02", "who": {"name": "Cid"}},
    {"id": "d", "status": "Open", "n": 2.5, "flag": True, "at": "2026-01-03T23:59:59+01:00"},
    {"id": "e", "n": 10, "status": "open", "flag": "true"},
]


class Search:
    def __init__(self, body, orders=ORDERS):
        text = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
        self.dynamics = Dynamics.parse(
            "collections: {orders: {key: id}}\ntools:\n  tool:\n    effect: search\n    collection: orders\n"
            + text
            + "\n"
        )
        self.state = State.start(collections={"orders": orders}, dynamics=self.dynamics)
        self.interpreter = Interpreter(self.dynamics)

    def answer(self, **arguments):
        return self.interpreter.run(TOOL, arguments, self.state, Random(1))

    def __call__(self, **arguments):
        answer = self.answer(**arguments)
        assert answer.error is None, answer.error
        items = answer.value if isinstance(answer.value, list) else answer.value["orders"]
        return "".join(item["id"] for item in items)


def test_a_bare_search_lists_everything_in_the_order_of_creation():
    search = Search("")
    assert search() == "abcde"
    answer = search.answer()
    assert answer.value[0] is search.state.get("orders", "a")
    assert answer.entities[4] == Emitted((4,), "orders", "e")
    assert answer.reads == {("orders", None)}
    assert answer.state is search.state


@pytest.mark.parametrize(
    ("field", "op", "value", "found"),
    [
        ("status", "equals", "open", "ace"),
        ("status", "equals", ["closed", "Open"], "bd"),
        ("status", "iequals", "OPEN", "acde"),
        ("status", "equals", "nope", ""),
        ("n", "equals", 10, "be"),
        ("n", "equals", "10", "be"),
        ("n", "equals", "2.5", "d"),
        ("n", "equals", 10.0, "be"),
        ("flag", "equals", True, "de"),
        ("flag", "equals", "true", "de"),
        ("flag", "equals", 1, ""),
        ("n", "gt", 3, "be"),
        ("n", "gte", "3", "abe"),
        ("n", "lt", 3, "d"),
        ("n", "lte", 3, "ad"),
        ("status", "gt", "b", "abce"),
        ("at", "equals", "2026-01-03T11:00:00+01:00", "a"),
        ("at", "equals", "2026-01-03", "ad"),
        ("at", "equals", "2026-01-02", "c"),
        ("at", "gte", "2026-01-02", "acd"),
        ("at", "gt", "2026-01-02", "ad"),
        ("at", "lte", "2026-01-03", "abcd"),
        ("at", "lt", "2026-01-03", "bc"),
        ("at", "lt", "2026-01-03T10:00:01Z", "abc"),
        ("who.name", "contains", "N", "a"),
        ("who.name", "contains", "", "abc"),
        ("who.name", "prefix", "B", "b"),
        ("who", "contains", "Ann", ""),
        ("tags", "contains", "y", "a"),
        ("tags", "has", "x", "a"),
        ("tags", "has", ["x", "Y"], "a"),
        ("tags", "has", ["x", "z"], ""),
        ("tags", "has", "y", ""),
        ("status", "has", "open", ""),
        ("status", "in", ["open", "closed"], "abce"),
        ("status", "in", "closed, Open", "bd"),
        ("n", "in", ["3", 2.5], "ad"),
        ("zzz", "equals", "x", ""),
        ("who.name", "equals", "Cid", "c"),
    ],
)
def test_a_filter_keeps_what_matches(field, op, value, found):
    search = Search(f"filters: {{value: {{field: {field}, op: {op}}}}}")
    assert search(value=value) == found
    assert search(value=None) == "abcde"
    assert search() == "abcde"


def test_any_of_several_fields_may_match_a_free_text():
    search = Search("filters: {q: {field: status, op: contains, any_of: [who.name, tags, id]}}")
    assert search(q="clos") == "b"
    assert search(q="ann") == "a"
    assert search(q="C") == "bc"


def test_filters_all_have_to_hold_and_paths_reach_into_the_arguments():
    search = Search('filters: {by.status: {field: status}, "n": {field: n, op: gte}}\nwhere: "entity.id != args.but"')
    assert search(by={"status": "open"}, n=3, but="e") == "a"
    assert search(by={}, but="a") == "bcde"


def test_where_sees_the_entity_and_must_be_true_or_false():
    assert Search('where: "default(entity.n, 0) == 10"')() == "e"
    with pytest.raises(DynamicsError, match=r"tools.tool.where: `entity.n` must be true or false, not 3"):
        Search("where: entity.n")()
    with pytest.raises(DynamicsError, match=r"tools.tool.where: `entity.flag`: entity.flag is absent"):
        Search("where: entity.flag")()


def test_orders_put_null_and_absent_last_and_mixed_types_side_by_side():
    assert Search("order_by: [n]")() == "daebc"
    assert Search("order_by: [-n]")() == "beadc"
    assert Search("order_by: [who.name, -id]")() == "acbed"
    assert Search("order_by: [-status, at]")() == "caebd"


def test_ties_keep_the_order_of_creation_both_ways():
    orders = [{"id": letter, "n": 1} for letter in "abc"]
    assert Search("order_by: [n]", orders)() == "abc"
    assert Search("order_by: [-n]", orders)() == "abc"


@pytest.mark.parametrize(
    ("wish", "found"),
    [
        (None, "daebc"), ("", "daebc"), ("zzz", "daebc"), ([], "daebc"), (5, "daebc"), ("id", "abcde"),
        ("-id", "edcba"), ("id desc", "edcba"),
        ("id:desc", "edcba"), ("id asc", "abcde"), ("+id", "abcde"), (["status", "-id"], "dbeca"),
        ("status,-id", "dbeca"), (["zzz", "id"], "abcde"),
        ("status", "dbaec"),
    ],
)  # fmt: skip
def test_the_caller_may_ask_for_an_order(wish, found):
    assert Search("order_by: [n]\nsort: args.sort")(sort=wish) == found


@pytest.mark.parametrize("order", ["", "order_by: [n]\n"])
def test_pages_follow_each_other_by_cursor(order):
    search = Search(
        order + "limit: default(args.limit, 2)\ncursor: args.cursor\nreturns: {wrap: orders, count: total, next: next}"
    )
    seen, cursor, pages = "", None, 0
    while True:
        answer = search.answer(cursor=cursor)
        assert answer.value["total"] == 5
        seen += "".join(item["id"] for item in answer.value["orders"])
        cursor = answer.value["next"]
        pages += 1
        if cursor is None:
            break
    assert (seen, pages) == ("daebc" if order else "abcde", 3)
    assert search.answer(limit=5).value["next"] is None
    assert list(search.answer().value) == ["orders", "total", "next"]


def test_a_cursor_is_unmoved_by_what_is_deleted_meanwhile():
    search = Search("limit: '2'\ncursor: args.cursor\nreturns: {wrap: orders, next: next}")
    cursor = search.answer().value["next"]
    search.state = search.state.remove("orders", "a").remove("orders", "b").put("orders", "f", {"id": "f"})
    assert search(cursor=cursor) == "cd"


@pytest.mark.parametrize(
    "cursor", ["nonsense", "czox ", "czo", "é", "bzox", 5, ["x"], {}, "x" * 1000, "czo5OTk5OTk5OTk5OTk5OTk5OTk5OTk"]
)
def test_a_made_up_cursor_is_refused(cursor):
    answer = Search("cursor: args.cursor").answer(cursor=cursor)
    assert answer.outcome == "validation_error"
    assert answer.error.startswith("Invalid cursor ")


@pytest.mark.parametrize(
    ("limit", "offset", "found"),
    [
        (None, None, "abcde"), (2, None, "ab"), (2, 1, "bc"), ("2", "3", "de"), (0, 0, ""), (9, 9, ""),
        (None, 4, "e"), (2.0, 1.0, "bc"),
        (10**30, 0, "abcde"), (1, 10**30, ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("order", ["", "order_by: [id]\n", 'where: "true"\n'])
def test_limit_and_offset_cut_a_page(limit, offset, found, order):
    search = Search(order + "limit: args.limit\noffset: args.offset\nreturns: {wrap: orders, count: total}")
    arguments = {name: value for name, value in (("limit", limit), ("offset", offset)) if value is not None}
    assert search(**arguments) == found
    assert search.answer(**arguments).value["total"] == 5


@pytest.mark.parametrize("value", [-1, "x", True, [1], 1e400, "-2"])
def test_a_limit_that_makes_no_sense_is_refused(value):
    answer = Search("limit: args.limit").answer(limit=value)
    assert answer.outcome == "validation_error"
    assert "Invalid limit" in answer.error


def test_pages_by_number_need_no_more_than_an_offset():
    search = Search("limit: args.size\noffset: (args.page - 1) * args.size")
    assert search(page=2, size=2) == "cd"


def test_lists_answer_in_the_form_that_is_asked_for():
    assert Search("returns: {fields: [id]}").answer().value[0] == {"id": "a"}
    answer = Search("returns: {wrap: items, fields: [id, n], extra: {asked: args.q, shown: size(items)}}").answer(q=1)
    assert answer.value["items"][1] == {"id": "b", "n": "10"}
    assert (answer.value["asked"], answer.value["shown"]) == (1, 5)
    assert answer.entities[1] == Emitted(("items", 1), "orders", "b")
    assert Search("returns: {count: total}").answer().value["total"] == 5
    assert "orders" in Search("returns: {count: total}").answer().value
    text = Search('limit: "1"\nreturns: {count: n, text: "{size(items)} of {total}: {items[0].id}"}').answer()
    assert (text.value, text.is_text) == ("1 of 5: a", True)
    assert Search("returns: {value: 'items.map(i, i.id)'}").answer().value == list("abcde")


def test_requirements_and_names_come_before_the_search():
    search = Search(
        "let: {wanted: \"default(args.status, 'open')\"}\n"
        "requires: [{that: \"wanted in ['open', 'closed']\", error: 'No status {wanted}'}]\n"
        'where: "default(entity.status, null) == wanted"'
    )
    assert search() == "ace"
    assert search.answer(status="x").error == "No status x"


def test_an_index_finds_the_same_as_looking_at_each():
    search = Search("filters: {s: {field: status}, n: {field: n}}\nreturns: {wrap: orders, count: total}")
    for key, document in [("f", {"id": "f", "status": "open", "n": 3}), ("a", {"id": "a", "status": "closed", "n": 3})]:
        search.state = search.state.put("orders", key, document)
    search.state = search.state.remove("orders", "c")
    assert search(s="open") == "ef"
    assert search(n=3) == "af"
    assert search(n="3", s="open") == "f"
    assert search.answer(s="open").value["total"] == 2


values = (
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.sampled_from([1.5, 2.0, "2", "10", "true", "open", "2026-01-01", "2026-01-01T05:00:00Z", ["open"], {}])
)
documents = st.lists(st.dictionaries(st.sampled_from("fg"), values, max_size=2), max_size=8)


@settings(max_examples=150, deadline=None)
@given(
    documents,
    st.lists(
        st.tuples(st.integers(0, 9), st.none() | st.dictionaries(st.sampled_from("fg"), values, max_size=2)), max_size=5
    ),
    st.sampled_from(["equals", "iequals", "contains", "gt", "gte", "lt", "lte", "in", "has", "prefix"]),
    values,
    st.none() | values,
    st.sampled_from([[], ["f"], ["-g"], ["-f", "g"]]),
    st.none() | st.integers(0, 4),
    st.integers(0, 3),
)
def test_a_search_is_filter_sort_and_slice(start, writes, op, wanted, also_g, order, limit, offset):
    search = Search(
        f"filters: {{f: {{field: f, op: {op}}}, g: {{field: g}}}}\norder_by: {order}\n"
        "limit: args.limit\noffset: args.offset\nreturns: {wrap: orders, count: total, next: next}",
        [{"id": str(n), **document} for n, document in enumerate(start)],
    )
    for key, document in writes:
        key = str(key)
        if document is None:
            search.state = search.state.remove("orders", key)
        else:
            search.state = search.state.put("orders", key, {"id": key, **document})
    arguments = {"f": wanted, "g": also_g, "limit": limit, "offset": offset}
    answer = search.answer(**arguments)

    rule = search.dynamics.tools["tool"]
    passing = [
        document
        for document in search.state.collection("orders").values()
        if all(make_test(rule.filters[name], arguments[name])(document) for name in "fg" if arguments[name] is not None)
    ]
    for field in reversed(order):
        ranks = {id(document): rank(get_path(document, field.lstrip("-"))) for document in passing}
        there = sorted((d for d in passing if ranks[id(d)]), key=lambda d: ranks[id(d)], reverse=field[0] == "-")
        passing = there + [d for d in passing if not ranks[id(d)]]
    assert answer.value["total"] == len(passing)
    assert answer.value["orders"] == passing[offset:][: len(passing) if limit is None else limit]
    following = answer.value["next"]
    if following is not None:
        assert len(passing) > offset + limit
    elif limit:
        assert len(passing) <= offset + limit


def rank(value):
    if value is None or value is UNSET:
        return None
    if isinstance(value, bool):
        return (0, value)
    if isinstance(value, int | float):
        return (1, value)
    return (4, value) if isinstance(value, str) else (5 if isinstance(value, list) else 6, str(value).replace("'", '"'))


def test_many_alternatives_cost_no_more_than_few():
    search = Search("filters: {n: {field: n, op: in}, m: {field: n}}", [{"id": str(n), "n": n} for n in range(500)])
    for name in "nm":
        assert len(search.answer(**{name: list(range(100_000))}).value) == 500
        assert len(search.answer(**{name: [1, "2", "3.0", "x"]}).value) == 3


def test_a_search_makes_a_bounded_number_of_comparisons():
    orders = [{"id": str(n), "list": [n], "at": "2026-01-01T00:00:00Z"} for n in range(300)]
    search = Search("filters: {l: {field: list, op: has}, t: {field: at}}", orders)
    assert search.answer(l=[5], t=["2026-01-01"]).value[0]["id"] == "5"
    assert (
        search.answer(t=[f"2025-12-{day:02}T00:00:{second:02}Z" for day in range(1, 32) for second in range(60)]).value
        == []
    )
    with pytest.raises(DynamicsError, match="too many steps"):
        search.answer(l=[5] * 5000)


def test_a_wish_for_an_order_cannot_fill_the_memory():
    search = Search("order_by: [n]\nsort: args.sort")
    for n in range(300):
        assert len(search(sort=f"x{n}")) == 5
        assert len(search(sort=["id", f"-n{n}"] * 50)) == 5
    assert search(sort="id," + "x" * 100_000) == "daebc"
    facts = search.state.collection("orders").facts
    assert len(facts) < 20
