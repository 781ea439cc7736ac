"""The label that says where an answer came from, in a result's `_meta` under `dev.envace/evidence`.

Nothing that comes from outside may carry one: `strip` takes every key of ours off metadata before it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from envace_sdk.errors import EvidenceError
from envace_sdk.json import Json

__all__ = [
    "KEY",
    "PREFIX",
    "Claimed",
    "Evidence",
    "Observed",
    "Rehearsed",
    "label",
    "read_label",
    "says_rehearsed",
    "strip",
    "strip_blocks",
    "strip_result",
]

PREFIX: Final = "dev.envace/"
KEY: Final = PREFIX + "evidence"
_WITH_META: Final = ("content", "contents", "tools", "prompts", "resources", "resourceTemplates")
"""Members of MCP results that are lists of objects with metadata."""


class _Label(BaseModel):
    # A label written by a later version may say more; what this one knows is read.
    model_config = ConfigDict(extra="ignore", frozen=True)


class Observed(_Label):
    """The real environment answered so."""

    kind: Literal["observed"] = "observed"
    payload_hash: str
    """`digest` of the result."""


class Rehearsed(_Label):
    """Predicted, not real."""

    kind: Literal["rehearsed"] = "rehearsed"
    layer: str
    """What the prediction rests on: a layer of the ladder."""
    confidence: float = Field(ge=0.0, le=1.0)
    outcome: str
    """The predicted status of the call."""
    world: str
    version: int
    """The world's version after the call."""
    toolset: str
    injected: bool = False
    """Whether a fault plan had a hand in it."""
    fault: str | None = None
    """The kind of fault, if so."""
    reason: str = ""
    model: str | None = None
    prompt_hash: str | None = None


class Claimed(_Label):
    """Somebody said so."""

    kind: Literal["claimed"] = "claimed"
    text: str


Evidence: TypeAlias = Annotated[Observed | Rehearsed | Claimed, Field(discriminator="kind")]
"""A closed union: there is no fourth kind."""

_EVIDENCE: TypeAdapter[Observed | Rehearsed | Claimed] = TypeAdapter(Evidence)


def label(evidence: Observed | Rehearsed | Claimed, meta: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """`meta` with its old labels stripped and this one put on. Members that have their default are left out."""
    body: dict[str, Any] = {"kind": evidence.kind, **evidence.model_dump(exclude_defaults=True)}
    return {**strip(meta or {}), KEY: body}


def read_label(meta: Mapping[str, Json]) -> Observed | Rehearsed | Claimed | None:
    """The label in `meta`, or None when there is none.

    It is only as true as the way it came: read labels of our own making, never ones from outside.

    Raises:
        EvidenceError: there is something under the key, but not a label.
    """
    if KEY not in meta:
        return None
    try:
        return _EVIDENCE.validate_python(meta[KEY])
    except ValidationError as error:
        places = "; ".join(f"{'/'.join(map(str, e['loc'])) or 'label'}: {e['msg']}" for e in error.errors())
        raise EvidenceError(f"_meta[{KEY!r}] is not a label: {places}") from None


def says_rehearsed(wire: Json) -> bool:
    """Whether a server says of its result that it is rehearsed, in whatever else its label may be wrong.

    Nobody is believed to be real, but this is believed.
    """
    meta = wire.get("_meta") if isinstance(wire, Mapping) else None
    if not isinstance(meta, Mapping):
        return False
    labels = [value for name, value in meta.items() if name.casefold() == KEY]
    return any(isinstance(one, Mapping) and one.get("kind") == "rehearsed" for one in labels)


def strip(meta: Mapping[str, Json]) -> dict[str, Json]:
    """Metadata from outside without our keys; they are told apart whatever their case."""
    return {key: value for key, value in meta.items() if not key.casefold().startswith(PREFIX)}


def strip_blocks(blocks: Iterable[Mapping[str, Json]]) -> tuple[Mapping[str, Json], ...]:
    """Content blocks from outside with our keys taken off their `_meta`, and off that of an embedded resource."""
    return tuple(_strip_block(block) for block in blocks)


def strip_result(wire: Mapping[str, Json]) -> Mapping[str, Json]:
    """A result from outside with our keys taken off every `_meta` that MCP gives it: its own, those of its content or
    the items it lists, and those of the messages of a prompt. Structured content is data, and stays.
    """
    changed: dict[str, Json] = {}
    if isinstance(wire.get("_meta"), Mapping):
        changed["_meta"] = strip(wire["_meta"])
    for member in _WITH_META:
        if isinstance(wire.get(member), list):
            changed[member] = [_strip_block(one) if isinstance(one, Mapping) else one for one in wire[member]]
    if isinstance(wire.get("messages"), list):
        changed["messages"] = list(map(_strip_message, wire["messages"]))
    return {**wire, **changed} if changed else wire


def _strip_message(message: Json) -> Json:
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, list):
        return {**message, "content": [_strip_block(one) if isinstance(one, Mapping) else one for one in content]}
    return {**message, "content": _strip_block(content)} if isinstance(content, Mapping) else message


def _strip_block(block: Mapping[str, Json]) -> Mapping[str, Json]:
    changed: dict[str, Json] = {}
    if isinstance(block.get("_meta"), Mapping):
        changed["_meta"] = strip(block["_meta"])
    resource = block.get("resource")
    if isinstance(resource, Mapping):
        changed["resource"] = _strip_block(resource)
    return {**block, **changed} if changed else block
