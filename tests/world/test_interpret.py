"""What each field of a rule means, one behaviour at a time."""

import re
from random import Random

import pytest

from envace_sdk.errors import DynamicsError
from envace_sdk.tools.model import Tool
from envace_sdk.world.diff import diff, render
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Emitted, Interpreter
from envace_sdk.world.state import State

COLLECTIONS = """
collections:
  orders: {key: order_id, mint: "ORD-{n:04}"}
  lines: {key: [order_id, number], noun: order line}
  stock: {key: sku, noun: article}
  people: {key: id, noun: person, open: true}
  files: {key: path}
"""
START = {
    "orders": [
        {"order_id": "ORD-0001", "status": "open", "total": 10, "tags": ["a", "b", "a"], "placed": {"by": "ann"}},
        {"order_id": "ORD-0002", "status": "closed", "total": 20.5},
    ],
    "lines": [
        {"order_id": "ORD-0001", "number": 1, "sku": "X", "qty": 2},
        {"order_id": "ORD-0001", "number": 2, "sku": "Y", "qty": 1},
    ],
    "stock": [{"sku": "X", "n": 5}, {"sku": "Y", "n": 0}],
    "people": [{"id": "p1", "name": "Ann"}],
    "files": [{"path": "/a", "text": "one"}, {"path": "/b", "text": "two"}],
}


class Run:
    """One tool's rule on the start data."""

    def __init__(self, rule, *, more="", start=START):
        body = "\n".join(f"    {line}" for line in rule.strip("\n").splitlines())
        self.dynamics = Dynamics.parse(f"{COLLECTIONS}{more}\ntools:\n  tool:\n{body}\n")
        self.start = State.start(collections=start, dynamics=self.dynamics)
        self.interpreter = Interpreter(self.dynamics, "rules.yaml")
        self.tool = Tool({"name": "tool", "inputSchema": {"type": "object"}})

    def __call__(self, state=None, minted=None, **arguments):
        return self.interpreter.run(self.tool, arguments, state or self.start, Random(1), minted=minted)

    def changes(self, answer):
        return render(diff(self.start, answer.state))


def test_reading_answers_the_entity_and_leaves_the_state_alone():
    run = Run("{effect: read, collection: orders, key: args.id}")
    answer = run(id="ORD-0001")
    assert answer.value == START["orders"][0]
    assert (answer.outcome, answer.error, answer.is_text) == ("success", None, False)
    assert answer.state is run.start
    assert answer.entities == (Emitted((), "orders", "ORD-0001"),)
    assert answer.touched == {("orders", "ORD-0001")}
    assert answer.rule is run.dynamics.tools["tool"]


def test_what_is_not_there_is_not_found_in_the_collections_own_words():
    assert Run("{effect: read, collection: orders, key: args.id}")(id="x").error == "Order 'x' not found"
    assert Run("{effect: read, collection: stock, key: args.id}")(id="x").error == "Article 'x' not found"
    composite = Run("{effect: read, collection: lines, key: [args.order, args.n]}")
    assert composite(order="ORD-0001", n=9).error == "Order line 'ORD-0001, 9' not found"
    assert composite(order="ORD-0001", n="2").value["sku"] == "Y"
    own = Run('{effect: read, collection: orders, key: args.id, missing: "No {args.id} ({key}), sorry"}')
    answer = own(id=5)
    assert (answer.error, answer.outcome, answer.value, answer.state) == (
        "No 5 (5), sorry",
        "not_found",
        None,
        own.start,
    )


@pytest.mark.parametrize("arguments", [{}, {"id": None}])
def test_a_call_that_names_no_key_is_told_so(arguments):
    answer = Run("{effect: read, collection: orders, key: args.id}")(**arguments)
    assert (answer.outcome, answer.error) == ("validation_error", "Order: order_id must be given")


def test_in_an_open_collection_only_what_was_removed_is_not_found():
    run = Run("{effect: read, collection: people, key: args.id}")
    assert run(id="p1").value["name"] == "Ann"
    assert run(id="p2") is None
    assert run(run.start.remove("people", "p1"), id="p1").error == "Person 'p1' not found"


def test_tools_without_a_rule_and_opaque_ones_are_passed_on():
    run = Run("{effect: opaque}")
    assert run() is None
    assert run.interpreter.run(Tool({"name": "other", "inputSchema": {}}), {}, run.start, Random()) is None
    assert run.interpreter.key(Tool({"name": "other", "inputSchema": {}}), {}, run.start) is None


