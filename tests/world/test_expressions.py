"""The language: a table of cases in the manner of CEL's conformance tests, then what is our own."""

import json

import pytest

from envace_sdk.errors import ExpressionError
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.expressions import AbsentError, Scope, WorldView, compile_expression
from envace_sdk.world.state import State

RULES = Dynamics.parse("""
collections:
  orders: {key: id, mint: "O-{n}"}
  lines: {key: [order, n]}
  empty: {key: id}
tools: {}
""")
STATE = State.start(
    collections={
        "orders": [
            {"id": "O-1", "status": "open", "total": 5, "customer": {"id": 1}, "placed": "2025-12-31T09:00:00Z"},
            {"id": "O-2", "status": "closed", "total": 7.5, "customer": {"id": 1}, "note": None},
            {"id": "O-3", "status": "open", "total": 5.0, "customer": {"id": 2}},
        ],
        "lines": [{"order": "O-1", "n": 1, "sku": "X"}],
    },
    dynamics=RULES,
)
ARGUMENTS = {
    "id": "O-1",
    "n": 3,
    "x": 2.5,
    "s": "Hello",
    "yes": True,
    "nothing": None,
    "list": [3, 1, 2],
    "items": [{"sku": "A", "qty": 2, "price": 1.1}, {"sku": "B", "qty": 1, "price": 0.2}],
    "object": {"b": 1, "a": {"c": [10, 20]}},
    "when": "2026-01-01T08:30:00+01:00",
    "day": "2025-12-24",
}


def scope(**names):
    return Scope({"args": ARGUMENTS, **names}, STATE, dynamics=RULES)


def evaluate(source, **names):
    return compile_expression(source)(scope(**names))


