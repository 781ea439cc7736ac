"""SmolLM2 under training, and how a vLLM server on a CPU serves it."""

import os

import torch
from envace_sdk.training.rollout_config import ServerConfig
from envace_sdk.training.run import run_config
from transformers import AutoModelForCausalLM, AutoTokenizer

# Nothing needs the hub: the model lies in a folder.
os.environ["HF_HUB_OFFLINE"] = "1"

SERVER = ServerConfig(
    arguments=("--enforce-eager", "--max-model-len=1024", "--max-num-seqs=16"),
    environment={"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1"},
)


def untied(place, folder):
    """A copy whose output layer is not its embedding: a vLLM server on a CPU would not notice when both change."""
    model = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32)
    model.config.tie_word_embeddings = False
    model.lm_head.weight = torch.nn.Parameter(model.get_input_embeddings().weight.detach().clone())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(place).save_pretrained(folder)
    return str(folder)


def settings(**changes):
    """Of a run on a CPU, in float32; with changes on top, section by section."""
    values = {
        "steps": 2,
        "trackers": [],
        "optimizer": {"learning_rate": 1e-4},
        "parameters": {"method": "full"},
        "compute": {"device": "cpu", "precision": "f32", "tokens_per_micro_batch": 1024},
        "tasks": {"per_step": 1},
        "rollout": {
            "group": 4,
            "max_turns": 2,
            "act": {"max_tokens": 24},
            "rehearse": {"max_tokens": 24},
            "style": "compact",
            "examples": 1,
            "recorded": 0,
            "entities": 1,
            "history": 0,
        },
        "warmup": {"steps": 0},
        "evaluation": {"every": 0, "tasks": 1, "episodes": 1},
    }
    for name, value in changes.items():
        values[name] = values.get(name, {}) | value if isinstance(value, dict) else value
    return run_config(values)
