"""Rows as verl holds them: token sequences with a mask, and beside each what its segments are.

verl gives a sequence one reward and knows nothing of roles. So each sequence carries, in its extra fields, the role,
reward and weight of its segments, and the advantages are computed from these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ...advantages import GroupReport, rolewise
from ...config import AdvantageConfig, TrainConfig
from ...rows import Row
from ...segments import TokenSequence, render

__all__ = ["FIELD", "PackedRows", "advantages", "pack"]

FIELD: Final = "envace"
"""The extra field of a sequence that tells of its segments."""


@dataclass(frozen=True, slots=True)
class PackedRows:
    """One sequence: the arguments of verl's `AgentLoopOutput`, and its extra field."""

    prompt_ids: list[int]
    response_ids: list[int]
    """All from the first completion on, what stands between completions included."""
    response_mask: list[int]
    """1 for each token that is trained."""
    response_logprobs: list[float]
    """Of the sampler; 0 where the mask is 0 because the token is context."""
    about: dict[str, Any]
    """The group, the trajectory, and the segments: where in the response, role, reward and weight."""


def pack(rows: Iterable[Row], config: TrainConfig, *, group: str, sample: int) -> list[PackedRows]:
    """The sequences of one trajectory.

    Rows that count in baselines but are not trained (of frozen roles, or cut off by the token limit) have a mask of 0.

    Args:
        rows: its rows; may be none.
        config: the rendering, frozen roles, and whether truncated completions are masked.
        group: what trajectories that are compared have in common.
        sample: which of the group's trajectories it is.
    """
    return [_packed(sequence, config, group, sample) for sequence in render(rows, config.rendering)]


def advantages(
    abouts: Sequence[Mapping[str, Any] | None], config: AdvantageConfig
) -> tuple[list[list[tuple[slice, float]]], GroupReport]:
    """Per sequence, the advantage of each of its segments, with its place in the response; and a report on the groups.

    Args:
        abouts: `PackedRows.about` of all sequences of whole groups; None for padding, which has no segments.
        config: how rows are judged.
    """
    owners = [
        (place, segment)
        for place, about in enumerate(abouts)
        for segment in (() if about is None else about["segments"])
    ]
    rows = [_row(abouts[place], segment) for place, segment in owners]
    judged, report = rolewise(rows, **config.model_dump())
    found: list[list[tuple[slice, float]]] = [[] for _ in abouts]
    for (place, segment), row in zip(owners, judged, strict=True):
        found[place].append((slice(segment["start"], segment["stop"]), row.advantage))
    return found, report


def _packed(sequence: TokenSequence, config: TrainConfig, group: str, sample: int) -> PackedRows:
    first = sequence.segments[0].start
    response = list(sequence.input_ids[first:])
    mask, logprobs = [0] * len(response), [0.0] * len(response)
    segments: list[dict[str, Any]] = []
    for segment in sequence.segments:
        row, own = segment.row, slice(segment.start - first, segment.stop - first)
        size = len(row.completion_ids)
        mask[own] = [int(_is_trained(row, config))] * size
        logprobs[own] = row.logprobs or [0.0] * size
        segments.append(
            {"start": own.start, "stop": own.stop, "role": row.role, "reward": row.reward, "weight": row.weight}
        )
    about = {"group": group, "sample": sample, "segments": segments}
    return PackedRows(list(sequence.input_ids[:first]), response, mask, logprobs, about)


def _is_trained(row: Row, config: TrainConfig) -> bool:
    masked = row.truncated and config.loss.mask_truncated
    return row.weight > 0 and row.role not in config.parameters.frozen and not masked


def _row(about: Mapping[str, Any] | None, segment: Mapping[str, Any]) -> Row:
    """As much of a row as a baseline looks at; its tokens only count."""
    if about is None:
        raise AssertionError("padding has no segments")
    size = int(segment["stop"]) - int(segment["start"])
    return Row(
        about["group"],
        about["sample"],
        segment["role"],
        (0,),
        (0,) * size,
        reward=segment["reward"],
        weight=segment["weight"],
    )
