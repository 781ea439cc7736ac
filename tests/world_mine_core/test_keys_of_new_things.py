"""The form of new keys."""

import pytest
from small_episodes import episodes

from envace_sdk.world.mine.minting import mint_of
from envace_sdk.world.mine.structure import Site, Structure

STRUCTURE = Structure(sites={"make": [Site("make", "", "pots", key="id", fresh=True)]})


def minted(*runs):
    return mint_of("pots", STRUCTURE, episodes(*([("make", {}, {"id": key}) for key in run] for run in runs)))


@pytest.mark.parametrize(
    ("runs", "form"),
    [
        ([[1, 2, 3], [1, 2]], ("{int}", 1)),
        ([["7", "8"], ["7"]], ("{n}", 7)),
        ([["p-1", "p-2"], ["p-1", "p-2", "p-3"]], ("p-{n}", 1)),
        ([["P001", "P002"], ["P001"]], ("P{n:03}", 1)),
        ([["P098", "P099", "P100"]], ("P{n:03}", 98)),
        ([["a1b", "a2b"]], ("a{n}b", 1)),
        ([["2024-10"], ["2024-10"]], ("2024-{n}", 10)),
    ],
)
def test_keys_that_count_up_have_a_form_and_a_first_number(runs, form):
    assert minted(*runs) == form


@pytest.mark.parametrize(
    "runs",
    [
        [],
        [["abc", "def"]],
        [["p-1", "q-2"]],
        [["p-1", "pot"]],
        [["p-5", "p-3", "p-9", "p-1"]],
        [["p-1"], ["p-4"], ["p-7"]],
    ],
)
def test_other_keys_have_none(runs):
    assert minted(*runs) == ("", 1)


def test_a_number_left_out_now_and_then_was_made_by_a_call_that_is_not_recorded():
    assert minted(["p-1", "p-2", "p-3", "p-4", "p-6", "p-7"]) == ("p-{n}", 1)


def test_an_episode_that_begins_later_than_most_does_not_matter():
    assert minted(["p-1"], ["p-1"], ["p-1"], ["p-5"]) == ("p-{n}", 1)


def test_only_new_things_tell_how_keys_are_made():
    structure = Structure(sites={"make": [Site("make", "", "pots", key="id")]})
    assert mint_of("pots", structure, episodes([("make", {}, {"id": 1}), ("make", {}, {"id": 2})])) == ("", 1)
    assert mint_of("pans", STRUCTURE, episodes([("make", {}, {"id": 1})])) == ("", 1)
