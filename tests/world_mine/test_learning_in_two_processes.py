"""What a second process mines is what this one would have."""

import gc
import math
import os
import sys
import time

import pytest
from invented import invent, record

from envace_sdk.world.mine import learn, learning
from envace_sdk.world.mine.apart import apart, cores
from envace_sdk.world.mine.garbage import collected_seldom


def learned(environment, recorded, **options):
    result = learn(environment.toolset, recorded, **options)
    return result.dynamics.dump(), result.start, result.inferred


def test_two_processes_learn_what_one_does(monkeypatch):
    monkeypatch.setattr(learning, "_APART", 0)
    environment = invent(3, tools=6)
    recorded = record(environment, episodes=16, calls=15)
    told = []
    both = learned(
        environment, recorded, processes=2, progress=lambda name, done, whole: told.append((name, done, whole))
    )
    assert both == learned(environment, recorded)
    assert ("waiting for the second process", 6, 13) in told
    assert told[-1][1:] == (13, 13)


def test_a_call_apart_runs_in_another_process():
    with apart(os.getpid) as result:
        assert result() != os.getpid()


def test_without_a_second_process_the_work_is_done_here(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with apart(os.getpid) as result:
        assert result() == os.getpid()


def test_what_fails_in_the_second_process_fails_here_as_itself():
    with apart(math.sqrt, -1) as result, pytest.raises(ValueError, match="domain"):
        result()


def test_a_result_that_nobody_asks_for_is_not_waited_for():
    begin = time.perf_counter()
    with apart(time.sleep, 60):
        pass
    assert time.perf_counter() - begin < 30


def test_a_process_may_use_a_processor():
    assert cores() >= 1


def test_garbage_is_collected_as_before_once_the_last_body_is_done():
    before = gc.get_threshold()
    with collected_seldom():
        with collected_seldom():
            assert gc.get_threshold()[0] > before[0]
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before


def test_garbage_that_is_not_collected_stays_so():
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with collected_seldom():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
