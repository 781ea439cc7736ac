import math
from dataclasses import replace

import pytest
import torch
from envace_sdk.training import checkpoint
from envace_sdk.training.advantages import rolewise
from envace_sdk.training.optimizer import rate_factor
from envace_sdk.training.segments import stream
from envace_sdk.training.trainer import Trainer
from tiny_policy import config, growing_rows, some_rows, tiny_llama
from transformers import AutoModelForCausalLM

from envace_sdk.errors import MemoryLimitError, RowError, TrainingError

KINDS = {
    "full": {},
    "stream": {"rendering": "stream"},
    "adapter": {"parameters": {"method": "lora", "dropout": 0.1}},
    "adapters": {"parameters": {"method": "lora", "separate": True, "frozen": ["act"]}},
    "everything": {
        "loss": {"kl": 0.1, "aggregation": "row"},
        "optimizer": {"epochs": 2, "schedule": "cosine", "warmup_steps": 2, "weight_decay": 0.1},
        "compute": {"gradient_checkpointing": True},
    },
}


def trainer(seed=0, **changes):
    return Trainer(tiny_llama(seed), config(**changes))


def curve(metrics):
    """All numbers that a seed determines."""
    return {name: value for name, value in metrics.as_flat().items() if not name.startswith("time/")}


def weights(of):
    return of.policy.weights()


def update(rows, **changes):
    """The weights after one step of plain descent, as a vector: the gradient, in effect."""
    made = trainer(**changes)
    before = weights(made)
    norm = made.step(rows).grad_norm
    after = weights(made)
    return norm, torch.cat([(after[name] - before[name]).flatten() for name in before])


def test_split_and_stream_make_equal_updates_where_contexts_are_equal():
    rows = growing_rows()
    changes = {"optimizer": {"learning_rate": 1e-4}, "compute": {"tokens_per_micro_batch": 10_000}}
    split_norm, split_update = update(rows, rendering="split", **changes)
    stream_norm, stream_update = update(rows, rendering="stream", **changes)
    assert stream_norm == pytest.approx(split_norm, rel=1e-5)
    torch.testing.assert_close(stream_update, split_update, atol=2e-6, rtol=0)
    assert len(stream(rows)) < len(rows)


def test_split_and_stream_have_equal_gradients_by_parameter(monkeypatch):
    def gradients(rendering):
        made, found = trainer(rendering=rendering), {}

        def seen():
            found.update({name: parameter.grad.clone() for name, parameter in made.policy.trained.items()})
            return 1.0

        monkeypatch.setattr(made._optimizer, "apply", seen)
        made.step(growing_rows())
        return found

    apart, together = gradients("split"), gradients("stream")
    for name, gradient in apart.items():
        torch.testing.assert_close(together[name], gradient, atol=1e-6, rtol=1e-5)


def test_a_stream_computes_fewer_tokens():
    rows = growing_rows(turns=6)
    budget = {"tokens_per_micro_batch": 1}
    apart, together = (trainer(rendering=kind, compute=budget).step(rows) for kind in ("split", "stream"))
    assert together.computed_tokens < apart.computed_tokens / 2
    assert together.tokens == apart.tokens


@pytest.mark.parametrize("budget", [1, 40, 10_000])
@pytest.mark.parametrize("aggregation", ["token", "row"])
def test_the_size_of_micro_batches_changes_nothing(budget, aggregation):
    changes = {"optimizer": {"learning_rate": 1e-4}, "loss": {"aggregation": aggregation}}
    norm, _ = update(some_rows(), compute={"tokens_per_micro_batch": budget}, **changes)
    expected, _ = update(some_rows(), compute={"tokens_per_micro_batch": 64}, **changes)
    assert norm == pytest.approx(expected, rel=1e-5)


def test_checkpointing_activations_changes_nothing():
    norm, _ = update(some_rows(), compute={"gradient_checkpointing": True})
    expected, _ = update(some_rows())
    assert norm == pytest.approx(expected, rel=1e-5)


