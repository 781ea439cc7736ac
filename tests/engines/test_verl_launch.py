"""What is written for verl, and how it is started."""

import importlib.util
import json
import sys

import lamp_world
import pytest
import yaml
from click.testing import CliRunner
from envace_sdk.training.engines.verl import prepare, verl_config
from envace_sdk.training.engines.verl.launch import launch, launch_command
from envace_sdk.training.run import run_config

from envace_sdk.cli.train_commands import train
from envace_sdk.errors import TrainingError

HAS_VERL = importlib.util.find_spec("verl") is not None


def config_of(tmp_path, **changes):
    return verl_config(lamp_world.settings(**changes), "model", tmp_path, tasks=12)


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    return lamp_world.job(tmp_path_factory.mktemp("launched"))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"gate": 0.5}, "gate"),
        ({"parameters": {"method": "lora", "separate": True}}, "parameters.separate"),
        ({"optimizer": {"role_weights": {"act": 2.0}}}, "optimizer.role_weights"),
        ({"optimizer": {"schedule": "linear"}}, "optimizer.schedule"),
        ({"loss": {"aggregation": "row"}}, "loss.aggregation"),
        ({"loss": {"temperature": 0.8}}, "loss.temperature"),
        ({"rollout": {"schedule": {"real_every": 5}}}, "rollout.schedule"),
        ({"tasks": {"per_step": 13}}, "tasks.per_step"),
    ],
)
def test_a_setting_that_verl_has_no_counterpart_for_is_an_error_that_names_it(tmp_path, changes, named):
    with pytest.raises(TrainingError, match=named):
        config_of(tmp_path, **changes)


def test_settings_reach_their_counterparts(tmp_path):
    found = config_of(
        tmp_path,
        loss={"clip_high": 0.3, "kl": 0.01, "importance_cap": 3.0},
        parameters={"method": "lora", "rank": 8},
        optimizer={"learning_rate": 2e-5, "warmup_steps": 2},
        steps=50,
    )
    actor, model = found["actor_rollout_ref"]["actor"], found["actor_rollout_ref"]["model"]
    assert (actor["clip_ratio_low"], actor["clip_ratio_high"]) == (0.2, 0.3)
    assert (actor["use_kl_loss"], actor["kl_loss_coef"]) == (True, 0.01)
    assert (actor["optim"]["lr"], actor["optim"]["lr_warmup_steps"]) == (2e-5, 2)
    assert (model["path"], model["lora_rank"]) == ("model", 8)
    assert found["algorithm"]["rollout_correction"] == {"rollout_is": "token", "rollout_is_threshold": 3.0}
    assert found["trainer"]["total_training_steps"] == 50
    assert found["trainer"]["total_epochs"] * (12 // 2) >= 50
    assert found["actor_rollout_ref"]["rollout"]["n"] == 4


def test_without_a_cap_nothing_is_corrected(tmp_path):
    assert config_of(tmp_path, loss={"importance_cap": None})["algorithm"]["rollout_correction"] == {"rollout_is": None}


def test_in_a_stream_a_response_holds_all_turns(tmp_path):
    split, stream = (config_of(tmp_path, rendering=one)["data"]["max_response_length"] for one in ("split", "stream"))
    assert (split, stream) == (40, 3 * 80)


def test_the_section_verl_goes_before_what_is_derived(tmp_path):
    found = config_of(tmp_path, verl={"trainer": {"nnodes": 4}, "actor_rollout_ref": {"rollout": {"name": "sglang"}}})
    assert found["trainer"]["nnodes"] == 4
    assert found["trainer"]["total_training_steps"] == 4
    assert found["actor_rollout_ref"]["rollout"]["name"] == "sglang"


def test_every_preset_can_be_trained_with_verl(tmp_path):
    for preset in ("cpu-small", "gpu-24gb", "gpu-80gb", "node-8x80gb"):
        found = verl_config(run_config({"preset": preset}), "model", tmp_path, tasks=100)
        assert found["trainer"]["v1"]["trainer_mode"] == "envace"


def test_a_run_is_put_down_for_verl(job):
    folder = prepare(job)
    written = yaml.safe_load((folder / "envace.yaml").read_text())
    assert written["envace"]["run"] == str(job.directory.resolve())
    tasks, measured = (
        [json.loads(line)["extra_info"] for line in (folder / f"{split}.jsonl").read_text().splitlines()]
        for split in ("train", "validation")
    )
    assert [one["case"] for one in tasks] == [case.name for case in job.material.cases["train"]]
    assert [one["index"] for one in tasks] == list(range(len(tasks)))
    assert {one["split"] for one in measured} == {"validation"}
    assert launch_command(job.directory)[:3] == [sys.executable, "-m", "verl.trainer.main_ppo"]


def test_a_run_that_was_not_begun_for_verl_is_not_launched(tmp_path):
    with pytest.raises(TrainingError, match="--engine verl"):
        launch(tmp_path, print)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Arguments of the command: a toolset, a model's tokenizer and a configuration."""
    place = tmp_path_factory.mktemp("given")
    config = lamp_world.settings()
    lamp_world.checkpoint(place / "model", lamp_world.material(place / "lamps"), config)
    (place / "model" / "model.safetensors").unlink()
    values = config.model_dump(mode="json", exclude_unset=True)
    values["tasks"] = {"per_step": 2, "prompt_tokens": 400, "make": {"count": 20, "mix": {"change": 1, "read": 1}}}
    (place / "train.yaml").write_text(yaml.safe_dump(values))
    return (
        "--engine", "verl", "--tools", place / "lamps", "--model", place / "model", "--config", place / "train.yaml",
    )  # fmt: skip


def invoke(*arguments):
    return CliRunner().invoke(train, [str(each) for each in arguments])


def test_a_dry_run_prints_the_command_and_the_configuration_and_writes_nothing(given, tmp_path):
    done = invoke(*given, "-o", tmp_path / "run", "--dry-run")
    assert done.exit_code == 0
    assert "-m verl.trainer.main_ppo --config-path" in done.output
    assert yaml.safe_load(done.output.partition("would be:\n")[2])["data"]["max_prompt_length"] == 400
    assert "No warm-up" in done.output
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(HAS_VERL, reason="says what is missing, where it is")
def test_without_verl_the_command_says_what_to_install_and_writes_nothing(given, tmp_path):
    done = invoke(*given, "-o", tmp_path / "run")
    assert isinstance(done.exception, TrainingError)
    assert "pip install" in str(done.exception)
    assert not (tmp_path / "run").exists()


def test_a_run_of_verls_is_gone_on_with_as_it_is(job, tmp_path):
    done = invoke("--engine", "verl", "--resume", "-o", job.directory, "--steps", 9)
    assert isinstance(done.exception, TrainingError)
    assert "envace.yaml" in str(done.exception)
    assert "main_ppo" in invoke("--engine", "verl", "--resume", "-o", job.directory, "--dry-run").output
