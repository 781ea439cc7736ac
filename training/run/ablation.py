"""Two ways to train that differ in one setting, on the same tasks, model and seeds: what is run, and where it lies.

ABLATION/
  ablation.json          what is compared, of which toolsets, with which model and settings
  tasks/                 the tasks that all runs have
  WAY/seed-0/            a run like any other; result.json in it when it has been measured
  result.json            all results, and the comparison
  report.html
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeAlias

from pydantic import ValidationError

from envace_sdk.errors import TrainingError
from envace_sdk.files import write_whole
from envace_sdk.json import Json

from ..config import Section, merged
from .job import MANIFEST as RUN
from .job import Job
from .material import Material
from .settings import RunConfig, run_config

__all__ = ["MANIFEST", "WAYS", "Ablation", "Measuring", "Way", "What"]

MANIFEST: Final = "ablation.json"
RESULT: Final = "result.json"
_UNSET: Final = "unset"

What: TypeAlias = Literal["roles", "parameters", "rendering"]


@dataclass(frozen=True, slots=True)
class Way:
    """One of the two ways."""

    name: str
    changes: Mapping[str, Any]
    """Settings that make it this way."""


WAYS: Final[Mapping[What, tuple[Way, Way]]] = {
    "roles": (
        Way("role-wise", {"advantages": {"pooled": False}}),
        Way("pooled", {"advantages": {"pooled": True}}),
    ),
    "parameters": (
        Way("shared", {"parameters": {"method": "lora", "separate": False}}),
        Way("separate", {"parameters": {"method": "lora", "separate": True}}),
    ),
    "rendering": (Way("split", {"rendering": "split"}), Way("stream", {"rendering": "stream"})),
}


class Measuring(Section):
    """How each run is measured at its end."""

    tasks: int = 32
    samples: int = 4
    temperature: float = 1.0


@dataclass(frozen=True, slots=True)
class Ablation:
    """What is compared."""

    directory: Path
    what: What
    sources: tuple[str, ...]
    place: str
    config: RunConfig
    material: Material
    test: Measuring

    @property
    def ways(self) -> tuple[Way, Way]:
        """The two."""
        return WAYS[self.what]

    def job(self, way: Way, seed: int) -> Job:
        """The run of a way with a seed, begun or not. Raises: TrainingError where the settings do not allow the way."""
        values = merged(self.config.model_dump(mode="json"), {"seed": seed, **way.changes})
        config = run_config(values, source=f"{self.what}: {way.name}")
        return Job(self.directory / way.name / f"seed-{seed}", self.place, config, self.material)

    def begun(self, way: Way, seed: int) -> Job:
        """The same, written down; it starts from the weights that the other way was warmed up to, where these are the
        same: the warm-up knows no advantages. Raises: EnvaceError.
        """
        job = self.job(way, seed)
        if not (job.directory / RUN).exists():
            job.begin(self.sources)
        if self.what == "roles":
            for other in self.ways:
                if other is not way:
                    job.take_warm_up(self.job(other, seed))
        return job

    def result(self, way: Way, seed: int) -> dict[str, Json] | None:
        """What a run came to; None where it has not been measured. Raises: TrainingError when it cannot be read."""
        path = self.job(way, seed).directory / RESULT
        if not path.exists():
            return None
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            return {"way": way.name, "seed": seed, "scores": {name: float(x) for name, x in found["scores"].items()}}
        except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
            raise TrainingError(f"{path}: is no result ({error}); remove it, and the run is measured again") from error

    def keep(self, way: Way, seed: int, scores: Mapping[str, float]) -> None:
        """Write down what a run came to."""
        write_json(self.job(way, seed).directory / RESULT, {"scores": dict(scores)})

    def seeds(self) -> list[int]:
        """Of which both ways have been measured."""
        there = [
            {int(path.parent.name.removeprefix("seed-")) for path in (self.directory / way.name).glob(f"*/{RESULT}")}
            for way in self.ways
        ]
        return sorted(there[0] & there[1])

    def begin(self) -> None:
        """Write down what is compared. Raises: TrainingError where that cannot be written."""
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self.material.write(self.directory / "tasks", self.config.tasks)
            write_json(self.directory / MANIFEST, self._manifest())
        except OSError as error:
            raise TrainingError(f"{self.directory}: cannot be written: {error.strerror or error}") from error

    def _manifest(self) -> dict[str, Json]:
        return {
            "what": self.what,
            "tools": list(self.sources),
            "place": self.place,
            "test": self.test.model_dump(mode="json"),
            "config": self.config.model_dump(mode="json"),
        }

    @classmethod
    def found(cls, directory: Path) -> Self:
        """An ablation that was begun. Raises: TrainingError: there is none; EnvaceError: its tasks cannot be read."""
        path = directory / MANIFEST
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            what, place = values["what"], str(values["place"])
            sources = tuple(map(str, values["tools"]))
            test, settings = Measuring.model_validate(values["test"]), dict(values["config"])
            if what not in WAYS:
                raise ValueError(f"what is {what!r}")
        except (OSError, ValueError, RecursionError, KeyError, TypeError, ValidationError) as error:
            raise TrainingError(f"{path}: cannot be read, so {directory} holds no ablation: {error}") from error
        config = run_config(settings, source=str(path))
        return cls(directory, what, sources, place, config, Material.read(directory / "tasks"), test)

    def check(self, what: What, sources: Sequence[str], config: RunConfig, test: Measuring) -> None:
        """That it is what is wanted now. Raises: TrainingError, which names what differs."""
        self._refuse(replace(self, what=what, sources=tuple(sources), config=config, test=test))

    def check_given(self, given: Collection[str], what: What, test: Measuring) -> None:
        """That options which were given say what it has. Raises: TrainingError, which names what differs.

        Args:
            given: which were: `what`, and settings of `test`.
            what: what they say is compared.
            test: how they say each run is measured.
        """
        said = {name: value for name, value in test if name in given}
        wanted = replace(self, what=what if "what" in given else self.what, test=self.test.model_copy(update=said))
        self._refuse(wanted)

    def _refuse(self, wanted: Ablation) -> None:
        for name, value, other in _differing(self._manifest(), wanted._manifest()):
            raise TrainingError(
                f"{self.directory} holds an ablation in which {name.removeprefix('config.')} is {value}, not {other}: "
                "name another folder with -o, or leave all options but -o and --seeds to go on with it"
            )


def write_json(path: Path, value: Json) -> None:
    """Write a file whole or not at all."""
    write_whole(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def _differing(mine: Json, wanted: Json, place: str = "") -> Iterator[tuple[str, str, str]]:
    """What is not the same in both, by its dotted name: what it is, and what it is wanted to be, in words.

    A setting that only one of them has differs too: mappings, such as weights by role, hold what they like.
    """
    if isinstance(mine, dict) and isinstance(wanted, dict):
        for name in {**wanted, **mine}:
            here = f"{place}.{name}" if place else name
            if name not in mine:
                yield here, _UNSET, repr(wanted[name])
            elif name not in wanted:
                yield here, repr(mine[name]), _UNSET
            else:
                yield from _differing(mine[name], wanted[name], here)
    elif mine != wanted:
        yield place, repr(mine), repr(wanted)
