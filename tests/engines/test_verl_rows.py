"""Rows as verl holds them, and back to advantages."""

import pytest
from envace_sdk.training.advantages import rolewise
from envace_sdk.training.config import AdvantageConfig, TrainConfig
from envace_sdk.training.engines.verl.rows import advantages, pack
from envace_sdk.training.rows import Row
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows


def trajectory(sample=0, reward=1.0, **changes):
    """Act, rehearse, act; in the last prompt stands all that was before."""
    first = Row("t", sample, "act", (1, 2), (3, 4), (-0.1, -0.2), reward=reward, turn=0)
    answer = Row("t", sample, "rehearse", (1, 2, 3, 4, 9), (5,), (-0.3,), reward=reward, turn=1, **changes)
    last = Row("t", sample, "act", (1, 2, 3, 4, 9, 5, 8), (6, 7), (-0.4, -0.5), reward=reward, turn=2)
    return [first, answer, last]


def test_in_split_each_row_is_a_sequence():
    packed = pack(trajectory(), TrainConfig(rendering="split"), group="u", sample=3)
    assert [(one.prompt_ids, one.response_ids, one.response_mask) for one in packed] == [
        ([1, 2], [3, 4], [1, 1]),
        ([1, 2, 3, 4, 9], [5], [1]),
        ([1, 2, 3, 4, 9, 5, 8], [6, 7], [1, 1]),
    ]
    assert all(one.about["group"] == "u" and one.about["sample"] == 3 for one in packed)


def test_in_stream_a_trajectory_is_one_sequence_and_what_stands_between_is_masked():
    (one,) = pack(trajectory(), TrainConfig(rendering="stream"), group="u", sample=0)
    assert one.prompt_ids == [1, 2]
    assert one.response_ids == [3, 4, 9, 5, 8, 6, 7]
    assert one.response_mask == [1, 1, 0, 1, 0, 1, 1]
    assert one.response_logprobs == [-0.1, -0.2, 0.0, -0.3, 0.0, -0.4, -0.5]
    assert [part["role"] for part in one.about["segments"]] == ["act", "rehearse", "act"]


@pytest.mark.parametrize(
    ("config", "changes"),
    [
        (TrainConfig(parameters={"frozen": ["rehearse"]}), {}),
        (TrainConfig(), {"truncated": True}),
        (TrainConfig(), {"weight": 0.0}),
    ],
)
def test_rows_that_are_not_trained_are_masked_but_kept(config, changes):
    packed = pack(trajectory(**changes), config, group="u", sample=0)
    assert [one.response_mask for one in packed] == [[1, 1], [0], [1, 1]]
    assert packed[1].about["segments"][0]["weight"] == changes.get("weight", 1.0)


def test_truncated_completions_are_trained_where_the_configuration_says_so():
    config = TrainConfig(loss={"mask_truncated": False})
    assert pack(trajectory(truncated=True), config, group="u", sample=0)[1].response_mask == [1]


def test_a_trajectory_without_rows_has_no_sequences():
    assert pack([], TrainConfig(), group="u", sample=0) == []


@given(
    rows=rows,
    baseline=st.sampled_from(["row", "token", "trajectory"]),
    pooled=st.booleans(),
    scale=st.booleans(),
    rendering=st.sampled_from(["split", "stream"]),
    padding=st.integers(0, 3),
)
def test_advantages_are_those_of_the_rows_whatever_the_padding(rows, baseline, pooled, scale, rendering, padding):
    settings = AdvantageConfig(baseline=baseline, pooled=pooled, scale=scale)
    config = TrainConfig(rendering=rendering, advantages=settings)
    packed = []
    for group, sample in sorted({(row.task, row.sample) for row in rows}):
        own = [row for row in rows if (row.task, row.sample) == (group, sample)]
        packed += pack(own, config, group=group, sample=sample)
    found, report = advantages([one.about for one in packed] + [None] * padding, settings)
    assert found[len(packed) :] == [[]] * padding
    judged, expected = rolewise(rows, **settings.model_dump())
    assert report == expected
    theirs = sorted(
        (tuple(one.response_ids[where]), advantage)
        for one, parts in zip(packed, found, strict=False)
        for where, advantage in parts
    )
    ours = sorted((row.completion_ids, row.advantage) for row in judged)
    assert [completion for completion, _ in theirs] == [completion for completion, _ in ours]
    assert [advantage for _, advantage in theirs] == pytest.approx([advantage for _, advantage in ours], abs=1e-6)
