"""Created entities: each has a key of its own, which the schemas allow, and under which it is found."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envace_sdk.errors import DynamicsError, UnsatisfiableError
from envace_sdk.jsonschema import compile_schema
from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import State

TEXT = {"type": "string"}
RULES = """
collections: {products: {key: id%s}}
tools:
  create_product: {effect: create, collection: products, take: [name, price]}
  get_product: {effect: read, collection: products, key: args.id}
  update_product: {effect: update, collection: products, key: args.id, take: [price]}
"""


def shop(key, argument=None, rules=RULES % "", more=None):
    """An environment of products whose key has one schema in answers and one in arguments."""
    product = {
        "type": "object",
        "properties": {"id": key, "name": TEXT, **(more or {})},
        "required": ["id", "name"],
    }
    argument = {} if argument is None else argument

    def tool(name, properties, required):
        asked = {"type": "object", "properties": properties, "required": required}
        return {"name": name, "inputSchema": asked, "outputSchema": product}

    definitions = [
        tool("create_product", {"name": TEXT, "price": {}}, ["name"]),
        tool("get_product", {"id": argument}, ["id"]),
        tool("update_product", {"id": argument, "price": {}}, ["id"]),
    ]
    dynamics = Dynamics.parse(rules) if rules else None
    return Environment(Toolset.from_definitions(definitions, name="shop"), dynamics=dynamics)


class Session:
    def __init__(self, environment):
        self.environment = environment
        self.world = environment.world()

    def __call__(self, name, /, **arguments):
        return asyncio.run(self.environment.call(self.world, ToolCall(name, arguments)))

    def value(self, name, /, **arguments):
        rehearsal = self(name, **arguments)
        assert not rehearsal.result.is_error, rehearsal.result.first_text
        return rehearsal.result.value()


def created(session, count):
    """Up to `count` new products; fewer when there are no more keys."""
    made = []
    for at in range(count):
        try:
            made.append(session.value("create_product", name=f"p{at}"))
        except DynamicsError as error:
            assert "no new key is left" in str(error)  # noqa: PT017  the point is what came before
            break
    return made


def assert_each_is_found(session, made, key):
    assert len({str(product["id"]) for product in made}) == len(made)
    for at, product in enumerate(made):
        assert compile_schema(key).is_valid(product["id"])
        assert session.value("get_product", id=product["id"]) == product
        assert product["name"] == f"p{at}"


KEYS = [
    {"type": "integer", "minimum": 5000},
    {"type": "integer", "exclusiveMinimum": 5000, "multipleOf": 7},
    {"type": "integer", "minimum": 5000, "maximum": 5009},
    {"type": "integer", "maximum": 9},
    {"type": "string", "pattern": "^P[0-9]{4}$"},
    {"type": "string", "minLength": 12},
    {"type": "string", "maxLength": 3},
    {"type": "string", "allOf": [{"pattern": "^[A-F]{3}-[0-9]{5}$"}]},
    {"type": "string", "format": "uuid"},
    {"type": ["string", "null"], "pattern": "^x"},
]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("where", ["output", "both"])
@pytest.mark.parametrize("rules", [RULES % "", RULES % ", mint: 'product-{n}'", None], ids=["", "mint", "inferred"])
def test_new_keys_meet_the_schemas_and_each_product_is_found_under_its_own(key, where, rules):
    argument = key if where == "both" else {"type": key["type"]}
    session = Session(shop(key, argument, rules))
    made = created(session, 8)
    assert len(made) == 8
    assert_each_is_found(session, made, key)


def test_a_hundred_keys_of_a_hundred_are_given_and_then_there_are_no_more():
    key = {"type": "string", "pattern": "^P[0-9]{2}$"}
    session = Session(shop(key))
    made = created(session, 101)
    assert {product["id"] for product in made} == {f"P{at:02}" for at in range(100)}
    assert_each_is_found(session, made, key)


@pytest.mark.parametrize("key", [{"enum": ["a", "b", 3]}, {"type": "string", "enum": ["a", "b", "c"]}])
def test_the_keys_of_an_enumeration_are_used_up(key):
    session = Session(shop(key))
    made = created(session, 4)
    assert len(made) == 3
    assert_each_is_found(session, made, key)


def test_a_constant_key_serves_once():
    session = Session(shop({"const": "only"}))
    assert [product["id"] for product in created(session, 2)] == ["only"]


def test_an_argument_that_contradicts_the_answers_does_not_stop_keys_from_being_made():
    key = {"type": "integer", "minimum": 5000}
    session = Session(shop(key, TEXT))
    made = created(session, 3)
    assert len({product["id"] for product in made}) == 3
    assert session.value("get_product", id=str(made[1]["id"])) == made[1]


NUMBERS = st.fixed_dictionaries(
    {"type": st.just("integer")},
    optional={
        "minimum": st.integers(-50, 10_000),
        "maximum": st.integers(0, 20_000),
        "exclusiveMinimum": st.floats(-10, 3000),
        "multipleOf": st.integers(1, 40),
    },
)
PATTERNS = st.sampled_from(["^[a-c]$", "^[A-Z]{2}[0-9]{3}$", "^(ab|cd)+$", "^x?y?z?$", "[0-9]$", r"^\d-\d$", "^v1\\."])
TEXTS = st.fixed_dictionaries(
    {"type": st.just("string")},
    optional={
        "pattern": PATTERNS,
        "minLength": st.integers(0, 12),
        "maxLength": st.integers(1, 40),
        "format": st.sampled_from(["uuid", "date", "email"]),
    },
)
SCALARS = st.integers(-5, 5) | st.sampled_from(["a", "B", "", "7", "x y"]) | st.booleans() | st.floats(0, 3)
FINITE = st.lists(SCALARS, min_size=1, max_size=5).map(lambda values: {"enum": values})
PARTS = NUMBERS | TEXTS | FINITE
SCHEMAS = PARTS | st.tuples(TEXTS, TEXTS).map(lambda two: {**two[0], "allOf": [two[1]]})
MINTS = st.sampled_from(["", ", mint: '{n}'", ", mint: '{int}'", ", mint: 'P{n:02}'", ", mint: '{hex:3}'"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCHEMAS, MINTS, st.integers(1, 12))
def test_creates_give_keys_that_are_distinct_valid_and_fetchable(key, mint, count):
    session = Session(shop(key, {}, RULES % mint))
    try:
        made = created(session, count)
    except UnsatisfiableError:
        return
    assert_each_is_found(session, made, key)


def test_completing_never_changes_the_key_of_an_entity_that_is_there():
    environment = shop({"type": "integer", "minimum": 5000})
    rules = environment.dynamics
    environment.start = State.start(dynamics=rules, collections={"products": [{"id": 7}, {"id": 5000, "name": "b"}]})
    session = Session(environment)
    session.value("get_product", id=7)
    assert session.world.state.get("products", "7")["id"] == 7
    assert session.value("get_product", id=5000) == {"id": 5000, "name": "b"}


CHOSEN = """
collections: {products: {key: id}}
tools:
  create_product: {effect: create, collection: products, key: args.price, take: [name]}
  get_product: {effect: read, collection: products, key: args.id}
