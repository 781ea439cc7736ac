"""Whatever the examples are: what is returned has been checked, and the same examples give the same answer."""

import subprocess
import sys
from copy import deepcopy

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envace_sdk.errors import ExpressionError
from envace_sdk.json import UNSET
from envace_sdk.world.clock import parse_time
from envace_sdk.world.expressions import Scope, compile_expression
from envace_sdk.world.expressions.values import equal
from envace_sdk.world.mine.explain import Example, explain
from envace_sdk.world.state import State

names = st.sampled_from(["id", "name", "in", "a-b", "x", "k", "", "päth", "true", "0", "it's"]) | st.text(max_size=4)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**4), 10**4)
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ["", "open", "a b", "/a/b.txt", "../x", "2026-01-05", "2026-01-05T10:00:00Z", "7", "1.50", "l1\nl2"]
    )
    | st.text(max_size=8)
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4), max_leaves=8
)
roots = st.sampled_from(["args", "entity", "session", "now", "x", "y", "k"])
scopes = st.dictionaries(roots, values, max_size=4)


@st.composite
def examples(draw):
    """Targets that come from the scopes about as often as not."""
    found = []
    for scope in draw(st.lists(scopes, min_size=1, max_size=8)):
        members = [item for value in scope.values() if isinstance(value, dict) for item in value.values()]
        inside = [*scope.values(), *members]
        target = draw((st.sampled_from(inside) if inside else values) | values | st.just(UNSET))
        found.append(Example(scope, target))
    return found * draw(st.integers(1, 3))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(examples(), st.sampled_from([0.0, 0.3]))
def test_what_is_returned_holds_on_the_examples(cases, tolerance):
    found = explain(cases, tolerance=tolerance)
    assert len(found) <= 5
    for explanation in found:
        hits = [holds(explanation.source, case) for case in cases]
        assert explanation.hits == sum(hits)
        assert explanation.hits + explanation.misses == len(cases)
        assert explanation.misses <= tolerance * len(cases)
        assert 1 <= explanation.support <= max(explanation.hits, 1)


def holds(source, case):
    names = dict(case.scope)
    if isinstance(names.get("now"), str) and parse_time(names["now"]):
        # The clock is a time, as it is where rules are run.
        names["now"] = parse_time(names["now"])
    try:
        value = compile_expression(source).optional(Scope(names, State()))
    except ExpressionError:
        return False
    if value is UNSET or case.target is UNSET:
        return value is case.target
    return equal(value, case.target)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(examples())
def test_the_same_examples_give_the_same_answer(cases):
    assert explain(cases) == explain(deepcopy(cases))


def test_the_answer_does_not_hang_on_the_process():
    program = """
from random import Random
import sys
sys.path.insert(0, "tests/support")
from ledgers import fresh_scopes
from trade_rules import rule
from envace_sdk.world.mine.explain import Example, explain
from envace_sdk.world.mine.explain.verify import values
from envace_sdk.world.mine.explain.table import timed
for seed in range(5):
    random = Random(seed)
    scopes = fresh_scopes(30, random)
    targets = values(rule(random), [timed(scope) for scope in scopes])
    print(explain([Example(scope, target) for scope, target in zip(scopes, targets)]))
"""
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1
    assert b"Explanation(" in answers.pop()
