"""Making tasks without a language model: feasible chains of calls on the world, their goals in words, and proof."""

from .folder import TaskSet, read_task_sets, write_task_sets
from .make import Made, make_tasks
from .options import MakeOptions, TaskKind
from .paraphrase import paraphrased
from .sources import Making, make_task_sets, toolset_sources
from .split import SPLITS, Shares, Split, split_by_template

__all__ = [
    "SPLITS",
    "Made",
    "MakeOptions",
    "Making",
    "Shares",
    "Split",
    "TaskKind",
    "TaskSet",
    "make_task_sets",
    "make_tasks",
    "paraphrased",
    "read_task_sets",
    "split_by_template",
    "toolset_sources",
    "write_task_sets",
]
