"""Of very many calls, some are followed: what is kept of them does not grow with the recording, nor is less learned."""

import pytest
from invented import compare, invent, record, share

from envace_sdk.rehearse import Environment
from envace_sdk.world.mine import learn, mining
from envace_sdk.world.mine.episodes import episodes_of
from envace_sdk.world.mine.mining import Miner
from envace_sdk.world.state import State


def agreement(environment, learned):
    start = State.start(dynamics=learned.dynamics, collections=learned.start, clock=environment.clock)
    twin = Environment(environment.toolset, dynamics=learned.dynamics, start=start)
    return share(compare(environment, twin, episodes=20, calls=15, first=50_000))


@pytest.mark.slow
def test_following_some_of_many_calls_teaches_as_much(monkeypatch):
    environment = invent(1, tools=6)
    recorded = record(environment, episodes=60, calls=20)
    whole = agreement(environment, learn(environment.toolset, recorded))
    monkeypatch.setattr(mining, "_FEW", 0)
    monkeypatch.setattr(mining, "_CALLS", 40)
    monkeypatch.setattr(mining, "_FAILURES", 10)
    some = agreement(environment, learn(environment.toolset, recorded))
    assert some.right >= whole.right - 0.03
    assert some.status >= whole.status - 0.03


def followed(environment, recorded):
    names = [tool.name for tool in environment.toolset]
    miner = Miner(environment.toolset, episodes_of(recorded, names), told=lambda _: None)
    return len(miner._track()[1])


def test_what_is_kept_of_calls_does_not_grow_with_their_number(monkeypatch):
    monkeypatch.setattr(mining, "_FEW", 400)
    monkeypatch.setattr(mining, "_CALLS", 20)
    monkeypatch.setattr(mining, "_FAILURES", 5)
    environment = invent(1, tools=6)
    recorded = record(environment, episodes=160, calls=15)
    assert followed(environment, recorded[:390]) == 390
    some, many = (followed(environment, recorded[:calls]) for calls in (1200, 2400))
    assert some < 1200
    assert many < 1.3 * some