def test_a_rule_that_says_only_that_nothing_changes_is_passed_on_unless_it_refuses():
    run = Run("""
effect: compute
requires:
  - that: args.ready
    error: Not yet
""")
    assert run(ready=True) is None
    assert run(ready=False).error == "Not yet"
    assert Run("{effect: compute, returns: {extra: {done: true}}}")().value == {"done": True}


def test_names_are_bound_in_order_and_times_stay_times():
    run = Run("""
effect: read
collection: orders
key: args.id
let:
  limit: entity.total * 2
  double: limit * 2
  cutoff: now - duration('24h')
requires:
  - {that: "cutoff < now && limit == 20", error: never}
returns: {object: {double: double, cutoff: cutoff}}
""")
    assert run(id="ORD-0001").value == {"double": 40, "cutoff": "2025-12-31T09:00:00Z"}


def test_the_first_requirement_that_does_not_hold_decides():
    run = Run("""
effect: update
collection: orders
key: args.id
requires:
  - {that: "entity.status == 'open'", error: "Order {args.id} is {entity.status}", status: conflict}
  - {that: args.total > 0, error: "Total must be positive, not {args.total}"}
take: [total]
""")
    assert run(id="ORD-0002", total=-1).error == "Order ORD-0002 is closed"
    answer = run(id="ORD-0001", total=-1)
    assert (answer.outcome, answer.error, answer.state) == (
        "validation_error",
        "Total must be positive, not -1",
        run.start,
    )
    assert run(id="ORD-0001", total=1).value["total"] == 1


def test_a_created_entity_has_a_new_key_its_arguments_and_what_is_set():
    run = Run("""
effect: create
collection: orders
take: "*"
set: {status: "'new'", "placed.at": now, self: "'/orders/' + key"}
""")
    answer = run(total=3, status="ignored", note=None)
    assert answer.value == {
        "order_id": "ORD-0003",
        "total": 3,
        "status": "new",
        "note": None,
        "placed": {"at": "2026-01-01T09:00:00Z"},
        "self": "/orders/ORD-0003",
    }
    assert answer.state.get("orders", "ORD-0003") is answer.value
    assert answer.minted == {("orders", "ORD-0003")}
    assert answer.writes == {("orders", "ORD-0003")}
    assert answer.entities == (Emitted((), "orders", "ORD-0003"),)
    assert run.start.get("orders", "ORD-0003") is None
    assert run(answer.state).value["order_id"] == "ORD-0004"


def test_the_caller_may_choose_the_key_or_leave_it_open():
    run = Run("{effect: create, collection: orders, key: args.id, take: '*'}")
    assert run(id="mine", x=1).value == {"order_id": "mine", "x": 1}
    assert run(id=7).value == {"order_id": 7}
    assert run(x=1).value == {"order_id": "ORD-0003", "x": 1}
    taken = run(id="ORD-0001")
    assert (taken.outcome, taken.error) == ("conflict", "Order 'ORD-0001' already exists")
    own = Run('{effect: create, collection: orders, key: args.id, exists: "{key} is taken by {args.id}"}')
    assert own(id="ORD-0001").error == "ORD-0001 is taken by ORD-0001"


def test_the_key_may_come_from_a_field_that_is_taken_or_set():
    assert Run("{effect: create, collection: files, take: [path, text]}")(path="/c", text="x").state.get("files", "/c")
    run = Run("{effect: create, collection: files, take: '*', set: {path: \"'/home' + args.name\"}}")
    assert run(name="/c").value == {"name": "/c", "path": "/home/c"}
    assert run(name="/c").minted == frozenset()


def test_composite_keys_are_completed():
    run = Run("{effect: create, collection: lines, key: [args.order], take: [sku]}")
    answer = run(order="ORD-0001", sku="Z")
    assert answer.value == {"order_id": "ORD-0001", "number": 3, "sku": "Z"}
    assert answer.state.get("lines", '["ORD-0001", "3"]') is answer.value
    whole = Run("{effect: create, collection: lines, key: [args.order, args.n]}")
    assert whole(order="ORD-0001", n=2).error == "Order line 'ORD-0001, 2' already exists"


