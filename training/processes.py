"""The processes of one run, as `accelerate launch` (or torchrun) starts them; one process is the usual case.

Everything else asks this file, so that nothing else need know how many there are.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final, Literal, TypeVar, cast

import torch
import torch.distributed as dist
from accelerate import PartialState
from accelerate.utils import broadcast_object_list, gather_object
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from envace_sdk.errors import TrainingError

__all__ = ["Processes"]

T = TypeVar("T")

_BUCKET = 2**24
"""Gradient elements that are summed over processes in one message: 64 MiB in float32."""
_PATIENCE: Final = timedelta(hours=6)
"""How long processes wait for each other: for one that measures, say, while the others have nothing to do."""


class Processes:
    """What this process is among its peers, and the few things they do together.

    Every method named for all of them must be called by all of them, in the same order.
    """

    def __init__(self, device: Literal["auto", "cpu"] = "auto") -> None:
        """Join the peers; the environment says who they are (accelerate's `PartialState`)."""
        started = dist.is_available() and dist.is_initialized()
        self._state = PartialState(
            cpu=device == "cpu" or os.environ.get("ACCELERATE_USE_CPU", "") == "true",
            timeout=_PATIENCE,
        )
        self._is_mine = not started and dist.is_available() and dist.is_initialized()
        self.device: torch.device = self._state.device
        self.rank: int = self._state.process_index
        self.count: int = self._state.num_processes

    @property
    def is_main(self) -> bool:
        """Whether this one writes files and talks to people."""
        return self.rank == 0

    def gather(self, items: Sequence[T]) -> list[T]:
        """The items of all processes, in the order of their ranks, the same list in each."""
        return list(gather_object(list(items))) if self.count > 1 else list(items)

    def share(self, items: Sequence[T]) -> tuple[int, Sequence[T]]:
        """What of the items is for this process, which is one piece, and the place of its first among all."""
        first, end = (len(items) * rank // self.count for rank in (self.rank, self.rank + 1))
        return first, items[first:end]

    def from_main(self, value: T) -> T:
        """The main process's value, in all of them."""
        if self.count == 1:
            return value
        found: list[T] = broadcast_object_list([value])
        return found[0]

    async def by_main(self, work: Callable[[], Awaitable[T]]) -> T:
        """What the main process makes, in all of them; the others wait for it.

        Raises:
            TrainingError: it failed there; in the main process itself, whatever it raised.
        """
        if self.count == 1:
            return await work()
        made: T | None = None
        failure: Exception | None = None
        if self.is_main:
            try:
                made = await work()
            except Exception as error:  # the others wait, and must not wait for ever
                failure = error
        value, problem = self.from_main((made, failure and str(failure)))
        if failure is not None:
            raise failure
        if problem is not None:
            raise TrainingError(problem)
        return cast("T", value)

    def totals(self, values: Mapping[str, Tensor | float]) -> dict[str, float]:
        """Sums over all processes; the names must be the same in each."""
        if not values:
            return {}
        numbers = [torch.as_tensor(value, dtype=torch.float64, device="cpu") for value in values.values()]
        vector = torch.stack(numbers)
        if self.count > 1:
            # Not every backend sums in double precision on every device; these are a handful of numbers.
            vector = torch.tensor(self.gather([vector.tolist()]), dtype=torch.float64).sum(0)
        return dict(zip(values, vector.tolist(), strict=True))

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Add up the gradients of all processes, once, after all micro-batches.

        Parameters without a gradient here may have one elsewhere (an adapter whose role had no row here), so all take
        part; those without one anywhere keep none, since a gradient of zero moves them by their momentum. Wrapping the
        model to reduce during the backward pass would demand equally many passes everywhere.
        """
        if self.count == 1:
            return
        trained = list(parameters)
        there = self.gather([[parameter.grad is not None for parameter in trained]])
        bucket: list[Tensor] = []
        for parameter, has_gradient in zip(trained, map(any, zip(*there, strict=True)), strict=True):
            if not has_gradient:
                continue
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            bucket.append(parameter.grad)
            if sum(gradient.numel() for gradient in bucket) >= _BUCKET:
                self._sum(bucket)
                bucket = []
        if bucket:
            self._sum(bucket)

    def _sum(self, gradients: Sequence[Tensor]) -> None:
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        for gradient, part in zip(gradients, torch.split(flat, [each.numel() for each in gradients]), strict=True):
            gradient.copy_(part.view_as(gradient))

    def align(self, parameters: Iterable[Tensor]) -> None:
        """Give all processes the parameters of the main one."""
        if self.count > 1:
            for parameter in parameters:
                dist.broadcast(parameter.data, src=0)

    def mesh(self) -> DeviceMesh:
        """All processes in a line, for sharding."""
        return init_device_mesh(self.device.type, (self.count,))

    def wait(self) -> None:
        """Wait for all."""
        self._state.wait_for_everyone()

    def leave(self) -> None:
        """Leave the peers, if it was this object that joined them."""
        if self._is_mine:
            self._state.destroy_process_group()
            PartialState._reset_state()
            self._is_mine = False
