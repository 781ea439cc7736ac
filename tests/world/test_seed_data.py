import json
import time
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.errors import WorldError
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.seed_data import load_seed_data, read_start
from envace_sdk.world.state import DEFAULT_CLOCK, State

RULES = Dynamics.parse("""
collections:
  customers: {key: customer_id}
  order_lines: {key: [order_id, line]}
  People: {key: id, noun: person}
tools: {}
""")
START = State.start(dynamics=RULES)


@pytest.fixture
def load(tmp_path):
    def run(name, content, *, source=None, start=START, **options):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return load_seed_data(source.format(path) if source else path, RULES, start, **options)

    return run


def customers(state):
    return list(state.collection("customers").values())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("customers.json", '[{"customer_id": "C1", "age": 3}]'),
        ("customers.json", '{"customer_id": "C1", "age": 3}'),
        ("customers.json", '{"C1": {"age": 3}}'),
        ("customers.json", '{"customers": [{"customer_id": "C1", "age": 3}]}'),
        ("anything.json", '{"customers": [{"customer_id": "C1", "age": 3}]}'),
        ("x.json", '{"clock": "2026-01-01T09:00Z", "collections": {"customers": [{"customer_id": "C1", "age": 3}]}}'),
        ("Customer.json", '\ufeff[{"customer_id": "C1", "age": 3}]'),
        ("customers.jsonl", '{"customer_id": "C1", "age": 3}\n\n'),
        ("customers.ndjson", '{"customer_id": "C1", "age": 3}'),
        ("customers.yaml", "- customer_id: C1\n  age: 3\n"),
        ("customers.yml", "C1: {age: 3}"),
        ("customers.csv", "customer_id,age\nC1,3\n"),
        ("customers.csv", "\ufeffcustomer_id;age\r\n\r\nC1;3\r\n"),
        ("CUSTOMERS.CSV", '"customer_id","age"\n"C1","3"'),
        ("customers.tsv", "customer_id\tage\nC1\t3\n"),
    ],
)  # fmt: skip
def test_entities_are_read_from_every_kind_of_file(load, name, content):
    state = load(name, content)
    assert [sorted(document.items()) for document in customers(state)] == [[("age", 3), ("customer_id", "C1")]]
    assert state.get("customers", "C1")
    assert state.clock == DEFAULT_CLOCK


def test_the_collection_is_told_by_the_file_or_by_the_caller(load):
    content = '[{"id": 1}]'
    assert load("people.json", content).get("People", "1")
    assert load("person.json", content).get("People", "1")
    assert load("x.json", content, source="People={}").get("People", "1")
    assert load("order-lines.json", '[{"order_id": "O", "line": 1}]').get("order_lines", '["O", "1"]')
    with pytest.raises(
        WorldError, match=r"x\.json: there is no collection 'x' \(there are: People, customers, order_lines\)"
    ):
        load("x.json", content)
    with pytest.raises(WorldError, match="no collection 'clients'"):
        load("x.json", content, source="clients={}")


def test_a_path_with_an_equals_sign_is_a_path_when_it_exists(load):
    assert load("a=customers.json", '{"customers": [{"customer_id": 1}]}', source="{}").get("customers", "1")


def test_files_add_to_each_other_and_the_later_one_wins(load):
    state = load("customers.csv", "customer_id,name\n1,Ann\n2,Bob\n")
    state = load("customers.json", '[{"customer_id": 2, "name": "Rob"}, {"customer_id": 3}]', start=state)
    assert [d.get("name") for d in customers(state)] == ["Ann", "Rob", None]
    assert [len(state.collection(name)) for name in ("customers", "People")] == [3, 0]


def test_a_snapshot_and_a_clock_are_taken_too(load):
    snapshot = START.put("customers", "C1", {"customer_id": "C1"}).to_json()
    assert load("any.json", json.dumps(snapshot)).get("customers", "C1")
    state = load("any.json", '{"clock": "2030-05-05T00:00:00Z", "collections": {}}')
    assert state.clock == datetime(2030, 5, 5, tzinfo=UTC)


def test_cells_are_typed_by_what_the_whole_column_looks_like(load):
    state = load(
        "customers.csv",
        "customer_id,whole,number,yes,zip,text,list,empty,mixed,address.city,date\n"
        'C1,1,1.5,true,01234,007,"[1, ""a""]",,1,Rome,2026-01-01\n'
        "C2,-20,2,FALSE,99999,x,[],,x,,2026-01-02\n",
    )
    assert customers(state) == [
        {"customer_id": "C1", "whole": 1, "number": 1.5, "yes": True, "zip": "01234", "text": "007", "list": [1, "a"],
         "mixed": "1", "address": {"city": "Rome"}, "date": "2026-01-01"},
        {"customer_id": "C2", "whole": -20, "number": 2, "yes": False, "zip": "99999", "text": "x", "list": [],
         "mixed": "x", "date": "2026-01-02"},
    ]  # fmt: skip