CASES = [
    # literals
    ("1", 1), ("-1", -1), ("0x1F", 31), ("7u", 7), ("1.5", 1.5), ("1e3", 1000.0), (".5", 0.5), ("true", True),
    ("null", None), ("'a'", "a"), ('"a"', "a"), (r"'\n\t\'\u00e9\x41\101\U0001F600'", "\n\t'éAA😀"),
    (r"r'\n'", r"\n"), ("'''a\n'b'\n'''", "a\n'b'\n"), ('"""q"""', "q"), ("[]", []), ("{}", {}),
    ("[1, 'a', [null]]", [1, "a", [None]]),
    ("{'a': 1, 'b': {'c': 2}}", {"a": 1, "b": {"c": 2}}), ("{1: 2, true: 3}", {"1": 2, "true": 3}),
    # arithmetic
    ("1 + 2 * 3 - 4", 3), ("(1 + 2) * 3", 9), ("2 - 3 - 4", -5), ("-args.n", -3), ("--args.n", 3), ("7 / 2", 3.5),
    ("6 / 2", 3), ("-7 / 2", -3.5),
    ("7 % 3", 1), ("-7 % 3", -1), ("7 % -3", 1), ("7.5 % 2", 1.5), ("1 + 2.0", 3.0), ("0.1 + 0.2", 0.3),
    ("1.1 * 3", 3.3), ("19.99 * 100", 1999.0),
    ("'a' + 'b'", "ab"), ("[1] + [2]", [1, 2]), ("args.n-1", 2), ("args.n -1", 2),
    # comparison
    ("1 < 2", True), ("1 <= 1.0", True), ("2 > 1.5", True), ("'a' < 'b'", True), ("'Z' < 'a'", True),
    ("false < true", True),
    ("1 == 1.0", True), ("1 == true", False), ("'1' == 1", False), ("null == null", True), ("null == 0", False),
    ("null != 1", True),
    ("[1, 2] == [1.0, 2]", True), ("[1] == [true]", False), ("{'a': 1, 'b': 2} == {'b': 2.0, 'a': 1}", True),
    ("{'a': 1} == {'a': 1, 'b': 2}", False),
    # logic
    ("true && false", False), ("true || false", True), ("!true", False), ("!!true", True), ("true ? 1 : 2", 1),
    ("false ? 1 : true ? 2 : 3", 2),
    ("false && args.zzz", False), ("args.zzz && false", False), ("true || args.zzz", True),
    ("args.zzz || true", True), ("1 / 0 > 1 || true", True),
    ("true || 1", True), ("false && 'x'", False),
    # access
    ("args.s", "Hello"), ("args['s']", "Hello"), ("args.object.a.c[1]", 20), ("args.list[0]", 3),
    ("args.list[1.0]", 1), ("args.items[1].sku", "B"),
    ("args.nothing", None), (".args.n", 3), ("{'in': 1}['in']", 1), ("args.object['a'].c", [10, 20]),
    # in
    ("2 in args.list", True), ("2.0 in args.list", True), ("'2' in args.list", False), ("'b' in args.object", True),
    ("'z' in args.object", False),
    ("'O-1' in world.orders", True), ("'O-9' in world.orders", False), ("'orders' in args.list", False),
    # has and default
    ("has(args.s)", True), ("has(args.zzz)", False), ("has(args.nothing)", True), ("has(args.nothing.x)", False),
    ("has(args.object.a.c)", True),
    ("has(args.zzz.y.z)", False), ("has(args.list[5])", False), ("has(args.items[0].qty)", True),
    ("has(world.orders['O-9'])", False), ("has(zzz.x)", False),
    ("default(args.zzz, 5)", 5), ("default(args.nothing, 5)", 5), ("default(args.n, 5)", 3),
    ("args.zzz.default(5)", 5), ("default(args.zzz.a[0], 'x')", "x"),
    ("default(args.zzz + 1, 7)", 7), ("default(args.nothing + 1, 7)", 7),
    ("default(get('orders', 'O-9').total, 0)", 0),
    ("default(default(args.zzz, args.nothing), 1)", 1), # macros
    ("args.list.all(x, x > 0)", True), ("args.list.exists(x, x == 2)", True),
    ("args.list.exists_one(x, x > 2)", True), ("args.list.existsOne(x, x > 1)", False),
    ("args.list.map(x, x * 2)", [6, 2, 4]), ("args.list.map(x, x > 1, x * 2)", [6, 4]),
    ("args.list.filter(x, x != 1)", [3, 2]), ("[].all(x, false)", True),
    ("[].exists(x, true)", False), ("[1, 'a'].exists(x, x == 'a' || x > 5)", True),
    ("['a', 1].exists(x, x > 0)", True), ("['a', 1].all(x, x > 1)", False),
    ("{'a': 1, 'b': 2}.map(k, k)", ["a", "b"]), ("{'a': 1, 'b': 2}.exists(k, v, v == 2)", True),
    ("['x', 'y'].map(x, x)", ["x", "y"]),
    ("['x', 'y'].exists(i, v, i == 1 && v == 'y')", True), ("{'a': 1, 'b': 2}.filter(k, v, v > 1)", {"b": 2}),
    ("[5, 6].filter(i, v, i > 0)", [6]),
    ("{'a': 1}.transformMap(k, v, v + 1)", {"a": 2}), ("{'a': 1}.transformList(k, v, k)", ["a"]),
    ("[[1, 2], [3]].map(x, x.map(y, y + 1))", [[2, 3], [4]]),
    ("args.list.map(args, args)", [3, 1, 2]), ("[0, 1].map(world, world)", [0, 1]), ("[null].map(now, now)", [None]),
    ("args.list.map(x, [x].map(x, x + 1)[0])", [4, 2, 3]),
    ("args.items.map(i, i.qty * i.price).sum()", 2.4),
    # texts
    ("size('héllo')", 5), ("'hello'.size()", 5), ("args.s.contains('ell')", True), ("args.s.startsWith('He')", True),
    ("args.s.endsWith('lo')", True),
    ("args.s.matches('^H.l+o$')", True), ("args.s.matches('l')", True), ("matches(args.s, 'x')", False),
    ("args.s.lowerAscii()", "hello"), ("'äB'.upperAscii()", "äB"),
    ("' a '.trim()", "a"), ("'a,b,c'.split(',')", ["a", "b", "c"]), ("'a,b,c'.split(',', 2)", ["a", "b,c"]),
    ("'ab'.split('')", ["a", "b"]), ("'abc'.split('', 2)", ["a", "bc"]),
    ("'a'.split(',', 0)", []), ("['a', 1, null].join('-')", "a-1-null"), ("['a', 'b'].join()", "ab"),
    ("'aXbX'.replace('X', '.')", "a.b."), ("'aXbX'.replace('X', '.', 1)", "a.bX"),
    ("'hello'.substring(1, 3)", "el"), ("'hello'.substring(3)", "lo"), ("'hello'.indexOf('l')", 2),
    ("'hello'.indexOf('l', 3)", 3), ("'hello'.indexOf('z')", -1),
    ("'hello'.lastIndexOf('l')", 3), ("'hello'.charAt(1)", "e"), ("'abc'.reverse()", "cba"),
    ("lines('a\\nb\\n')", ["a", "b"]), ("lines('a\\r\\n\\nb')", ["a", "", "b"]), ("lines('')", []),
    ("lines('\\n')", [""]), ("words(' a  b\\n c ')", ["a", "b", "c"]), ("words('')", []),
    ("capitalize('an Apple')", "An Apple"), ("capitalize('')", ""),
    ("take('hello', 2)", "he"), ("takeLast('hello', 2)", "lo"), ("drop('hello', 2)", "llo"),
    # paths
    ("dirname('/a/b.txt')", "/a"), ("dirname('/a')", "/"), ("dirname('a')", "."), ("dirname('/a/b/')", "/a"),
    ("dirname('/')", "/"), ("dirname('a/b')", "a"), ("dirname('a//b')", "a"), ("dirname('')", "."),
    ("basename('/a/b.txt')", "b.txt"), ("basename('/a/b/')", "b"), ("basename('a')", "a"), ("basename('/')", "/"),
    ("basename('')", ""), ("extname('/a.d/b.tar.gz')", ".gz"), ("extname('.bashrc')", ""), ("extname('/a.d/b')", ""),
    ("joinpath('/a', 'b/c')", "/a/b/c"), ("joinpath('/a/', '../b')", "/b"), ("joinpath('/a', '/b/./c')", "/b/c"),
    ("joinpath('/a', '..', '..', 'b')", "/b"), ("joinpath('a', '../../b')", "../b"), ("joinpath('//a/')", "/a"),
    ("joinpath('', 'a')", "a"), ("joinpath('/a', '')", "/a"),
    # numbers and conversions
    ("int('42')", 42), ("int(2.9)", 2), ("int(-2.9)", -2), ("int('2.5')", 2), ("double('2.5')", 2.5),
    ("double(2)", 2.0), ("bool('true')", True), ("string(2.0)", "2"), ("string(2.50)", "2.5"),
    ("string(true)", "true"), ("string(null)", "null"), ("string([1, 'a'])", '[1, "a"]'),
    ("string({'a': 1})", '{"a": 1}'), ("string(1e30)", "1e+30"), ("int(timestamp('1970-01-01T00:01:00Z'))", 60),
    ("sum([1, 2, 3])", 6), ("sum([])", 0), ("sum([0.1, 0.2])", 0.3), ("min(3, 1, 2)", 1), ("max([3, 1, 2])", 3),
    ("min('b', 'a')", "a"), ("round(2.675, 2)", 2.68), ("round(2.5)", 3),
    ("round(-2.5)", -3), ("round(7, 2)", 7), ("fixed(5, 2)", "5.00"), ("fixed(2.675, 2)", "2.68"),
    ("fixed(1e-7, 1)", "0.0"),
    ("abs(-2)", 2), ("abs(-2.5)", 2.5), ("ceil(1.2)", 2),
    ("floor(-1.2)", -2), ("ceil(3)", 3),
    ("fixed(4.5, 2)", "4.50"), ("fixed(2.675, 2)", "2.68"), ("fixed(-3, 1)", "-3.0"), ("fixed(1234.5, 0)", "1235"),
    # lists and objects
    ("size([1, 2])", 2), ("size({'a': 1})", 1), ("distinct([1, 1.0, '1', true, 1])", [1, "1", True]),
    ("distinct([[1], [1.0], [2]])", [[1], [2]]), ("sort([3, 1, 2])", [1, 2, 3]),
    ("sort(['b', null, 1, true, 'a'])", [True, 1, "a", "b", None]),
    ("sort(args.items, 'qty').map(i, i.sku)", ["B", "A"]), ("sort(args.items, '-sku').map(i, i.sku)", ["B", "A"]),
    ("reverse([1, 2])", [2, 1]), ("flatten([[1, 2], 3, [[4]]])", [1, 2, 3, [4]]),
    ("keys({'b': 1, 'a': 2})", ["b", "a"]), ("values({'b': 1})", [1]), ("first([])", None), ("last([1, 2])", 2),
    ("take([1, 2, 3], 2)", [1, 2]), ("take([1], 5)", [1]), ("take([1], -1)", []), ("takeLast([1, 2, 3], 2)", [2, 3]),
    ("takeLast([1], 5)", [1]), ("takeLast([1], 0)", []), ("drop([1, 2, 3], 2)", [3]), ("drop([1], 5)", []),
    ("merge({'a': 1}, {'b': 2}, {'a': 3})", {"a": 3, "b": 2}),
    # times
    ("now", "2026-01-01T09:00:00Z"), ("now - duration('1h')", "2026-01-01T08:00:00Z"),
    ("now + duration('1h30m')", "2026-01-01T10:30:00Z"), ("now + duration('1.5s')", "2026-01-01T09:00:01.5Z"),
    ("timestamp(args.when)", "2026-01-01T07:30:00Z"), ("timestamp('2026-01-01')", "2026-01-01T00:00:00Z"),
    ("timestamp(0)", "1970-01-01T00:00:00Z"),
    ("timestamp('2026-01-02T00:00:00Z') - timestamp('2026-01-01T00:00:00Z')", "86400s"),
    ("now - timestamp(args.day)", "723600s"), ("days(now - timestamp(args.day))", 8.375),
    ("days(duration('48h'))", 2),
    ("hours(duration('90m'))", 1.5), ("minutes(duration('1h'))", 60), ("seconds(duration('1m'))", 60),
    ("duration('90m')", "5400s"), ("duration('-1.5s')", "-1.5s"), ("duration('2d') == duration('48h')", True),
    ("duration('1h') * 2", "7200s"), ("duration('1h') / 2", "1800s"), ("duration('1h') < duration('2h')", True),
    ("now > timestamp(args.when)", True), ("args.when < now", True), ("now == '2026-01-01T10:00:00+01:00'", True),
    ("now == 'x'", False), ("now - args.when", "5400s"), ("args.when + duration('1h')", "2026-01-01T08:30:00Z"),
    ("date(now)", "2026-01-01"), ("date(args.when)", "2026-01-01"), ("now.getFullYear()", 2026),
    ("now.getMonth()", 0), ("now.getDate()", 1), ("now.getDayOfMonth()", 0), ("now.getDayOfWeek()", 4),
    ("now.getDayOfYear()", 0), ("now.getHours()", 9), ("now.getHours('+02:30')", 11),
    ("now.getHours('UTC')", 9), ("now.getMinutes()", 0), ("now.getSeconds()", 0), ("now.getMilliseconds()", 0),
    ("duration('90m').getHours()", 1), ("duration('90m').getMinutes()", 90),
    ("[now, {'at': duration('1s')}]", ["2026-01-01T09:00:00Z", {"at": "1s"}]),
    ("string(now)", "2026-01-01T09:00:00Z"), ("max([timestamp('2020-01-01'), now])", "2026-01-01T09:00:00Z"),
    ("formatTime(now, '%Y-%m-%d %H:%M:%S')", "2026-01-01 09:00:00"),
    ("formatTime(args.day, '%A %a %e %d %B %b %y')", "Wednesday Wed 24 24 December Dec 25"),
    ("formatTime(now, '%I:%M %p %% %f %z', '-03:30')", "05:30 AM % 000000 -0330"),
    ("isTimestamp('2026-01-01')", True), ("isTimestamp('soon')", False),
    # the world
    ("world.orders['O-1'].status", "open"), ("world.orders[args.id].total + 1", 6), ("size(world.orders)", 3),
    ("size(world.empty)", 0), ("get('orders', args.id).total", 5), ("get('orders', 'O-9')", None),
    ("get('lines', ['O-1', 1]).sku", "X"), ("world.lines[['O-1', '1']].sku", "X"), ("exists('orders', 'O-1')", True),
    ("exists('orders', 'O-9')", False), ("count('orders')", 3),
    ("count('orders', {'status': 'open'})", 2), ("count('orders', {'status': 'open', 'total': 5})", 2),
    ("count('orders', {'note': null})", 3), ("find('orders', {'customer.id': 1}).map(o, o.id)", ["O-1", "O-2"]),
    ("find('orders', {'status': 'open', 'customer.id': 2})[0].id", "O-3"),
    ("find(world.orders).map(o, o.id)", ["O-1", "O-2", "O-3"]), ("find('orders', {'total': 5}).size()", 2),
    ("find('empty', {'x': 1})", []),
    ("world.orders.exists(k, world.orders[k].total > 7)", True),
    ("world.orders.filter(k, v, v.total > 7).keys()", ["O-2"]),
    ("values(world.orders).filter(o, o.total > 7).map(o, o.id)", ["O-2"]),
    ("keys(world.orders)", ["O-1", "O-2", "O-3"]), ("world.empty", {}), ("mint('orders')", "O-4"),
    ("[mint('orders'), mint('orders')]", ["O-4", "O-5"]), ("random(3, 3)", 3),
    ("world.orders.exists(k, v, v.status == 'closed' && days(now - timestamp('2025-12-31T09:00:00Z')) == 1)", True),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), CASES)
