import pytest
from guarded_desk import policy
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import EnvaceError, PolicyError
from envace_sdk.guard import (
    Action,
    AskPeople,
    Case,
    Match,
    Prediction,
    Requirement,
    Risk,
    RiskRule,
    Rule,
    RulePolicy,
    TrackRecord,
    load_policy,
    parse_policy,
)
from envace_sdk.guard.bounds import is_bounded
from envace_sdk.guard.judging import assessed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def case(tool="refund", arguments=None, **fields):
    annotations, server = fields.pop("annotations", {}), fields.pop("server", "")
    return Case(Action(tool, arguments or {}, server, annotations=annotations), **fields)


def test_the_first_rule_that_is_about_an_action_decides():
    rules = policy({"tools": "re*", "then": "block"}, {"tools": "refund", "then": "commit"})
    assert rules.judge(case("refund")).kind == "block"
    assert rules.judge(case("get")).kind == "ask"


def test_what_no_rule_is_about_can_be_blocked_but_never_committed():
    assert policy(default="block").judge(case()).kind == "block"
    with pytest.raises(PolicyError, match="default"):
        policy(default="commit")


@pytest.mark.parametrize(
    ("rule", "matches", "misses"),
    [
        ({"tools": ["get_*", "list_?"]}, case("list_a"), case("list_ab")),
        ({"servers": "shop"}, case(server="shop"), case(server="bank")),
        ({"annotations": {"readOnlyHint": True}}, case(annotations={"readOnlyHint": True}), case()),
        ({"arguments": {"amount": {"maximum": 5}}}, case(arguments={"amount": 5}), case(arguments={"amount": 6})),
        ({"arguments": {"amount": {"maximum": 5}}}, case(arguments={"amount": 5, "x": 1}), case(arguments={"x": 1})),
        ({"when": "args.amount <= 5"}, case(arguments={"amount": 5}), case(arguments={"amount": 6})),
        ({"when": "server == 'shop' && tool == 'refund'"}, case(server="shop"), case()),
        ({"when": "prediction.status == 'success'"}, case(prediction=Prediction("success")), case()),
        ({"when": "prediction.disagreement > 0.2"}, case(prediction=Prediction(disagreement=0.5)), case()),
        ({"when": "risk.level == 'low'"}, case(risk=Risk("low")), case()),
        ({"when": "record.calls > 0"}, case(recall=lambda: TrackRecord.of("x", [{"right": True}])), case()),
        ({"when": "has(args.note)"}, case(arguments={"note": "x"}), case()),
    ],
)
def test_a_rule_is_about_what_it_says(rule, matches, misses):
    rules = policy({**rule, "then": "block"})
    assert rules.judge(matches).kind == "block"
    assert rules.judge(misses).kind == "ask"


@pytest.mark.parametrize(
    ("then", "becomes"), [("commit", "ask"), ("ask", "ask"), ("revise", "ask"), ("block", "block")]
)
@pytest.mark.parametrize("when", ["args.amount > 5", "tool", "1 / 0 == 1"])
def test_a_condition_that_cannot_be_evaluated_never_commits(when, then, becomes):
    decision = policy({"name": "odd", "when": when, "then": then}, {"then": "commit"}).judge(case())
    assert decision.kind == becomes
    assert "policy.yaml: rule 'odd' could not be evaluated" in decision.reasons[0]


def test_a_condition_may_be_a_function_and_its_failure_never_commits():
    rules = RulePolicy([Rule("commit", Match(when=lambda case: case.action.arguments["amount"] < 5))])
    assert rules.judge(case(arguments={"amount": 4})).kind == "commit"
    assert rules.judge(case()).kind == "ask"


def test_a_rule_is_explicit_when_it_names_the_tool_and_bounds_every_argument():
    bounded = {"amount": {"type": "number", "minimum": 0, "maximum": 5}}
    named = policy({"tools": "refund", "arguments": bounded, "then": "commit"})
    assert named.judge(case(arguments={"amount": 5})).explicit
    assert not named.judge(case(arguments={"amount": 5, "to": "me"})).explicit
    assert (
        not policy({"tools": "refund*", "arguments": bounded, "then": "commit"})
        .judge(case(arguments={"amount": 5}))
        .explicit
    )
    loose = policy({"tools": "refund", "when": "args.amount < 5", "then": "commit"})
    assert not loose.judge(case(arguments={"amount": 4})).explicit


@pytest.mark.parametrize(
    ("schema", "bounded"),
    [
        ({"enum": ["a"]}, True),
        ({"const": 1}, True),
        ({"type": "boolean"}, True),
        ({"type": "string"}, False),
        ({"type": "string", "maxLength": 5}, True),
        ({"type": "string", "pattern": "^a$"}, True),
        ({"type": "string", "pattern": "a"}, False),
        ({"type": "string", "pattern": "^O-1|O-2$"}, False),
        ({"type": "string", "pattern": "^(O-1|O-2)$"}, True),
        ({"type": "string", "pattern": r"^[|(]\|$"}, True),
        ({"type": "string", "pattern": r"^costs 5\$"}, False),
        ({"type": "string", "pattern": r"^C:\\$"}, True),
        ({"type": "integer", "maximum": 5}, False),
        ({"type": "integer", "exclusiveMinimum": 0, "maximum": 5}, True),
        ({"type": ["integer", "null"], "minimum": 0, "maximum": 5}, True),
        ({"maximum": 5, "minimum": 0}, False),
        ({"type": "array", "maxItems": 3, "items": {"enum": [1]}}, True),
        ({"type": "array", "maxItems": 3}, False),
        ({"type": "object", "properties": {"a": {"const": 1}}}, False),
        ({"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": False}, True),
        (True, False),
        (None, False),
    ],
)
def test_a_schema_bounds_a_value_when_it_states_all_limits(schema, bounded):
    assert is_bounded(schema) is bounded


