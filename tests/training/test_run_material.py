"""Which tasks are trained on and measured, and in which order."""

import asyncio
from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import pytest
from envace_sdk.training.run.material import Material, in_proportion, spread
from envace_sdk.training.run.settings import TaskConfig
from envace_sdk.training.tasks import MakeOptions, make_task_sets, write_task_sets
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import TrainingError

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
    names = ("trained", "held back", "bare")
    trained, held_back, without_tasks = (SimpleNamespace(toolset=SimpleNamespace(name=name)) for name in names)
    own = {"train": [trained], "validation": [trained], "test": [trained, held_back]}
    splits = {split: [SimpleNamespace(environment=one) for one in found] for split, found in own.items()}
    material = Material((trained, held_back, without_tasks), splits, ())
    assert material.trained_on() == (trained, without_tasks)
    assert material.trained_on(["bare"]) == (trained,), "its tasks for the test may have been too long"


@pytest.fixture
def made(tmp_path):
    """Task sets of two toolsets."""
    sources = ["retail", "issue_tracker"]
    making = asyncio.run(make_task_sets(sources, MakeOptions(count=12)))
    write_task_sets(tmp_path / "made", making.sets, MakeOptions(count=12))
    return str(tmp_path / "made")


def test_of_task_sets_that_are_read_those_of_the_named_toolsets_count(made):
    def names(*sources, **settings):
        material = asyncio.run(Material.make(sources, TaskConfig(folder=made, **settings)))
        return [one.toolset for one in material.sets]

    assert names() == ["retail", "issue_tracker"]
    assert names("issue_tracker") == ["issue_tracker"]
    missing = "no tasks of 'airline'; it has those of retail, issue_tracker"
    with pytest.raises(TrainingError, match=missing):
        names("airline")
    with pytest.raises(TrainingError, match=missing):
        names(hold_back=("airline",))


@pytest.mark.parametrize("sources", [(), ("retail",), ("retail", "issue_tracker")])
def test_toolsets_are_held_back_of_task_sets_that_are_read_too(made, sources):
    held_back = ("issue_tracker",)
    material = asyncio.run(Material.make(sources, TaskConfig(folder=made, hold_back=held_back)))
    retail, issues = material.environments
    assert {case.environment.toolset.name for case in material.cases["train"]} == {"retail"}
    assert [set(one.splits) for one in material.sets][1] == {"test"}
    assert sum(case.environment is issues for case in material.cases["test"]) == 12
    assert material.trained_on(held_back) == (retail,)
