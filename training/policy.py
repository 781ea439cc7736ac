"""The policy: a causal language model and which of its weights are trained, by which role.

Shared parameters are one set for both roles; separate ones an adapter for each on the same frozen model.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from envace_sdk.errors import TrainingError
from envace_sdk.json import Json
from envace_sdk.models.decoding import why_no_trees

from .adapters import SHARED, adapter_in, read_weights, without_adapter
from .config import TrainConfig
from .logprobs import TokenLogProbs
from .processes import Processes
from .rows import ROLES, Role

__all__ = ["Policy", "full_tensor", "misfit"]

_MAY_CHANGE: Final = {"dropout", "frozen"}


def misfit(mine: Mapping[str, Json], theirs: Mapping[str, Json]) -> str:
    """Which of the `parameters` settings keeps one's weights from being the other's; empty where none does."""
    for name, value in mine.items():
        if name not in _MAY_CHANGE and theirs.get(name) != value:
            return f"parameters.{name} is {theirs.get(name)!r} there and {value!r} here"
    return ""


class Policy:
    """The weights under training, how they are switched between roles, computed with, read and written."""

    def __init__(self, model: Any, config: TrainConfig, processes: Processes) -> None:
        """Prepare `model`, a causal language model of transformers, in place: adapters, precision, device, sharding.

        Raises:
            TrainingError: the settings do not suit the model.
        """
        self._parameters = config.parameters
        self._processes = processes
        self.is_sharded: bool = config.compute.sharding == "full" and processes.count > 1
        self.precision = _precision(config, processes.device)
        self.base: Any = self._placed(model, config)
        """The model that was given, with adapters inside if there are any."""
        self.model: Any = self._adapted(self.base, config)
        """What to generate and to export with: `base`, or peft's view of it."""
        if config.compute.gradient_checkpointing:
            _recompute_activations(self.base)
        if config.compute.share_prefixes:
            _require_trees(self.base)
        self._frozen_copy = self._start_weights(config)
        self.scorer = self._scorer(self.base, config)
        self.vocabulary: int = self.base.get_input_embeddings().weight.shape[0]
        """Token ids are below this."""
        self._held = self._holdings()
        self._start: dict[str, Tensor] = {}
        """Adapters that training starts from, by parameter, where a reference is wanted and they are not the model's
        own weights; shards where they are sharded."""
        self._has_reference = bool(config.loss.kl)
        self.trained = {
            name: held for name, held in self._held.items() if adapter_in(name) not in self._parameters.frozen
        }
        """Parameters under training by name, the same in all processes; shards where they are sharded."""
        self._require_gradients()
        processes.align(() if self.is_sharded else self._held.values())
        self.base.eval()

    def adapter(self, role: Role) -> str | None:
        """The adapter that a role has of its own; None with shared parameters."""
        return role if self._parameters.separate else None

    def groups(self, config: TrainConfig) -> list[dict[str, Any]]:
        """Parameter groups for an optimizer, each with its peak learning rate."""
        rates = config.optimizer.role_learning_rates
        if not self._parameters.separate:
            return [{"params": list(self.trained.values()), "peak": config.optimizer.learning_rate}]
        return [
            {
                "params": [parameter for name, parameter in self.trained.items() if adapter_in(name) == role],
                "peak": rates.get(role, config.optimizer.learning_rate),
            }
            for role in ROLES
            if role not in self._parameters.frozen
        ]

    @contextmanager
    def using(self, adapter: str | None) -> Iterator[None]:
        """Compute with an adapter of `adapter()`; None changes nothing."""
        if adapter is not None:
            self.model.set_adapter(adapter)
            self._require_gradients()
        yield

    @contextmanager
    def reference(self) -> Iterator[TokenLogProbs]:
        """The weights that training started from."""
        if self._frozen_copy is not None:
            yield self._frozen_copy
        elif self._start:
            now = self._swapped(self._start)
            try:
                yield self.scorer
            finally:
                self._swapped(now)
        else:
            with self.model.disable_adapter():
                yield self.scorer
            self._require_gradients()

    def autocast(self) -> torch.autocast:
        """Compute in the configured precision; trained weights are float32 throughout."""
        return torch.autocast(self._processes.device.type, torch.bfloat16, enabled=self.precision is torch.bfloat16)

    def weights(self) -> dict[str, Tensor]:
        """What training changes or adds, whole and on the CPU; all processes take part."""
        return {name: full_tensor(parameter) for name, parameter in self._held.items()}

    def save(self, folder: Path, weights: Mapping[str, Tensor]) -> None:
        """Write `weights()` as transformers (full) or peft (adapters) read them; one process does."""
        if self._parameters.method == "full":
            self._save_full(folder, weights)
        else:
            self._save_adapters(folder, weights)

    def load(self, folder: Path) -> None:
        """Read what `save` wrote; all processes take part.

        Raises:
            TrainingError: the folder is of another model or other settings.
        """
        names = set(self._held)
        for name, tensor in read_weights(folder, self._parameters.method, self._adapters()):
            if name in names:
                names.discard(name)
                self.assign(self._held[name], tensor, name)
        if names:
            some = ", ".join(sorted(names)[:3])
            raise TrainingError(f"{folder}: lacks {len(names)} of the trained weights ({some} …); is it of this model?")

    def begin_with(self, folder: Path) -> None:
        """Read what `save` wrote, as the weights that training starts from; raises as `load` does."""
        self.load(folder)
        if self._has_reference and self._parameters.method == "lora":
            self._start = {name: parameter.detach().clone() for name, parameter in self._held.items()}

    def _swapped(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Put weights in the place of others, which are given back."""
        before = {name: self._held[name].detach().clone() for name in weights}
        for name, value in weights.items():
            self._held[name].detach().copy_(value)
        for module in self.scorer.modules():
            if isinstance(module, FSDPModule):
                module.reshard()  # what it gathered is of the weights before
        return before

    def assign(self, target: Tensor, value: Tensor, name: str) -> None:
        """Copy a whole tensor into a parameter, or into a tensor shaped and sharded like one."""
        if target.shape != value.shape:
            raise TrainingError(f"{name}: has shape {tuple(value.shape)}, not {tuple(target.shape)}: another model")
        value = value.to(self._processes.device, target.dtype)
        if isinstance(target, DTensor):
            value = distribute_tensor(value, target.device_mesh, target.placements)
        target.detach().copy_(value)

    def _save_full(self, folder: Path, weights: Mapping[str, Tensor]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.base.config.architectures = [type(self.base).__name__]
        self.base.config.dtype = torch.float32
        self.base.config.save_pretrained(folder)
        if self.base.can_generate():
            self.base.generation_config.save_pretrained(folder)
        save_file(dict(weights), folder / "model.safetensors", metadata={"format": "pt"})

    def _save_adapters(self, folder: Path, weights: Mapping[str, Tensor]) -> None:
        for adapter in self._adapters():
            place = folder if adapter == SHARED else folder / adapter
            place.mkdir(parents=True, exist_ok=True)
            settings = copy.copy(self.model.peft_config[adapter])
            settings.inference_mode = True
            settings.save_pretrained(place)
            own = {without_adapter(name): held for name, held in weights.items() if adapter_in(name) == adapter}
            save_file(own, place / "adapter_model.safetensors", metadata={"format": "pt"})

    def _adapters(self) -> tuple[str, ...]:
        return ROLES if self._parameters.separate else (SHARED,)

    def _placed(self, model: nn.Module, config: TrainConfig) -> nn.Module:
        """In its precision before it is moved: frozen weights need no float32 masters, nor room for them."""
        # FSDP2 wants one dtype, and casts by itself.
        whole = config.parameters.method == "full" or self.is_sharded
        return model.to(torch.float32 if whole else self.precision).to(self._processes.device)

    def _adapted(self, model: nn.Module, config: TrainConfig) -> nn.Module:
        settings = config.parameters
        if settings.method == "full":
            return model.requires_grad_(True)
        from peft import LoraConfig, get_peft_model  # full training does without it

        targets = settings.targets if isinstance(settings.targets, str) else list(settings.targets)
        lora = LoraConfig(
            r=settings.rank,
            lora_alpha=settings.alpha,
            lora_dropout=settings.dropout,
            target_modules=targets,
            task_type="CAUSAL_LM",
        )
        first, *others = self._adapters()
        try:
            with warnings.catch_warnings():
                # peft asks models for an attribute that transformers has since renamed.
                warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing", category=FutureWarning)
                adapted = get_peft_model(model, lora, adapter_name=first)
            for name in others:
                adapted.add_adapter(name, lora)
        except ValueError as error:
            raise TrainingError(f"parameters.targets: {error}") from error
        return adapted

    def _start_weights(self, config: TrainConfig) -> TokenLogProbs | None:
        if not config.loss.kl or config.parameters.method == "lora":
            return None
        return self._scorer(copy.deepcopy(self.base).requires_grad_(False).eval(), config)

    def _scorer(self, model: nn.Module, config: TrainConfig) -> TokenLogProbs:
        scorer = TokenLogProbs(model, config.loss.temperature)
        if self.is_sharded:
            mesh = self._processes.mesh()
            casts = MixedPrecisionPolicy(
                param_dtype=self.precision if self.precision is torch.bfloat16 else None, reduce_dtype=torch.float32
            )
            layers = set(getattr(model, "_no_split_modules", None) or ())
            for module in list(model.modules()):
                if type(module).__name__ in layers:
                    fully_shard(module, mesh=mesh, mp_policy=casts)
            fully_shard(scorer, mesh=mesh, mp_policy=casts)
        return scorer

    def _holdings(self) -> dict[str, Tensor]:
        if self._parameters.method == "full":
            return dict(self.base.named_parameters())
        return {name: held for name, held in self.model.named_parameters() if adapter_in(name) is not None}

    def _require_gradients(self) -> None:
        # Switching adapters freezes the others, whose gradients are still to be summed, clipped and applied.
        for parameter in self.trained.values():
            parameter.requires_grad_(True)


def full_tensor(tensor: Tensor) -> Tensor:
    """A copy on the CPU, whole where the tensor is sharded; then all processes take part."""
    found = tensor.detach()
    if isinstance(found, DTensor):
        found = found.full_tensor()
    return found.to("cpu", copy=True).contiguous()


def _recompute_activations(model: Any) -> None:
    # Renamed in transformers 5.24; the old name warns from then on.
    if hasattr(model, "activation_checkpointing_enable"):
        model.activation_checkpointing_enable({"use_reentrant": False})
    else:
        model.gradient_checkpointing_enable({"use_reentrant": False})


def _require_trees(model: Any) -> None:
    reason = why_no_trees(model)
    if reason:
        raise TrainingError(
            f"compute.share_prefixes: the model cannot be told of shared prefixes: {reason}; set it to false"
        )


def _precision(config: TrainConfig, device: torch.device) -> torch.dtype:
    wanted = config.compute.precision
    if wanted == "auto":
        wanted = "bf16" if device.type == "cuda" and torch.cuda.is_bf16_supported() else "f32"
    return torch.bfloat16 if wanted == "bf16" else torch.float32
