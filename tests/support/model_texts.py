"""Hypothesis strategies for what models write: calls, prose, broken messages, and texts cut into pieces."""

from hypothesis import strategies as st

from envace_sdk.tools.model import ToolCall

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["</tool_call>", "<|im_end|>", "[TOOL_CALLS]", '"}]', "\\", "</think>", "</response>"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=10,
)
ARGUMENTS = st.dictionaries(st.text(max_size=8), JSON, max_size=4)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,20}", fullmatch=True)
CALLS = st.lists(st.builds(ToolCall, NAMES, ARGUMENTS), min_size=1, max_size=3)
PROSE = st.from_regex(r"[A-Za-z][A-Za-z0-9 ,.!?:\n{}\"]{0,60}", fullmatch=True)

_PIECES = st.sampled_from(
    [
        "<tool_call>",
        "</tool_call>",
        "[TOOL_CALLS]",
        "[ARGS]",
        "<|python_tag|>",
        "<think>",
        "</think>",
        '{"name": "f", "arguments": {"x": "}{"}}',
        '{"name": "f", "parameters": {}}',
        '[{"name": "f", "arguments": {}}]',
        "{}",
        "{",
        "[",
        "]",
        "}",
        '"',
        "\\",
        ";",
        " ",
        "\n",
        "<",
        "f",
        "word",
    ]
)
MESSAGES = st.lists(_PIECES, max_size=8).map("".join)
"""Texts out of the parts of all formats, most of them broken."""


@st.composite
def cut(draw, text):
    """The text in pieces, some of them empty."""
    places = draw(st.lists(st.integers(0, len(text)), max_size=12).map(sorted))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
