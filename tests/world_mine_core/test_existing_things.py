"""Which errors say what exists, and which calls make and remove things."""

from functools import cache
from random import Random

import pytest
from small_episodes import Failed, understood

from envace_sdk.world.mine.existing import Verbs, beginnings_of, learn_existence, learn_removals
from envace_sdk.world.mine.failures import Failures
from envace_sdk.world.mine.tracking import Tracker


def desk(seed, missing, taken, length=30):
    """A session with a card index: cards are put into it, looked at and thrown away."""
    random = Random(seed)
    cards = {f"c{n}": n for n in range(3)}
    for _ in range(length):
        key = f"c{random.randint(0, 5)}"
        match random.choice(["peek", "peek", "peek", "put", "drop"]):
            case "peek" if key in cards:
                yield "peek", {"card_id": key}, {"card_id": key, "text": cards[key]}
            case "put" if key not in cards:
                cards[key] = random.randint(0, 9)
                yield "put", {"card_id": key, "text": cards[key]}, "stored"
            case "put":
                yield "put", {"card_id": key, "text": 5}, Failed(taken.format(key))
            case "drop" if key in cards:
                del cards[key]
                yield "drop", {"card_id": key}, "thrown away"
            case tool:
                yield tool, {"card_id": key}, Failed(missing.format(key))


WORDS = ("no such card: {}", "card {} already exists")
VERBS = Verbs(frozenset({"put"}), frozenset({"drop"}), frozenset({"peek"}))


@cache
def learned(missing=WORDS[0], taken=WORDS[1], verbs=VERBS):
    found = understood(*(list(desk(seed, missing, taken)) for seed in range(8)), readers=("peek",))
    failures = Failures(found.episodes)
    existence = learn_existence((), failures)
    for _ in range(3):
        begun = beginnings_of(found.structure, found.casts, found.episodes, found.effects, failures, existence)
        start = begun.documents()
        existence = learn_existence(found.moments(start=start, failures=failures, existence=existence), failures)
        tracker = Tracker(found.structure, found.casts, found.effects, start, failures=failures, existence=existence)
        moments = [moment for episode in found.episodes for moment in tracker.follow(episode)]
        learn_removals(tracker, moments, existence, found.effects, verbs)
        found.learn(("peek",), start=start)
    return found, failures, existence, begun


def said(failures, book):
    return {(tool, failures.of_tool[tool][number].text.split()[0]): name for (tool, number), name in book.items()}


def test_errors_that_say_so_tell_that_a_thing_is_missing():
    _, failures, existence, _ = learned()
    assert said(failures, existence.missing) == {("peek", "no"): "entity", ("drop", "no"): "entity"}


def test_errors_that_say_so_tell_that_a_thing_is_there_already():
    _, failures, existence, _ = learned()
    assert said(failures, existence.taken) == {("put", "card"): "entity"}


def test_who_fails_where_a_thing_is_missing_needs_it():
    _, _, existence, _ = learned()
    assert existence.needs("peek", "entity")
    assert existence.needs("drop", "entity")
    assert not existence.needs("put", "entity")


def test_calls_after_which_things_are_there_or_gone_make_or_remove_them():
    found, _, _, _ = learned()
    assert set(found.effects.makes) == {("put", "entity")}
    assert found.effects.removes == {("drop", "entity")}


def test_makers_and_removers_are_known_by_what_they_do_and_not_by_their_names():
    found, _, _, _ = learned(verbs=Verbs())
    assert found.effects.removes == {("drop", "entity")}
    assert set(found.effects.makes) == {("put", "entity")}


def test_who_is_said_to_change_nothing_makes_and_removes_nothing():
    found, _, _, _ = learned(verbs=Verbs(readers=frozenset({"peek", "put", "drop"})))
    assert found.effects.makes == {}
    assert found.effects.removes == set()


def test_the_start_holds_what_was_there_and_not_what_was_made():
    _, _, _, begun = learned()
    cards = begun.documents()["cards"]
    assert set(cards) == {"c0", "c1", "c2"}
    assert [cards[key]["text"] for key in sorted(cards)] == [0, 1, 2]
    assert not begun.exist("cards")


@pytest.mark.parametrize("text", ["Failed to do it", "denied"])
def test_errors_of_everything_say_nothing_of_what_exists(text):
    def session(seed):
        random = Random(seed)
        for n in range(12):
            key = f"c{n % 4}"
            if random.random() < 0.5:
                yield "peek", {"card_id": key}, {"card_id": key, "text": key}
            else:
                yield "peek", {"card_id": key}, Failed(text)

    found = understood(*(list(session(seed)) for seed in range(5)), readers=("peek",))
    failures = Failures(found.episodes)
    existence = learn_existence(found.moments(failures=failures), failures)
    assert (existence.missing, existence.taken) == ({}, {})
