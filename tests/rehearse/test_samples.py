from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.jsonschema import compile_schema
from envace_sdk.rehearse.samples import sample_schema

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=5), children, max_size=4),
    max_leaves=15,
)


@given(st.lists(json_values, min_size=1, max_size=5))
def test_every_sample_is_an_instance_of_the_schema_they_suggest(samples):
    validator = compile_schema(sample_schema(samples))
    for sample in samples:
        assert validator.is_valid(sample), (sample, validator.violations(sample))


def test_a_property_is_required_when_every_sample_has_it():
    schema = sample_schema([{"a": 1, "b": "x"}, {"a": 2.5}])
    assert schema["required"] == ["a"]
    assert schema["properties"]["a"] == {"type": "number"}
    assert schema["properties"]["b"] == {"type": "string", "examples": ["x"]}


def test_nothing_is_suggested_by_no_samples():
    assert sample_schema([]) == {}