"""


def test_an_entity_that_is_shown_under_another_key_than_was_chosen_is_found_under_the_one_shown():
    session = Session(shop({"type": "integer", "enum": [5000]}, rules=CHOSEN))
    rehearsal = session("create_product", name="a", price=7)
    assert rehearsal.confidence <= 0.2
    assert "id from 7 to 5000" in rehearsal.reason
    assert session.value("get_product", id=5000) == rehearsal.result.value()
    assert session("get_product", id=7).outcome == "not_found"
    again = session("create_product", name="b", price=8)
    assert again.outcome == "conflict"
    assert session.value("get_product", id=5000)["name"] == "a"


PRICE = {"price": {"type": "number", "maximum": 100}}


def test_a_value_that_the_output_schema_forbids_lowers_the_confidence_and_is_named():
    session = Session(shop({"type": "integer"}, more=PRICE))
    product = session.value("create_product", name="lamp", price=20)
    sure = session("update_product", id=product["id"], price=30)
    assert sure.confidence == 1.0
    assert sure.reason == ""
    rehearsal = session("update_product", id=product["id"], price=500)
    assert not rehearsal.result.is_error
    assert rehearsal.result.value()["price"] <= 100
    assert rehearsal.confidence == 0.2
    assert "output schema" in rehearsal.reason
    assert "price from 500 to" in rehearsal.reason


def test_what_completion_only_adds_or_leaves_out_keeps_the_confidence():
    session = Session(shop({"type": "integer"}, more={"color": TEXT}))
    rehearsal = session("create_product", name="lamp")
    assert rehearsal.confidence == 1.0


def test_columns_of_a_table_have_the_types_that_the_tools_take_them_with(tmp_path):
    books = tmp_path / "books.csv"
    books.write_text("book_id,title\n1,Emma\n")
    asked = {"type": "object", "properties": {"book_id": TEXT}, "required": ["book_id"]}
    listed = {"type": "object", "properties": {"title": TEXT}}
    definitions = [{"name": "get_book", "inputSchema": asked}, {"name": "list_books", "inputSchema": listed}]
    toolset = Toolset.from_definitions(definitions, name="library")
    session = Session(Environment.load(toolset, seed_data=[books]))
    (book,) = session.environment.start.collection("books").values()
    assert book == {"book_id": "1", "title": "Emma"}
    assert session.value("get_book", book_id=book["book_id"]) == book
