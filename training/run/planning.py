"""From toolsets and settings to a run: the model found, tasks made, those that are too long left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..rollout import Case
from ..tasks import SPLITS, TaskSet
from ..warmup import witness_rows
from .job import Job
from .live import Live
from .machine import model_place
from .material import Material
from .settings import RunConfig

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
    place = model_place(config.model, note)
    note(f"making tasks for {', '.join(sources)}")
    material = await Material.make(sources, config.tasks)
    if config.tasks.prompt_tokens is not None:
        material = await _within(material, Live(place, config), config.tasks.prompt_tokens)
    return Job(directory, place, config, material)


async def _within(material: Material, live: Live, most: int) -> Material:
    """The tasks whose solutions have no longer prompts, in either role."""
    cases: list[Case] = [case for split in SPLITS for case in material.cases[split]]
    try:
        rows = await witness_rows(cases, live.source, live.tokens)
    finally:
        await live.close()
    short = {row.task for row in rows} - {row.task for row in rows if len(row.prompt_ids) > most}
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
