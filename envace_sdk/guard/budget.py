"""How much rehearsing may cost: seconds, and tokens of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from envace_sdk.errors import ModelError
from envace_sdk.models.model import ChatModel, Completion, Message, Request

__all__ = ["Account", "Budget", "MeteredModel", "spending"]

_CHARACTERS = 4
"""Characters that count as one token where a backend does not tell its tokens."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The bounds of one decision."""

    seconds: float = 10.0
    """Until which the samples must be there; those that are not do not count."""
    tokens: int | None = None
    """Of prompts and completions, over all samples; it holds for models that are wrapped in `MeteredModel`."""


@dataclass(slots=True)
class Account:
    """Tokens spent so far, against the most that may be."""

    most: int | None = None
    spent: int = field(default=0)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return self.most is not None and self.spent >= self.most


_account: ContextVar[tuple[Account, ...]] = ContextVar("envace_token_accounts", default=())


@contextmanager
def spending(account: Account) -> Iterator[Account]:
    """Have all metered models that are asked inside, also in tasks started there, draw on the account.

    An account inside another draws on both.
    """
    token = _account.set((*_account.get(), account))
    try:
        yield account
    finally:
        _account.reset(token)


class MeteredModel:
    """A chat model that counts its tokens, and refuses once the account it draws on is empty.

    Raises:
        ModelError: in `complete`, when no tokens are left.
    """

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self.name = model.name

    async def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """As the model does. A batch that is begun is finished, so the last one may overdraw the account."""
        accounts = _account.get()
        if any(account.is_empty for account in accounts):
            raise ModelError(f"{self.name}: the token budget is spent")
        completions = await self.model.complete(requests)
        used = sum(_tokens(request, done) for request, done in zip(requests, completions, strict=True))
        for account in accounts:
            account.spent += used
        return completions

    async def close(self) -> None:
        """As the model does."""
        await self.model.close()


def _tokens(request: Request, completion: Completion) -> int:
    prompt = request.prompt_ids or completion.prompt_ids
    asked = len(prompt) if prompt is not None else sum(map(_length, request.messages or ()))
    said = len(completion.token_ids) if completion.token_ids is not None else _estimate(completion.text)
    return asked + said


def _length(message: Message) -> int:
    return _estimate(message.content)


def _estimate(text: str) -> int:
    return -(-len(text) // _CHARACTERS)
