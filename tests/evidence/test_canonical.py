import json
import math
from fractions import Fraction

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import EvidenceError
from envace_sdk.evidence.canonical import canonical, digest, normalise, read_canonical

ANY_TEXT = st.text(st.characters(codec=None, categories=None))
TAMPERED = st.sampled_from(["$jcs:int", "$jcs:float", "$jcs:utf16", "$jcs:object", "$jcs:", "0x1f", "d800", "NaN"])
SCALARS = st.none() | st.booleans() | st.integers() | st.integers(-(2**70), 2**70) | st.floats() | ANY_TEXT | TAMPERED
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT | TAMPERED, inner, max_size=4),
    max_leaves=12,
)
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def model(value):
    """What makes two values the same one, said without canonical text: exact numbers, UTF-16 texts, no order."""
    match value:
        case None | bool():
            return ("literal", value)
        case str():
            return ("text", value.encode("utf-16-be", "surrogatepass"))
        case float() if not math.isfinite(value):
            return ("float", str(value))
        case int() | float():
            return ("number", Fraction(value))
        case list():
            return ("list", tuple(map(model, value)))
        case dict():
            members = [(key.encode("utf-16-be", "surrogatepass"), model(item)) for key, item in value.items()]
            return ("object", tuple(sorted(members, key=lambda member: member[0])))


@given(PLAIN)
def test_what_rfc_8785_accepts_has_its_text(value):
    assert canonical(value) == rfc8785.dumps(value)


@given(VALUES)
def test_any_value_has_a_text_that_is_json(value):
    json.loads(canonical(value))


@given(VALUES, VALUES)
def test_two_values_share_a_digest_exactly_when_they_are_the_same_value(one, other):
    assert (digest(one) == digest(other)) == (model(one) == model(other))


@given(VALUES)
def test_no_value_is_confused_with_what_it_is_replaced_by(value):
    replaced = normalise(value)
    if model(replaced) != model(value):
        assert canonical(replaced) != canonical(value)


@given(st.dictionaries(ANY_TEXT | TAMPERED, SCALARS, min_size=2))
def test_the_order_of_keys_does_not_matter(value):
    assert canonical(value) == canonical(dict(reversed(value.items())))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**53, b"9007199254740992"),
        (10**20, b"100000000000000000000"),
        (1e20, b"100000000000000000000"),
        (2**53 + 1, b'{"$jcs:int":"0x20000000000001"}'),
        (-(10**400), b'{"$jcs:int":"' + hex(-(10**400)).encode() + b'"}'),
        (math.nan, b'{"$jcs:float":"NaN"}'),
        (-math.inf, b'{"$jcs:float":"-Infinity"}'),
        ("\ud800", b'{"$jcs:utf16":"d800"}'),
        ("\ud83d\ude00", '"😀"'.encode()),
        ({"$jcs:int": "0x1"}, b'{"$jcs:object":[["$jcs:int","0x1"]]}'),
        ({"\udfff": 1, "a": math.inf}, b'{"$jcs:object":[["a",{"$jcs:float":"Infinity"}],[{"$jcs:utf16":"dfff"},1]]}'),
        (-0.0, b"0"),
        ((1, 2.0), b"[1,2]"),
        ("a\x00b", b'"a\\u0000b"'),
        ('"$jcs:', b'"\\"$jcs:"'),
        ("$jcs:int", b'"$jcs:int"'),
    ],
)
def test_the_documented_forms(value, text):
    assert canonical(value) == text


def test_an_integer_too_long_for_decimal_text_is_hashed():
    assert digest(10**6000) != digest(10**6000 + 1)


def test_a_pair_and_its_character_as_two_keys_have_one_order():
    one = {"\U0001f600": 1, "\ud83d\ude00": 2}
    assert canonical(one) == canonical(dict(reversed(one.items())))


@pytest.mark.parametrize("value", [b"x", {1: 2}, [{"a": {3}}], object()])
def test_what_is_not_json_is_refused(value):
    with pytest.raises(EvidenceError):
        canonical(value)


@pytest.mark.parametrize("leaf", [1, math.nan])
def test_a_value_nested_too_deeply_is_refused(leaf):
    value = leaf
    for _ in range(100_000):
        value = [value]
    with pytest.raises(EvidenceError, match="too deeply"):
        digest(value)


@given(VALUES)
def test_a_canonical_text_is_read_back_as_a_value_with_that_text(value):
    text = canonical(value)
    assert canonical(read_canonical(text)) == text


@pytest.mark.parametrize(
    "text", ["{", '{"$jcs:int":"x"}', '{"$jcs:new":1}', '{"$jcs:object":[1]}', '{"$jcs:utf16":"0"}']
)
def test_what_is_no_canonical_text_is_refused(text):
    with pytest.raises(EvidenceError, match="canonical"):
        read_canonical(text)
