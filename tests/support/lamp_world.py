"""A synthetic world of lamps and switches with its tasks, and a model from scratch whose tokens are made for it."""

import asyncio
import json
import re
from random import Random

import torch
from envace_sdk.training.rewards import Rewarder
from envace_sdk.training.rollout import RolloutSource
from envace_sdk.training.run import Job, Material, run_config
from envace_sdk.training.tasks import TaskSet
from envace_sdk.training.warmup import witness_rows
from rollout_players import TOKENS, model_of
from tiny_llama import SPECIAL, TEMPLATE
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from envace_sdk.tasks import Task, WitnessCall
from envace_sdk.tools.model import ToolCall

torch.set_num_threads(1)  # more only wait for each other on tensors this small

VOCABULARY = 640
LAMPS = ("amber", "blue", "red")
VERBS = {"switch_on": "Switch on the {} lamp.", "switch_off": "Switch off the {} lamp.", "dim": "Dim the {} lamp."}
STATES = {"switch_on": "on", "switch_off": "off", "dim": "dim"}
DYNAMICS = """
collections:
  lamps: {key: lamp, noun: lamp}
tools:
""" + "".join(
    f"  {tool}: {{effect: update, collection: lamps, key: args.lamp, set: {{light: \"'{state}'\"}}}}\n"
    for tool, state in STATES.items()
)


def toolset(folder):
    """Three tools over three lamps, none of which is in the state that a tool leads to."""
    folder.mkdir(parents=True)
    argument = {"type": "object", "properties": {"lamp": {"type": "string"}}, "required": ["lamp"]}
    tools = [{"name": name, "inputSchema": argument} for name in VERBS]
    (folder / "tools.json").write_text(json.dumps({"tools": tools}))
    (folder / "dynamics.yaml").write_text(DYNAMICS)
    lamps = [{"lamp": lamp, "light": "unknown"} for lamp in LAMPS]
    (folder / "world.json").write_text(json.dumps({"collections": {"lamps": lamps}}))
    return folder


def tasks():
    """A task for each tool and lamp, in an order of their own."""
    made = [
        Task.model_validate(
            {
                "id": f"{tool}-{lamp}",
                "instruction": words.format(lamp),
                "template": tool,
                "checklist": [
                    _item("tool", f"size(calls) == 1 && calls[0].tool == '{tool}'"),
                    _item("lamp", f"size(calls) == 1 && calls[0].arguments.lamp == '{lamp}'"),
                ],
                "witness": [{"tool": tool, "arguments": {"lamp": lamp}}],
                "answer": "Done.",
            }
        )
        for tool, words in VERBS.items()
        for lamp in LAMPS
    ]
    Random(0).shuffle(made)
    return made


def careless():
    """Each task once with every call there is as its witness: who learns from them writes calls, and cannot know which.

    One demonstration in nine is right, as one call in nine drawn at random would be.
    """
    made = [
        task.model_copy(
            update={
                "id": f"{task.id}-by-{tool}-{lamp}",
                "template": task.id,
                "witness": [WitnessCall(tool=tool, arguments={"lamp": lamp})],
            }
        )
        for task in tasks()
        for tool in VERBS
        for lamp in LAMPS
    ]
    Random(0).shuffle(made)
    return made


def _item(name, that):
    return {"id": name, "says": f"The {name} is the one that was wanted, in the only call.", "that": that}


def material(folder, train=None):
    """Of all tasks: they are few, and learning them is what is tested; validation and test have the same ones."""
    splits = {"train": train or tasks(), "validation": tasks(), "test": tasks()}
    return Material.of([TaskSet("lamps", str(toolset(folder)), splits)])


def tokenizer(texts):
    """Everything that is always the same is one token, and so is each lamp and each tool: a turn takes few of them."""
    inner = Tokenizer(models.BPE())
    apart = "|".join(map(re.escape, (*SPECIAL, *LAMPS, *VERBS, "assistant\n")))
    inner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(apart), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator(texts, trainer)
    inner.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    made = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|im_end|>", pad_token="<|pad|>")
    made.chat_template = TEMPLATE
    return made


def checkpoint(folder, found, config, *, width=64, seed=0):
    """A random Llama with a tokenizer made for the conversations of these tasks; written to the folder."""
    silent = RolloutSource(model_of(lambda _: ""), config.rollout, Rewarder())
    rows = asyncio.run(witness_rows(found.cases["train"], silent, TOKENS))
    texts = [TOKENS.text(row.prompt_ids + row.completion_ids) for row in rows]
    tokenizer(texts).save_pretrained(folder)
    torch.manual_seed(seed)
    settings = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=1024,
        initializer_range=width**-0.5,  # with transformers' 0.02 a model this narrow hardly attends to anything
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=SPECIAL.index("<|im_end|>"),
        pad_token_id=0,
    )
    LlamaForCausalLM(settings).save_pretrained(folder)
    return folder


def settings(**changes):
    """Small and quick; with changes on top, section by section."""
    values = {
        "steps": 4,
        "trackers": [],
        "optimizer": {"learning_rate": 1e-3},
        "parameters": {"method": "full"},
        "compute": {"device": "cpu", "precision": "f32", "tokens_per_micro_batch": 8192},
        "checkpoints": {"every": 2, "keep": 2},
        "tasks": {"per_step": 2},
        "rollout": {
            "group": 4,
            "max_turns": 3,
            "act": {"max_tokens": 40},
            "rehearse": {"max_tokens": 40},
            "style": "compact",
            "recorded": 0,
            "entities": 1,
            "history": 0,
        },
        "warmup": {"steps": 4, "rows": 8, "learning_rate": 2e-3},
        "evaluation": {"every": 2, "tasks": 4, "episodes": 4},
    }
    for name, value in changes.items():
        values[name] = values.get(name, {}) | value if isinstance(value, dict) else value
    return run_config(values)


LEARNING = {
    "steps": 150,
    "optimizer": {"learning_rate": 3e-3, "schedule": "linear", "warmup_steps": 4},
    # Without it the policy settles on one call for every task before it has learned to read the task.
    "loss": {"kl": 0.02},
    "tasks": {"per_step": len(VERBS) * len(LAMPS)},
    "rollout": {"group": 8},
    "warmup": {"steps": 100, "rows": 24, "learning_rate": 4e-3},
    # The call is all that its task is judged by; what answers it must earn something of its own, or its form is lost.
    "rewards": {"rehearse_schema": 0.5, "rehearse_agreement": 0.5},
    "evaluation": {"every": 20, "tasks": 9, "samples": 4, "temperature": 1.0, "episodes": 9},
    "checkpoints": {"every": 50},
    "batch_size": 128,
}
"""Settings with which careless demonstrations give a policy of the right form and of chance success, and role-wise GRPO
makes it solve nearly all tasks, in about a minute of one core."""


def job(folder, train=None, **changes):
    """A run that has been begun, with everything it needs in the folder; on the tasks given, or on all."""
    config = settings(**changes)
    found = material(folder / "lamps", train)
    place = checkpoint(folder / "model", found, config)
    made = Job(folder / "run", str(place), config, found)
    made.begin(["lamps"])
    return made


def a_call():
    """A call that a rule answers."""
    return ToolCall("dim", {"lamp": "red"})
