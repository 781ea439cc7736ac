"""A rule computes the targets; what is found must agree with it on examples that nobody has seen."""

from random import Random

import pytest
from ledgers import fresh_scopes

from envace_sdk.world.mine.explain import Example, explain
from envace_sdk.world.mine.explain.table import timed
from envace_sdk.world.mine.explain.verify import values

RULES = [
    # paths and constants
    "args.id", "'x'", "42", "entity.price", "session.cwd", "entity.lines[0].sku", "now", "args.tags",
    "default(args.limit, 10)", "default(args.limit, entity.stock)", "default(args.limit, null)",
    # numbers
    "args.qty * entity.price", "entity.stock - args.qty", "args.qty - entity.stock", "args.qty + 1", "100 - args.qty",
    "entity.stock / 4", "args.qty * 3 + 7", "round(args.qty * entity.price, 2)",
    "round(args.qty * entity.price * 1.08, 2)", "round(entity.price * (1 + entity.rate / 100), 2)",
    "ceil(entity.stock / args.qty)", "floor(entity.stock / args.qty)", "entity.stock % 7", "round(entity.price)",
    "max(args.qty, entity.rate)", "min(args.qty, entity.rate)",
    "size(entity.lines)", "sum(entity.lines.map(x, x.qty))", "max(entity.lines.map(x, x.price))",
    "size(lines(entity.text))", "size(words(entity.text))", "size(entity.text)", "int(args.code)",
    # texts
    "'Order ' + args.id + ' has ' + string(args.qty) + ' items'", "'$' + fixed(entity.price, 2)",
    "session.cwd + '/' + args.name", "joinpath(session.cwd, args.folder)", "basename(args.path)",
    "dirname(args.path)", "args.name.split(' ')[0]", "args.name.upperAscii()", "string(args.qty)",
    # objects
    "{'a': args.id, 'b': {'n': args.qty + 1}, 'c': 'z'}",
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_found_from_its_examples(rule):
    scopes = fresh_scopes(60, Random(rule))
    found = explain([Example(scope, target) for scope, target in zip(scopes, computed(rule, scopes), strict=True)])
    assert found, "nothing found"
    best = found[0]
    assert (best.hits, best.misses) == (60, 0)
    fresh = fresh_scopes(200, Random("fresh"))
    assert computed(best.source, fresh) == computed(rule, fresh), best.source


def computed(source, scopes):
    return values(source, [timed(scope) for scope in scopes])
