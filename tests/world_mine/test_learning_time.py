"""How the time that learning takes grows with the recordings, as a ratio of two measurements of the same run."""

import time

import pytest
from invented import invent, record

from envace_sdk.world.mine import learn

CALLS = 20
"""Calls of one session."""


def seconds(environment, *, episodes, first):
    """Processor time, which other work on the machine does not stretch much."""
    recorded = record(environment, episodes=episodes, calls=CALLS, first=first)
    begin = time.process_time()
    learn(environment.toolset, recorded)
    return time.process_time() - begin


@pytest.mark.slow
def test_twice_the_calls_of_the_same_tools_cost_little_more_than_twice_the_time():
    environment = invent(1, tools=6)
    seconds(environment, episodes=4, first=9_000)  # what is loaded and compiled once
    # Sessions that the other has not seen: nothing is answered from memory.
    few = seconds(environment, episodes=40, first=0)
    many = seconds(environment, episodes=80, first=1_000)
    assert many <= 2.6 * few
