"""Many conversations, one batch at a time: the backend gets all that is wanted at once, and nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from envace_sdk.models import ChatModel, Completion, Request

from ..rows import Role

__all__ = ["Asker", "LockStep"]

T = TypeVar("T")


class Asker(Protocol):
    """Whoever gets completions for a player."""

    async def ask(self, role: Role, request: Request, *, order: tuple[int, ...]) -> Completion:
        """What the model says in the role. Raises: ModelError when it cannot be run."""
        ...

    def away(self) -> AbstractContextManager[None]:
        """While the player waits for something else."""
        ...


@dataclass(slots=True)
class _Wish:
    role: Role
    order: tuple[int, ...]
    request: Request
    answer: asyncio.Future[Completion]


class LockStep:
    """Runs players side by side, and asks the model when all of them wait for it.

    Acts and rehearsals go into the same batch, in the order of the players; where the roles have models of their own,
    into one batch for each, at the same time.

    Args:
        models: who is asked in which role.
    """

    def __init__(self, models: Mapping[Role, ChatModel]) -> None:
        self._models = models
        self._playing = 0
        self._wishes: list[_Wish] = []
        self._asking: set[asyncio.Task[None]] = set()
        self.batches: list[int] = []
        """How large the batches were."""

    async def run(self, players: Sequence[Coroutine[None, None, T]]) -> list[T]:
        """Run the players to their ends; where one fails, the others are stopped.

        Raises:
            ModelError: the model cannot be run; and whatever a player raises.
        """
        self._playing += len(players)
        tasks = [asyncio.create_task(self._played(player)) for player in players]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def ask(self, role: Role, request: Request, *, order: tuple[int, ...]) -> Completion:
        """What the model says, with the next batch.

        Args:
            role: who is asked.
            request: what.
            order: the player's place, so that batches do not depend on who happened to be first.
        """
        wish = _Wish(role, order, request, asyncio.get_running_loop().create_future())
        self._wishes.append(wish)
        self._ask_if_all_wait()
        return await wish.answer

    @contextmanager
    def away(self) -> Iterator[None]:
        """While a player waits for something else, the others do not wait for it."""
        self._playing -= 1
        self._ask_if_all_wait()
        try:
            yield
        finally:
            self._playing += 1

    async def _played(self, player: Coroutine[None, None, T]) -> T:
        try:
            return await player
        finally:
            self._playing -= 1
            self._ask_if_all_wait()

    def _ask_if_all_wait(self) -> None:
        if self._wishes and len(self._wishes) >= self._playing:
            wishes, self._wishes = sorted(self._wishes, key=lambda wish: wish.order), []
            self.batches.append(len(wishes))
            task = asyncio.create_task(self._asked(wishes))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)

    async def _asked(self, wishes: Sequence[_Wish]) -> None:
        by_model: dict[int, list[_Wish]] = {}
        for wish in wishes:
            by_model.setdefault(id(self._models[wish.role]), []).append(wish)
        await asyncio.gather(*map(self._batch, by_model.values()))

    async def _batch(self, wishes: Sequence[_Wish]) -> None:
        model = self._models[wishes[0].role]
        try:
            completions = await model.complete([wish.request for wish in wishes])
        except Exception as error:
            for wish in wishes:
                if not wish.answer.done():
                    wish.answer.set_exception(error)
            return
        for wish, completion in zip(wishes, completions, strict=True):
            if not wish.answer.done():
                wish.answer.set_result(completion)
