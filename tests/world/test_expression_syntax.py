from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import ExpressionError
from envace_sdk.world.expressions import syntax
from envace_sdk.world.expressions.nodes import Binary, Call, Index, Literal, Logic, Name, Select, path_text, walk
from envace_sdk.world.expressions.syntax import parse

WORDS = ["a", "args", "true", "false", "null", "in", "truex", "inx", "_y", "as", "x1"]
PLAIN = [".".join(words) for size in (1, 2, 3) for words in product(WORDS, repeat=size)]


def by_grammar(source, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(syntax, "_simple", lambda *_: None)
        try:
            return parse(source)
        except ExpressionError:
            return None


def tree(source):
    try:
        return parse(source)
    except ExpressionError:
        return None


def test_the_short_way_for_paths_and_literals_leads_where_the_grammar_does(monkeypatch):
    for source in [*PLAIN[:600], "'a'", "''", "'\"'", "'é'", "5", "-5", "007", " args.x\n", "\t'a' "]:
        assert tree(source) == by_grammar(source, monkeypatch), source


@given(st.text(alphabet="ab.'1-\\ \ntruefalsin", max_size=10))
def test_it_does_for_any_text(source):
    with pytest.MonkeyPatch.context() as patch:
        assert tree(source) == by_grammar(source, patch)


def test_trees_are_small():
    assert parse("a.b['c'][0] + f(x)") == Binary(
        "+", Index(Index(Select(Name("a"), "b"), Literal("c")), Literal(0)), Call("f", None, (Name("x"),))
    )
    assert parse("((a)) && b && !c || d").operator == "||"
    assert parse("a && b && c") == Logic("&&", (Name("a"), Name("b"), Name("c")))
    assert parse("a.f(b)") == Call("f", Name("a"), (Name("b"),))


def test_all_nodes_can_be_walked_and_paths_be_named():
    names = {
        node.name for node in walk(parse("[a, {b: c}].map(d, -e ? f : !g)[h].i || j < k(l)")) if isinstance(node, Name)
    }
    assert names == set("abcdefghjl")
    assert path_text(parse("a.b[0]['c'][d.e].f(1).g")) == "a.b[0]['c'][d.e].f(…).g"
    assert path_text(parse("[1][0].a")) == "(…)[0].a"