def test_expressions_have_the_values_that_json_and_cel_give_them(source, expected):
    value = evaluate(source)
    assert json.dumps(value) == json.dumps(expected)
    assert type(value) is type(expected)


@pytest.mark.parametrize("source", ["args.nothing", "first([])", "get('orders', 'O-9')"])
def test_null_is_a_value(source):
    assert evaluate(source) is None


ERRORS = [
    ("args.zzz", "args.zzz is absent"),
    ("args.nothing.x", "args.nothing.x is absent: args.nothing is null"),
    ("args.object.a.d.e", "args.object.a.d is absent"),
    ("args.s.x", r'args.s.x: the text "Hello" has no fields'),
    ("args.list[3]", "args.list has no element '3'"),
    ("args.list[-1]", "args.list has no element '-1'"),
    ("args.list['a']", "indexed by whole numbers"),
    ("args.list[0.5]", "indexed by whole numbers"),
    ("args.n[0]", "has no elements"),
    ("args.object[[1]]", "is not a name"),
    ("zzz", "there is no 'zzz' here .there are: args, now, world"),
    ("world.ordres", "no collection 'ordres' .there are: empty, lines, orders"),
    ("world.orders['O-9'].x", "world.orders has no element 'O-9'"),
    ("get('nope', 1)", "no collection 'nope'"),
    ("find('orders', 1)", "needs an object of fields"),
    ("1 + 'a'", 'cannot add the number 1 to the text "a"'),
    ("1 - 'a'", 'cannot subtract the text "a" from the number 1'),
    ("true + 1", "cannot add true to the number 1"),
    ("null * 2", "cannot multiply null by the number 2"),
    ("-'a'", "cannot multiply"),
    ("now + now", "cannot add the time"),
    ("1 < 'a'", "cannot compare the number 1 with the text"),
    ("[1] < [2]", "cannot compare the list"),
    ("null < 1", "cannot compare null"),
    ("now < 'soon'", "cannot compare the time"),
    ("1 < true", "cannot compare"),
    ("1 / 0", "division by zero"),
    ("1.0 / 0", "division by zero"),
    ("1 % 0", "division by zero"),
    ("dirname(1)", "needs a text"),
    ("lines(1)", "needs a text"),
    ("take(1, 1)", "needs a list"),
    ("take([1], 0.5)", "needs a whole number"),
    ("formatTime(now, '%j')", "does not know %j"),
    ("formatTime('9999-12-31T23:00:00Z', '%Y', '+02:00')", "out of the range"),
    ("9223372036854775807 + 1", "64 bits"),
    ("4611686018427387904 * 2", "64 bits"),
    ("1e308 * 10", "not a finite number"),
    ("int(1e300)", "64 bits"),
    ("abs(-9223372036854775807 - 1)", "64 bits"),
    ("now + duration('9999999h') * 1000", "out of range"),
    ("1 ? 2 : 3", "condition of `\\?` must be true or false"),
    ("!1", "operand of `!` must be true or false"),
    ("1 && true", "operand of `&&`"),
    ("'x' || false", "operand of `\\|\\|`"),
    ("args.zzz || false", "args.zzz is absent"),
    ("args.list.all(x, x)", "condition must be true or false"),
    ("args.n.map(x, x)", "have elements"),
    ("'a' in 'abc'", "`in` needs a list"),
    ("{'a': 1, 'a': 2}", "'a' is given twice"),
    ("{[1]: 2}", "cannot be the name"),
    ("size(1)", "has no size"),
    ("min([])", "empty list"),
    ("min(1, 'a')", "cannot compare"),
    ("max([null])", "cannot compare null"),
    ("sum([1, 'a'])", "sum.. needs a number"),
    ("int('abc')", "cannot read"),
    ("int('1_000')", "cannot read"),
    ("double('nan')", "cannot read"),
    ("bool('maybe')", "cannot read"),
    ("round(1.5, 99)", "0 to 15 digits"),
    ("timestamp('tomorrow')", "needs a time"),
    ("timestamp('2026-02-30')", "needs a time"),
    ("timestamp(1e300)", "out of the range"),
    ("duration('1 hour')", "not a duration"),
    ("duration('')", "not a duration"),
    ("duration(1e300)", "not a duration"),
    ("days(5)", "needs a duration"),
    ("now.getHours('Mars/Olympus')", "no time zone"),
    ("'abc'.matches('(')", "is not a pattern"),
    ("'abc'.matches('a(?=b)')", "is not a pattern"),
    ("'abc'.substring(2, 1)", "out of range"),
    ("'abc'.substring(9)", "out of range"),
    ("'abc'.charAt(9)", "out of range"),
    ("lowerAscii(1)", "needs a text"),
    ("default(args.list.map(x, x.y), [])", "has no fields"),
    ("random(2, 1)", "above"),
    ("mint('nope')", "nope"),
]


