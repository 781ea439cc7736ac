"""Hypothesis strategies for JSON, for schemas of every kind of brokenness, and for what might be a tool."""

from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
KEYWORDS = """
type properties items $ref $defs required anyOf enum pattern $id $schema not $anchor $dynamicRef x-mcp-header
patternProperties dependencies additionalProperties
"""
WORDS = st.sampled_from(KEYWORDS.split())
LEAVES = st.sampled_from(
    [
        "object",
        "string",
        "array",
        "#",
        "#/$defs/a",
        "#a",
        "https://a.example/b",
        "a",
        "(",
        "http://[",
        True,
        False,
        None,
    ]
)
SCHEMAS = st.recursive(
    LEAVES | JSON,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.just("a"), inner, max_size=5),
    max_leaves=15,
)
TOOLS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.text(max_size=5) | JSON,
        "title": st.none() | st.text() | JSON,
        "description": st.none() | st.text() | JSON,
        "inputSchema": st.dictionaries(WORDS, SCHEMAS, max_size=4).map(lambda schema: {**schema, "type": "object"})
        | SCHEMAS,
        "outputSchema": SCHEMAS,
        "annotations": st.fixed_dictionaries({}, optional={"readOnlyHint": st.none() | st.booleans() | JSON}) | JSON,
        "icons": st.lists(st.fixed_dictionaries({"src": JSON}, optional={"theme": JSON, "sizes": JSON})) | JSON,
        "execution": st.fixed_dictionaries({}, optional={"taskSupport": st.sampled_from(["optional", "x", None])})
        | JSON,
        "_meta": JSON,
        "x-vendor": JSON,
    },
)
