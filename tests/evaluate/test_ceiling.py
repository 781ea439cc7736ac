import pytest
from examined import episode, exam_of

from envace_sdk.evaluate.ceiling import ceilings


def missing(name):
    return ("get", {"id": name}, f"no note {name}", True)


def found(name, **more):
    return ("get", {"id": name}, {"id": name, "title": f"of {name}", **more})


def ceiling(held_out, known=()):
    return ceilings(exam_of(held_out, known))[0]


FLIP = [episode("flip", missing("N-900"), ("add", {"id": "N-900"}, "ok"), found("N-900"))]


def test_where_everything_is_shown_the_ceiling_is_the_sky():
    known = [*FLIP, episode("known", found("N-100"), found("N-200"), missing("N-300"))]
    best = ceiling([episode("a", found("N-100"), missing("N-300"), found("N-200"))], known)
    assert (best.unsettled, best.status, best.balanced_status, best.entailed) == (0, 1.0, 1.0, 1.0)


def test_whether_a_thing_that_nothing_shows_is_there_can_only_be_guessed():
    best = ceiling(
        [episode("a", found("N-100"), found("N-200"), missing("N-300"), missing("N-400"), found("N-500"))], FLIP
    )
    assert best.unsettled == 5
    assert best.status == pytest.approx(3 / 5)
    assert best.balanced_status == pytest.approx(1 / 2)


def test_what_the_episode_has_shown_before_is_settled():
    best = ceiling(
        [episode("a", ("list", {}, {"ids": ["N-100"]}), found("N-100"), missing("N-400"), missing("N-500"))], FLIP
    )
    assert best.unsettled == 2
    assert best.status == 1.0


def test_recordings_that_contradict_each_other_settle_nothing():
    known = [*FLIP, episode("one", found("N-100")), episode("other", missing("N-100"))]
    assert ceiling([episode("a", found("N-100"))], known).unsettled == 1


def test_an_error_that_does_not_depend_on_the_state_is_settled():
    refused = ("get", {"id": "../x"}, "access to ../x denied", True)
    best = ceiling([episode("a", refused, ("get", {"id": "../y"}, "access to ../y denied", True))])
    assert best.unsettled == 0


def test_free_leaves_are_counted():
    assert ceiling([episode("a", ("make", {}, {"token": "f81d4fae", "ok": True}))]).free_leaves == 2
