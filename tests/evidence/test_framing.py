import ast
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import envace_sdk
from envace_sdk.evidence import NOTICE, frame_rehearsal

ROOT = Path(__file__).parents[2]
FRAME = ROOT / "envace_sdk" / "evidence" / "framing.py"
PHRASES = ("nothing was executed", "is a prediction", "<rehearsal", "not a real result")
"""Words by which a text tells a model that it is a prediction."""


def spoken(file):
    """The text of string literals of a program, other than docstrings."""
    source = file.read_text(encoding="utf-8")
    if not any(phrase in source.casefold() for phrase in PHRASES):
        return
    tree = ast.parse(source)
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # documents an attribute
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented | bare:
            yield node.value, node.lineno


def test_nothing_else_frames_rehearsed_text():
    assert Path(envace_sdk.__file__).parent == FRAME.parents[1]
    found = [
        f"{file.relative_to(ROOT)}:{line}"
        for folder in ("envace_sdk", "mcp_servers", "integrations", "training")
        for file in sorted((ROOT / folder).rglob("*.py"))
        if file != FRAME
        for text, line in spoken(file)
        if any(phrase in text.casefold() for phrase in PHRASES)
    ]
    assert found == [], "text for a model is framed by envace_sdk.evidence.frame_rehearsal only"


def test_that_test_can_fail():
    assert [line for text, line in spoken(FRAME) if "is a prediction" in text.casefold()] != []


def test_a_framed_text_says_before_and_after_that_it_is_a_prediction():
    framed = frame_rehearsal("refunded 5", tool="refund", outcome="success", confidence=0.8)
    first, *_, last = framed.splitlines()
    assert first == f"Rehearsal of refund; predicted status: success; confidence: 80%. {NOTICE}"
    assert last == NOTICE
    assert "refunded 5" in framed


@given(st.text(), st.text(), st.text())
def test_no_text_can_end_its_frame_or_forge_the_head(text, tool, outcome):
    framed = frame_rehearsal(text, tool=tool, outcome=outcome)
    head, rest = framed.split("\n", 1)
    opening, _ = rest.split("\n", 1)
    assert opening.startswith("<rehearsal-")
    assert NOTICE in head
    assert framed.count(opening.replace("<", "</")) == 1
    assert framed.endswith(NOTICE)


def test_a_text_that_quotes_a_frame_gets_another_mark():
    inner = frame_rehearsal("a")
    outer = frame_rehearsal(inner)
    assert outer.splitlines()[1] != inner.splitlines()[1]
