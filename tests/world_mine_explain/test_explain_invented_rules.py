"""Rules put together at random: nearly all must be found, and none may be claimed that the examples refute."""

from random import Random

import pytest
from ledgers import fresh_scopes
from trade_rules import rule

from envace_sdk.world.mine.explain import Example, explain
from envace_sdk.world.mine.explain.table import timed
from envace_sdk.world.mine.explain.verify import values


def computed(source, scopes):
    return values(source, [timed(scope) for scope in scopes])


def learnt(seed, depth):
    """The rule, and how often what was found agrees with it on fresh scopes; None where nothing was found."""
    random = Random(seed)
    source = rule(random, depth)
    scopes = fresh_scopes(80, random)
    targets = computed(source, scopes)
    found = explain([Example(scope, target) for scope, target in zip(scopes, targets, strict=True)])
    for explanation in found:
        assert (explanation.hits, explanation.misses) == (80, 0)
        assert computed(explanation.source, scopes) == targets
    if not found:
        return source, None
    fresh = fresh_scopes(150, random)
    pairs = zip(computed(found[0].source, fresh), computed(source, fresh), strict=True)
    return source, sum(left == right for left, right in pairs) / len(fresh)


def check(seeds, depth, least):
    results = [learnt(seed, depth) for seed in seeds]
    # A bound that no example touches may be a little off.
    wrong = [(source, agreement) for source, agreement in results if agreement is None or agreement < 0.95]
    assert len(wrong) <= (1 - least) * len(results), wrong


def test_simple_rules_are_found():
    check(range(30), 1, 0.96)


@pytest.mark.slow
def test_rules_put_together_are_found():
    check(range(1000, 1200), 1, 0.97)
    check(range(2000, 2080), 2, 0.8)
