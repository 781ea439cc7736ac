import math
from dataclasses import replace

import pytest
import torch
from envace_sdk.training.batches import collate, plan
from envace_sdk.training.logprobs import TokenLogProbs
from envace_sdk.training.segments import split, stream
from envace_sdk.training.trainer import Trainer
from hypothesis import given
from hypothesis import strategies as st
from tiny_policy import config, growing_rows, plainly, some_rows, tiny_llama
from transformers import Gemma2Config, Gemma2ForCausalLM, MistralConfig, MistralForCausalLM

from envace_sdk.errors import TrainingError
from envace_sdk.models.decoding import why_no_trees
from envace_sdk.models.trees import grow

SHORT = st.lists(st.integers(3, 5), min_size=1, max_size=6).map(tuple)


def group(samples=4, prompt=40):
    """Two turns of several trajectories that share a task, as a rollout has them; two of them say the same."""
    asked = tuple(3 + place % 50 for place in range(prompt))
    rows = []
    for row in some_rows(samples):
        sample = row.turn % (samples - 1)
        said = (7 + sample, 8, 9)
        advantage = row.advantage
        rows.append(replace(row, task="x", sample=row.turn, prompt_ids=asked, completion_ids=said, role="act"))
        later = asked + said + (11, 12 + sample)
        rows.append(replace(rows[-1], prompt_ids=later, turn=row.turn + 1, advantage=advantage / 2))
    return rows


def rows_like(pairs):
    return [
        replace(row, prompt_ids=prompt, completion_ids=completion)
        for row, (prompt, completion) in zip(some_rows(len(pairs)), pairs, strict=True)
    ]


@given(st.lists(st.tuples(SHORT, SHORT), min_size=1, max_size=12), st.integers(1, 30))
def test_every_sequence_is_a_path_of_one_tree(pairs, most):
    sequences = split(rows_like(pairs))
    trees = grow(sequences, most)
    assert sorted(id(sequence) for tree in trees for sequence in tree.sequences) == sorted(map(id, sequences))
    for tree in trees:
        assert len(tree) <= most or len(tree.branches) == 1
        for branch in tree.branches:
            assert tuple(tree.input_ids[place] for place in branch.path) == branch.sequence.input_ids
            assert [tree.positions[place] for place in branch.path] == list(range(len(branch.sequence)))


def test_what_is_common_stands_in_a_tree_once():
    (tree,) = grow(split(group()), 1000)
    # The prompt; three different acts; what follows each of them, with one answer to each.
    assert len(tree) == 40 + 3 * 3 + 3 * 2 + 3 * 3
    assert grow([], 10) == []


def test_sequences_with_little_in_common_are_trees_of_their_own():
    one, other = (replace(row, prompt_ids=(5, *row.prompt_ids)) for row in some_rows(2))
    assert len(grow(split([one, other]), 1000)) == 2


@pytest.mark.parametrize("render", [split, stream])
def test_log_probabilities_are_those_of_the_sequences_alone(render):
    model, rows = tiny_llama(), group() + growing_rows() + some_rows(3)
    batches = plan(render(rows), 120, share_prefixes=True)
    assert any(len(batch.trees) > 1 for batch in batches)
    scorer = TokenLogProbs(model)
    for micro_batch in batches:
        batch = collate(micro_batch, lambda _: 1.0, pad_id=0, device=torch.device("cpu"))
        found, _ = scorer(batch.input_ids, batch.attention_mask, batch.positions, batch.predicts, batch.targets)
        sequences = [sequence for tree in micro_batch.trees for sequence in tree.sequences]
        expected = [plainly(model, segment.row)[0] for sequence in sequences for segment in sequence.segments]
        torch.testing.assert_close(found, torch.cat(expected), atol=1e-5, rtol=0)


@pytest.mark.parametrize("changes", [{}, {"parameters": {"method": "lora"}}, {"compute": {"precision": "bf16"}}])
def test_an_update_is_that_of_the_sequences_alone_with_fewer_tokens(changes):
    def after(**compute):
        together = {"tokens_per_micro_batch": 200} | changes.get("compute", {}) | compute
        made = Trainer(tiny_llama(), config(**changes | {"compute": together}))
        return made.step(group(samples=6)), made.policy.weights()

    apart, expected = after()
    shared, found = after(share_prefixes=True)
    tolerance = 2e-2 if changes.get("compute") else 1e-5
    assert shared.grad_norm == pytest.approx(apart.grad_norm, rel=tolerance)
    assert shared.loss == pytest.approx(apart.loss, rel=tolerance)
    assert shared.computed_tokens < apart.computed_tokens / 4
    assert math.isfinite(shared.grad_norm)
    assert found.keys() == expected.keys()


def test_gradients_by_parameter_are_those_of_the_sequences_alone():
    def gradients(share_prefixes):
        model = tiny_llama()
        scorer = TokenLogProbs(model)
        for micro_batch in plan(split(group()), 150, share_prefixes=share_prefixes):
            batch = collate(micro_batch, lambda _: 1.0, pad_id=0, device=torch.device("cpu"))
            found, _ = scorer(batch.input_ids, batch.attention_mask, batch.positions, batch.predicts, batch.targets)
            torch.autograd.backward((found * batch.advantages).sum())
        return {name: parameter.grad for name, parameter in model.named_parameters()}

    apart, together = gradients(share_prefixes=False), gradients(share_prefixes=True)
    for name, gradient in apart.items():
        torch.testing.assert_close(together[name], gradient, atol=1e-5, rtol=1e-4)


def test_models_whose_layers_look_back_only_so_far_are_refused():
    sizes = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "pad_token_id": 0}
    gemma = Gemma2ForCausalLM(Gemma2Config(**sizes, **heads))
    assert "layers of sliding_attention" in why_no_trees(gemma)
    with pytest.raises(TrainingError, match=r"share_prefixes: .* layers of sliding_attention; set it to false"):
        Trainer(gemma, config(compute={"share_prefixes": True}))
    assert "sliding" in why_no_trees(MistralForCausalLM(MistralConfig(**sizes, **heads, sliding_window=8)))


def test_a_model_that_does_not_heed_the_mask_is_found_out():
    class Heedless(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = tiny_llama()
            self.config = self.inner.config

        def forward(self, input_ids, attention_mask=None, position_ids=None, use_cache=False):
            return self.inner(input_ids=input_ids, position_ids=position_ids, use_cache=use_cache)

    assert why_no_trees(Heedless()) == "it computes a tree otherwise"
    assert not why_no_trees(tiny_llama())
