"""What a run works on: toolsets, and tasks of them by split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Self

from envace_sdk.errors import TrainingError
from envace_sdk.files import absolute
from envace_sdk.rehearse import Environment

from ..rollout import Case
from ..tasks import SPLITS, Split, TaskSet, make_task_sets, read_task_sets, toolset_sources, write_task_sets
from .settings import TaskConfig

__all__ = ["Material", "in_proportion", "spread"]


@dataclass(frozen=True, slots=True)
class Material:
    """Toolsets with their tasks."""

    environments: tuple[Environment, ...]
    cases: Mapping[Split, Sequence[Case]]
    sets: Sequence[TaskSet]

    @classmethod
    async def make(cls, sources: Sequence[str], config: TaskConfig) -> Self:
        """Make tasks for the toolsets, or read those that the configuration names.

        Args:
            sources: what `Environment.load` reads toolsets from; a folder of toolsets stands for each of them. Of task
                sets that are read, those of these toolsets count; all, where none is named.
            config: which tasks.

        Raises:
            TrainingError: there is nothing to train on; EnvaceError: a toolset or a task set cannot be read.
        """
        if config.folder is not None:
            return cls.of(_read(config.folder, toolset_sources(sources), config.hold_back))
        making = await make_task_sets(
            toolset_sources(sources), config.make, shares=config.shares, held_back=config.hold_back
        )
        return cls.of(making.sets)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read what `write` wrote. Raises: EnvaceError."""
        return cls.of(read_task_sets(folder))

    @classmethod
    def of(cls, sets: Sequence[TaskSet]) -> Self:
        """Of task sets. Raises: TrainingError where no toolset has a task to train on, or a toolset cannot be read."""
        environments = [Environment.load(one.source) for one in sets]
        cases: dict[Split, list[Case]] = {
            split: [
                Case(environment, task)
                for environment, one in zip(environments, sets, strict=True)
                for task in one.splits.get(split, ())
            ]
            for split in SPLITS
        }
        if not cases["train"]:
            names = ", ".join(one.toolset for one in sets) or "none"
            raise TrainingError(
                f"there is no task to train on (toolsets: {names}): raise tasks.make.largest_answer or "
                "tasks.make.max_calls, or hold fewer toolsets back"
            )
        return cls(tuple(environments), cases, tuple(sets))

    def write(self, folder: Path, config: TaskConfig) -> None:
        """Keep the tasks, so that the run can be resumed and evaluated with the same ones, from anywhere."""
        sets = [replace(one, source=absolute(one.source)) for one in self.sets]
        write_task_sets(folder, sets, config.make)

    def trained_on(self, held_back: Sequence[str] = ()) -> tuple[Environment, ...]:
        """The toolsets but for those that are only tested on, of which nothing may be learned before.

        Args:
            held_back: names of such, whose test tasks may have been left out since.
        """
        return tuple(
            one
            for one in self.environments
            if one.toolset.name not in held_back
            and (
                any(case.environment is one for case in self.cases["train"])
                or not any(case.environment is one for split in SPLITS for case in self.cases[split])
            )
        )

    def chosen(self, split: Split, count: int, seed: int) -> list[Case]:
        """So many cases of a split, of as many templates as there are, the same for the same seed.

        Raises:
            TrainingError: there are none.
        """
        if not self.cases[split]:
            raise TrainingError(
                f"there are no {split} tasks to measure on: templates are too few, or tasks.shares and "
                "tasks.prompt_tokens leave none"
            )
        return spread(self.cases[split], count, seed)

    def measured(self, count: int, seed: int) -> list[Case]:
        """So many validation cases, to see on the way how training goes; training cases where there are no others."""
        return self.chosen("validation" if self.cases["validation"] else "train", count, seed)


def _read(folder: str, sources: Sequence[str], held_back: Sequence[str]) -> list[TaskSet]:
    """Task sets of toolsets; of those that are held back, all tasks are for the test."""
    sets = {one.toolset: one for one in read_task_sets(Path(folder).absolute())}
    wanted = [*([Environment.load(source).toolset.name for source in sources] or sets), *held_back]
    for name in wanted:
        if name not in sets:
            raise TrainingError(f"tasks.folder: {folder} has no tasks of {name!r}; it has those of {', '.join(sets)}")
    found = []
    for name in dict.fromkeys(wanted):
        splits = sets[name].splits
        if name in held_back:
            splits = {"test": [task for split in SPLITS for task in splits.get(split, ())]}
        found.append(replace(sets[name], splits=splits))
    return found


def spread(cases: Sequence[Case], count: int, seed: int) -> list[Case]:
    """So many cases, drawn template by template: few cases show as many templates as they can."""
    piles = _piles(cases, seed)
    found: list[Case] = []
    for place in range(max(map(len, piles), default=0)):
        found += [pile[place] for pile in piles if place < len(pile)]
    return found[:count]


def in_proportion(cases: Sequence[Case], seed: int) -> list[Case]:
    """All cases in an order of which every stretch has the templates in their shares of the whole.

    Of n cases of a template, the first k tenths of the order hold k tenths of n, up to one. Where all templates have
    as many cases, the order is that of `spread`.
    """
    piles = _piles(cases, seed)
    placed = [
        ((number + (index + 0.5) / len(piles)) / len(pile), index, case)
        for index, pile in enumerate(piles)
        for number, case in enumerate(pile)
    ]
    return [case for _, _, case in sorted(placed, key=lambda one: one[:2])]


def _piles(cases: Sequence[Case], seed: int) -> list[list[Case]]:
    """The cases by template, both in an order drawn from the seed."""
    random = Random(f"cases/{seed}")
    by_template: dict[str, list[Case]] = {}
    for case in sorted(cases, key=lambda case: case.name):
        by_template.setdefault(f"{case.environment.toolset.name}/{case.task.template}", []).append(case)
    piles = [by_template[name] for name in sorted(by_template)]
    random.shuffle(piles)
    for pile in piles:
        random.shuffle(pile)
    return piles
