"""One update of a tiny random model on rows made by hand: what a rollout and a reward give in a real run."""

from pathlib import Path
from tempfile import TemporaryDirectory

from envace_sdk.training import checkpoint
from envace_sdk.training.advantages import rolewise
from envace_sdk.training.config import TrainConfig, validate
from envace_sdk.training.rows import Row
from envace_sdk.training.trainer import Trainer
from transformers import LlamaConfig, LlamaForCausalLM

model = LlamaForCausalLM(
    LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
)
config = validate(
    {"preset": "cpu-small", "rendering": "stream", "optimizer": {"learning_rate": 1e-3}, "trackers": []}, TrainConfig
)
trainer = Trainer(model, config)

call, answer = (10, 11, 2), (20, 2)
rows = []
for sample, reward in enumerate([1.0, 0.0]):
    prompt = (1, 5, 6)
    act = (*call[:2], 12 + sample)
    rows.append(Row("a task", sample, "act", prompt, act, reward=reward, turn=0))
    rows.append(Row("a task", sample, "rehearse", (*prompt, *act, 7), answer, reward=reward, turn=1))

judged, groups = rolewise(rows, **config.advantages.model_dump())
for _ in range(5):
    metrics = trainer.step(judged)
    print(f"step {metrics.step}: gradient {metrics.grad_norm:.3f}, entropy of acts {metrics.roles['act'].entropy:.2f}")

with TemporaryDirectory() as folder:
    saved = checkpoint.folder_for(Path(folder), trainer.steps_done)
    trainer.save(saved, extra={"next task": 1})
    print(trainer.resume(saved))
