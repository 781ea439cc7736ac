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
    "args.id.split('-')[1]", "args.name.replace(' ', '_')", "entity.text.replace(args.tag, args.id)",
    "take(entity.text, 10)", "take(entity.text, args.qty) + '...'", "entity.text + '\\n' + args.name",
    "args.path.replace('.txt', '.bak')", "'Dear ' + args.name.split(' ')[0] + ', it is ' + entity.status + '.'",
    "'The ' + string(size(lines(entity.text))) + ' lines of ' + args.name",
    "entity.tags.join(', ')", "sort(lines(entity.text)).join('\\n')", "'[' + entity.tags.join(' ') + ']'",
    "takeLast(lines(entity.text), args.count).join('\\n')",
    "entity.lines.map(x, x.sku + ' x' + string(x.qty)).join(', ')",
    "lines(entity.text).filter(x, x.contains(args.tag)).join('\\n')",
    # times
    "date(now)", "date(now + duration('72h'))", "now + duration('2h')", "entity.created + duration('30m')",
    "date(entity.created + duration('24h') * args.qty)", "formatTime(now, '%Y-%m-%d %H:%M:%S')",
    "formatTime(entity.created, '%b %d, %Y')", "days(timestamp(entity.due) - timestamp(entity.created))",
    # truth
    "args.flag", "!args.flag", "args.qty > 10", "args.qty >= entity.rate", "args.mode == 'fast'",
    "args.mode in ['fast', 'slow']", "args.tag in entity.tags", "has(args.limit)", "size(entity.lines) > 2",
    "entity.text.contains(args.tag)", "args.flag && args.qty > 10", "args.mode == 'fast' || entity.status == 'open'",
    "args.tags == []", "args.folder.startsWith('/')", "has(args.limit) && args.limit > 3",
    "entity.lines.exists(x, x.qty > args.qty)", "entity.lines.all(x, x.qty > args.count)",
    # lists
    "entity.tags + args.tags", "entity.tags + [args.tag]", "[args.tag] + entity.tags", "sort(entity.tags)",
    "entity.tags.filter(x, x != args.tag)", "reverse(args.tags)", "distinct(entity.tags + args.tags)",
    "take(entity.lines, 2)", "take(lines(entity.text), args.count)", "drop(lines(entity.text), args.count)",
    "take(entity.tags, default(args.limit, 3))", "take(drop(lines(entity.text), args.count), 2)",
    "entity.lines.map(x, x.sku)", "entity.lines.map(x, {'sku': x.sku, 'total': x.qty * x.price})",
    "entity.lines.filter(x, x.qty > args.count).map(x, x.sku)", "sort(entity.lines, 'price')",
    "sort(entity.lines, '-qty').map(x, x.sku)", "[args.tag, args.qty]", "args.tags.map(x, x.upperAscii())",
    "entity.lines.filter(x, x.kind == 'a').map(x, {'name': x.sku, 'n': x.qty + 1})",
    "sort(entity.lines.filter(x, x.qty >= 3), '-price').map(x, x.sku)", "keys(entity.stores)",
    "size(entity.lines.filter(x, x.kind == 'a'))", "size(entity.lines.filter(x, x.qty > args.count))",
    "sum(entity.lines.filter(x, x.kind == 'b').map(x, x.price))", "sum(entity.lines.map(x, x.qty * x.price))",
    "sum(entity.lines.map(x, x.qty * x.price)) + entity.rate",
    "round(sum(entity.lines.map(x, x.price)) / size(entity.lines), 2)",
    "words(entity.text).filter(x, !(x in entity.tags))", "size(distinct(words(entity.text)))",
    "entity.lines.filter(x, !has(args.limit) || x.qty <= args.limit)", "sum(entity.tags.map(x, size(x)))",
    "entity.tags.filter(x, !(x in args.tags))", "lines(entity.text).map(x, '- ' + x).join('\\n')",
    # objects
    "{'a': args.id, 'b': {'n': args.qty + 1}, 'c': 'z'}", "merge(entity, {'status': 'closed'})",
    "merge(entity, {'stock': entity.stock - args.qty, 'status': args.mode})",
    "merge({'a': args.id}, has(args.limit) ? {'limit': args.limit} : {})", "merge(entity.stores, {args.tag: args.qty})",
    "entity.stores.filter(k, v, k != 'north')", "entity.lines.map(x, x.kind == 'a' ? merge(x, {'qty': x.qty + 1}) : x)",
    # choices
    "args.mode == 'fast' ? 1 : 2", "args.flag ? args.qty : entity.stock", "args.qty > 10 ? 'bulk' : 'single'",
    "{'fast': 10, 'idle': 35, 'slow': 20}[args.mode]", "args.flag ? 'Order ' + args.id : args.name",
    "has(args.limit) ? 'limited to ' + string(args.limit) : 'all'", "args.flag ? null : args.name",
    "args.mode == 'fast' ? args.qty * 2 : args.mode == 'slow' ? args.qty + 1 : 0", "max(0, entity.rate - args.qty)",
    "args.qty > 15 ? 'high' : args.qty > 5 ? 'mid' : 'low'",
    "has(args.limit) ? take(entity.lines, args.limit) : entity.lines", "args.flag ? date(now) : null",
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