def test_rows_without_advantage_are_not_computed_but_stay_in_the_mean():
    rows = some_rows()
    idle = [replace(row, task="idle", advantage=0.0) for row in some_rows(seed=8)]
    alone, among = trainer().step(rows), trainer().step(rows + idle)
    assert among.computed_tokens == alone.computed_tokens
    assert (among.rows, among.computed_rows) == (18, 9)
    tokens = sum(len(row.completion_ids) for row in rows)
    assert among.grad_norm == pytest.approx(alone.grad_norm * tokens / among.tokens, rel=1e-5)


def test_padding_is_as_if_it_were_not_there():
    padding = [replace(row, weight=0.0) for row in some_rows(seed=8)]
    assert curve(trainer().step(some_rows() + padding)) == curve(trainer().step(some_rows()))


def test_completions_that_were_cut_off_are_not_trained_unless_asked():
    rows = some_rows()
    cut = [replace(rows[0], truncated=True), *rows[1:]]
    masked, kept = trainer().step(cut), trainer(loss={"mask_truncated": False}).step(cut)
    assert (masked.truncated_rows, masked.rows, kept.rows) == (1, 8, 9)
    assert masked.grad_norm == pytest.approx(trainer().step(rows[1:]).grad_norm)
    assert kept.grad_norm == pytest.approx(trainer().step(rows).grad_norm)


def test_nothing_to_learn_from_moves_nothing():
    made = trainer()
    made.step(some_rows())
    before = weights(made)
    metrics = made.step([replace(row, advantage=0.0) for row in some_rows()])
    assert (metrics.updated, metrics.grad_norm, metrics.step, made.steps_done) == (False, 0.0, 2, 2)
    assert all(torch.equal(before[name], tensor) for name, tensor in weights(made).items())
    assert not made.step([]).updated


def test_a_frozen_role_is_rolled_out_but_not_trained():
    made = trainer(parameters={"frozen": ["rehearse"]})
    metrics = made.step(some_rows())
    assert set(metrics.roles) == {"act"}
    assert metrics.rows == 5


def test_separate_adapters_learn_from_their_own_rows_only():
    made = trainer(parameters={"method": "lora", "separate": True})
    before = weights(made)
    made.step([row for row in some_rows() if row.role == "act"])
    moved = {name for name, tensor in weights(made).items() if not torch.equal(before[name], tensor)}
    assert moved
    assert all(".act." in name for name in moved)
    ids = torch.tensor([[3, 4, 5, 6]])
    with torch.no_grad():
        with made.acting_as("rehearse") as model:
            rehearsed = model(input_ids=ids).logits
        with made.acting_as("act") as model:
            acted = model(input_ids=ids).logits
    torch.testing.assert_close(rehearsed, tiny_llama()(input_ids=ids).logits)
    assert not torch.allclose(acted, rehearsed)


def test_roles_with_adapters_have_learning_rates_of_their_own():
    made = trainer(
        parameters={"method": "lora", "separate": True},
        optimizer={"role_learning_rates": {"act": 1e-2, "rehearse": 1e-5}},
    )
    before = weights(made)
    made.step(some_rows())
    moved = {name: float((tensor - before[name]).abs().max()) for name, tensor in weights(made).items()}
    assert max(value for name, value in moved.items() if ".rehearse." in name) <= 1.1e-5
    assert max(value for name, value in moved.items() if ".act." in name) == pytest.approx(1e-2, rel=0.01)


def test_a_roles_weight_scales_what_it_teaches():
    act = [replace(row, advantage=0.0) if row.role == "rehearse" else row for row in some_rows()]
    half = trainer(optimizer={"role_weights": {"act": 0.5}}).step(act)
    assert half.grad_norm == pytest.approx(trainer().step(act).grad_norm / 2, rel=1e-5)