def test_a_recorded_key_takes_the_place_of_a_minted_one_only():
    run = Run("{effect: create, collection: orders, key: args.id}")
    assert run(minted="REAL-9").value == {"order_id": "REAL-9"}
    assert run(minted="REAL-9", id="mine").value == {"order_id": "mine"}
    lines = Run("{effect: create, collection: lines, key: [args.order]}")
    assert lines(minted=["ORD-0001", 77], order="ORD-0001").value == {"order_id": "ORD-0001", "number": 77}


def test_removed_keys_are_not_minted_again():
    run = Run("{effect: create, collection: orders}")
    made = run().state
    assert run(made.remove("orders", "ORD-0003").replace(counters=run.start.counters)).value["order_id"] == "ORD-0004"


def test_arguments_are_taken_by_name_by_path_or_all_but_the_key():
    named = Run("{effect: update, collection: orders, key: args.id, take: [note, total]}")
    assert named(id="ORD-0002", note="n", other=1).value == {
        "order_id": "ORD-0002", "status": "closed", "total": 20.5, "note": "n",
    }  # fmt: skip
    renamed = Run('{effect: update, collection: orders, key: args.id, take: {"ship.city": address.city, note: remark}}')
    assert renamed(id="ORD-0002", address={"city": "Rome"}).value["ship"] == {"city": "Rome"}
    assert "note" not in renamed(id="ORD-0002", address={"city": "Rome"}).value
    everything = Run("{effect: update, collection: orders, key: args.id, take: '*'}")
    assert everything(id="ORD-0002", status=None, x=[1]).value == {
        "order_id": "ORD-0002", "status": None, "total": 20.5, "x": [1],
    }  # fmt: skip


def test_what_entered_the_world_does_not_change_with_the_callers_arguments():
    run = Run("{effect: create, collection: orders, take: '*'}")
    tags = [{"t": ["x"]}]
    answer = run(tags=tags)
    tags[0]["t"].append("y")
    tags.append("z")
    assert answer.value["tags"] == [{"t": ["x"]}]


def test_all_values_are_computed_on_the_entity_as_it_was():
    run = Run("""
effect: update
collection: orders
key: args.id
set: {total: entity.total + 1, before: entity.total, "placed.by": "'bob'"}
append: {tags: "'c'", log: "{'at': now, 'was': entity.total}"}
remove: {tags: "'a'"}
""")
    value = run(id="ORD-0001").value
    assert (value["total"], value["before"], value["placed"]) == (11, 10, {"by": "bob"})
    assert value["tags"] == ["b", "c"]
    assert value["log"] == [{"at": "2026-01-01T09:00:00Z", "was": 10}]
    assert run.start.get("orders", "ORD-0001") == START["orders"][0]


def test_removing_takes_away_json_equal_elements_only():
    run = Run("{effect: update, collection: files, key: args.p, remove: {list: args.x}}", start={"files": [
        {"path": "/l", "list": [1, 1.0, True, "1", [1]]}, {"path": "/none"},
    ]})  # fmt: skip
    assert run(p="/l", x=1).value["list"] == [True, "1", [1]]
    assert run(p="/l", x=[1.0]).value["list"] == [1, 1.0, True, "1"]
    assert run(p="/none", x=1).value == {"path": "/none"}


def test_an_update_that_sets_the_key_field_moves_the_entity():
    run = Run("{effect: update, collection: files, key: args.source, set: {path: args.target}}")
    answer = run(source="/a", target="/c")
    assert answer.value == {"path": "/c", "text": "one"}
    assert run.changes(answer) == '- files//a\n+ files//c: path "/c", text "one"'
    assert answer.state.collection("files").was_removed("/a")
    taken = run(source="/a", target="/b")
    assert (taken.outcome, taken.error, taken.state) == ("conflict", "File '/b' already exists", run.start)
    assert run(source="/a", target="/a").state.get("files", "/a") == START["files"][0]
    with pytest.raises(DynamicsError, match="takes away the key"):
        run(source="/a", target=None)


def test_an_upsert_makes_what_is_not_there():
    run = Run("{effect: update, collection: files, key: args.path, upsert: true, take: [text]}")
    assert run.changes(run(path="/a", text="x")) == '~ files//a: text "one" → "x"'
    assert run.changes(run(path="/n", text="x")) == '+ files//n: path "/n", text "x"'


