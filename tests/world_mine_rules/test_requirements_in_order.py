"""What a tool requires, in the order in which it asks."""

import pytest
from mined_calls import LATE, LOCKED, MISSING, ORDER, TAKEN, moment

from envace_sdk.world.mine.conditions import decide
from envace_sdk.world.mine.effects import Existence
from envace_sdk.world.mine.evaluating import holds
from envace_sdk.world.mine.learned import Learned
from envace_sdk.world.mine.requiring import requirements
from envace_sdk.world.mine.roles import Cast

FAILURES = {failure.label: failure for failure in (MISSING, LATE, LOCKED, TAKEN)}
NEEDED = Existence(missing={("do", MISSING.number): "entity"})


def learned(moments, named=(ORDER,)):
    cases = [(m.scope, "ok" if m.step.ok else m.failure.label) for m in moments if m.failure not in (MISSING, TAKEN)]
    return Learned("do", Cast("do", named), moments, FAILURES, decide(cases, default="ok"))


def asked(moments, existence=NEEDED):
    return [(one["that"], one["error"]) for one in requirements(learned(moments), existence)]


def opened(count, **more):
    return [moment({"id": f"o{n}"}, {}, order={"id": f"o{n}", "sent": False}, **more) for n in range(count)]


def sent(count, **more):
    return [moment({"id": f"s{n}"}, failure=LATE, order={"id": f"s{n}", "sent": True}, **more) for n in range(count)]


def absent(count, failure=MISSING, **more):
    return [moment({"id": f"x{n}"}, failure=failure, existed=False, **more) for n in range(count)]


def test_a_thing_is_asked_for_before_anything_is_asked_of_it():
    found = asked([*opened(8), *sent(8), *absent(8)])
    assert [error for _, error in found] == [MISSING.text, LATE.text]
    assert found[0][0] == "entity != null"
    assert "entity.sent" in found[1][0]


def test_an_error_that_comes_first_even_where_the_thing_is_missing_is_asked_first():
    inside, outside = {"session": {"open": True}}, {"session": {"open": False}}
    moments = [*opened(8, **inside), *absent(8, **inside), *absent(8, LOCKED, **outside)]
    moments += [
        moment({"id": f"o{n}"}, failure=LOCKED, order={"id": f"o{n}", "sent": False}, **outside) for n in range(8)
    ]
    found = asked(moments)
    assert [error for _, error in found] == [LOCKED.text, MISSING.text]
    assert found[0][0] == "default(session.open, false)"


def test_what_must_not_be_there_yet_is_asked_too():
    moments = [
        *[moment({"id": f"n{n}"}, {}, existed=False) for n in range(6)],
        *[moment({"id": f"o{n}"}, failure=TAKEN, order={"id": f"o{n}"}) for n in range(6)],
    ]
    assert asked(moments, Existence(taken={("do", TAKEN.number): "entity"})) == [("entity == null", TAKEN.text)]


def test_what_need_not_be_named_is_asked_for_only_where_it_is():
    moments = [*opened(6), moment({}, {}), moment({}, {}), *absent(6)]
    assert asked(moments) == [("!has(args.id) || entity != null", MISSING.text)]


def test_a_condition_that_lets_calls_pass_comes_before_the_error():
    moments = [moment({"id": f"o{n}", "force": True, "n": n}, {}, order={"id": "o"}) for n in range(20)]
    moments += [moment({"id": "o", "n": n}, {}, order={"id": "o"}) for n in range(10)]
    moments += [moment({"id": "o", "n": n}, failure=LATE, order={"id": "o"}) for n in range(10, 20)]
    [(that, error)] = asked(moments, Existence())
    assert error == LATE.text
    assert all(holds(that, m.scope) is m.step.ok for m in moments)


@pytest.mark.parametrize("count", [0, 1])
def test_what_was_hardly_seen_is_not_required(count):
    assert asked([*opened(8), *sent(count)], Existence()) == []


def test_the_kind_of_error_is_told_from_its_words():
    moments = [*opened(8), *absent(8)]
    assert [one["status"] for one in requirements(learned(moments), NEEDED)] == ["not_found"]