def test_cells_are_typed_by_the_schema_or_by_the_entities_that_are_there(load):
    content = "customer_id,phone,age,vip,tags\n1,123,7,yes,[]\n"
    properties = {
        "customer_id": {"type": "string"}, "phone": {"type": ["string", "null"]}, "age": {"type": "number"},
        "vip": {"type": "boolean"}, "tags": {"type": "array"},
    }  # fmt: skip
    state = load("customers.csv", content, schemas={"customers": {"properties": properties}})
    assert customers(state) == [{"customer_id": "1", "phone": "123", "age": 7, "vip": True, "tags": []}]
    held = START.put("customers", "0", {"customer_id": "0", "phone": "555", "age": 1, "vip": False})
    assert customers(load("customers.csv", content, start=held))[1] == {
        "customer_id": "1", "phone": "123", "age": 7, "vip": True, "tags": [],
    }  # fmt: skip
    with pytest.raises(WorldError, match=r"customers\.csv: row 3, field 'age': expected integer, got \"old\""):
        load("customers.csv", "customer_id,age\n1,2\n2,old\n", start=held)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("customers.json", None, "cannot be read"),
        ("customers.json", "", "not JSON"),
        ("customers.json", "[1", "not JSON"),
        ("customers.json", "[NaN]", "NaN is not a JSON number"),
        ("customers.json", b"\xff\xfe", "cannot be read"),
        ("customers.json", "[" * 100_000, "not JSON"),
        ("customers.json", '"text"', "expected a list of entities"),
        ("customers.json", "[1]", r"customers\[0\]: expected an object"),
        ("customers.json", '[{"customer_id": 1}, {"id": 2}]', r"no key: it needs 'customer_id'.*fields: id"),
        ("customers.json", '[{"customer_id": 1}, {"customer_id": "1"}]', r"'1' is also that of customers\[0\]"),
        ("customers.json", '[{"customer_id": null}]', "no key"),
        ("order_lines.json", '[{"order_id": 1}]', "needs 'order_id' and 'line'"),
        ("x.json", '{"collections": {"customers": 1}}', r"x\.json: collections\.customers: expected a list"),
        ("x.json", '{"collections": {"clients": []}}', "no collection 'clients'"),
        ("x.json", '{"collections": {}, "clok": 1}', "'clok' is not known"),
        ("x.json", '{"collections": {}, "clock": "now"}', "clock: expected a time"),
        ("x.json", '{"format": 99}', "format"),
        ("customers.jsonl", '{"customer_id": 1}\n{"customer_id"', "line 2: not JSON"),
        ("customers.yaml", "a: [", "not YAML"),
        ("customers.yaml", "!!python/object:os.system {}", "not YAML"),
        ("customers.yaml", "- customer_id: .nan\n", "not a JSON number"),
        ("customers.txt", "x", "expected a name that ends in .json"),
        ("customers.csv", "", "empty"),
        ("customers.csv", "customer_id,,x\n", "row 1: column 2 has no name"),
        ("customers.csv", "customer_id,x,x\n", "row 1: column 3 has no name of its own"),
        ("customers.csv", "customer_id,x\n1,2,3\n", r"row 2: 3 cells under 2 names"),
        ("customers.csv", 'customer_id,x\n1,"a\nb"\n2,"open\n', "row 4: unexpected end"),
        ("customers.csv", "id,x\n1,2\n", r"row 2: no key: it needs 'customer_id' \(its columns: id, x\)"),
        ("customers.csv", "customer_id\n1\n\n1\n", "row 4: the key '1' is also that of row 2"),
        ("customers.csv", "customer_id,a,a.b\n1,x,y\n", "row 2, field 'a.b': cannot set"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_file_row_and_field(load, name, content, message):
    with pytest.raises(WorldError, match=message) as caught:
        load(name, content)
    assert name in str(caught.value)


def test_a_path_that_is_none_is_an_error_too():
    for source in ("\x00.json", "customers=\x00.json", "x" * 5000 + ".json"):
        with pytest.raises(WorldError):
            load_seed_data(source, RULES, START)


def test_a_small_file_that_stands_for_a_huge_one_is_refused(load):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    began = time.process_time()
    with pytest.raises(WorldError, match="too large"):
        load("customers.yaml", "\n".join(lines))
    assert time.process_time() - began < 5


def test_the_start_of_a_toolset_is_read_and_checked():
    clock, collections = read_start({"clock": "2026-02-01T00:00:00Z", "collections": {"a": [{"x": 1}]}}, "world.json")
    assert (clock, collections) == (datetime(2026, 2, 1, tzinfo=UTC), {"a": [{"x": 1}]})
    assert read_start({"collections": {}}, "world.json") == (None, {})
    for data in (
        [],
        {},
        {"collections": []},
        {"collections": {"a": {}}},
        {"collections": {"a": [1]}},
        {"collections": {"a": [{"x": {1}}]}},
    ):
        with pytest.raises(WorldError, match=r"world\.json"):
            read_start(data, "world.json")


NAMES = ["customers", "collections", "customer_id", "clock", "format", "x"]
json_text = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
).map(json.dumps)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["json", "jsonl", "yaml", "csv", "tsv"]), json_text | st.text(max_size=40))
def test_any_file_either_loads_or_is_refused(tmp_path_factory, kind, content):
    path = tmp_path_factory.getbasetemp() / f"customers.{kind}"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with suppress(WorldError):
        state = load_seed_data(path, RULES, START)
        assert State.from_json(json.loads(json.dumps(state.to_json()))) == state


def test_half_a_surrogate_pair_in_a_file_is_refused_by_its_place(load):
    with pytest.raises(WorldError, match=r"customers\.json: .*name: .*surrogate"):
        load("customers.json", '[{"customer_id": 1, "name": "\\ud800"}]')