def test_a_rule_with_a_record_leaves_tools_without_one_to_the_next_rule():
    rules = policy({"record": {"calls": 2, "accuracy": 0.5}, "then": "commit", "name": "trusted"}, default="block")
    assert rules.judge(case(recall=lambda: TrackRecord.of("x", [{"right": True}] * 2))).kind == "commit"
    decision = rules.judge(case(recall=lambda: TrackRecord.of("x", [{"right": True}])))
    assert decision.kind == "block"
    assert "1 of the 2 scored calls" in decision.reasons[1]


def test_a_requirement_looks_at_the_latest_calls():
    record = TrackRecord.of("x", [{"right": True}] * 50 + [{"right": False}] * 5)
    assert Requirement(20, 0.9).unmet(record) != ""
    assert Requirement(20, 0.7).unmet(record) == ""


def test_a_risk_rule_raises_any_risk_and_lowers_a_high_one_only_if_it_is_explicit():
    bounded = {"amount": {"type": "integer", "minimum": 0, "maximum": 5}}
    rules = policy(
        risk=[
            {"tools": "refund", "arguments": bounded, "level": "medium", "reason": "small"},
            {"tools": "drop*", "level": "low"},
            {"tools": "get", "level": "high", "reason": "personal data"},
        ]
    )
    assert assessed(rules, case("refund", {"amount": 5})).risk.level == "medium"
    assert assessed(rules, case("refund", {"amount": 6})).risk.level == "high"
    dropped = assessed(rules, case("drop_table"))
    assert dropped.risk.level == "high"
    assert "does not name the tool in full" in str(dropped.risk)
    assert assessed(rules, case("get", risk=Risk("low"))).risk.level == "high"


def test_a_risk_rule_that_cannot_be_evaluated_makes_the_risk_high():
    rules = policy(risk=[{"when": "args.amount > 5", "level": "low"}])
    assert assessed(rules, case(risk=Risk("low"))).risk.level == "high"


def test_approvers_must_be_able_to_give_what_a_rule_asks_for():
    people = {"approval": {"roles": "finance", "count": 2}}
    with pytest.raises(PolicyError, match="wants 2 approvers with the role finance, and `approvers` has 1"):
        policy({"then": "ask", **people}, approvers={"ann": ["finance"], "bob": ["support"]})
    rules = policy({"then": "ask", **people}, approvers={"ann": "finance", "bob": ["support", "finance"]})
    assert rules.judge(case()).people == AskPeople(("finance",), 2)


def test_rules_with_the_same_name_are_refused():
    with pytest.raises(PolicyError, match="two rules have the name 'a'"):
        policy({"name": "a", "then": "ask"}, {"name": "a", "then": "block"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules: [{then: maybe}]", "p.yaml: rule 1.then: "),
        ("rules: [{then: ask}, {name: late, then: ask, wenn: x}]", "p.yaml: rule 2 (late).wenn: "),
        ("rules: [{name: r, then: ask, when: 'a +'}]", "p.yaml: rule 1 (r): when: `a +`"),
        ("rules: [{name: r, then: ask, when: 'nothing(1)'}]", "p.yaml: rule 1 (r): when: "),
        ("rules: [{then: ask, arguments: {a: {type: nonsense}}}]", "p.yaml: rule 1: arguments.a"),
        ("rules: [{then: ask, tools: []}]", "p.yaml: rule 1.tools: "),
        ("risk: [{level: extreme}]", "p.yaml: risk rule 1.level: "),
        ("rules: 3", "p.yaml: rules: "),
        ("[]", "p.yaml: expected a mapping"),
        ("a: [", "p.yaml: not YAML"),
        ("format: 9", "p.yaml: format 9 is not known"),
        ("rules: [{then: ask, record: {accuracy: 2}}]", "p.yaml: rule 1.record.accuracy: "),
    ],
)
def test_a_mistake_in_a_policy_file_is_named_with_file_and_rule(text, message):
    with pytest.raises(PolicyError) as error:
        parse_policy(text, "p.yaml")
    assert str(error.value).startswith(message)


def test_a_policy_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(PolicyError, match=r"none\.yaml: cannot be read"):
        load_policy(tmp_path / "none.yaml")


@given(st.dictionaries(st.sampled_from(["rules", "risk", "default", "approvers", "format", "x"]), JSON, max_size=3))
def test_whatever_a_file_holds_it_is_a_policy_or_a_policy_error(data):
    import json

    try:
        rules = parse_policy(json.dumps(data), "p.yaml")
    except PolicyError:
        return
    assert rules.judge(case()).kind in {"commit", "block", "ask", "revise"}


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_whatever_the_arguments_are_a_rule_decides(arguments):
    rules = policy({"arguments": {"a": {"maximum": 1}}, "when": "args.a > 0", "then": "commit"})
    try:
        decision = rules.judge(case(arguments=arguments))
    except EnvaceError as error:  # never: it would block the action, and say why
        pytest.fail(str(error))
    assert decision.kind in {"commit", "ask"}


def test_a_rule_without_a_level_of_its_own_is_typed_in_python_too():
    rules = RulePolicy([Rule("ask", Match(("refund",)), "careful")], risks=[RiskRule("high", Match(("get",)))])
    assert rules.judge(case()).rule == "careful"
    assert rules.risk(case("get")) == ("high", "risk rule 1 says so")
