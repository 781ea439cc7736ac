"""Rollouts with a real model and its own chat template: tokens in, tokens out, in both renderings."""

import asyncio

import pytest
from envace_sdk.training.rewards import Rewarder
from envace_sdk.training.rollout import Case, RolloutSource, rows_of
from envace_sdk.training.rollout_config import RoleLimits, RolloutConfig
from envace_sdk.training.segments import render
from envace_sdk.training.tokens import ModelTokens
from envace_sdk.training.warmup import demonstrate, worked_example
from notes_toolset import open_session
from rollout_players import FORM
from tiny_llama import tiny_llama, tiny_tokenizer

from envace_sdk.models.transformers import TransformersModel
from envace_sdk.tasks import Task

ENVIRONMENT = open_session(start={"notes": [{"note_id": "A", "title": "milk"}], "shelves": []}).environment
TASK = Task.model_validate(
    {
        "id": "talk",
        "instruction": "Add a note that says tea.",
        "follow_ups": ["Drop note A."],
        "checklist": [{"id": "gone", "says": "-", "that": "called('drop_note') == 1"}],
        "witness": [
            {"tool": "add_note", "arguments": {"title": "tea"}},
            {"tool": "drop_note", "arguments": {"note_id": "A"}, "turn": 1},
        ],
        "answer": "Added.\nGone.",
    }
)
CASE = Case(ENVIRONMENT, TASK)


@pytest.fixture(scope="module")
def model():
    llama = tiny_llama()
    llama.config.max_position_embeddings = 16_384
    return TransformersModel(llama, tiny_tokenizer(), name="tiny")


def source(model, rendering):
    config = RolloutConfig(group=3, act=RoleLimits(max_tokens=6), malformed="count", style="compact")
    return RolloutSource(model, config, Rewarder(), rendering=rendering, tokens=ModelTokens(model))


def test_a_stream_is_what_the_template_makes_of_the_whole_conversation(model):
    """Token for token: the pieces between the turns are the template's own."""
    shown = asyncio.run(demonstrate(CASE, source(model, "stream"), ModelTokens(model)))
    (sequence,) = render(shown.rows(), "stream")
    text = model.tokenizer.decode(sequence.input_ids)
    first = Case(
        ENVIRONMENT, TASK.model_copy(update={"follow_ups": [], "answer": "Added.", "witness": TASK.witness[:1]})
    )
    conversation = asyncio.run(worked_example(first, FORM))
    whole = ModelTokens(model).render(conversation, generate=False)
    assert text.split("<|im_start|>user\n", 1)[1].startswith(whole.split("<|im_start|>user\n", 1)[1])
    assert text.endswith("Gone.<|im_end|>")
    assert tuple(model.tokenizer(text, add_special_tokens=False)["input_ids"]) == sequence.input_ids


@pytest.mark.parametrize("rendering", ["split", "stream"])
def test_what_a_model_samples_comes_back_as_rows_of_its_own_tokens(model, rendering):
    found = asyncio.run(source(model, rendering).collect([CASE], 2))
    rows = rows_of(found)
    assert {row.sample for row in rows} == {0, 1, 2}
    for row in rows:
        assert 1 <= len(row.completion_ids) <= 6
        assert len(row.logprobs) == len(row.completion_ids)
        assert all(value <= 0 for value in row.logprobs)
    again = asyncio.run(source(model, rendering).collect([CASE], 2))
    assert [row.completion_ids for row in rows] == [row.completion_ids for row in rows_of(again)]
    other = asyncio.run(source(model, rendering).collect([CASE], 3))
    assert [row.completion_ids for row in rows] != [row.completion_ids for row in rows_of(other)]
