"""Running the guard's coroutines for callers that are not asynchronous."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["blocking"]

_T = TypeVar("_T")
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def blocking(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Run to the end on a loop of its own, which all callers share and which lives as long as the process.

    One loop for all, because what a model's client keeps open belongs to the loop that opened it. A caller that has a
    loop running in its own thread holds it up meanwhile, but cannot deadlock: nothing here waits for that loop.
    """
    future = asyncio.run_coroutine_threadsafe(coroutine, _running())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _running() -> asyncio.AbstractEventLoop:
    global _loop  # made when first needed, since most programs never do
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="envace-guard", daemon=True).start()
        return _loop
