"""Fewer collections of garbage while much is known that is none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

__all__ = ["collected_seldom"]

_SELDOM: Final = 50_000
"""So many objects are made before the youngest are looked through. All that was recorded is looked through again and
again otherwise: a fifth of the time of learning."""

_lock: Final = Lock()
_usual: list[tuple[int, int, int]] = []
"""For each body that runs, the thresholds before the first of them."""


@contextmanager
def collected_seldom() -> Iterator[None]:
    """In the body, look for garbage less often; in all threads, until the last of several bodies is done."""
    with _lock:
        now = gc.get_threshold()
        _usual.append(_usual[0] if _usual else now)
        if 0 < now[0] < _SELDOM:
            gc.set_threshold(_SELDOM, *now[1:])
    try:
        yield
    finally:
        with _lock:
            before = _usual.pop()
            if not _usual:
                gc.set_threshold(*before)
