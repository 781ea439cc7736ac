import json

import pytest
from envace_sdk.training.rows import Row, rows_from_json

from envace_sdk.errors import RowError


def test_a_row_survives_json():
    row = Row("t", 1, "rehearse", [1, 2], [3], [-0.5], 0.25, -0.5, True, 7, 3, 2.0)
    assert rows_from_json(json.loads(json.dumps([row.as_json()]))) == [row]
    assert (row.length, row.prompt_ids) == (3, (1, 2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"role": "judge"}, "its role is 'judge'"),
        ({"prompt_ids": ()}, "its prompt is empty"),
        ({"completion_ids": ()}, "its completion is empty"),
        ({"logprobs": (-1.0,)}, "2 completion tokens and 1 log-probabilities"),
        ({"logprobs": (-1.0, float("-inf"))}, "a log-probability is not finite"),
        ({"reward": float("nan")}, "not finite"),
        ({"weight": -1.0}, "its weight is -1.0"),
    ],
)
def test_a_row_that_contradicts_itself_is_named(changes, message):
    values = {"task": "book", "sample": 2, "role": "act", "prompt_ids": (1,), "completion_ids": (2, 3)}
    with pytest.raises(RowError, match="row of task 'book', sample 2, turn 0: .*" + message):
        Row(**values | changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sample": "0"}, "row 1: sample cannot be '0'"),
        ({"sample": True}, "row 1: sample cannot be True"),
        ({"prompt_ids": "abc"}, "row 1: prompt_ids cannot be 'abc'"),
        ({"prompt_ids": [1.5]}, "row 1: prompt_ids cannot be"),
        ({"logprobs": ["x"]}, "row 1: logprobs cannot be"),
        ({"truncated": 1}, "row 1: truncated cannot be 1"),
        ({"advantages": 1}, "row 1: advantages is no field of a row"),
    ],
)
def test_json_that_is_no_row_is_refused_by_field(change, message):
    values = {"task": "t", "sample": 0, "role": "act", "prompt_ids": [1], "completion_ids": [2]}
    with pytest.raises(RowError, match=message):
        rows_from_json([values | change])


def test_json_without_a_required_field_is_refused():
    with pytest.raises(RowError, match="row 1: sample is missing"):
        rows_from_json([{"task": "t", "role": "act", "prompt_ids": [1], "completion_ids": [2]}])
