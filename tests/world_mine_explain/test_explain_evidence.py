"""How much has to be seen before something is said, and in which order it is said."""

import pytest

from envace_sdk.json import UNSET
from envace_sdk.world.mine.explain import Example, Explainer, explain


def sources(pairs, **options):
    return [found.source for found in explain([Example(scope, target) for scope, target in pairs], **options)]


def test_nothing_is_explained_by_nothing():
    assert explain([]) == []
    assert sources([({}, UNSET), ({}, UNSET)]) == []


def test_a_distinctive_value_met_once_was_copied():
    assert sources([({"args": {"id": "order-4711"}}, "order-4711")])[0] == "args.id"
    assert sources([({"args": {"n": 4711}}, 4711)])[0] == "args.n"
    assert sources([({"args": {"n": 2.75}}, 2.75)])[0] == "args.n"


@pytest.mark.parametrize("value", [True, False, 0, 1, 7, "", None, [], {}])
def test_a_plain_value_met_once_is_no_more_than_a_constant(value):
    found = explain([Example({"args": {"x": value}}, value)])
    assert len(found) == 1
    assert "args" not in found[0].source
    assert found[0].hits == 1


def test_a_value_that_never_varies_is_a_constant_first():
    pairs = [({"args": {"state": "on", "n": n}}, "on") for n in range(5)]
    assert sources(pairs) == ["'on'", "args.state"]


def test_a_distinctive_value_that_never_varies_is_a_copy_first():
    pairs = [({"args": {"token": "tok_8f3a91", "n": n}}, "tok_8f3a91") for n in range(5)]
    assert sources(pairs) == ["args.token", "'tok_8f3a91'"]


def test_what_is_said_of_few_examples_is_plain():
    """Two small numbers fit any line, so no line is drawn through them."""
    assert sources([({"args": {"a": 2}}, 7), ({"args": {"a": 3}}, 9)]) == []
    pairs = [({"args": {"a": a}}, 2 * a + 3) for a in (2, 3, 5, 9, 14)]
    assert sources(pairs)[0] == "args.a * 2 + 3"


def test_few_truth_values_say_nothing():
    assert sources([({"args": {"n": n}}, n > 5) for n in (2, 9)]) == []
    assert sources([({"args": {"n": n % 17}}, n % 17 > 5) for n in range(40)])[0] == "args.n > 5"


def test_repetition_is_no_evidence():
    pairs = [({"args": {"n": n}}, n > 5) for n in (2, 9)] * 20
    assert sources(pairs) == []
    (found,) = explain([Example({"args": {"id": "order-4711"}}, "order-4711")] * 10, limit=1)
    assert (found.source, found.hits, found.support) == ("args.id", 10, 1)


def test_support_counts_what_differs_in_what_is_read():
    pairs = [({"args": {"a": a % 4 + 1, "b": b, "c": b * a}}, (a % 4 + 1) * b) for a in range(8) for b in (3, 5)]
    best = explain([Example(scope, target) for scope, target in pairs])[0]
    assert (best.source, best.hits, best.support) == ("args.a * args.b", 16, 8)


def test_arguments_come_before_the_entity_and_the_session():
    pairs = [
        ({"zeta": {"id": name}, "session": {"id": name}, "entity": {"id": name}, "args": {"id": name}}, name)
        for name in ("alder-1", "birch-2")
    ]
    assert sources(pairs) == ["args.id", "entity.id", "session.id", "zeta.id"]


def test_simpler_comes_first():
    pairs = [({"args": {"a": a, "b": a + 1, "c": {"d": {"e": a}}}}, a) for a in (12, 405, 7, 33, 91)]
    found = explain([Example(scope, target) for scope, target in pairs])
    assert [explanation.source for explanation in found][:2] == ["args.a", "args.c.d.e"]
    assert [explanation.cost for explanation in found] == sorted(explanation.cost for explanation in found)


def test_numbers_are_json_numbers():
    assert sources([({"args": {"n": n}}, float(n)) for n in (100, 200, 307)])[0] == "args.n"
    assert sources([({"args": {"n": n}}, bool(n)) for n in (0, 1, 1, 0, 1, 0)]) != ["args.n"]
    assert "args.n" not in sources([({"args": {"n": n, "m": m}}, bool(n)) for n in (0, 1) for m in range(9)])