def test_the_mismatch_of_sampler_and_trainer_is_told():
    made = trainer()
    rows = [replace(row, logprobs=(-4.0,) * len(row.completion_ids)) for row in some_rows()]
    metrics = made.step(rows)
    assert metrics.mismatch.tokens == metrics.tokens
    assert metrics.mismatch.mean_absolute > 0
    assert 0 < metrics.mismatch.capped < 1
    assert trainer().step(some_rows()).mismatch is None


def test_log_probabilities_that_agree_with_the_trainer_change_nothing():
    model, rows = tiny_llama(), some_rows()
    exact = [replace(row, logprobs=tuple(_logprobs(model, row))) for row in rows]
    ours, plain = trainer().step(exact), trainer().step(rows)
    assert ours.mismatch.mean_absolute == pytest.approx(0, abs=1e-5)
    assert ours.grad_norm == pytest.approx(plain.grad_norm, rel=1e-4)


def test_later_epochs_are_held_back_by_the_clip():
    metrics = trainer(optimizer={"epochs": 4}).step(some_rows())
    assert metrics.roles["act"].clipped > 0


def test_staleness_is_how_many_updates_ago_rows_were_sampled():
    made = trainer()
    made.step(some_rows())
    made.step(some_rows())
    assert made.step(some_rows()).staleness == 2.0


@pytest.mark.parametrize("separate", [False, True])
def test_a_policy_is_held_to_the_adapters_that_it_began_with(tmp_path, separate):
    parameters = {"method": "lora", "separate": separate}
    warm = trainer(parameters=parameters)
    warm.imitate(some_rows())
    warm.export(tmp_path)
    kl = {}
    for way in ("from the model", "from the warm-up"):
        begun = trainer(parameters=parameters, loss={"kl": 0.1})
        (begun.policy.load if way == "from the model" else begun.policy.begin_with)(tmp_path)
        kl[way] = [{role: found.kl for role, found in begun.step(some_rows()).roles.items()} for _ in range(2)]
    assert all(found > 1e-3 for found in kl["from the model"][0].values())
    assert kl["from the warm-up"][0] == pytest.approx(dict.fromkeys(("act", "rehearse"), 0.0), abs=1e-9)
    assert all(found > 1e-6 for found in kl["from the warm-up"][1].values())


def test_imitation_makes_completions_likelier_whatever_their_advantage():
    made = trainer()
    rows = [replace(row, advantage=0.0) for row in some_rows()]
    losses = [made.imitate(rows).loss for _ in range(15)]
    assert losses[-1] < losses[0] / 2


def test_bf16_computes_in_bf16_and_keeps_float32_masters():
    full = trainer(compute={"precision": "bf16"})
    full.step(some_rows())
    assert {tensor.dtype for tensor in weights(full).values()} == {torch.float32}
    adapted = trainer(compute={"precision": "bf16"}, parameters={"method": "lora"})
    adapted.step(some_rows())
    assert {tensor.dtype for tensor in weights(adapted).values()} == {torch.float32}
    assert adapted.policy.base.get_input_embeddings().weight.dtype is torch.bfloat16


def test_updates_too_small_for_bf16_are_not_rounded_away():
    changes = {"optimizer": {"learning_rate": 1e-6}, "compute": {"precision": "bf16"}}
    _, moved = update(some_rows(), **changes)
    assert float((moved != 0).float().mean()) > 0.9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("killed_after", [1, 3])
def test_a_run_goes_on_from_any_checkpoint_as_if_it_had_not_stopped(kind, killed_after, tmp_path):
    batches = [some_rows(seed=seed) for seed in range(5)]
    whole = trainer(**KINDS[kind])
    curves = []
    for step, rows in enumerate(batches, 1):
        curves.append(curve(whole.step(rows)))
        if step == killed_after:
            whole.save(checkpoint.folder_for(tmp_path, step), {"next": step})
    again = trainer(**KINDS[kind])
    torch.manual_seed(99)
    extra = again.resume(checkpoint.latest(tmp_path))
    assert extra == {"next": killed_after}
    assert [curve(again.step(rows)) for rows in batches[killed_after:]] == curves[killed_after:]
    for name, tensor in weights(whole).items():
        assert torch.equal(weights(again)[name], tensor)


