"""The trainer: rows in, an update of the weights out.

It knows rows and a model, and nothing of tasks, rewards or where rows come from. One step:

1. Rows of all processes are gathered, so that every process sees the same step.
2. What counts makes the denominator; what has an advantage goes through the model: rendered to sequences, packed into
   micro-batches by a token budget, shared out among the processes.
3. Each micro-batch adds its share of the gradient; gradients are summed, clipped and applied once per epoch.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from envace_sdk.errors import RowError, TrainingError
from envace_sdk.json import Json

from . import checkpoint
from .batches import Batch, MicroBatch, collate, plan
from .config import TrainConfig
from .loss import Surrogate, TokenTerms, imitation, surrogate
from .memory import enough_for, is_out_of_memory, memory_limit, peak_memory, reset_peak_memory
from .metrics import StepMetrics
from .optimizer import Optimizer
from .policy import Policy, misfit
from .processes import Processes
from .rows import Role, Row
from .segments import render
from .tally import Tally
from .work import Work, work_for

__all__ = ["Trainer"]

_MOST_NOT_FINITE = 3
"""Updates in a row without a finite gradient before the run is stopped."""


class Trainer:
    """Updates a causal language model of transformers, in place, on rows.

    Under several processes each makes its own trainer and calls the same methods in the same order; each passes its
    own rows to `step`.
    """

    def __init__(self, model: nn.Module, config: TrainConfig, *, tokenizer: Any = None, pad_id: int = 0) -> None:
        """Prepare `model`; it stays usable for generation through `model`, between steps.

        Args:
            model: Loaded, of any precision. It is changed: adapters are put in, or all weights become float32.
            config: All settings.
            tokenizer: Saved beside the weights if given.
            pad_id: A token id to pad with; its value has no influence.

        Raises:
            TrainingError: the settings do not suit the model or the machine.
            MemoryLimitError: the device's memory does not hold the model.
        """
        self.config = config
        self.processes = Processes(config.compute.device)
        torch.manual_seed(config.seed)
        with enough_for("the model's weights", config):
            self.policy = Policy(model, config, self.processes)
        self._tokenizer, self._pad_id = tokenizer, pad_id
        self._optimizer = Optimizer(self.policy, config)
        self.steps_done = 0
        """Steps so far; also the version of the policy that the next rollouts are sampled from."""
        self._not_finite = 0
        torch.manual_seed(config.seed + self.processes.rank)

    @property
    def model(self) -> Any:
        """The module to generate with, in evaluation mode between steps. With sharding it cannot generate."""
        return self.policy.model

    @contextmanager
    def acting_as(self, role: Role) -> Iterator[Any]:
        """The model with the weights of a role, in the precision of training, to generate with."""
        with self.policy.using(self.policy.adapter(role)), self.policy.autocast():
            yield self.policy.model

    def step(self, rows: Sequence[Row]) -> StepMetrics:
        """One update on rows that have advantages (`rolewise`).

        Raises:
            RowError: rows that the model cannot be trained on.
            MemoryLimitError: the device's memory does not suffice; the message names the setting to change.
            TrainingError: gradients were not finite for several steps.
        """
        return self._update(rows, self._surrogate, by_advantage=True, epochs=self.config.optimizer.epochs)

    def imitate(self, rows: Sequence[Row]) -> StepMetrics:
        """One supervised update: make the completions likelier, whatever their advantage; raises as `step` does."""
        return self._update(rows, self._imitation, by_advantage=False, epochs=1)

    def score(self, rows: Sequence[Row]) -> list[list[float]]:
        """What the weights as they are think of completions.

        All processes take part, with the same rows. The rows' own log-probabilities are not looked at.

        Returns:
            By row, the natural log-probability of each completion token at the temperature of training.

        Raises:
            RowError: a row has tokens that the model does not know.
        """
        self._check(rows)
        found: list[list[float]] = []
        for row in rows:
            (micro_batch,) = plan(render([row], "split"), row.length, self.policy.adapter(row.role))
            batch = collate(micro_batch, lambda _: 0.0, pad_id=self._pad_id, device=self.processes.device)
            with torch.no_grad(), self.policy.using(micro_batch.adapter), self.policy.autocast():
                found.append(self.policy.scorer(*_inputs(batch))[0].tolist())
        return found

    def save(self, folder: Path, extra: Json = None) -> None:
        """Write all that the run needs to go on as if it had not stopped; all processes take part.

        Args:
            folder: The checkpoint (`checkpoint.folder_for`); replaced as a whole if it exists.
            extra: What the caller wants back from `resume`: where in the tasks it is, say.
        """
        weights, moments = self.policy.weights(), self._optimizer.state()
        states = self.processes.gather([checkpoint.random_states(self.processes.device)])
        if self.processes.is_main:
            with checkpoint.writing(folder) as partial:
                self._write_policy(partial / "policy", weights)
                checkpoint.write_tensors(partial / "optimizer.safetensors", moments)
                for rank, state in enumerate(states):
                    checkpoint.write_tensors(partial / f"random-{rank}.safetensors", state)
                values = {"step": self.steps_done, "config": self.config.model_dump(mode="json"), "extra": extra}
                checkpoint.write_state(partial, values)
        self.processes.wait()

    def resume(self, folder: Path) -> Json:
        """Go on from a checkpoint of the same model and `parameters`; returns its `extra`.

        Raises:
            TrainingError: it is damaged, or of another model or other parameters.
        """
        state = checkpoint.read_state(folder)
        if reason := misfit(self.config.parameters.model_dump(mode="json"), state["config"]["parameters"]):
            raise TrainingError(f"{folder}: {reason}")
        self.policy.load(folder / "policy")
        self._optimizer.load_state(checkpoint.read_tensors(folder / "optimizer.safetensors"))
        self.steps_done = int(state["step"])
        path = folder / f"random-{self.processes.rank}.safetensors"
        if path.exists():
            checkpoint.set_random_states(checkpoint.read_tensors(path), self.processes.device)
        return state["extra"]

    def export(self, folder: Path) -> None:
        """Write the weights alone, as transformers (full) or peft (adapters) load them; all processes take part."""
        weights = self.policy.weights()
        if self.processes.is_main:
            self._write_policy(folder, weights)
        self.processes.wait()

    def close(self) -> None:
        """Leave the group of processes, if there is one."""
        self.processes.leave()

    def _update(self, rows: Sequence[Row], loss: _Loss, *, by_advantage: bool, epochs: int) -> StepMetrics:
        begin = time.perf_counter()
        reset_peak_memory(self.processes.device)
        gathered = self.processes.gather(rows)
        self._check(gathered)
        work = work_for(gathered, self.config, self.policy, self.processes, by_advantage=by_advantage)
        tallies: list[Tally] = []
        norm = 0.0
        rate = self._optimizer.set_rate(self.steps_done)
        updated = bool(work.computed)
        self.policy.base.train()
        try:
            for _ in range(epochs if work.computed else 0):
                self._optimizer.clear()
                tallies.append(self._gradients(work, loss))
                with enough_for("the optimizer's moments", self.config):
                    norm = self._optimizer.apply()
                updated = updated and math.isfinite(norm)
        finally:
            self.policy.base.eval()
            self._optimizer.clear()
        self._watch(norm, updated, work)
        self.steps_done += 1
        loss_value, roles, mismatch = Tally.read(tallies)
        return StepMetrics(
            step=self.steps_done,
            updated=updated,
            loss=loss_value,
            grad_norm=norm,
            learning_rate=rate,
            rows=len(work.counted),
            computed_rows=len(work.computed),
            truncated_rows=work.truncated,
            staleness=_mean([self.steps_done - 1 - row.policy_version for row in work.counted]),
            tokens=sum(len(row.completion_ids) for row in work.counted),
            computed_tokens=work.tokens,
            roles=roles,
            mismatch=mismatch,
            seconds=time.perf_counter() - begin,
            peak_memory=peak_memory(self.processes.device),
        )

    def _check(self, rows: Sequence[Row]) -> None:
        for row in rows:
            highest = max(max(row.prompt_ids), max(row.completion_ids))
            if highest >= self.policy.vocabulary or min(min(row.prompt_ids), min(row.completion_ids)) < 0:
                raise RowError(
                    f"row of task {row.task!r}, sample {row.sample}, turn {row.turn}: has a token id outside the "
                    f"model's vocabulary of {self.policy.vocabulary}; were rows made with another tokenizer?"
                )

    def _gradients(self, work: Work, loss: _Loss) -> Tally:
        """Gradients of all micro-batches, summed over the processes."""
        tally = Tally()
        # FSDP2 takes the mean over processes, which all have parts of one sum.
        factor = float(self.processes.count) if self.policy.is_sharded else 1.0
        for place, micro_batch in enumerate(work.batches):
            try:
                self._backward(place, micro_batch, work, loss, tally, factor)
            except RuntimeError as error:
                if is_out_of_memory(error):
                    raise memory_limit(error, micro_batch, self.config) from error
                raise
        if not self.policy.is_sharded:
            self.processes.sum_gradients(self.policy.trained.values())
        return tally.summed(self.processes)

    def _backward(
        self, place: int, micro_batch: MicroBatch, work: Work, loss: _Loss, tally: Tally, factor: float
    ) -> None:
        batch = collate(micro_batch, work.share(micro_batch), pad_id=self._pad_id, device=self.processes.device)
        inputs = _inputs(batch)
        with self.policy.using(micro_batch.adapter):
            if work.needs_reference and place not in work.reference:
                with torch.no_grad(), self.policy.autocast(), self.policy.reference() as scorer:
                    work.reference[place] = scorer(*inputs)[0]
            with self.policy.autocast():
                logprobs, entropy = self.policy.scorer(*inputs)
            old = work.old.setdefault(place, logprobs.detach())
            value, terms = loss(logprobs, old, batch, work.reference.get(place))
            torch.autograd.backward(value * factor)
        if not micro_batch.is_idle:
            tally.add(value.detach(), batch, terms, entropy)

    def _surrogate(
        self, logprobs: Tensor, old: Tensor, batch: Batch, reference: Tensor | None
    ) -> tuple[Tensor, TokenTerms]:
        loss = self.config.loss
        settings = Surrogate(loss.clip_low, loss.clip_high, loss.importance_cap, loss.kl)
        return surrogate(
            logprobs,
            old,
            batch.advantages,
            batch.shares,
            settings,
            sampled=batch.sampled,
            known=batch.known,
            reference=reference,
        )

    def _imitation(self, logprobs: Tensor, _: Tensor, batch: Batch, __: Tensor | None) -> tuple[Tensor, TokenTerms]:
        return imitation(logprobs, batch.shares)

    def _watch(self, norm: float, updated: bool, work: Work) -> None:
        self._not_finite = self._not_finite + 1 if work.computed and not updated else 0
        if self._not_finite >= _MOST_NOT_FINITE:
            raise TrainingError(
                f"the gradient was not finite for {self._not_finite} steps (norm {norm}); lower "
                "optimizer.learning_rate, or set compute.precision to f32"
            )

    def _write_policy(self, folder: Path, weights: Mapping[str, Tensor]) -> None:
        self.policy.save(folder, weights)
        if self._tokenizer is not None:
            self._tokenizer.save_pretrained(folder)


_Loss = Callable[[Tensor, Tensor, Batch, Tensor | None], tuple[Tensor, TokenTerms]]


def _inputs(batch: Batch) -> tuple[Tensor | None, ...]:
    """What the model is run on."""
    return batch.input_ids, batch.attention_mask, batch.positions, batch.predicts, batch.targets


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0