@pytest.mark.parametrize(("source", "message"), ERRORS)
def test_what_cannot_be_computed_is_an_error_that_shows_the_expression_and_the_reason(source, message):
    expression = compile_expression(source)
    with pytest.raises(ExpressionError, match=message) as caught:
        expression(scope())
    assert f"`{source}`" in str(caught.value)


BROKEN = [
    ("", "empty"),
    ("  ", "empty"),
    ("1 +", "too early"),
    ("1 2", "not CEL at column 3, before '2'"),
    ("(1", "too early"),
    ("a..b", "not CEL"),
    ("'abc", "string at column 1 has no end"),
    ("'a\nb'", "has no end"),
    ("b'ab'", "bytes are not JSON"),
    ("Order{id: 1}", "message construction"),
    (r"'\q'", "unknown escape"),
    (r"'\ud800'", "is not a character"),
    ("99999999999999999999", "64 bits"),
    ("1e999", "too large"),
    ("foo(1)", r"no function foo\(\); did you mean floor\(\)"),
    ("zzzzz()", r"no function zzzzz\(\)$"),
    ("size()", "takes 1 arguments"),
    ("size(1, 2)", "takes 1 arguments"),
    ("default(args.zzz, args.yyy, 1)", "no function default"),
    ("args.list.map(1, 2)", "no function map"),
    ("args.list.all(x, x, true)", "bound twice"),
    ("called('x')", "no function called"),
]


