import pytest
from envace_sdk.training.config import ComputeConfig, Section, TrainConfig, load_config, presets, validate

from envace_sdk.errors import TrainingError


def written(tmp_path, text):
    path = tmp_path / "train.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", presets())
def test_every_preset_is_a_valid_configuration(name):
    assert isinstance(validate({"preset": name}, TrainConfig), TrainConfig)


def test_presets_come_smallest_machine_first():
    assert list(presets()) == ["cpu-small", "gpu-24gb", "gpu-80gb", "node-8x80gb"]


def test_a_file_changes_what_it_names_of_its_preset(tmp_path):
    path = written(tmp_path, "preset: gpu-24gb\nsteps: 7\ncompute: {gradient_checkpointing: false}\n")
    config = load_config(path, TrainConfig)
    assert (config.steps, config.compute.gradient_checkpointing) == (7, False)
    assert (
        config.compute.tokens_per_micro_batch
        == validate({"preset": "gpu-24gb"}, TrainConfig).compute.tokens_per_micro_batch
    )


def test_an_empty_file_is_the_defaults(tmp_path):
    assert load_config(written(tmp_path, ""), TrainConfig) == TrainConfig()


def test_every_setting_is_described():
    sections = [TrainConfig]
    for section in sections:
        for name, item in section.model_fields.items():
            nested = isinstance(item.annotation, type) and issubclass(item.annotation, Section)
            assert nested or item.description, f"{section.__name__}.{name}"
            if nested:
                sections.append(item.annotation)
    assert ComputeConfig in sections


def test_commands_add_sections_of_their_own():
    class Rollouts(Section):
        samples: int = 4
        """Trajectories per task."""

    class Run(TrainConfig):
        rollout: Rollouts = Rollouts()

    assert validate({"rollout": {"samples": 2}}, Run).rollout.samples == 2
    with pytest.raises(TrainingError, match=r"rollout\.sample: there is no such setting; did you mean samples"):
        validate({"rollout": {"sample": 2}}, Run)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stpes: 3", "stpes: there is no such setting; did you mean steps?"),
        ("loss: {clip_lo: 0.1}", "loss.clip_lo: there is no such setting; did you mean clip_low?"),
        ("steps: many", r"steps: .*\(it is 'many'\)"),
        ("optimizer: {learning_rate: 0}", "optimizer.learning_rate: .*greater than 0"),
        ("optimizer: {learning_rate: .nan}", "optimizer.learning_rate: .*finite"),
        ("optimizer: {role_weights: {act: 0}}", "role_weights.act is 0"),
        ("optimizer: {role_learning_rates: {act: 1.0e-5}}", "need `parameters.separate: true`"),
        ("optimizer: {warmup_steps: 100}", "warmup_steps is 100 of 100 steps"),
        ("optimizer: {betas: [0.9, 1.0]}", "betas are"),
        ("parameters: {method: full, separate: true}", "separate parameters need `method: lora`"),
        ("parameters: {frozen: [act, rehearse]}", "both roles are frozen"),
        ("preset: laptop", "preset: there is no 'laptop'; there are cpu-small"),
        ("preset: [cpu-small]", "preset: there is no"),
        ("- steps", "must be a mapping of settings"),
        ("1: 2", "must be a mapping of settings"),
        ("steps: [", "is no YAML"),
        ("steps: !!python/object/apply:os.system [ls]", "is no YAML"),
    ],
)
def test_an_error_names_the_file_and_the_setting(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(TrainingError, match=message) as caught:
        load_config(path, TrainConfig)
    assert str(path) in str(caught.value) or "preset" in str(caught.value)


def test_every_wrong_setting_is_told_at_once(tmp_path):
    with pytest.raises(TrainingError) as caught:
        load_config(written(tmp_path, "steps: 0\nloss: {kl: -1}\n"), TrainConfig)
    assert len(str(caught.value).splitlines()) == 2


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(TrainingError, match=r"none\.yaml: cannot be read"):
        load_config(tmp_path / "none.yaml", TrainConfig)
