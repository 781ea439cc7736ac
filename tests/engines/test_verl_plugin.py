"""The plugin within verl itself: its configuration, data set, workers on Ray, queue, trainer and loss; not its GPUs."""

import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import lamp_world
import pytest
import torch
import verl_policy
from envace_sdk.training.advantages import rolewise
from envace_sdk.training.engines.verl import prepare
from envace_sdk.training.engines.verl.launch import launch, launch_command
from envace_sdk.training.loss import Aggregation, Surrogate, surrogate
from envace_sdk.training.rows import Row

from envace_sdk.errors import TrainingError

# verl and its libraries warn of missing accelerators, and of each other.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import verl  # noqa: F401

    LOADED = "envace_sdk.training.engines.verl.plugin" in sys.modules

    import ray
    import transfer_queue as tq
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf
    from verl.experimental.agent_loop.agent_loop import _agent_loop_registry
    from verl.protocol import DataProto
    from verl.trainer.ppo.core_algos import agg_loss, compute_policy_loss_vanilla
    from verl.trainer.ppo.v1 import AgentLoopManagerTQ, PPOTrainerSync, get_trainer_cls
    from verl.utils.config import omega_conf_to_dataclass, validate_config
    from verl.workers.rollout.replica import TokenOutput

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

RANKS = 3
SUPPORT = str(Path(verl_policy.__file__).parent)


def composed(job):
    """The configuration as verl's own entry point would see it."""
    with initialize_config_dir(config_dir=str(prepare(job)), version_base=None):
        config = compose("envace")
    OmegaConf.resolve(config)
    return config


class Ranks:
    """Stands where GPUs would: knows how the batch would be shared, and remembers what it was to learn from."""

    _dispatch_info = {"actor": list(range(RANKS))}  # noqa: RUF012

    def update_actor(self, batch):
        self.batch = batch
        return {"metrics": {"mfu": [0.0], "grad_norm": [0.0]}}


@pytest.fixture(scope="module")
def cluster():
    """Ray on this machine, of more processors than there are: what runs there mostly waits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_raylet_start_wait_time_s", "240")  # a busy machine takes its time
        ray.init(
            num_cpus=8,
            include_dashboard=False,
            log_to_driver=False,
            runtime_env={"env_vars": {"PYTHONPATH": SUPPORT, "OMP_NUM_THREADS": "1", "TRANSFER_QUEUE_ENABLE": "1"}},
        )
    yield
    tq.close()
    ray.shutdown()


@pytest.fixture(scope="module", params=["split", "stream"])
def trained(request, cluster, tmp_path_factory):
    """A step of verl's trainer up to the update: four attempts at each of two tasks, of which half succeed."""
    job = lamp_world.job(
        tmp_path_factory.mktemp(request.param),
        rendering=request.param,
        verl={
            "trainer": {"n_gpus_per_node": 1, "device": "cpu"},
            "actor_rollout_ref": {"rollout": {"agent": {"num_workers": 1}}},
            "transfer_queue": {"backend": {"SimpleStorage": {"num_data_storage_units": 1}}},
        },
    )
    config = composed(job)
    validate_config(config, use_reference_policy=False, use_critic=False)
    config.transfer_queue.enable = True
    tq.init(config.transfer_queue)
    found = _step(job, config)
    yield found
    tq.kv_clear(keys=found.batch.keys, partition_id="train")


