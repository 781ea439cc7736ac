import pytest
import torch
from envace_sdk.training.batches import MicroBatch, collate, plan, share_out
from envace_sdk.training.logprobs import TokenLogProbs, token_logprobs
from envace_sdk.training.segments import split, stream
from hypothesis import given
from hypothesis import strategies as st
from tiny_policy import VOCABULARY, growing_rows, plainly, some_rows, tiny_llama
from transformers import Gemma2Config, Gemma2ForCausalLM

from envace_sdk.models.trees import Tree

CPU = torch.device("cpu")


def collated(sequences):
    return collate(MicroBatch(tuple(map(Tree.of, sequences))), lambda _: 1.0, pad_id=0, device=CPU)


def scored(scorer, batch):
    return scorer(batch.input_ids, batch.attention_mask, batch.positions, batch.predicts, batch.targets)


@pytest.mark.parametrize("chunk", [2**26, 3 * VOCABULARY])
@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_log_probabilities_are_those_of_the_full_logits(chunk, temperature):
    model, rows = tiny_llama(), some_rows()
    scorer = TokenLogProbs(model, temperature, chunk)
    found, entropy = scored(scorer, collated(split(rows)))
    expected = [plainly(model, row, temperature) for row in rows]
    torch.testing.assert_close(found, torch.cat([each[0] for each in expected]), atol=1e-5, rtol=0)
    torch.testing.assert_close(entropy, torch.cat([each[1] for each in expected]), atol=1e-5, rtol=0)


def test_chunks_have_the_gradient_of_the_whole():
    def gradients(chunk):
        model = tiny_llama()
        scorer = TokenLogProbs(model, chunk_logits=chunk)
        scored(scorer, collated(split(some_rows())))[0].sum().backward()
        return {name: parameter.grad for name, parameter in model.named_parameters()}

    whole, chunked = gradients(2**26), gradients(VOCABULARY)
    for name, gradient in whole.items():
        torch.testing.assert_close(chunked[name], gradient, atol=1e-5, rtol=1e-4)


def test_only_trained_positions_are_projected():
    model, rows = tiny_llama(), some_rows()
    seen = []
    model.get_output_embeddings().register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].numel() // 32))
    scorer = TokenLogProbs(model)
    seen.clear()
    scored(scorer, collated(split(rows)))
    trained = sum(len(row.completion_ids) for row in rows)
    assert sum(seen) <= trained + 1


def test_a_model_that_caps_its_logits_is_scored_as_it_predicts():
    torch.manual_seed(0)
    settings = Gemma2Config(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        final_logit_softcapping=2.0,
        initializer_range=0.5,
        pad_token_id=0,
    )
    model = Gemma2ForCausalLM(settings).eval()
    rows = some_rows()
    found, _ = scored(TokenLogProbs(model), collated(split(rows)))
    torch.testing.assert_close(found, torch.cat([plainly(model, row)[0] for row in rows]), atol=1e-5, rtol=0)


def test_generation_is_left_alone():
    model = tiny_llama()
    before = model(input_ids=torch.tensor([[3, 4, 5]])).logits
    TokenLogProbs(model)
    torch.testing.assert_close(model(input_ids=torch.tensor([[3, 4, 5]])).logits, before)


def test_a_stream_scores_each_turn_as_its_row_alone():
    model, rows = tiny_llama(), growing_rows()
    scorer = TokenLogProbs(model)
    sequences = stream(rows)
    assert len(sequences) == 3
    found, _ = scored(scorer, collated(sequences))
    expected = [plainly(model, segment.row)[0] for sequence in sequences for segment in sequence.segments]
    torch.testing.assert_close(found, torch.cat(expected), atol=1e-5, rtol=0)


def test_logits_far_apart_give_finite_numbers():
    logits = torch.tensor([[1e4, -1e4, 0.0]], requires_grad=True)
    found, entropy = token_logprobs(logits, torch.tensor([1]))
    found.sum().backward()
    assert torch.isfinite(found).all()
    assert float(entropy) == pytest.approx(0.0, abs=1e-6)
    assert torch.isfinite(logits.grad).all()


def test_per_token_values_follow_their_rows():
    rows = some_rows(logprobs=())
    batch = collated(split(rows))
    assert batch.targets.tolist() == [token for row in rows for token in row.completion_ids]
    expected = [row.advantage for row in rows for _ in row.completion_ids]
    torch.testing.assert_close(batch.advantages, torch.tensor(expected))
    assert not batch.known.any()
    assert batch.predicts.shape == batch.targets.shape


@given(st.integers(1, 30), st.integers(1, 60), st.integers(1, 5))
def test_every_sequence_is_in_one_micro_batch_of_one_process(count, budget, processes):
    sequences = split(some_rows(count))
    batches = plan(sequences, budget)
    shares = share_out(batches, processes)
    found = [sequence for share in shares for batch in share for tree in batch.trees for sequence in tree.sequences]
    assert sorted(map(id, found)) == sorted(map(id, sequences))
    for batch in batches:
        assert batch.tokens <= budget or len(batch.trees) == 1