def test_the_policy_of_a_full_checkpoint_loads_as_any_model(tmp_path):
    made = trainer()
    made.step(some_rows())
    made.export(tmp_path)
    ids = torch.tensor([[3, 4, 5]])
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path)
    torch.testing.assert_close(loaded(input_ids=ids).logits, made.model(input_ids=ids).logits)


@pytest.mark.parametrize("separate", [False, True])
def test_exported_adapters_load_with_peft(tmp_path, separate):
    from peft import PeftModel

    made = trainer(parameters={"method": "lora", "separate": separate})
    made.step(some_rows())
    made.export(tmp_path)
    ids = torch.tensor([[3, 4, 5]])
    folder = tmp_path / "act" if separate else tmp_path
    with pytest.warns(FutureWarning, match="is_gradient_checkpointing"):
        loaded = PeftModel.from_pretrained(tiny_llama(), folder)
    with made.acting_as("act") as model:
        torch.testing.assert_close(loaded(input_ids=ids).logits, model(input_ids=ids).logits)


def test_a_checkpoint_of_other_parameters_is_refused(tmp_path):
    folder = checkpoint.folder_for(tmp_path, 0)
    trainer(parameters={"method": "lora"}).save(folder)
    with pytest.raises(TrainingError, match=r"parameters\.method is 'lora' there and 'full' here"):
        trainer().resume(folder)


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    folder = checkpoint.folder_for(tmp_path, 0)
    trainer().save(folder)
    with pytest.raises(TrainingError, match="another model"):
        Trainer(tiny_llama(hidden_size=64), config()).resume(folder)
    with pytest.raises(TrainingError, match="is it of this model"):
        Trainer(tiny_llama(num_hidden_layers=3), config()).resume(folder)


def test_tokens_the_model_does_not_know_are_refused_by_row():
    with pytest.raises(RowError, match="row of task 'task 0', sample 0, turn 0: has a token id outside"):
        trainer().step([replace(some_rows()[0], completion_ids=(64,), logprobs=())])


def test_gradients_that_are_not_finite_move_nothing_and_stop_the_run():
    made = trainer()
    before = weights(made)
    with torch.no_grad():
        made.policy.base.model.norm.weight.fill_(math.nan)
    assert not made.step(some_rows()).updated
    assert not made.step(some_rows()).updated
    with pytest.raises(TrainingError, match="not finite for 3 steps"):
        made.step(some_rows())
    name = "model.embed_tokens.weight"
    assert torch.equal(weights(made)[name], before[name])


