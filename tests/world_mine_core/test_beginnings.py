"""The world before anybody changed it, from what episodes show of it."""

from envace_sdk.world.mine.starting import Beginning, Beginnings
from envace_sdk.world.mine.structure import SESSION


def shows(*, absent=(), **documents):
    return Beginning({"cards": documents} if documents else {}, {"cards": absent})


def test_what_the_episodes_agree_on_was_there():
    begun = Beginnings([shows(a={"text": "x"}), shows(a={"text": "x"}, b={"text": "y"})])
    assert begun.documents() == {"cards": {"a": {"text": "x"}, "b": {"text": "y"}}}


def test_what_more_episodes_missed_than_found_was_not_there():
    begun = Beginnings([shows(a={"text": "x"}), shows(absent=["a", "b"]), shows(absent=["a"], b={}), shows(b={})])
    assert begun.documents() == {"cards": {"b": {}}}


def test_fields_on_which_most_episodes_do_not_agree_are_left_out():
    begun = Beginnings([shows(a={"text": text, "size": size}) for text, size in [("x", 1), ("y", 1), ("z", 2)]])
    assert begun.documents() == {"cards": {"a": {"size": 1}}}


def test_a_field_that_few_episodes_looked_at_is_part_of_the_start_only_if_all_have_the_same_start():
    same = [shows(a={"text": "x"}) for _ in range(9)] + [shows(a={"text": "x", "mood": "calm"})]
    assert Beginnings(same).documents()["cards"]["a"] == {"text": "x", "mood": "calm"}
    other = [shows(a={"text": "x"}, b={"text": f"{n}"}) for n in range(9)] + [shows(a={"text": "x", "mood": "calm"})]
    assert Beginnings(other).documents()["cards"]["a"] == {"text": "x"}


def test_episodes_that_show_other_things_of_the_same_key_have_no_common_start():
    assert Beginnings([shows(a={"text": "x"}), shows(a={"text": "x"})]).is_fixed("cards")
    assert not Beginnings([shows(a={"text": "x"}), shows(a={"text": "y"})]).is_fixed("cards")


def test_things_nobody_knows_are_there_if_asking_for_new_ones_finds_them():
    open_world = Beginnings([shows(**{f"k{n}": {}}) for n in range(5)] + [shows(absent=["gone"])])
    closed_world = Beginnings([shows(a={}) for _ in range(5)] + [shows(absent=[f"k{n}"]) for n in range(3)])
    assert open_world.exist("cards")
    assert not closed_world.exist("cards")


def test_the_session_begins_with_what_most_episodes_show_of_it_first():
    told = [Beginning({SESSION: {"": {"place": place}}}) for place in ["/home", "/home", "/", "/home"]]
    assert Beginnings(told).documents() == {SESSION: {"": {"place": "/home"}}}
