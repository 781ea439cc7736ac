"""A random Llama that is small enough for plumbing tests, and rows for it."""

from random import Random

import torch
from envace_sdk.training.config import TrainConfig, validate
from envace_sdk.training.rows import ROLES, Row
from transformers import LlamaConfig, LlamaForCausalLM

VOCABULARY = 64

torch.set_num_threads(1)  # more only wait for each other on tensors this small


def tiny_llama(seed=0, **changes):
    torch.manual_seed(seed)
    settings = {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "tie_word_embeddings": True,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 0,
        "initializer_range": 0.2,
    }
    return LlamaForCausalLM(LlamaConfig(**settings | changes)).eval()


def config(**changes):
    values = {
        "steps": 20,
        "trackers": [],
        "optimizer": {"learning_rate": 1e-2},
        "parameters": {"method": "full"},
        "compute": {"device": "cpu", "precision": "f32", "tokens_per_micro_batch": 64},
    }
    for name, value in changes.items():
        values[name] = values.get(name, {}) | value if isinstance(value, dict) else value
    return validate(values, TrainConfig)


def some_rows(count=9, seed=1, **changes):
    """Rows of both roles, of several tasks and lengths, with rewards and advantages that differ."""
    random = Random(seed)
    return [
        Row(
            task=f"task {number % 3}",
            sample=number // 3,
            role=ROLES[number % 2],
            prompt_ids=_ids(random, 3, 9),
            completion_ids=_ids(random, 2, 9),
            reward=random.random(),
            advantage=random.uniform(-1, 1),
            turn=number,
            **changes,
        )
        for number in range(count)
    ]


def growing_rows(turns=4, samples=3, seed=2, gap=2):
    """Rows of trajectories in which each prompt extends the turn before by `gap` tokens of context."""
    random = Random(seed)
    rows = []
    for sample in range(samples):
        context = _ids(random, 5, 8)
        for turn in range(turns):
            completion = _ids(random, 2, 6)
            role = ROLES[turn % 2]
            rows.append(
                Row("task", sample, role, context, completion, turn=turn, advantage=random.uniform(-1, 1), reward=0.0)
            )
            context = context + completion + _ids(random, gap, gap)
    return rows


def plainly(model, row, temperature=1.0):
    """Log-probabilities and entropies of a row's completion, from the logits of everything."""
    ids = torch.tensor([row.prompt_ids + row.completion_ids])
    rows = (model(input_ids=ids).logits[0].float() / temperature).log_softmax(-1)
    start = len(row.prompt_ids)
    predicted = rows[start - 1 : start - 1 + len(row.completion_ids)]
    entropy = -(predicted.exp() * predicted).sum(-1)
    return predicted.gather(-1, ids[0, start:, None])[:, 0], entropy


def _ids(random, least, most):
    return tuple(random.randrange(3, VOCABULARY) for _ in range(random.randint(least, most)))
