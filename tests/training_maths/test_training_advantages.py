import math
from collections import defaultdict
from statistics import fmean, pstdev

import pytest
from envace_sdk.training.advantages import rolewise
from envace_sdk.training.rows import ROLES
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import row, rows


def advantages(given_rows, **settings):
    return [found.advantage for found in rolewise(given_rows, **settings)[0]]


def reference(given_rows):
    """The method's formula: R minus the mean over all rows of the task's group that have the role."""
    groups = defaultdict(list)
    for found in given_rows:
        groups[found.task, found.role].append(found.reward)
    return [found.reward - fmean(groups[found.task, found.role]) for found in given_rows]


# Two trajectories of one task. The first succeeds with two acting turns and one rehearsing; the second fails with one
# acting turn and three rehearsing.
STORY = [
    row("act", 1.0, sample=0, tokens=2),
    row("rehearse", 1.0, sample=0, tokens=4),
    row("act", 1.0, sample=0, tokens=4),
    row("act", 0.0, sample=1, tokens=2),
    row("rehearse", 0.0, sample=1, tokens=4),
    row("rehearse", 0.0, sample=1, tokens=4),
    row("rehearse", 0.0, sample=1, tokens=4),
]


@pytest.mark.parametrize(
    ("settings", "act", "rehearse"),
    [
        ({"baseline": "row"}, 2 / 3, 1 / 4),
        ({"baseline": "token"}, 6 / 8, 4 / 16),
        ({"baseline": "trajectory"}, 1 / 2, 1 / 2),
        ({"baseline": "row", "pooled": True}, 3 / 7, 3 / 7),
        ({"baseline": "token", "pooled": True}, 10 / 24, 10 / 24),
        ({"baseline": "trajectory", "pooled": True}, 1 / 2, 1 / 2),
    ],
)
def test_baselines_are_as_computed_by_hand(settings, act, rehearse):
    baseline = {"act": act, "rehearse": rehearse}
    assert advantages(STORY, **settings) == pytest.approx([found.reward - baseline[found.role] for found in STORY])


def test_scaling_divides_by_the_groups_standard_deviation():
    spread = pstdev([1, 1, 0])
    found = advantages(STORY, scale=True)
    assert found[0] == pytest.approx((1 / 3) / spread, rel=1e-4)


def test_tasks_and_roles_are_never_compared_with_each_other():
    lone = [row("act", 1.0, task="easy"), row("act", 0.0, task="hard"), row("rehearse", 0.5, task="easy")]
    assert advantages(lone) == [0.0, 0.0, 0.0]


def test_a_group_of_one_row_has_no_advantage_and_is_counted():
    judged, report = rolewise([row("act", 1.0), row("act", 0.0, sample=1), row("rehearse", 1.0)])
    assert [found.advantage for found in judged] == [0.5, -0.5, 0.0]
    assert (report.roles["rehearse"].single_groups, report.roles["rehearse"].flat_groups) == (1, 0)
    assert report.learning_share == 0.5


def test_rewards_that_differ_by_rounding_teach_nothing_and_are_counted():
    judged, report = rolewise([row("act", 0.1 + 0.2), row("act", 0.3, sample=1), row("act", 0.3, sample=2)])
    assert [found.advantage for found in judged] == [0.0, 0.0, 0.0]
    assert report.roles["act"].flat_groups == 1
    assert report.learning_share == 0.0


def test_what_there_is_to_learn_from_is_told_by_the_groups_that_are_compared():
    """A turn of each role is nothing to compare by role, and a pair over both."""
    found = [row("act", 1.0), row("rehearse", 0.0), row("act", 1.0, task="flat"), row("rehearse", 1.0, task="flat")]
    judged, report = rolewise(found, pooled=True)
    assert [one.advantage for one in judged] == [0.5, -0.5, 0.0, 0.0]
    assert report.learning_share == report.as_json()["learning_share"] == 0.5
    assert rolewise(found)[1].learning_share == 0.0


@given(rows, st.booleans())
def test_nothing_is_learned_just_where_the_share_to_learn_from_is_0(found, pooled):
    judged, report = rolewise(found, pooled=pooled)
    assert any(each.advantage for each in judged) == (report.learning_share > 0)


def test_padding_is_in_no_baseline_and_has_no_advantage():
    judged, report = rolewise([row("act", 1.0), row("act", 0.0, sample=1), row("act", 100.0, sample=2, weight=0.0)])
    assert [found.advantage for found in judged] == [0.5, -0.5, 0.0]
    assert (report.padding, report.roles["act"].rows) == (1, 2)


def test_the_report_tells_the_mean_reward_and_spread_of_each_role():
    _, report = rolewise(STORY)
    assert report.roles["act"].reward == pytest.approx(2 / 3)
    assert report.roles["rehearse"].reward == pytest.approx(1 / 4)
    assert report.roles["rehearse"].spread == pytest.approx(pstdev([1, 0, 0, 0]))
    assert report.as_json()["roles"]["act"]["rows"] == 3


def test_nothing_gives_nothing():
    judged, report = rolewise([])
    assert judged == []
    assert report.roles["act"].reward is None
    assert report.learning_share == 0.0


@given(rows)
def test_row_baselines_are_the_reference_formula_except_for_single_rows(found):
    found = [each for each in found if each.weight == 1.0]
    groups = defaultdict(int)
    for each in found:
        groups[each.task, each.role] += 1
    for each, ours, theirs in zip(found, advantages(found), reference(found), strict=True):
        assert ours == pytest.approx(0.0 if groups[each.task, each.role] == 1 else theirs, abs=1e-6)


@given(rows, st.sampled_from(["row", "token", "trajectory"]), st.booleans())
def test_advantages_of_a_group_average_to_nothing(found, baseline, pooled):
    judged, _ = rolewise(found, baseline=baseline, pooled=pooled)
    groups = defaultdict(list)
    for each in judged:
        if each.weight:
            groups[each.task, None if pooled else each.role].append(each)
    for members in groups.values():
        per_sample = defaultdict(float)
        for each in members:
            per_sample[each.sample] += each.weight
        count = {
            "row": lambda each: each.weight,
            "token": lambda each: each.weight * len(each.completion_ids),
            "trajectory": lambda each, per_sample=per_sample: each.weight / per_sample[each.sample],
        }[baseline]
        assert math.fsum(count(each) * each.advantage for each in members) == pytest.approx(0, abs=1e-6)


@given(rows, st.floats(-5, 5), st.randoms())
def test_neither_order_nor_a_bonus_for_all_changes_an_advantage(found, bonus, random):
    order = list(range(len(found)))
    random.shuffle(order)
    moved = [_raised(found[place], bonus) for place in order]
    before, after = advantages(found), advantages(moved)
    assert after == pytest.approx([before[place] for place in order], abs=1e-5)


@given(rows)
def test_all_but_the_advantage_stays_as_it_was(found):
    judged, _ = rolewise(found)
    assert [{**each.as_json(), "advantage": 0.0} for each in judged] == [each.as_json() for each in found]


@given(rows)
def test_groups_are_counted_once_per_role_and_task(found):
    _, report = rolewise(found)
    for role in ROLES:
        tasks = {each.task for each in found if each.role == role and each.weight}
        assert report.roles[role].groups == len(tasks)
        assert report.roles[role].flat_groups + report.roles[role].single_groups <= len(tasks)


def _raised(found, bonus):
    return row(
        found.role,
        found.reward + bonus,
        task=found.task,
        sample=found.sample,
        tokens=len(found.completion_ids),
        weight=found.weight,
    )