def test_deleting_answers_what_was_deleted():
    run = Run("{effect: delete, collection: orders, key: args.id}")
    answer = run(id="ORD-0001")
    assert answer.value == START["orders"][0]
    assert run.changes(answer) == "- orders/ORD-0001"
    assert run(answer.state, id="ORD-0001").error == "Order 'ORD-0001' not found"


ALSO = """
effect: update
collection: orders
key: args.id
set: {status: "'shipped'"}
also:
  - effect: update
    collection: stock
    each: "find('lines', {'order_id': args.id})"
    key: item.sku
    when: "!has(args.only) || item.sku == args.only"
    set: {n: target.n - item.qty, order_is: entity.status}
  - {effect: delete, collection: lines, each: "find('lines', {'order_id': args.id})", key: [item.order_id, item.number]}
  - {effect: create, collection: files, key: "'/log/' + key", set: {left: size(world.lines), text: entity.status}}
"""


def test_further_changes_come_after_the_entitys_own_and_see_those_before_them():
    run = Run(ALSO)
    answer = run(id="ORD-0001")
    assert run.changes(answer).splitlines() == [
        '+ files//log/ORD-0001: path "/log/ORD-0001", left 0, text "shipped"',
        '- lines/["ORD-0001", "1"]',
        '- lines/["ORD-0001", "2"]',
        '~ orders/ORD-0001: status "open" → "shipped"',
        '~ stock/X: n 5 → 3, order_is (absent) → "shipped"',
        '~ stock/Y: n 0 → -1, order_is (absent) → "shipped"',
    ]
    assert len(answer.writes) == 6
    only = run(id="ORD-0001", only="X")
    assert only.state.get("stock", "Y") == {"sku": "Y", "n": 0}


def test_one_change_that_fails_undoes_all():
    run = Run(ALSO)
    state = run.start.remove("stock", "Y")
    answer = run(state, id="ORD-0001")
    assert (answer.error, answer.outcome) == ("Article 'Y' not found", "not_found")
    assert answer.state is state
    taken = run.start.put("files", "/log/ORD-0001", {"path": "/log/ORD-0001"})
    assert run(taken, id="ORD-0001").error == "File '/log/ORD-0001' already exists"


def test_changes_to_unseen_entities_of_an_open_collection_are_left_out():
    run = Run("""
effect: compute
also:
  - {effect: update, collection: people, key: args.id, set: {seen: "true"}}
  - {effect: update, collection: people, key: args.new, upsert: true, set: {seen: "true"}}
returns: {value: "'ok'"}
""")
    answer = run(id="p9", new="p8")
    assert answer.value == "ok"
    assert run.changes(answer) == '+ people/p8: id "p8", seen true'


def test_members_of_the_items_can_be_taken():
    run = Run("""
effect: compute
also:
  - {effect: create, collection: lines, each: args.lines, key: [args.order, item.number], take: "*", set: {at: now}}
returns: {value: "count('lines', {'order_id': args.order})"}
""")
    answer = run(order="O", lines=[{"number": 1, "sku": "X"}, {"number": 2, "gift": True}])
    assert answer.value == 2
    assert answer.state.get("lines", '["O", "1"]') == {
        "order_id": "O", "number": 1, "sku": "X", "at": "2026-01-01T09:00:00Z",
    }  # fmt: skip


def test_the_answer_shows_the_entity_as_the_further_changes_left_it():
    run = Run("""
effect: update
collection: stock
key: args.sku
set: {n: "1"}
also: [{effect: update, collection: stock, key: args.sku, set: {n: entity.n + target.n}}]
""")
    assert run(sku="X").value == {"sku": "X", "n": 2}


@pytest.mark.parametrize(
    ("returns", "value", "entities"),
    [
        ("{fields: [total, order_id, zzz]}", {"total": 10, "order_id": "ORD-0001"}, [()]),
        ("{fields: [placed.by]}", {"placed": {"by": "ann"}}, [()]),
        ("{wrap: order, fields: [total]}", {"order": {"total": 10}}, [("order",)]),
        ("{wrap: order, fields: [], extra: {ok: 'true'}}", {"order": {}, "ok": True}, [("order",)]),
        ("{fields: [total], extra: {half: entity.total / 2}}", {"total": 10, "half": 5}, [()]),
        ("{value: entity.tags}", ["a", "b", "a"], []),
        ("{value: entity.placed.by}", "ann", []),
        ("{value: 'null'}", None, []),
        ("{object: {a: '1', o: entity.placed}}", {"a": 1, "o": {"by": "ann"}}, []),
    ],
)
def test_answers_take_the_form_that_is_asked_for(returns, value, entities):
    answer = Run(f"{{effect: read, collection: orders, key: args.id, returns: {returns}}}")(id="ORD-0001")
    assert answer.value == value
    assert not answer.is_text
    assert [emitted.pointer for emitted in answer.entities] == entities