def test_what_is_absent_is_explained_by_what_is_absent():
    pairs = [({"args": {"note": text} if text else {"x": 1}}, text or UNSET) for text in ("hello", "", "bye", "")]
    assert sources(pairs)[0] == "args.note"


def test_null_is_not_absent():
    pairs = [({"args": {"note": text} if text else {}}, text or None) for text in ("hello", "", "goodbye", "")]
    assert sources(pairs)[0] == "default(args.note, null)"
    pairs = [({"args": {"note": text}}, text) for text in ("hello", None, "goodbye", None)]
    assert sources(pairs)[0] == "args.note"


def test_some_examples_may_be_wrong():
    pairs = [({"args": {"a": a, "b": b}}, a * b) for a in range(3, 12) for b in range(4, 9)]
    wrong = [(scope, -1 if place % 15 == 7 else target) for place, (scope, target) in enumerate(pairs)]
    assert sources(wrong) == []
    (best, *_) = explain([Example(scope, target) for scope, target in wrong], tolerance=0.1)
    assert (best.source, best.misses) == ("args.a * args.b", 3)


def test_as_many_are_given_as_are_wanted():
    pairs = [({"args": dict.fromkeys("abcdefgh", word)}, word) for word in ("alder-1", "birch-2")]
    assert sources(pairs, limit=3) == ["args.a", "args.b", "args.c"]
    assert len(sources(pairs)) == 5


def test_several_targets_over_the_same_scopes_are_explained_alike():
    scopes = [{"args": {"a": a, "b": 3 * a + 7}, "session": {"user": f"user-{a}"}} for a in range(30)]
    targets = [[scope["args"]["a"] * 2 for scope in scopes], [f"hi {scope['session']['user']}" for scope in scopes]]
    explainer = Explainer(scopes)
    for target in targets:
        alone = explain([Example(scope, value) for scope, value in zip(scopes, target, strict=True)])
        assert explainer.explain(target) == alone
        assert alone
    with pytest.raises(ValueError, match="1 targets for 30 scopes"):
        explainer.explain([1])


def test_names_that_need_care_are_written_with_care():
    pairs = [({"args": {"due-date": f"it's {n}\n", "in": n}}, f"it's {n}\n") for n in (155, 2766)]
    assert sources(pairs)[0] == "args['due-date']"
    pairs = [({"args": {"in": n, "a'b": n - 1}}, f"it's\n{n}") for n in (155, 2766, 31)]
    assert sources(pairs)[0] == "'it\\'s\\n' + string(args['in'])"


def test_an_object_may_hold_the_time():
    times = [f"2026-05-{day:02}T10:00:00Z" for day in range(1, 9)]
    notes = [{"name": f"draft-{place}", "changed": times[0]} for place in range(8)]
    pairs = [
        ({"now": time, "args": {"id": place, "note": note}}, note | {"changed": time})
        for place, (time, note) in enumerate(zip(times, notes, strict=True))
    ]
    assert sources(pairs)[0] == "merge(args.note, {'changed': now})"


def test_what_errors_contradict_is_looked_for_where_it_was_looked_for_without():
    scopes = [{"args": {"a": a, "b": b}} for a in range(3, 7) for b in range(4, 9)]
    targets = [scope["args"]["a"] * scope["args"]["b"] for scope in scopes]
    targets[7] = -1
    explainer = Explainer(scopes)
    assert explainer.explain(targets) == []
    (best, *_) = explainer.explain(targets, tolerance=0.1)
    assert (best.source, best.misses) == ("args.a * args.b", 1)


def test_half_an_element_is_never_taken():
    things = [{"tags": ["raven", "delta", "fox"], "n": 1}, {"tags": ["raven", "delta"], "n": 49.5}]
    things += [{"tags": [], "n": 7}, {"tags": ["owl", "elk", "hen"], "n": 1}]
    found = sources([({"e": thing}, thing["tags"][: int(thing["n"])]) for thing in things])
    assert not [source for source in found if source.startswith(("take(e.tags, e.n)", "drop(e.tags, e.n)"))]
