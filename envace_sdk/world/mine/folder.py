"""Learning into a folder: rules, the world they begin with, and the recordings they were learned from."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from envace_sdk.errors import DynamicsError, FixtureError, WorldError
from envace_sdk.recordings import Gathered, RecordingFile, gather, read_recording
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.recordings import Recorded
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.rulefile import RuleFile

from .account import account_of
from .episodes import episodes_of
from .filing import Filer, Filing, checked
from .learning import Progress, Result, learn
from .remarks import advice, counted
from .trial import Trial
from .trying import try_rules
from .worldfile import WorldFile

__all__ = ["Lesson", "learn_into"]

_RECORDINGS: Final = "recordings.jsonl"
_WORLD: Final = "world.json"
_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Lesson:
    """What was learned, before it is written."""

    toolset: Toolset
    path: Path
    filing: Filing
    world: WorldFile
    gathered: Gathered
    trials: Mapping[str, Trial]
    result: Result
    advice: Mapping[str, str]
    """By tool of which too little is known, what to record next."""
    findings: tuple[str, ...]

    @property
    def dynamics(self) -> Dynamics:
        """The rules."""
        return self.filing.dynamics

    def explained(self, tool: str) -> str:
        """The evidence for and against a tool's rule.

        Raises:
            UnknownToolError: there is no such tool.
        """
        name = self.toolset[tool].name
        return account_of(name, self.dynamics.tools.get(name), self.trials.get(name), self.result.learned.get(name))

    def write(self, *, recordings: bool = True) -> list[Path]:
        """Write the files, each as a whole or not at all; those that have changed.

        Args:
            recordings: whether the recordings are written too.

        Raises:
            DynamicsError: one cannot be written.
        """
        folder = self.path.parent
        texts = {self.path: self.filing.text}
        if self.world.collections or (folder / _WORLD).exists():
            texts = {folder / _WORLD: self.world.text(), **texts}
        made: dict[Path, Path] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if recordings:
                made[folder / _RECORDINGS] = _beside(folder / _RECORDINGS)
                self.gathered.save(made[folder / _RECORDINGS])
            for path, text in texts.items():
                made[path] = _beside(path)
                made[path].write_text(text, encoding="utf-8", newline="")
            changed = [path for path in made if not _says_the_same(made[path], path)]
            for path in changed:
                made[path].replace(path.resolve())
        except OSError as error:
            raise DynamicsError(f"{self.path.parent}: cannot be written: {error}") from error
        finally:
            for path in made.values():
                with suppress(OSError):
                    path.unlink(missing_ok=True)
        return changed


def learn_into(
    path: Path,
    toolset: Toolset,
    recordings: Sequence[RecordingFile],
    *,
    force: bool = False,
    redacted: bool = True,
    progress: Progress | None = None,
    processes: int = 1,
) -> Lesson:
    """Learn the rules of a toolset from recordings, and from those that lie beside the file already.

    Args:
        path: the dynamics file, whether it is there or not; `world.json` and `recordings.jsonl` are those beside it.
        toolset: the tools.
        recordings: new recordings.
        force: whether rules that a person changed are written anew too.
        redacted: whether secrets are taken out of the new recordings before anything is learned from them.
        progress: told what is being done, and how far it is.
        processes: how many may be used at a time; the second one takes half of the time, more are not used.

    Raises:
        DynamicsError, WorldError, FixtureError: a file is wrong; the message names it and the place.
    """
    held_path, world_path = path.parent / _RECORDINGS, path.parent / _WORLD
    file = _rule_file(path)
    held = [read_recording(held_path)] if held_path.exists() else []
    gathered = gather(held, [one for one in recordings if not _is_same(one.path, held_path)], redacted=redacted)
    fixtures = _fixtures(gathered)
    calls = Counter(fixture.call.name for fixture in fixtures if fixture.is_call)
    findings = list(_unknown(toolset, calls))
    filer = Filer(toolset, file, force=force)
    result = learn(toolset, fixtures, previous=filer.kept, progress=progress, processes=processes)
    dynamics = filer.with_learned(checked(result.dynamics), calls, WorldFile.names(world_path))
    digests = file.dynamics.learned.get("world", {}) if file is not None else {}
    world = WorldFile.merged(world_path, result.start, digests, dynamics)
    try:
        trials = try_rules(toolset, dynamics, world.collections, fixtures, progress=progress)
    except WorldError as error:
        raise WorldError(f"{world_path}: {error}") from error
    recording = gathered.recording
    told = f"{counted(len(recording), 'call')} in {counted(len(recording.episodes), 'episode')}"
    filing = filer.filed(dynamics, trials, result.learned, told=told, world=world.digests)
    names = [tool.name for tool in toolset]
    next_steps = advice(episodes_of(fixtures, names), filing.dynamics.tools, names)
    findings += [*filing.findings, *world.notes]
    return Lesson(toolset, path, filing, world, gathered, trials, result, next_steps, tuple(findings))


def _rule_file(path: Path) -> RuleFile | None:
    try:
        return RuleFile(path.read_bytes().decode("utf-8"), str(path)) if path.exists() else None
    except (OSError, UnicodeDecodeError) as error:
        raise DynamicsError(f"{path}: cannot be read: {error}") from error


def _fixtures(gathered: Gathered) -> Sequence[Fixture]:
    """The recorded calls as they are read back from the file: so the next time gives the same."""
    with _scratch() as path:
        gathered.save(path)
        return Recorded.load([path]).fixtures


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="envace-learn-") as folder:
        yield Path(folder) / _RECORDINGS


def _unknown(toolset: Toolset, calls: Mapping[str, int]) -> Iterator[str]:
    """Raises: FixtureError, where nothing is left to learn from."""
    unknown = sorted(name for name in calls if name not in toolset)
    named = ", ".join(map(repr, unknown[:_NAMED])) + (", …" if len(unknown) > _NAMED else "")
    if not calls:
        raise FixtureError("nothing to learn from: the recordings hold no call of a tool")
    if len(unknown) == len(calls):
        raise FixtureError(f"nothing to learn from: {toolset.name} has none of the tools that were recorded ({named})")
    if unknown:
        left = sum(calls[name] for name in unknown)
        yield f"{counted(left, 'call')} left out: {toolset.name} has no {named}"


def _is_same(path: Path | None, other: Path) -> bool:
    return path is not None and path.exists() and other.exists() and path.samefile(other)


def _says_the_same(made: Path, path: Path) -> bool:
    """Whether a file need not be written; of JSON, also where a person laid it out in another way."""
    if not path.exists():
        return False
    if made.read_bytes() == path.read_bytes():
        return True
    return path.suffix == ".json" and bool(json.loads(made.read_bytes()) == json.loads(path.read_bytes()))


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}")
