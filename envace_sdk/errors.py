"""Every exception the SDK raises, in one tree.

EnvaceError
├── ToolsetError            a catalogue cannot be read at all
│   └── UpstreamError       a live server cannot be reached or refuses
├── SchemaError             a JSON Schema is not one, or refers to what is not there
│   └── UnsatisfiableError  no instance of the schema exists
├── DynamicsError           a dynamics file is wrong
│   └── ExpressionError     a CEL expression does not parse or cannot be evaluated
├── FixtureError            a recording cannot be read
│   └── MissError           only recordings may answer, and none does
├── WorldError              a world, snapshot or start data is not usable
├── OverdueCallError        a call took longer than it may: nothing has happened
├── UnknownToolError        a call names a tool that the toolset does not have
├── ToolCallError           a tool that is called as a function answers with an error
├── FaultError              a fault plan is wrong
├── LostAnswerError         a call was made, and its answer never came (an injected fault)
│   ├── TimedOutError       … in time
│   └── DisconnectedError   … because the connection closed
├── RealCallError           a test called something real
├── ModelError              a language model cannot be loaded, reached or run
├── MalformedError          what a model wrote is not what its role must write
│   ├── MalformedCallError      … as a tool call
│   └── MalformedResponseError  … as a tool's response
├── TaskError               a task file is wrong
├── TrainingError           a run, its config or its checkpoint cannot be used
│   ├── RowError            rows that contradict themselves or the model
│   └── MemoryLimitError    the device has not enough memory for the update
├── StoreError              the database is missing, too new, or refuses
│   ├── StaleWorldError     somebody else has saved the world since it was loaded
│   ├── BusyWorldError      others used the world for too long: nothing has happened
│   ├── UnsavedWorldError   the database went away before a change was saved: nothing has happened
│   └── DoubtfulSaveError   … while it was saved: whether it was is not known
├── LedgerError             the ledger does not take or give what was asked
│   ├── TamperedError       an entry is not as it was written
│   ├── CommittedError      an action was committed before
│   │   ├── AlreadyCommittedError   … and what came of it was observed
│   │   └── InDoubtError    … and nobody knows what came of it
│   └── ApprovalError       an approval cannot be given, or does not allow this
├── GuardError              the guard cannot judge, or does not let a call happen
│   ├── PolicyError         a policy is wrong, or cannot be evaluated
│   ├── Refused             the verdict is no
│   ├── ApprovalRequired    a person must decide first
│   └── NotExecutedError    a call was let through, and the tool never ran
└── EvidenceError           a value cannot be hashed canonically, or a label is not one

A message names the file, the tool and the field, and says what to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .json import Json

__all__ = [
    "AlreadyCommittedError",
    "ApprovalError",
    "ApprovalRequired",
    "BusyWorldError",
    "CommittedError",
    "DisconnectedError",
    "DoubtfulSaveError",
    "DynamicsError",
    "EnvaceError",
    "EvidenceError",
    "ExpressionError",
    "FaultError",
    "FixtureError",
    "GuardError",
    "InDoubtError",
    "LedgerError",
    "LostAnswerError",
    "MalformedCallError",
    "MalformedError",
    "MalformedResponseError",
    "MemoryLimitError",
    "MissError",
    "ModelError",
    "NotExecutedError",
    "OverdueCallError",
    "PolicyError",
    "RealCallError",
    "Refused",
    "RowError",
    "SchemaError",
    "StaleWorldError",
    "StoreError",
    "TamperedError",
    "TaskError",
    "TimedOutError",
    "ToolCallError",
    "ToolsetError",
    "TrainingError",
    "UnknownToolError",
    "UnsatisfiableError",
    "UnsavedWorldError",
    "UpstreamError",
    "WorldError",
]


class EnvaceError(Exception):
    """The root: catching it catches everything the SDK raises on purpose."""


class ToolsetError(EnvaceError):
    """A catalogue cannot be read at all (a single bad tool is quarantined instead)."""


class UpstreamError(ToolsetError):
    """A live tool server cannot be reached, or refuses."""


class SchemaError(EnvaceError):
    """A JSON Schema is not valid, or has a `$ref` to something that is not there."""


class UnsatisfiableError(SchemaError):
    """No instance of the schema exists, or none was found within the bounds."""


class DynamicsError(EnvaceError):
    """A dynamics file is wrong; the message names the file, the tool and the field."""


class ExpressionError(DynamicsError):
    """A CEL expression does not parse, or cannot be evaluated on the values it met."""


class FixtureError(EnvaceError):
    """A recording cannot be read; the message names the file and the line."""


class MissError(FixtureError):
    """Only recordings may answer, and none does; the message names the closest one and what differs."""


class WorldError(EnvaceError):
    """A world, a snapshot or start data is not usable."""


class OverdueCallError(EnvaceError):
    """A call took longer than the server lets calls take. Nothing has happened."""


class UnknownToolError(EnvaceError):
    """A call names a tool that the toolset does not have."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown tool: {name}")
        self.name = name


