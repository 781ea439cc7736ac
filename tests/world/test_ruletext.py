from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.ruletext import WIDTH, entry_text

WORDS = st.one_of(
    st.text(max_size=30),
    st.text(st.sampled_from("ab '\"\\{}[]:#,&*!?|>-%@`\n\t~.=0127ext"), max_size=160),
    st.sampled_from(["true", "null", "~", "1", "007", "1.5", "1e3", "2026-01-01", "yes", "=", "<<", "- a", "a: b"]),
)
NAMES = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20)


def texts(strategy):
    return strategy.filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text))


EXPRESSIONS = texts(WORDS)
RULES = st.fixed_dictionaries(
    {"effect": st.just("search"), "collection": st.just("things")},
    optional={
        "let": st.dictionaries(NAMES, EXPRESSIONS, max_size=3),
        "requires": st.lists(
            st.fixed_dictionaries({"that": EXPRESSIONS, "error": EXPRESSIONS}, optional={"support": st.integers(0)}),
            max_size=2,
        ),
        "take": st.one_of(st.lists(NAMES, max_size=30), st.dictionaries(NAMES, EXPRESSIONS, max_size=3), st.just("*")),
        "set": st.dictionaries(NAMES, EXPRESSIONS, max_size=3),
        "filters": st.dictionaries(NAMES, st.fixed_dictionaries({"field": EXPRESSIONS}), max_size=2),
        "where": EXPRESSIONS,
        "also": st.lists(
            st.fixed_dictionaries(
                {"effect": st.just("create"), "collection": st.just("things"), "key": EXPRESSIONS},
                optional={"set": st.dictionaries(NAMES, EXPRESSIONS, max_size=2)},
            ),
            max_size=2,
        ),
        "returns": st.one_of(
            st.fixed_dictionaries({"fields": st.lists(NAMES, max_size=30)}, optional={"wrap": EXPRESSIONS}),
            st.fixed_dictionaries({"object": st.dictionaries(NAMES, EXPRESSIONS, max_size=3)}),
            st.fixed_dictionaries({"text": EXPRESSIONS}),
        ),
        "confidence": st.floats(0, 1),
        "reason": EXPRESSIONS,
    },
)


@settings(deadline=None)
@given(st.dictionaries(NAMES, RULES, max_size=3), st.dictionaries(NAMES, st.dictionaries(NAMES, WORDS.map(repr))))
def test_what_is_written_is_read_back_exactly(tools, learned):
    dynamics = Dynamics.model_validate(
        {"collections": {"things": {"key": "id", "noun": "a: #1"}}, "tools": tools, "learned": learned}
    )
    text = dynamics.dump()
    assert Dynamics.parse(text) == dynamics
    assert Dynamics.parse(text).dump() == text


def written(**rule):
    return entry_text("tools", "t", {"effect": "compute", **rule}).partition("effect: compute\n")[2]


def test_the_quotes_of_an_expression_stay_as_they_are():
    assert written(set={"status": "'Closed'"}) == "    set:\n      status: \"'Closed'\"\n"
    assert written(where="""a == '"' && b == '\\\\'""") == "    where: a == '\"' && b == '\\\\'\n"
    assert written(where="""'"' == a""") == "    where: >-\n      '\"' == a\n"


def test_constants_need_no_quotes_where_expressions_are_expected():
    assert written(set={"done": "true", "n": "3"}).splitlines() == ["    set:", "      done: true", "      n: 3"]
    assert written(reason="true") == '    reason: "true"\n'


def test_names_stand_on_as_few_lines_as_they_need():
    assert written(returns={"wrap": "x", "fields": ["a", "b"]}) == "    returns: {wrap: x, fields: [a, b]}\n"
    many = [f"field_{n}" for n in range(30)]
    lines = written(returns={"fields": many}).splitlines()
    assert 3 < len(lines) < 7
    assert all(len(line) <= WIDTH for line in lines)


def test_a_long_expression_is_broken_before_its_operators():
    parts = [f"has(args.some_rather_long_argument_{n})" for n in range(6)]
    lines = written(where=" && ".join(parts)).splitlines()
    assert lines[0] == "    where: >-"
    assert all(len(line) <= WIDTH for line in lines)
    assert all(line.strip().startswith("&&") for line in lines[2:])


def test_a_text_of_several_lines_is_written_as_it_is():
    text = 'Two lines:\n  "one"\n\nand another'
    assert written(returns={"text": text}).splitlines() == [
        "    returns:",
        "      text: |-",
        "        Two lines:",
        '          "one"',
        "",
        "        and another",
    ]


def test_an_empty_line_stands_between_the_rules_of_tools():
    dynamics = Dynamics.model_validate({"tools": {"a": {"effect": "opaque"}, "b": {"effect": "opaque"}}})
    assert dynamics.dump() == "format: 1\n\ntools:\n  a:\n    effect: opaque\n\n  b:\n    effect: opaque\n"