def test_entities_are_told_from_copies_wherever_expressions_put_them():
    run = Run("""
effect: read
collection: orders
key: args.id
returns:
  object:
    order: entity
    parts: "{'lines': find('lines', {'order_id': args.id}), 'copy': {'order_id': args.id}}"
    buyer: default(get('people', 'p1'), null)
""")
    answer = run(id="ORD-0001")
    assert answer.entities == (
        Emitted(("order",), "orders", "ORD-0001"),
        Emitted(("parts", "lines", 0), "lines", '["ORD-0001", "1"]'),
        Emitted(("parts", "lines", 1), "lines", '["ORD-0001", "2"]'),
        Emitted(("buyer",), "people", "p1"),
    )
    for pointer, collection, key in answer.entities:
        value = answer.value
        for step in pointer:
            value = value[step]
        assert value is answer.state.get(collection, key)


def test_a_text_answer_is_a_text():
    answer = Run('{effect: delete, collection: orders, key: args.id, returns: {text: "Deleted {entity.order_id}."}}')(
        id="ORD-0001"
    )
    assert (answer.value, answer.is_text) == ("Deleted ORD-0001.", True)


def test_computing_needs_no_entity():
    run = Run("{effect: compute, returns: {object: {sum: args.a + args.b}}}")
    assert run(a=1, b=2).value == {"sum": 3}
    assert run(a=1, b=2).state is run.start
    keyed = Run("{effect: compute, collection: orders, key: args.id, returns: {value: entity.total * 2}}")
    assert keyed(id="ORD-0001").value == 20
    assert keyed(id="x").error == "Order 'x' not found"


def test_a_read_that_mints_a_number_still_changes_nothing():
    run = Run("{effect: compute, returns: {value: \"mint('orders')\"}}")
    assert run().value == "ORD-0003"
    assert run().state is run.start


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("{effect: read, collection: orders, key: args.id +}", r"rules.yaml: tools.tool.key: .*too early"),
        ("{effect: read, collection: orders, key: args.id, let: {x: y}}", r"tools.tool.let.x: `y`: there is no 'y'"),
        (
            "{effect: read, collection: orders, key: args.id, requires: [{that: entity.total, error: x}]}",
            r"tools.tool.requires\[0\].that: `entity.total` must be true or false, not 10",
        ),
        (
            "{effect: read, collection: orders, key: args.id, requires: [{that: 'false', error: '{zzz}'}]}",
            r"tools.tool.requires\[0\].error: `zzz`",
        ),
        ("{effect: update, collection: orders, key: args.id, set: {x: args.zzz}}", r"tools.tool.set.x: `args.zzz`"),
        ("{effect: update, collection: orders, key: args.id, set: {status.x: '1'}}", r"cannot set 'status.x'"),
        (
            "{effect: update, collection: orders, key: args.id, append: {status: '1'}}",
            r"'status' is not a list but \"open\"",
        ),
        ("{effect: read, collection: lines, key: args.id}", None),
        (
            "{effect: update, collection: lines, key: args.id}",
            r"tools.tool.key: effect update needs all of order_id, number",
        ),
        ("{effect: read, collection: orders, key: [args.id, args.id]}", r"tools.tool.key: 2 parts for a key of 1"),
        ("{effect: compute, also: [{effect: delete, collection: orders}]}", r"tools.tool.also\[0\].key"),
        (
            "{effect: compute, also: [{effect: create, collection: orders, each: '5'}]}",
            r"also\[0\].each: `5` must be a list",
        ),
        (
            "{effect: compute, also: [{effect: create, collection: orders, when: '5'}]}",
            r"also\[0\].when: `5` must be true or false",
        ),
        ("{effect: compute, returns: {text: '{'}}", r"tools.tool.returns.text: .*never closed"),
        ("{effect: compute, returns: {object: {a: zzz}}}", r"tools.tool.returns.object.a: `zzz`"),
        ("{effect: create, collection: stock, set: {x: nope()}}", r"tools.tool.set.x: .*no function nope"),
    ],
)
def test_a_wrong_rule_is_an_error_that_names_file_tool_and_field(rule, message):
    if message is None:
        assert Run(rule)(id="ORD-0001").outcome == "validation_error"
        return
    with pytest.raises(DynamicsError, match=message):
        Run(rule)(id="ORD-0001")