@pytest.mark.parametrize(("source", "message"), BROKEN)
def test_what_is_not_an_expression_is_refused_when_it_is_compiled(source, message):
    with pytest.raises(ExpressionError, match=message):
        compile_expression(source)


def test_documents_come_out_as_they_are_not_copied():
    document = STATE.get("orders", "O-1")
    assert evaluate("world.orders['O-1']") is document
    assert evaluate("{'order': get('orders', 'O-1')}")["order"] is document
    assert evaluate("[entity].map(e, e)[0]", entity=document) is document


def test_what_was_looked_at_is_noted():
    looked = scope()
    compile_expression("world.orders['O-1'].total + size(world.lines) + (exists('orders', 'O-9') ? 1 : 0)")(looked)
    assert looked.reads == {("orders", "O-1"), ("lines", None), ("orders", "O-9")}


def test_a_name_that_a_macro_binds_is_put_back_also_after_an_error():
    names = scope(x="outer")
    assert compile_expression("args.list.map(x, x)[0] == 3 && x == 'outer'")(names) is True
    with pytest.raises(ExpressionError):
        compile_expression("args.list.map(x, x.y)")(names)
    assert names.names["x"] == "outer"
    compile_expression("args.list.map(fresh, fresh)")(names)
    assert "fresh" not in names.names


