"""From toolsets and settings to a run: the model found, tasks made, those that are too long left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from envace_sdk.errors import TrainingError
from envace_sdk.models.transformers import TransformersModel

from ..rewards import Rewarder
from ..rollout import Case, RolloutSource
from ..rollout.real import real_clients
from ..tasks import SPLITS, TaskSet
from ..tokens import ModelTokens
from ..warmup import witness_rows
from .job import Job
from .machine import load_tokenizer, model_place
from .material import Material
from .settings import RunConfig
from .warm import examples

__all__ = ["plan"]


async def plan(
    sources: Sequence[str], config: RunConfig, directory: Path, note: Callable[[str], None] = lambda _: None
) -> Job:
    """A run that has not begun.

    Args:
        sources: toolsets, or folders of them.
        config: all settings.
        directory: where it will lie.
        note: told what is being done.

    Raises:
        EnvaceError: a toolset, the model or the tasks cannot be used.
    """
    real_clients(config.rollout.real)  # what is wrong with them is told before a model is fetched
    place = model_place(config.model, note)
    read = f"reading the tasks in {config.tasks.folder}" if config.tasks.folder else ""
    note(read or f"making tasks for {', '.join(sources)}")
    material = await Material.make(sources, config.tasks)
    if config.tasks.prompt_tokens is not None:
        material = await _within(material, place, config, config.tasks.prompt_tokens, note)
    return Job(directory, place, config, material)


async def _within(
    material: Material, place: str, config: RunConfig, most: int, note: Callable[[str], None]
) -> Material:
    """The tasks whose solutions have no longer prompts, in either role; by the model's tokenizer alone."""
    cases: list[Case] = [case for split in SPLITS for case in material.cases[split]]
    encoder = TransformersModel(None, load_tokenizer(place))
    tokens = ModelTokens(encoder)
    shown = await examples(material, config)
    source = RolloutSource(
        encoder, config.rollout, Rewarder(), examples=shown, rendering=config.rendering, tokens=tokens
    )
    longest: dict[str, int] = {}
    for row in await witness_rows(cases, source, tokens):
        longest[row.task] = max(longest.get(row.task, 0), len(row.prompt_ids))
    short = {name for name, length in longest.items() if length <= most}
    trained = [longest[case.name] for case in material.cases["train"] if case.name in longest]
    if trained and min(trained) > most:
        raise TrainingError(
            f"tasks.prompt_tokens is {most}, and the shortest solution of a training task has prompts of up to "
            f"{min(trained)} tokens: raise it, or show less (tasks.make.tools_per_task, rollout.style: compact, "
            "rollout.prompt_characters, rollout.examples)"
        )
    if not trained:
        raise TrainingError(
            "no solution of a training task can be played within rollout.max_turns "
            f"({config.rollout.max_turns}), so nothing can be learned; raise it"
        )
    reasons = {
        f"prompts over tasks.prompt_tokens ({most})": len(longest) - len(short),
        f"solutions over rollout.max_turns ({config.rollout.max_turns})": len(cases) - len(longest),
    }
    left_out = " and ".join(f"{count} for {reason}" for reason, count in reasons.items() if count)
    if left_out:
        note(f"of {len(cases)} tasks are left out: {left_out}")
    return Material.of(
        [
            TaskSet(
                one.toolset,
                one.source,
                {
                    split: [task for task in tasks if f"{one.toolset}/{task.id}" in short]
                    for split, tasks in one.splits.items()
                },
            )
            for one in material.sets
        ]
    )
