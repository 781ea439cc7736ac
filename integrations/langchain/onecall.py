"""One call on its way through the guard: from its action to what answers it, sync and async alike."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException

from envace_sdk.errors import ApprovalRequired, NotExecutedError, Refused, ToolCallError
from envace_sdk.evidence import Claimed
from envace_sdk.guard import Action, Outcome
from envace_sdk.json import UNSET

from . import messages
from .calls import injected_names
from .innermost import Reached, innermost
from .underway import PausedError

__all__ = ["Call", "Kept", "Pause"]

_EDITS: Final = 8
_MOST: Final = 256


class Kept:
    """What tools returned lately beyond a message: commands with updates of the state, which no ledger holds."""

    def __init__(self) -> None:
        self._values: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, action: Action, value: Any) -> None:
        """Keep it, if it is more than a message."""
        if isinstance(value, ToolMessage):
            return
        with self._lock:
            self._values[action.identity] = value
            if len(self._values) > _MOST:
                self._values.popitem(last=False)

    def get(self, action: Action) -> Any:
        """What was kept of an action; UNSET where nothing was."""
        return self._values.get(action.identity, UNSET)


class Pause(Protocol):
    """How a call waits for people, where it is called."""

    def before(self, action: Action) -> None:
        """What must be done before the action is judged."""
        ...

    def executing(self) -> AbstractContextManager[None]:
        """While it is judged and executed. Raises: PausedError if that must not begin now."""
        ...

    def wait(self, action: Action, pause: ApprovalRequired) -> None:
        """Return once the approval is settled; it may pause the run.

        Raises:
            Refused: nobody can be asked here.
            ApprovalRequired: `pause`, for who called.
        """
        ...

    def join(self, paused: PausedError) -> None:
        """Pause for what another call waits for."""
        ...


class Call:
    """A call, until it is `answered`: have the guard run `action`, and tell `finish` or `stop` what came of it.

    Args:
        action: what is judged.
        tool: what executes it.
        call_id: the id that its message must have; None where it was no tool call, and is answered with plain data.
        pause: how people are waited for.
        kept: for what the ledger does not hold.
    """

    def __init__(self, action: Action, tool: BaseTool, call_id: str | None, pause: Pause, kept: Kept) -> None:
        self.action = action
        self.read = messages.read(call_id)
        self.answered = False
        self.answer: Any = None
        self.returned: Any = UNSET
        """What the framework returned for the call, or what it raised."""
        self.raised: Exception | None = None
        self._tool = tool
        self._call_id = call_id
        self._pause = pause
        self._kept = kept
        self._reached = Reached(action)
        self._edits = 0

    def begin(self) -> None:
        """Get ready to have the action judged. It may interrupt the graph."""
        self._reached = Reached(self.action)
        self.returned, self.raised = UNSET, None
        self._pause.before(self.action)

    def executing(self) -> AbstractContextManager[None]:
        """While the action is judged and executed. Raises: PausedError if that must not begin now."""
        return self._pause.executing()

    def innermost(self) -> BaseTool:
        """The tool, for one execution."""
        return innermost(self._tool, self._reached)

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Those that were judged, with what the framework adds to those that were given."""
        hidden = injected_names(self._tool)
        return {**{name: value for name, value in given.items() if name in hidden}, **self.action.arguments}

    def settle(self) -> Any:
        """What the tool answered. Raises: as `Reached.settle`."""
        return self._reached.settle(self.returned, self.raised)

    def finish(self, outcome: Outcome) -> None:
        """Answer with an outcome.

        Raises:
            ToolCallError: it was executed before, and ended with an exception.
        """
        if not outcome.replayed:
            value = messages.labelled(outcome.value, self._call_id, outcome.evidence)
            self._kept.put(self.action, value)
        elif outcome.raised:
            raise ToolCallError(self.action.name, outcome.result.first_text, outcome.result.meta)
        else:
            value = self._replayed(outcome)
        self._answered(messages.notice(value, self._call_id, self.action.arguments) if self._edits else value)

    def stop(self, error: Exception) -> None:
        """Go on after an exception: with an answer, with another action, or once a person has decided.

        Raises:
            ToolException: it was refused, and was no tool call.
            Exception: what `wait` raises; `error`, where it is none of the guard's decisions.
        """
        if error is self._reached.error:
            if self.returned is UNSET:
                raise error
            self._answered(self.returned)  # the framework has made a message of it, as it was told to
        elif isinstance(error, ApprovalRequired):
            try:
                self._pause.wait(self.action, error)
            except Refused as refused:
                self._refuse(refused)
        elif isinstance(error, Refused):
            self._refuse(error)
        elif isinstance(error, PausedError):
            self._pause.join(error)
        elif isinstance(error, NotExecutedError):
            self._unexecuted(error)
        else:
            raise error

    def _replayed(self, outcome: Outcome) -> Any:
        kept = self._kept.get(self.action)
        if kept is not UNSET:
            return kept
        if self._call_id is None:
            return outcome.value
        return messages.replayed(outcome, name=self._tool.name, call_id=self._call_id)

    def _refuse(self, refused: Refused) -> None:
        if refused.arguments is not None and self._edits < _EDITS:
            self.action = self.action.edited(refused.arguments)
            self._edits += 1
        else:
            self._turned_down(messages.refusal(refused, name=self._tool.name, call_id=self._call_id), refused)

    def _unexecuted(self, error: NotExecutedError) -> None:
        refusal = self._reached.refusal
        if refusal is not None:
            self._turned_down(messages.unexecuted(str(refusal), name=self._tool.name, call_id=self._call_id), refusal)
        elif self.raised is not None:
            raise self.raised
        elif self.returned is UNSET:
            raise error
        else:
            said = Claimed(text="answered in the tool's place: the tool itself never ran")
            self._answered(messages.labelled(self.returned, self._call_id, said))

    def _turned_down(self, message: ToolMessage, why: Exception) -> None:
        if self._call_id is None:
            raise ToolException(message.text) from why
        self._answered(message)

    def _answered(self, value: Any) -> None:
        self.answer, self.answered = value, True