def test_functions_of_the_caller_are_known_by_name_and_found_in_the_scope():
    expression = compile_expression("twice(args.n) == 6", extra=frozenset({"twice"}))
    names = Scope({"args": {"n": 3}}, STATE, functions={"twice": lambda x: x * 2})
    assert expression(names) is True
    with pytest.raises(ExpressionError, match="not available"):
        expression(scope())
    with pytest.raises(ExpressionError, match=r"twice\(\)"):
        compile_expression("twice(1, 2)", extra=frozenset({"twice"}))(names)


def test_another_state_can_be_seen_beside_the_world():
    before = State.start(collections={"orders": [{"id": "O-1", "status": "new"}]}, dynamics=RULES)
    names = scope(start=WorldView.of(before, "start"))
    assert compile_expression("start.orders['O-1'].status + '/' + world.orders['O-1'].status")(names) == "new/open"
    with pytest.raises(ExpressionError, match=r"start\.orders has no element 'O-2'"):
        compile_expression("start.orders['O-2'].status")(names)


def test_optional_gives_nothing_only_for_what_is_absent():
    from envace_sdk.json import UNSET

    assert compile_expression("args.zzz").optional(scope()) is UNSET
    assert compile_expression("args.zzz + 1").optional(scope()) is UNSET
    assert compile_expression("args.n").optional(scope()) == 3
    with pytest.raises(ExpressionError, match="cannot add"):
        compile_expression("args.n + 'x'").optional(scope())
    with pytest.raises(AbsentError):
        compile_expression("args.zzz")(scope())


def test_equal_seeds_give_equal_chance():
    source = "[random(1, 1000000), random(1, 1000000)]"
    assert evaluate(source) == evaluate(source)
    other = Scope({}, STATE.replace(seed=1))
    assert compile_expression(source)(other) != evaluate(source)
