"""Of many recorded episodes, some are followed: what is called seldom is among them."""

from collections import Counter

from envace_sdk.world.mine.episodes import Episode, Step
from envace_sdk.world.mine.sampling import telling


def episode(number, *tools):
    name = f"e{number:04}"
    return Episode(name, tuple(step(name, place, tool) for place, tool in enumerate(tools)))


def step(name, place, written):
    tool, failed, why = written.partition("!")
    text = f"no {why} {name} at {place}" if failed else ""
    return Step(name, place, tool, {"key": name}, ok=not failed, value=None, text=text, answer=None)


MANY = [episode(number, "read", "read", "write", "fail!") for number in range(900)]
RARE = [episode(1000 + number, "read", "purge") for number in range(7)]


def counts(episodes):
    return Counter(step.tool for one in episodes for step in one.steps)


def test_a_few_calls_are_all_followed():
    assert telling(MANY[:20]) == MANY[:20]


def test_of_many_calls_enough_of_each_tool_are_followed_and_all_of_a_rare_one():
    found = counts(telling([*MANY, *RARE]))
    assert found["purge"] == 7
    assert 60 <= found["write"] <= 70
    assert found["read"] >= 60


def test_what_only_fails_brings_no_episode_along():
    only_fails = [episode(2000 + number, "fail!") for number in range(900)]
    assert not {one.name for one in telling([*only_fails, *MANY])} & {one.name for one in only_fails}


def test_episodes_stay_in_order_and_are_the_same_each_time():
    found = telling([*MANY, *RARE])
    assert [one.name for one in found] == sorted(one.name for one in found)
    assert list(found) == list(telling([*MANY, *RARE]))


def test_they_are_from_all_over():
    places = [int(one.name[1:]) for one in telling(MANY)]
    assert min(places) < 100
    assert max(places) > 800


def test_enough_of_each_error_are_followed_where_they_are_asked_for():
    errors = [episode(3000 + number, "fail!rare") for number in range(9)]
    found = telling([*MANY, *errors], failures=30)
    kinds = Counter(step.text.split()[1] for one in found for step in one.steps if not step.ok and "rare" in step.text)
    assert kinds["rare"] == 9
    assert counts(found)["fail"] < 100
