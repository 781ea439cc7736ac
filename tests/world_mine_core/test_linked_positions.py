"""Which positions name the same things."""

from itertools import product

from small_episodes import episodes, linked

NAMES = ["oak", "elm", "ash", "fir", "yew"]


def test_what_one_call_shows_and_others_take_is_of_one_domain():
    sessions = [
        [("list_trees", {}, {"trees": [{"tag": name, "height": place} for place, name in enumerate(NAMES)]})]
        + [("fell", {"which": name}, {"done": True}) for name in NAMES]
    ]
    assert linked(episodes(*sessions)) == [{"list_trees -> trees.[].tag", "fell.which"}]


def test_what_is_seen_together_less_than_four_times_is_not_linked():
    sessions = [
        [("list_trees", {}, {"trees": [{"tag": name} for name in NAMES]})]
        + [("fell", {"which": name}, {"done": True}) for name in NAMES[:3]]
    ]
    assert linked(episodes(*sessions)) == []


def test_two_names_that_agree_again_and_again_may_do_so_by_chance():
    sessions = [
        [("list_trees", {}, {"trees": [{"tag": name} for name in NAMES]})]
        + [("fell", {"which": name}, {"done": True}) for name in NAMES[:2] * 4]
    ]
    assert linked(episodes(*sessions)) == []


def test_numbers_are_linked_if_they_are_called_alike():
    def session(argument):
        return [
            step
            for number in range(1, 9)
            for step in (
                ("add_tree", {"kind": "a tree"}, {"id": number, "rings": number + 20}),
                ("fell", {argument: number}, {"done": True}),
            )
        ]

    assert linked(episodes(session("tree_id"))) == [{"add_tree -> id", "fell.tree_id"}]
    assert linked(episodes(session("depth"))) == []


def test_a_number_is_not_linked_with_the_id_of_something_else():
    sessions = [
        [("add_tree", {}, {"id": number}) for number in range(1, 9)]
        + [("fine", {"owner_id": number}, {"done": True}) for number in range(1, 9)]
    ]
    assert linked(episodes(*sessions)) == []


def test_what_is_nearly_always_the_same_names_nothing():
    def session(people):
        return [
            step
            for person in people
            for step in (("login", {"user_name": person}, {"user_name": person}), ("post", {"user_name": person}, "ok"))
        ]

    assert linked(episodes(session(["ann"] * 96 + ["bob", "cid", "dan", "eve"]))) == []
    assert linked(episodes(session(["ann"] * 4 + ["bob", "cid", "dan", "eve"]))) != []


def test_id_like_namesakes_are_of_one_domain_though_no_value_was_ever_seen_at_both():
    sessions = [[("plant", {"tree_id": f"p{n}"}, "ok")] for n in range(3)]
    sessions += [[("fell", {"tree_id": f"f{n}"}, "ok")] for n in range(3)]
    assert linked(episodes(*sessions)) == [{"plant.tree_id", "fell.tree_id"}]


def test_namesakes_that_are_not_id_like_are_not():
    sessions = [[("plant", {"reason_why": f"p{n}"}, "ok")] for n in range(3)]
    sessions += [[("fell", {"reason_why": f"f{n}"}, "ok")] for n in range(3)]
    assert linked(episodes(*sessions)) == []


def test_arguments_of_which_one_takes_what_the_other_takes_are_of_one_domain():
    sessions = [[("plant", {"species_code": name}, "ok")] for name in NAMES]
    sessions += [[("fell", {"timber_code": name}, "ok")] for name in NAMES]
    assert linked(episodes(*sessions)) == [{"plant.species_code", "fell.timber_code"}]
    apart = [[(tool, {what: f"{tool}{n}"}, "ok")] for (tool, what), n in product(TAKES, range(5))]
    assert linked(episodes(*apart)) == []


TAKES = [("plant", "species_code"), ("fell", "timber_code")]


def test_texts_of_several_lines_name_nothing():
    sessions = [
        [("list_trees", {}, [{"tag": f"{name}\n"} for name in NAMES])]
        + [("fell", {"which": f"{name}\n"}, {"done": True}) for name in NAMES]
    ]
    assert linked(episodes(*sessions)) == []


def test_the_largest_domain_comes_first():
    sessions = [
        [("list_trees", {}, [{"tag": name} for name in NAMES])]
        + [("fell", {"which": name}, {"done": True}) for name in NAMES * 3]
        + [("list_axes", {}, [{"code": f"axe {name}"} for name in NAMES])]
        + [("grind", {"what": f"axe {name}"}, {"done": True}) for name in NAMES]
    ]
    assert linked(episodes(*sessions)) == [
        {"list_trees -> [].tag", "fell.which"},
        {"list_axes -> [].code", "grind.what"},
    ]


def test_a_few_words_that_two_arguments_share_do_not_make_them_one_domain():
    sessions = [[("plant", {"species_code": f"p{n}"}, "ok")] for n in range(20)]
    sessions += [[("fell", {"timber_code": f"f{n}"}, "ok")] for n in range(20)]
    sessions += [[(tool, {what: name}, "ok")] for tool, what in TAKES for name in NAMES]
    assert linked(episodes(*sessions)) == []