@pytest.mark.parametrize(
    ("changes", "advice"),
    [
        ({"compute": {"tokens_per_micro_batch": 1000}}, r"set compute.tokens_per_micro_batch to \d+ \(it is 1000\)"),
        ({"compute": {"tokens_per_micro_batch": 1}}, "set compute.gradient_checkpointing to true"),
        ({"compute": {"tokens_per_micro_batch": 1, "gradient_checkpointing": True}}, "set parameters.method to lora"),
    ],
)
def test_running_out_of_memory_names_the_setting_to_change(changes, advice, monkeypatch):
    made = trainer(**changes)

    def fail(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(made.policy.scorer, "forward", fail)
    with pytest.raises(MemoryLimitError, match=advice):
        made.step(some_rows())


@pytest.mark.parametrize(
    ("changes", "advice"),
    [({}, "parameters.method to lora"), ({"parameters": {"method": "lora"}}, "compute.precision to bf16")],
)
@pytest.mark.parametrize(
    ("place", "named"), [((torch.nn.Module, "to"), "the model's weights"), ((torch.optim.AdamW, "step"), "moments")]
)
def test_memory_that_no_micro_batch_takes_may_run_out_too(monkeypatch, changes, advice, place, named):
    def fail(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    model = tiny_llama()
    monkeypatch.setattr(*place, fail)
    with pytest.raises(MemoryLimitError, match=f"{named}: set {advice}"):
        Trainer(model, config(**changes)).step(some_rows())


def test_a_real_failure_to_allocate_is_told_apart_from_other_errors():
    made = trainer(compute={"tokens_per_micro_batch": 10**15})
    rows = [replace(row, prompt_ids=row.prompt_ids * 3) for row in some_rows()]

    def huge(*_):
        return torch.empty(2**60)

    made.policy.scorer.forward = huge
    with pytest.raises(MemoryLimitError, match="out of memory in a micro-batch of 9 x"):
        made.step(rows)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", [1 / 3, 2 / 3, 1, 1, 1]),
        ("linear", [1 / 3, 2 / 3, 1, 0.5, 0]),
        ("cosine", [1 / 3, 2 / 3, 1, 0.5, 0]),
    ],
)
def test_the_learning_rate_rises_and_decays(schedule, expected):
    settings = config(steps=10, optimizer={"schedule": schedule, "warmup_steps": 2})
    assert [rate_factor(step, settings) for step in (0, 1, 2, 6, 10)] == pytest.approx(expected)


def test_a_tiny_model_learns_which_answer_each_task_rewards():
    """Both roles of a two-turn trajectory: the right first token of each is rewarded at the end."""
    made = trainer(rendering="stream", steps=40, optimizer={"learning_rate": 3e-3})
    rewards = []
    for step in range(40):
        rows = _played(made.model, step)
        judged, _ = rolewise(rows)
        rewards.append(sum(row.reward for row in rows) / len(rows))
        made.step(judged)
    assert sum(rewards[:2]) / 2 < 0.5
    assert sum(rewards[-5:]) / 5 > 0.9


def _played(model, step, samples=16):
    """Rows of trajectories of one act and one rehearse turn, each of one token out of four."""
    from envace_sdk.training.rows import Row

    rows = []
    for task, (right_act, right_rehearse) in {"a": (10, 12), "b": (13, 11)}.items():
        prompt = (3, 4 if task == "a" else 5)
        acted = _sampled(model, [prompt] * samples)
        contexts = [(*prompt, token, 6) for token, _ in acted]
        rehearsed = _sampled(model, contexts)
        for sample, ((act, act_logprob), (answer, answer_logprob)) in enumerate(zip(acted, rehearsed, strict=True)):
            reward = (act == right_act) / 2 + (answer == right_rehearse) / 2
            shared = {"task": task, "sample": sample, "reward": reward, "policy_version": step}
            rows.append(Row(role="act", prompt_ids=prompt, completion_ids=(act,), logprobs=(act_logprob,), **shared))
            rows.append(
                Row(
                    role="rehearse",
                    prompt_ids=contexts[sample],
                    completion_ids=(answer,),
                    logprobs=(answer_logprob,),
                    turn=1,
                    **shared,
                )
            )
    return rows


@torch.no_grad()
def _sampled(model, contexts):
    """A token of four for each context, with its log-probability over the whole vocabulary."""
    logprobs = model(input_ids=torch.tensor(contexts)).logits[:, -1].log_softmax(-1)
    tokens = torch.multinomial(logprobs[:, 10:14].exp(), 1)[:, 0] + 10
    return [(int(token), float(row[token])) for token, row in zip(tokens, logprobs, strict=True)]


@torch.no_grad()
def _logprobs(model, row):
    ids = torch.tensor([row.prompt_ids + row.completion_ids])
    rows = model(input_ids=ids).logits[0].log_softmax(-1)
    start = len(row.prompt_ids)
    return [float(rows[start + place - 1, token]) for place, token in enumerate(row.completion_ids)]