def _step(job, config):
    trainer = get_trainer_cls(config.trainer.v1.trainer_mode)(config)
    trainer._init_tokenizer()
    trainer._init_dataloader()
    trainer.global_steps = 1
    trainer.actor_rollout_wg = Ranks()
    trainer.resource_pool_manager = SimpleNamespace(get_n_gpus=lambda: 1)
    trainer.reward_loop_manager = SimpleNamespace(reward_loop_worker_handles=[])
    player = verl_policy.Player([case.task for cases in job.material.cases.values() for case in cases])
    server = verl_policy.Server(job.place, player, output=TokenOutput, version=0)
    trainer.agent_loop_manager = AgentLoopManagerTQ.create(
        config=config, llm_client=server, teacher_client=None, reward_loop_worker_handles=[]
    )
    metrics = {}
    trainer.prepare_step()
    sampled, _ = trainer.replay_buffer.sample(global_steps=1, partition_id="train", batch_size=2)
    batch = trainer._balance_batch(sampled, metrics)
    rolled = tq.kv_batch_get(keys=batch.keys, partition_id="train", select_fields=["rollout_log_probs"])
    # What the actor would compute: here it agrees with the server.
    rolled["old_log_probs"] = rolled["rollout_log_probs"].clone()
    tq.kv_batch_put(keys=batch.keys, partition_id="train", fields=rolled.select("old_log_probs"))
    batch = trainer._compute_advantage(batch, metrics)
    fields = [
        "prompts",
        "responses",
        "response_mask",
        "rollout_log_probs",
        "old_log_probs",
        "advantages",
        "extra_fields",
    ]
    data = tq.kv_batch_get(keys=batch.keys, partition_id="train", select_fields=fields)
    return SimpleNamespace(
        job=job,
        config=config,
        trainer=trainer,
        sampled=sampled,
        batch=batch,
        abouts=[extra["envace"] for extra in data.pop("extra_fields").tolist()],
        data=data,
        metrics=metrics,
    )


def rows_in(trained):
    """The rows that lie in verl's queue, with where they lie; padding left out."""
    found = []
    for place, (about, tag) in enumerate(zip(trained.abouts, trained.batch.tags, strict=True)):
        if tag.get("is_padding"):
            continue
        prompt = trained.data["prompts"][place].tolist()
        response = trained.data["responses"][place].tolist()
        logprobs = trained.data["rollout_log_probs"][place].tolist()
        for one in about["segments"]:
            where = slice(one["start"], one["stop"])
            row = Row(
                about["group"],
                about["sample"],
                one["role"],
                tuple(prompt + response[: where.start]),
                tuple(response[where]),
                logprobs=tuple(logprobs[where]),
                reward=one["reward"],
            )
            found.append((place, where, row))
    return found


def test_import_verl_is_enough_to_know_the_agent_loop_and_the_trainer():
    assert LOADED
    assert _agent_loop_registry["envace"]["_target_"].endswith("EnvaceLoop")
    assert issubclass(get_trainer_cls("envace"), PPOTrainerSync)


def test_a_trajectory_gives_a_row_for_each_turn_of_each_role(trained):
    rows = [row for _, _, row in rows_in(trained)]
    assert {row.role for row in rows} == {"act", "rehearse"}
    tokenizer = trained.trainer.tokenizer
    said = {tokenizer.decode(row.completion_ids) for row in rows if row.role == "act"}
    assert any(text.startswith("<tool_call>") for text in said)
    groups = {row.task for row in rows}
    assert len(groups) == 2
    for group in groups:
        assert {row.sample for row in rows if row.task == group} == {0, 1, 2, 3}
    split = trained.job.config.rendering == "split"
    real = sum(not tag.get("is_padding") for tag in trained.batch.tags)
    assert (real == len(rows)) == split


def test_trained_are_the_tokens_that_the_policy_wrote_and_no_others(trained):
    for place, tag in enumerate(trained.batch.tags):
        written = torch.zeros_like(trained.data["response_mask"][place])
        for where, row in [(where, row) for at, where, row in rows_in(trained) if at == place]:
            written[where] = 1
            assert all(logprob == -0.5 for logprob in row.logprobs)
        assert trained.data["response_mask"][place].tolist() == written.tolist(), tag


def test_advantages_are_those_of_our_own_trainer(trained):
    places = rows_in(trained)
    judged, report = rolewise([row for _, _, row in places], **trained.job.config.advantages.model_dump())
    assert any(row.advantage for row in judged if row.role == "act")
    assert len({row.reward for row in judged}) > 1
    for (place, where, _), row in zip(places, judged, strict=True):
        found = trained.data["advantages"][place][where]
        assert torch.allclose(found, torch.full_like(found, row.advantage), atol=1e-6, rtol=0)
    assert trained.metrics["envace/learning_share"] == report.learning_share


