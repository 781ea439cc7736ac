"""Telling the calls of one pass apart, in frameworks that come to the same call more than once."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from envace_sdk.errors import EnvaceError
from envace_sdk.guard import Action, is_control_flow, is_lost_answer

__all__ = ["Entries"]


class Entries:
    """Numbers equal calls by what became of them.

    A call that paused, was refused or is in doubt keeps its number, so that it is found when the framework comes back
    to it. Once a call has an outcome, an equal one (a retry, or a call with the same id) is an action of its own.
    One object serves one pass over a task.
    """

    def __init__(self) -> None:
        self._done: defaultdict[str, set[int]] = defaultdict(set)
        self._under_way: defaultdict[str, set[int]] = defaultdict(set)
        self._lock = threading.Lock()

    @contextmanager
    def entry(self, action: Action, *, remember: bool = True) -> Iterator[Action]:
        """The action with its number, for as long as it is judged and executed.

        Args:
            action: with the number from which to count.
            remember: whether its number is taken from then on; where not, somebody else sees to that.

        Raises:
            EvidenceError: its arguments are not JSON.
        """
        key = action.identity
        with self._lock:
            nth = action.nth
            taken = self._done.get(key, set()) | self._under_way[key]
            while nth in taken:
                nth += 1
            self._under_way[key].add(nth)
        done = False
        try:
            yield replace(action, nth=nth) if nth != action.nth else action
            done = True
        except BaseException as error:
            done = not (isinstance(error, EnvaceError) or is_control_flow(error) or is_lost_answer(error))
            raise
        finally:
            with self._lock:
                self._under_way[key].discard(nth)
                if not self._under_way[key]:
                    del self._under_way[key]
                if done and remember:
                    self._done[key].add(nth)
