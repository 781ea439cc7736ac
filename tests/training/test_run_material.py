"""In which order tasks are trained on and measured."""

from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

from envace_sdk.training.run.material import Material, in_proportion, spread
from hypothesis import given
from hypothesis import strategies as st

SIZES = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 12), min_size=1)
SEEDS = st.integers(0, 99)


def cases(sizes):
    """So many cases of each template."""
    environment = SimpleNamespace(toolset=SimpleNamespace(name="shop"))
    return [
        SimpleNamespace(
            name=f"shop/{template}-{number}", environment=environment, task=SimpleNamespace(template=template)
        )
        for template, size in sizes.items()
        for number in range(size)
    ]


def templates(found):
    return [case.task.template for case in found]


@given(SIZES, SEEDS)
def test_every_order_holds_every_case_once(sizes, seed):
    given_cases = cases(sizes)
    for found in (in_proportion(given_cases, seed), spread(given_cases, len(given_cases), seed)):
        assert sorted(case.name for case in found) == sorted(case.name for case in given_cases)


@given(SIZES, SEEDS)
def test_between_two_cases_of_a_template_lie_the_others_in_their_shares(sizes, seed):
    order = templates(in_proportion(cases(sizes), seed))
    for template, size in sizes.items():
        places = [place for place, one in enumerate(order) if one == template]
        for here, there in pairwise(places):
            between = Counter(order[here + 1 : there])
            assert all(abs(between[other] - sizes[other] / size) <= 1 for other in sizes if other != template)


@given(SIZES, SEEDS)
def test_rare_templates_do_not_fill_the_beginning(sizes, seed):
    order = templates(in_proportion(cases({**sizes, "common": 100}), seed))
    begin = order[: len(order) // 2]
    assert abs(begin.count("common") - 50) <= len(sizes) + 1


@given(st.integers(1, 5), SEEDS)
def test_templates_of_one_size_come_in_turn(size, seed):
    given_cases = cases(dict.fromkeys("abcd", size))
    assert in_proportion(given_cases, seed) == spread(given_cases, len(given_cases), seed)


@given(SIZES, SEEDS)
def test_a_few_cases_show_as_many_templates_as_they_can(sizes, seed):
    assert len(set(templates(spread(cases(sizes), len(sizes), seed)))) == len(sizes)


def test_nothing_is_learned_of_toolsets_that_are_only_tested_on():
    trained, held_back, without_tasks = (SimpleNamespace(name=name) for name in ("trained", "held back", "bare"))
    own = {"train": [trained], "validation": [trained], "test": [trained, held_back]}
    splits = {split: [SimpleNamespace(environment=one) for one in found] for split, found in own.items()}
    material = Material((trained, held_back, without_tasks), splits, ())
    assert [one.name for one in material.trained_on] == ["trained", "bare"]