def test_padding_fills_the_ranks_and_weighs_nothing(trained):
    padding = [place for place, tag in enumerate(trained.batch.tags) if tag.get("is_padding")]
    assert padding
    assert len(trained.batch) % RANKS == 0
    assert len(trained.batch) % trained.config.actor_rollout_ref.rollout.n == 0
    assert len(trained.batch) - len(padding) == len(trained.sampled)
    for place in padding:
        assert not trained.data["response_mask"][place].any()
        assert not trained.data["advantages"][place].any()


def test_verls_loss_is_ours_on_the_same_rows(trained):
    data = DataProto(batch=trained.data.select("response_mask", "old_log_probs", "advantages").to_padded_tensor()).batch
    mask = data["response_mask"].bool()
    moved = data["old_log_probs"] + torch.linspace(-0.4, 0.4, mask.shape[1])
    actor = omega_conf_to_dataclass(trained.config.actor_rollout_ref.actor)
    actor.global_batch_info.update(dp_size=1, batch_num_tokens=mask.sum(), global_batch_size=len(mask))
    theirs, _ = compute_policy_loss_vanilla(
        data["old_log_probs"], moved, data["advantages"], mask, loss_agg_mode=actor.loss_agg_mode, config=actor
    )
    places = rows_in(trained)
    judged, _ = rolewise([row for _, _, row in places])
    shares = Aggregation.over(judged, "token")
    parts = [
        (moved[place][where], data["old_log_probs"][place][where], row, shares.share(row))
        for (place, where, _), row in zip(places, judged, strict=True)
    ]
    sizes = [len(row.completion_ids) for _, _, row, _ in parts]
    ours, _ = surrogate(
        torch.cat([part[0] for part in parts]),
        torch.cat([part[1] for part in parts]),
        torch.tensor([part[2].advantage for part in parts]).repeat_interleave(torch.tensor(sizes)),
        torch.tensor([part[3] for part in parts]).repeat_interleave(torch.tensor(sizes)),
        Surrogate(),
    )
    assert abs(float(ours)) > 1e-4
    assert float(theirs) == pytest.approx(float(ours), abs=1e-6)


def test_padding_does_not_change_verls_mean_over_tokens():
    losses, mask = torch.tensor([[1.0, 2.0], [3.0, 0.0]]), torch.tensor([[1, 1], [1, 0]])
    padded = torch.cat([losses, torch.full((2, 2), 9.0)]), torch.cat([mask, torch.zeros(2, 2)])
    alone = agg_loss(losses, mask, "token-mean")
    assert agg_loss(*padded, "token-mean", batch_num_tokens=padded[1].sum(), global_batch_size=4) == alone == 2


def test_all_rows_of_a_batch_go_into_one_optimizer_step(trained):
    before = trained.config.actor_rollout_ref.actor.ppo_mini_batch_size
    trained.trainer._update_actor(trained.batch, {})
    assert trained.trainer.actor_rollout_wg.batch.extra_info["mini_batch_size"] == len(trained.batch)
    assert trained.config.actor_rollout_ref.actor.ppo_mini_batch_size == before


def test_verl_can_measure_what_the_loop_gives_it(trained):
    metrics = {}
    trained.trainer._compute_metrics(trained.batch, metrics, {"step": 1.0, "gen": 1.0}, global_steps=1, epoch=0)
    assert metrics["training/off_policy/trajectory_staleness/max"] == 0
    assert 0 < metrics["critic/score/mean"] < 1


def test_validation_is_played_on_the_environments_ladder(trained):
    found = trained.trainer._validate()
    assert 0 < found["val-core/lamps/acc/mean@1"] < 1


def test_the_command_is_one_that_verl_understands(trained):
    printed = subprocess.run(
        [*launch_command(trained.job.directory), "--cfg", "job"], capture_output=True, text=True, check=True
    )
    assert "trainer_mode: envace" in printed.stdout


def test_a_run_that_verl_ends_with_an_error_is_an_error(tmp_path):
    job = lamp_world.job(tmp_path)
    (prepare(job) / "envace.yaml").write_text("defaults: [ppo_trainer, no_such_part]\n")
    with pytest.raises(TrainingError, match="exit code 1"):
        launch(job.directory, print)


def test_verl_runs_as_its_own_synchronous_mode(trained):
    assert trained.config.trainer.v1.trainer_mode == "sync"
