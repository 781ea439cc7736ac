"""Worlds are compared by what is not left to chance: a world agrees with itself, and whatever is changed shows."""

from pathlib import Path

import pytest
from invented import Invented, compare, invent, share

from envace_sdk.rehearse import Environment
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import State

DATA = Path(__file__).parent / "data"


def altered(environment, change):
    """The same environment under other rules."""
    rules = environment.dynamics.model_dump(exclude_defaults=True)
    change(rules)
    dynamics = Dynamics.model_validate(rules)
    start = State.start(dynamics=dynamics, collections=environment.collections, clock=environment.clock)
    return Environment(environment.toolset, dynamics=dynamics, start=start)


@pytest.mark.parametrize("seed", range(8))
def test_the_original_agrees_with_itself_in_all_that_is_compared(seed):
    environment = invent(seed)
    compared = compare(environment, environment.environment, episodes=4, calls=15)
    assert [one for one in compared if not one.is_right] == []
    assert sum(one.entailed for one in compared) > len(compared)


def test_minted_keys_may_differ_and_later_calls_name_them_as_each_world_does():
    environment = Invented.load(DATA / "boats.yaml")

    def other_keys(rules):
        rules["collections"]["reservations"]["mint"] = "zz-{uuid}"

    compared = compare(environment, altered(environment, other_keys), episodes=15, calls=20)
    assert [one for one in compared if not one.is_right and one.tool != "reservation"] == []
    assert any(one.tool == "hand_over" and not one.expected.is_error for one in compared)


def test_a_changed_text_a_dropped_precondition_and_a_lost_effect_show():
    environment = Invented.load(DATA / "pots.yaml")

    def text(rules):
        rules["tools"]["pot_balance"]["missing"] = "There is no pot {args.pot_id}"

    def precondition(rules):
        del rules["tools"]["withdraw"]["requires"]

    def effect(rules):
        del rules["tools"]["transfer"]["also"]

    whole = share(compare(environment, environment.environment, episodes=20, calls=20))
    assert (whole.status, whole.values, whole.right) == (1.0, 1.0, 1.0)

    told = compare(environment, altered(environment, text), episodes=20, calls=20)
    assert share(told).status == 1.0
    assert {one.tool for one in told if not one.is_right} == {"pot_balance"}

    unchecked = compare(environment, altered(environment, precondition), episodes=20, calls=20)
    assert share(one for one in unchecked if one.tool == "withdraw").status < 0.8
    assert share(unchecked).values < 1.0

    lost = compare(environment, altered(environment, effect), episodes=20, calls=20)
    assert share(one for one in lost if one.tool == "pot_balance").values < 1.0
    assert share(one for one in lost if one.tool == "convert").calls == 0


def test_a_world_that_breaks_down_is_wrong_and_sure_of_it():
    environment = Invented.load(DATA / "kiln.yaml")

    def broken(rules):
        rules["tools"]["panel"]["returns"] = {"value": "entity.nothing_of_the_kind"}

    compared = compare(environment, altered(environment, broken), episodes=2, calls=20)
    failed = [one for one in compared if one.trouble]
    assert failed
    assert {one.tool for one in failed} == {"panel"}
    assert all(not one.is_right and one.confidence == 1.0 for one in failed)