class ToolCallError(EnvaceError):
    """A tool that is called as a function answers with an error: the message is its text."""

    def __init__(self, tool: str, message: str, meta: Mapping[str, Json] | None = None) -> None:
        super().__init__(message)
        self.tool = tool
        self.meta = dict(meta or {})
        """With the evidence label."""


class FaultError(EnvaceError):
    """A fault plan is wrong; the message names the file and the field."""


class LostAnswerError(EnvaceError):
    """A call was made, and an injected fault lost its answer. `meta` holds the evidence label."""

    def __init__(self, message: str, meta: Mapping[str, Json] | None = None) -> None:
        super().__init__(message)
        self.meta = dict(meta or {})


class TimedOutError(LostAnswerError, TimeoutError):
    """The answer did not come in time."""


class DisconnectedError(LostAnswerError, ConnectionError):
    """The connection closed before the answer came."""


class RealCallError(EnvaceError, AssertionError):
    """A test was about to call something real; the message says what, and from where."""


class ModelError(EnvaceError):
    """A language model cannot be loaded, reached or run, or its backend cannot do what is asked."""


class MalformedError(EnvaceError):
    """What a model wrote is not what its role must write; the message says what is wrong, for the model to read too."""


class MalformedCallError(MalformedError):
    """A model's tool call is not one: not JSON, no name, text where none may be."""


class MalformedResponseError(MalformedError):
    """A model's response in a tool's place is not one: no JSON, or not valid against the output schema."""


class TaskError(EnvaceError):
    """A task file is wrong; the message names the file, the task and the field."""


class TrainingError(EnvaceError):
    """A training run, its config or its checkpoint cannot be used; the message names the file and the field."""


class RowError(TrainingError):
    """Rows that contradict themselves or the model they are to train; the message names the row."""


class MemoryLimitError(TrainingError):
    """The device has not enough memory for the update; the message says which setting to change, and to what."""


class StoreError(EnvaceError):
    """The database is missing, of a newer version, or refuses."""


class StaleWorldError(StoreError):
    """Somebody else has saved, or deleted, the world since this writer last saw it. Load it again."""


class BusyWorldError(StoreError):
    """Others used the world for longer than this caller waits. Nothing has happened: the call may be sent again."""


class UnsavedWorldError(StoreError):
    """The database could not be reached, or went away before a change was saved. Nothing has happened."""


class DoubtfulSaveError(StoreError):
    """The database went away while a change was saved: look into the world before the call is sent again."""


class LedgerError(EnvaceError):
    """The ledger does not take, or cannot give, what was asked."""


class TamperedError(LedgerError):
    """An entry of the ledger is not as it was written; the message names it. `envace-sdk ledger verify` says more."""


class CommittedError(LedgerError):
    """An action was committed before: it must not be carried out again. `action` is its id."""

    def __init__(self, action: str, message: str) -> None:
        super().__init__(message)
        self.action = action


class AlreadyCommittedError(CommittedError):
    """An action was carried out before, and what came of it is in the ledger: answer with that."""


class InDoubtError(CommittedError):
    """An action was committed and its outcome never observed: it may have happened, or be happening now."""


class ApprovalError(LedgerError):
    """An approval cannot be given, or does not allow this.

    Attributes:
        approval: its id.
        reason: in one word: unknown, pending, rejected, edited, expired, used, stale, other_action, not_allowed.
    """

    def __init__(self, approval: str, reason: str, message: str) -> None:
        super().__init__(message)
        self.approval = approval
        self.reason = reason


class GuardError(EnvaceError):
    """The guard cannot judge an action, or does not let it happen. The action was not executed."""


class PolicyError(GuardError):
    """A policy is wrong, or cannot be evaluated; the message names the file and the rule."""


class Refused(GuardError):  # noqa: N818  a decision, no failure
    """The verdict is no.

    Attributes:
        kind: `block`, or `revise` where something like it may go through.
        reasons: why.
        arguments: what a person wants called instead, if one said so.
        prediction: what was expected, framed so that it can be shown to a model; "" where nothing was.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "block",
        reasons: Sequence[str] = (),
        arguments: Mapping[str, Json] | None = None,
        prediction: str = "",
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.reasons = tuple(reasons)
        self.arguments = arguments
        self.prediction = prediction


class ApprovalRequired(GuardError):  # noqa: N818  a pause, no failure
    """A person must decide first. Call again with the same action once they have.

    Attributes:
        approval: its id in the ledger.
        payload: what to show the person: action, prediction, risk and reasons.
    """

    def __init__(self, approval: str, payload: Mapping[str, Json], message: str) -> None:
        super().__init__(message)
        self.approval = approval
        self.payload = dict(payload)


class NotExecutedError(GuardError):
    """Raised by whoever executes an action for the guard, where the tool itself never ran: nothing was observed.

    Arguments that the framework refuses are such a case. The action may be tried again.
    """


class EvidenceError(EnvaceError):
    """A value cannot be hashed canonically, or a label found in metadata is not one."""
