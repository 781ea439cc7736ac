"""Keeping what a rehearsal says out of what is streamed to the user."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from langchain_core.runnables.config import RunnableConfig, ensure_config, merge_configs, var_child_runnable_config

__all__ = ["NO_STREAM", "Quiet"]

NO_STREAM: Final = "nostream"
"""LangGraph's tag for models whose tokens are not streamed; by value, for langchain-core alone does not have it."""


class Quiet:
    """Marks all that LangChain's models say inside `with Quiet()` as not to be streamed, whoever calls them there."""

    def __init__(self) -> None:
        self._before: RunnableConfig | None = None

    def __enter__(self) -> Quiet:
        self._before = var_child_runnable_config.get()
        self._token = var_child_runnable_config.set(merge_configs(ensure_config(), {"tags": [NO_STREAM]}))
        return self

    def __exit__(self, *_: object) -> None:
        var_child_runnable_config.reset(self._token)

    @contextmanager
    def aloud(self) -> Iterator[None]:
        """Within it, everything is as it was outside: for the tool itself, whose models the user may hear."""
        token = var_child_runnable_config.set(self._before)
        try:
            yield
        finally:
            var_child_runnable_config.reset(token)
