"""Values that a tool always refuses."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from mined_calls import LATE, LOCKED, MISSING, ORDER, moment

from envace_sdk.world.mine.conditions import decide
from envace_sdk.world.mine.effects import Existence
from envace_sdk.world.mine.evaluating import holds
from envace_sdk.world.mine.learned import Learned
from envace_sdk.world.mine.refused import not_refused
from envace_sdk.world.mine.requiring import requirements
from envace_sdk.world.mine.roles import Cast


def called(args, episode, failure=None, **more):
    one = moment(args, {}, failure=failure, **more)
    return replace(one, step=replace(one.step, episode=episode))


def refused(value, count, *, failure=LOCKED, name="id"):
    return [called({name: value}, f"e{n % 3}", failure) for n in range(count)]


def passed(*values):
    return [called({"id": value}, "e0") for value in values]


def test_a_value_that_was_refused_each_time_is_required_not_to_be_named():
    that = not_refused(LOCKED, [*passed("a", "b"), *refused("/etc", 4)])
    assert that == 'args.id != "/etc"'


def test_several_values_are_listed():
    moments = [*passed("a", "b"), *refused("/etc", 3), *refused("/var", 3)]
    assert not_refused(LOCKED, moments) == '!(args.id in ["/etc", "/var"])'


def test_an_argument_that_may_be_left_out_is_asked_for_only_where_it_is_given():
    moments = [called({}, "e0"), *refused("/etc", 4, name="place")]
    that = not_refused(LOCKED, moments)
    assert [holds(that, {"args": args}) for args in ({}, {"place": "/etc"}, {"place": "/usr"})] == [True, False, True]


def test_a_value_that_once_passed_or_failed_otherwise_or_was_rarely_refused_is_not():
    assert not not_refused(LOCKED, [*passed("/etc"), *refused("/etc", 4)])
    assert not not_refused(LOCKED, [*refused("/etc", 4), *refused("/etc", 1, failure=LATE)])
    assert not not_refused(LOCKED, [*passed("a"), *refused("/etc", 2)])
    assert not not_refused(LOCKED, [*passed("a"), *[called({"id": "/etc"}, "e0", LOCKED) for _ in range(6)]])


def test_it_is_asked_before_the_thing_is_looked_for():
    moments = [
        *[called({"id": f"o{n}"}, "e0", order={"id": f"o{n}"}) for n in range(6)],
        *[called({"id": f"x{n}"}, "e0", MISSING, existed=False) for n in range(6)],
        *[called({"id": "/etc"}, f"e{n}", LOCKED, existed=False) for n in range(4)],
    ]
    failures = {failure.label: failure for failure in (MISSING, LOCKED)}
    cases = [(m.scope, "ok" if m.step.ok else m.failure.label) for m in moments if m.failure is not MISSING]
    learned = Learned("do", Cast("do", (ORDER,)), moments, failures, decide(cases, default="ok"))
    found = requirements(learned, Existence(missing={("do", MISSING.number): "entity"}))
    assert [(one["that"], one["error"]) for one in found] == [
        ('args.id != "/etc"', LOCKED.text),
        ("entity != null", MISSING.text),
    ]


VALUES = st.text(min_size=0, max_size=12) | st.sampled_from(["a", "b", '"', "\\", "\n"])


@given(st.lists(st.tuples(VALUES, st.integers(0, 2), st.sampled_from([None, LOCKED, LATE])), max_size=40))
def test_it_holds_for_all_calls_that_were_not_refused_so(calls):
    moments = [called({"id": value}, f"e{episode}", failure) for value, episode, failure in calls]
    that = not_refused(LOCKED, moments)
    assert not that or all(holds(that, m.scope) is True for m in moments if m.failure is not LOCKED)
