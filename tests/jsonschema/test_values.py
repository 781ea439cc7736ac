"""Values that fit the names of their fields, and each other."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from envace_sdk.jsonschema import generate
from envace_sdk.jsonschema.regex import matcher
from envace_sdk.jsonschema.values.concepts import concept, quantity
from envace_sdk.jsonschema.values.formats import FORMAT_PATTERNS, has_format
from envace_sdk.jsonschema.values.names import singular, words
from envace_sdk.jsonschema.values.places import COUNTRIES, find_country
from envace_sdk.jsonschema.values.timeline import parse_instant

CLOCK = datetime(2026, 1, 1, 9, tzinfo=UTC)
TEXT: Any = {"type": "string"}


def made(fields: dict[str, Any], seed: int = 0, name: str = "", known: Any = None) -> Any:
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    more = {} if known is None else {"known": known}
    return generate(schema, random=Random(seed), clock=CLOCK, name=name, **more)


def texts(*names: str, seed: int = 0, name: str = "", known: Any = None) -> Any:
    return made(dict.fromkeys(names, TEXT), seed, name, known)


@pytest.mark.parametrize("seed", range(8))
def test_all_that_tells_of_a_person_tells_of_the_same_one(seed: int) -> None:
    person = texts("first_name", "lastName", "full_name", "email", "user_name", seed=seed)
    assert person["full_name"] == f"{person['first_name']} {person['lastName']}"
    assert person["email"].endswith(("@example.com", "@example.org", "@example.net"))
    assert person["email"].partition("@")[0].isascii()
    assert person["user_name"][0] == person["email"][0]


def test_a_person_that_is_known_is_the_one_the_rest_is_about() -> None:
    assert texts("name", "email", "username", known={"name": "Ada Lovelace"})["email"].startswith("ada.lovelace@")
    value = texts("firstName", "lastName", "email", known={"email": "grace.hopper@navy.mil"})
    assert (value["firstName"], value["lastName"]) == ("Grace", "Hopper")
    inner = {"type": "object", "properties": {"email": TEXT}, "required": ["email"]}
    value = made({"first_name": TEXT, "last_name": TEXT, "contact": inner})
    assert value["contact"]["email"].startswith(value["first_name"].lower())


def test_people_of_one_list_or_in_different_roles_differ() -> None:
    person = {"type": "object", "properties": {"name": TEXT, "email": TEXT}, "required": ["name", "email"]}
    value = made({"users": {"type": "array", "items": person, "minItems": 4}, "author": person, "assignee": person})
    names = [user["name"] for user in (*value["users"], value["author"], value["assignee"])]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("seed", range(8))
def test_a_city_lies_in_its_country_and_so_does_everything_else(seed: int) -> None:
    place = made(
        {"country": TEXT, "city": TEXT, "country_code": TEXT, "currency": TEXT, "latitude": {"type": "number"}}, seed
    )
    country = find_country(place["country"])
    assert country is not None
    assert (country.alpha2, country.currency) == (place["country_code"], place["currency"])
    assert country.latitudes[0] <= place["latitude"] <= country.latitudes[1]


def test_a_country_that_is_known_decides_on_city_currency_and_phone() -> None:
    place = texts("city", "country", "currency", "phone", "timezone", known={"country": "Germany"})
    assert (place["currency"], place["timezone"]) == ("EUR", "Europe/Berlin")
    assert place["phone"].startswith("+49")
    japan = texts("city", "country", known={"country": "Japan"})
    assert japan["country"] == "Japan"
    assert made({"country": {"enum": ["CA"]}, "currency": TEXT})["currency"] == "CAD"


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("form", ["date-time", "date", None])
def test_dates_come_in_the_order_of_a_life_and_before_the_clock(form: str | None, seed: int) -> None:
    names = ("created_at", "approved_at", "shipped_at", "updated_at", "delivered_at", "closed_at")
    field = {"type": "string", "format": form} if form else TEXT
    value = made(dict.fromkeys((*names, "due_date", "birth_date"), field), seed)
    dates = [value[name] for name in names]
    assert dates == sorted(dates)
    assert value["birth_date"] < "2010" < dates[0]
    assert dates[-1] < "2026-01-01T09:00:01Z" < value["due_date"] + "T99"


def test_dates_that_are_known_bound_the_others() -> None:
    names = ("created_at", "updated_at", "closed_at")
    value = texts(*names, known={"created_at": "2025-12-31T10:00:00Z"})
    assert "2025-12-31T10:00:00Z" < value["updated_at"] < value["closed_at"] <= "2026-01-01T09:00:00Z"
    value = texts(*names, known={"closed_at": "2020-05-05T10:00:00Z"})
    assert value["created_at"] < value["updated_at"] < "2020-05-05T10:00:00Z"
    later = texts(*names, known={"created_at": "2026-03-01T10:00:00Z"})
    assert "2026-03-01T10:00:00Z" < later["updated_at"] < later["closed_at"]


def test_dates_depend_on_the_clock_alone() -> None:
    schema = {"type": "object", "properties": {"created_at": TEXT}, "required": ["created_at"]}
    early = generate(schema, random=Random(1), clock=CLOCK)["created_at"]
    late = generate(schema, random=Random(1), clock=CLOCK + timedelta(days=365))["created_at"]
    assert datetime.fromisoformat(late) - datetime.fromisoformat(early) == timedelta(days=365)
    assert generate(schema, random=Random(1), clock=CLOCK.replace(tzinfo=None))["created_at"] == early


def test_times_as_numbers_are_seconds_or_milliseconds() -> None:
    value = made(
        {"created_at": {"type": "integer"}, "updated_at_ms": {"type": "integer"}, "expires": {"type": "number"}}
    )
    now = CLOCK.timestamp()
    assert now - 500 * 86400 < value["created_at"] < value["updated_at_ms"] / 1000 < now < value["expires"]


@pytest.mark.parametrize(
    ("name", "kind", "low", "high"),
    [
        ("unit_price", "number", 0, 1000),
        ("quantity", "integer", 1, 100),
        ("page", "integer", 1, 1),
        ("progress_percent", "number", 0, 100),
        ("confidence", "number", 0, 1),
        ("rating", "number", 1, 5),
        ("age", "integer", 18, 70),
        ("year", "integer", 2015, 2026),
        ("latitude", "number", -90, 90),
        ("weight_kg", "number", 0, 50),
        ("latency_ms", "number", 1, 1000),
        ("port", "integer", 1, 65535),
        ("annual_salary", "number", 20_000, 200_000),
        ("status_code", "integer", 200, 599),
        ("memory_mb", "integer", 16, 2048),
        ("last_seen", "integer", 1_600_000_000, 1_800_000_000),
    ],
)
def test_numbers_are_of_the_size_of_what_they_measure(name: str, kind: str, low: float, high: float) -> None:
    for seed in range(10):
        value = made({name: {"type": kind}}, seed)[name]
        assert low <= value <= high
        assert round(value, 5) == value


def test_prices_have_two_decimals() -> None:
    for seed in range(20):
        value = made({"price": {"type": "number"}, "total_amount": {"type": "number", "minimum": 5}}, seed)
        assert all(round(amount, 2) == amount > 0 for amount in value.values())


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("id", r"^[a-z0-9_]{8,}$"),
        ("order_id", r"^ord_[a-z0-9]{8}$"),
        ("orderNumber", r"^ORD-[0-9]{6}$"),
        ("trace_id", r"^[0-9a-f]{8}-[0-9a-f]{4}-4"),
        ("sku", r"^[A-Z]{3}-[0-9]{4}$"),
        ("website", r"^https://[a-z]+\.example\.(com|org|net)/"),
        ("avatarUrl", r"^https://.*\.png$"),
        ("client_ip", r"^(203\.0\.113|198\.51\.100|192\.0\.2)\."),
        ("hostname", r"\.example\."),
        ("commit_sha", r"^[0-9a-f]{40}$"),
        ("phone", r"^\+[0-9]"),
        ("currency", r"^[A-Z]{3}$"),
        ("zip", r"[0-9]"),
        ("slug", r"^[a-z-]+$"),
        ("mime_type", "/"),
        ("version", r"^[0-9]+\.[0-9]+\.[0-9]+$"),
        ("file_name", r"\.[a-z]{3,4}$"),
        ("hex_color", "^#[0-9a-f]{6}$"),
        ("title", r"^[A-Z].* the "),
        ("description", r"^[A-Z].*\.$"),
        ("product_name", r"^[A-Z]"),
        ("amount", r"^[0-9]+(\.[0-9]{2})?$"),
        ("frobnication", r"^Frobnication [0-9]+$"),
    ],
)
def test_texts_look_like_what_they_are_called(name: str, pattern: str) -> None:
    for seed in range(10):
        assert matcher(pattern)(texts(name, seed=seed)[name])


def test_a_name_is_that_of_the_thing_it_names() -> None:
    thing = {"type": "object", "properties": {"name": TEXT}, "required": ["name"]}
    value = made({"customer": thing, "company": thing, "hotel_name": TEXT, "product": thing, "file": thing})
    assert len(value["customer"]["name"].split()) == 2
    assert value["hotel_name"].endswith(" Hotel")
    assert "." in value["file"]["name"]


def test_state_is_a_place_beside_a_city_and_a_status_elsewhere() -> None:
    assert texts("title", "state")["state"] in {"active", "pending", "completed", "open", "in_progress"}
    assert texts("city", "state")["state"] not in {"active", "pending", "completed", "open", "in_progress"}


def test_flags_are_mostly_set_but_those_of_trouble() -> None:
    fields = {name: {"type": "boolean"} for name in ("is_active", "deleted")}
    values = [made(fields, seed) for seed in range(60)]
    assert sum(value["is_active"] for value in values) > 35
    assert sum(value["deleted"] for value in values) < 20


def test_examples_speak_where_names_do_not() -> None:
    assert made({"zone": {"type": "string", "examples": ["north", "south"]}})["zone"] in {"north", "south"}
    assert made({"model": {"type": "string", "default": "small"}})["model"] == "small"
    ids = {made({"ref": {"type": "string", "examples": ["ORD-1001"]}}, seed)["ref"] for seed in range(8)}
    assert len(ids) > 4
    assert all(matcher("^ORD-[0-9]{4}$")(value) for value in ids)
    assert "@" in made({"email": {"type": "string", "examples": ["someone"]}})["email"]


@pytest.mark.parametrize(
    ("description", "pattern"),
    [
        ("The order's id, e.g. 'ORD-10234'", r"^ORD-[0-9]{5}$"),
        ("For example `eu-west`, or `us-east`.", r"^(eu-west|us-east)$"),
        ("One of: open, shipped, delivered", r"^(open|shipped|delivered)$"),
        ("Day in YYYY-MM-DD format", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
        ("ISO 8601 timestamp", r"^[0-9]{4}-.*T.*Z$"),
    ],
)
def test_descriptions_give_values_away(description: str, pattern: str) -> None:
    for seed in range(5):
        value = made({"thingy": {"type": "string", "description": description}}, seed)["thingy"]
        assert matcher(pattern)(value), value


@pytest.mark.parametrize("form", [*FORMAT_PATTERNS, "byte", "password", "int64", "unheard-of"])
def test_every_format_is_met_freely_and_in_tight_places(form: str) -> None:
    for seed in range(10):
        value = generate({"type": "string", "format": form}, random=Random(seed), clock=CLOCK)
        assert has_format(form, value)
    if form in FORMAT_PATTERNS:
        tight = {"type": "string", "format": form, "pattern": "[0-9a-zA-Z/]$", "maxLength": 60}
        value = generate(tight, random=Random(1), clock=CLOCK)
        assert has_format(form, value)


def test_english_by_default() -> None:
    fields = ("title", "description", "status", "country", "category", "comment")
    for seed in range(10):
        assert json.dumps(texts(*fields, seed=seed), ensure_ascii=False).isascii()


def test_names_are_split_and_understood() -> None:
    assert words("billingZIPCode2_x") == ("billing", "zip", "code", "2", "x")
    assert [singular(word) for word in ("orders", "cities", "boxes", "status", "addresses", "news")] == [
        "order", "city", "box", "status", "address", "news"]  # fmt: skip
    assert concept("customerEmailAddress") == "email"
    assert quantity("total_price_usd") == "money"
    assert concept("x") == ""


def test_every_country_is_found_by_name_and_codes() -> None:
    for country in COUNTRIES:
        assert {find_country(text) for text in (country.name, country.alpha2, country.alpha3)} == {country}
    assert find_country("nowhere") is None


@pytest.mark.parametrize(
    ("value", "year"),
    [("2025-03-01", 2025), ("2025-03-01T10:00:00+02:00", 2025), (1735689600, 2025), (1735689600000, 2025)],
)
def test_instants_are_read_in_the_common_forms(value: Any, year: int) -> None:
    found = parse_instant(value)
    assert found is not None
    assert found.year == year


@pytest.mark.parametrize("value", ["", "soon", "2025-99-99", 7, True, None, [], float("nan"), "x" * 100])
def test_what_is_no_instant_is_none(value: Any) -> None:
    assert parse_instant(value) is None