def test_a_wrong_mint_is_named_when_it_is_read():
    with pytest.raises(DynamicsError, match=r"collections.bad: mint 'x': expected one of"):
        Run("{effect: create, collection: bad}", more="  bad: {key: id, mint: x}\n")()


def test_all_rules_can_be_checked_at_once():
    Run("{effect: read, collection: orders, key: args.id}").interpreter.check()
    with pytest.raises(DynamicsError, match=r"tools\.tool\.key"):
        Run("{effect: read, collection: orders, key: '('}").interpreter.check()


def test_the_key_that_a_call_names_can_be_asked_for():
    run = Run("{effect: read, collection: lines, key: [args.order, args.n]}")
    assert run.interpreter.key(run.tool, {"order": "O", "n": 1}, run.start) == ["O", 1]
    assert run.interpreter.key(run.tool, {"order": "O"}, run.start) is None
    single = Run("{effect: read, collection: orders, key: args.id}")
    assert single.interpreter.key(single.tool, {"id": 7}, single.start) == 7
    search = Run("{effect: search, collection: orders}")
    assert search.interpreter.key(search.tool, {}, search.start) is None


def test_endless_work_is_an_error_of_the_rule():
    run = Run("{effect: compute, returns: {value: 'args.l.map(a, args.l.map(b, args.l.map(c, a)))'}}")
    with pytest.raises(DynamicsError, match=r"returns.value: .*too many steps"):
        run(l=list(range(300)))


def test_lists_in_names_are_computed_once():
    run = Run("""
effect: compute
let: {minted: "[mint('orders'), mint('orders')]", times: "[now]"}
returns: {value: "[minted, times, mint('orders')]"}
""")
    assert run().value == [["ORD-0003", "ORD-0004"], ["2026-01-01T09:00:00Z"], "ORD-0005"]


def test_a_dot_in_an_arguments_name_is_no_path():
    run = Run("{effect: create, collection: orders, take: '*'}")
    assert run(**{"a.b": 1, "order_id.x": 2}).value == {"order_id": "ORD-0003", "a.b": 1, "order_id.x": 2}
    named = Run("{effect: create, collection: orders, take: ['a.b']}")
    assert named(**{"a.b": 1}).value["a.b"] == 1
    assert named(a={"b": 2}).value["a"] == {"b": 2}


def nested(depth):
    value = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [100, 900, 5000])
def test_arguments_nested_very_deeply_are_refused(depth):
    answer = Run("{effect: create, collection: orders, take: '*'}")(x=nested(depth))
    assert (answer.outcome, answer.error) == ("validation_error", "The arguments are nested too deeply")
    assert Run("{effect: create, collection: orders, take: '*'}")(x=nested(50)).value["x"] == nested(50)


@pytest.mark.parametrize(
    "rule",
    [
        "{effect: update, collection: orders, key: args.id, set: {x: entity}}",
        "{effect: update, collection: orders, key: args.id, append: {x: entity}}",
        "{effect: update, collection: orders, key: args.id, set: {x: '[default(entity.x, 0)]'}}",
        "{effect: update, collection: orders, key: args.id, set: {x: '[default(entity.x, 0), default(entity.x, 0)]'}}",
        "{effect: update, collection: orders, key: args.id, set: {x: string(entity) + string(entity)}}",
    ],
)
def test_a_document_that_is_put_into_itself_stops_growing(rule):
    run = Run(rule)
    state = run.start
    for _ in range(200):
        try:
            state = run(state, id="ORD-0001").state
        except DynamicsError as error:
            stopped = str(error)
            break
    assert re.search("too large|deeper|longer", stopped)
    assert State.from_json(state.to_json()) == state


def test_one_call_changes_a_bounded_number_of_entities():
    run = Run("{effect: compute, also: [{effect: create, collection: orders, each: args.l}], returns: {value: '1'}}")
    assert len(run(l=[0] * 500).state.collection("orders")) == 502
    with pytest.raises(DynamicsError, match="too many steps"):
        run(l=[0] * 60_000)
