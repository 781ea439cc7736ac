"""From toolsets to task sets: make tasks for each, hold some toolsets back, split the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from envace_sdk.errors import TaskError
from envace_sdk.models.model import ChatModel
from envace_sdk.rehearse.environment import Environment
from envace_sdk.tasks import Task
from envace_sdk.tools.folders import toolsets_in

from .folder import TaskSet
from .make import Made, make_tasks
from .options import MakeOptions
from .paraphrase import paraphrased
from .split import Shares, Split, split_by_template

__all__ = ["Making", "make_task_sets", "toolset_sources"]


@dataclass(slots=True)
class Making:
    """What came of making tasks for several toolsets."""

    sets: list[TaskSet] = field(default_factory=list)
    made: dict[str, Made] = field(default_factory=dict)

    @property
    def dropped(self) -> Counter[str]:
        """Why drafts were dropped, over all toolsets."""
        return sum((made.dropped for made in self.made.values()), Counter())


def toolset_sources(sources: Sequence[str]) -> list[str]:
    """The toolsets that the sources name: a folder of toolsets stands for each of them.

    Raises:
        TaskError: a folder holds neither a toolset nor folders that do.
    """
    found: list[str] = []
    for source in sources:
        folder = Path(source)
        if not folder.is_dir() or (folder / "tools.json").is_file():
            found.append(source)
            continue
        inside = [str(place) for place in toolsets_in(folder)]
        if not inside:
            raise TaskError(f"{source}: neither this folder nor those in it have a tools.json")
        found += inside
    return found


async def make_task_sets(
    sources: Sequence[str],
    options: MakeOptions,
    *,
    shares: Shares = (0.8, 0.1, 0.1),
    held_back: Sequence[str] = (),
    model: ChatModel | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> Making:
    """Make tasks for toolsets, and split them.

    Args:
        sources: what `Environment.load` reads toolsets from.
        options: what to make of each.
        shares: of train, validation and test, by template.
        held_back: names of toolsets all of whose tasks are for the test.
        model: who paraphrases.
        progress: called with a toolset and how many tasks it has.

    Raises:
        TaskError: a toolset to be held back is not there, or two have the same name.
        EnvaceError: a toolset cannot be loaded; ModelError: the model cannot be run.
    """
    making = Making()
    environments = [(source, Environment.load(source)) for source in sources]
    names = [environment.toolset.name for _, environment in environments]
    for source, environment in environments:
        if not environment.toolset.tools:
            raise TaskError(f"{source}: has no tool to call, so there is no task to make")
    for name in held_back:
        if name not in names:
            raise TaskError(f"there is no toolset {name!r} to hold back; there are {', '.join(sorted(names))}")
    for name, times in Counter(names).items():
        if times > 1:
            raise TaskError(f"{times} toolsets are named {name!r}: make their tasks one after the other")
    for source, environment in environments:
        name = environment.toolset.name
        made = await make_tasks(environment, options, progress=partial(progress, name) if progress else None)
        if model is not None:
            made.tasks = await paraphrased(made.tasks, model, seed=options.seed)
        making.made[name] = made
        making.sets.append(TaskSet(name, source, _split(made, name, shares, held_back, options.seed)))
    return making


def _split(made: Made, name: str, shares: Shares, held_back: Sequence[str], seed: int) -> dict[Split, list[Task]]:
    if name in held_back:
        return {"train": [], "validation": [], "test": list(made.tasks)}
    return dict(split_by_template(made.tasks, shares, seed=seed))
