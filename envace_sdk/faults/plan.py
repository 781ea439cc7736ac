"""The plan file: YAML with a list of faults."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from envace_sdk.errors import ExpressionError, FaultError
from envace_sdk.json import Json
from envace_sdk.problems import first_of
from envace_sdk.world.expressions import compile_expression, compile_template
from envace_sdk.yaml import YAMLError, load_yaml

from .kinds import Fault

__all__ = ["FORMAT", "FaultPlan", "fault_plan"]

FORMAT = 1
"""Version of the file format; a file of a newer one is refused."""


class FaultPlan(BaseModel):
    """Faults in the order in which they are looked at."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int = FORMAT
    name: str = "plan"
    """What labels, logs and listings call it; of a file, its name."""
    seed: int | None = None
    """Of all chance in the plan; left out: the world's seed."""
    faults: tuple[Fault, ...] = Field(min_length=1)

    @classmethod
    def parse(cls, text: str, source: str = "plan.yaml") -> Self:
        """Read a plan file's text.

        Raises:
            FaultError: it is not YAML, not of this format, or a field is wrong; the message names file and field.
        """
        try:
            data = load_yaml(text)
        except YAMLError as error:
            raise FaultError(f"{source}: not YAML: {error}") from error
        return cls.from_document({"name": Path(source).stem, **data} if isinstance(data, dict) else data, source)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a plan file. Raises: FaultError as `parse`, and when the file cannot be read."""
        try:
            return cls.parse(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise FaultError(f"{path}: cannot be read: {error}") from error

    @classmethod
    def from_document(cls, data: Json, source: str = "fault plan") -> Self:
        """A plan from plain data. Raises: FaultError as `parse`."""
        if not isinstance(data, Mapping):
            raise FaultError(f"{source}: expected a mapping with a list of `faults`")
        if data.get("format", FORMAT) != FORMAT:
            raise FaultError(f"{source}: format {data['format']!r} is not known; this version reads {FORMAT}")
        try:
            plan = cls.model_validate(dict(data))
        except ValidationError as error:
            raise FaultError(f"{source}: {first_of(map(_explain, error.errors()))}") from error
        plan._compile(source)
        return plan

    def _compile(self, source: str) -> None:
        for position, fault in enumerate(self.faults):
            for name, compiles in (("when", compile_expression), ("text", compile_template)):
                text = getattr(fault, name, None)
                if text is None:
                    continue
                try:
                    compiles(text)
                except ExpressionError as error:
                    raise FaultError(f"{source}: faults[{position}].{name}: {error}") from error

    def unmatched(self, tools: set[str]) -> list[str]:
        """The patterns that no tool of these names matches, each with its place in the plan."""
        return [
            f"faults[{position}].tools: no tool matches {pattern!r}"
            for position, fault in enumerate(self.faults)
            for pattern in fault.tools
            if pattern != "*" and not any(fnmatchcase(name, pattern) for name in tools)
        ]

    def to_document(self) -> dict[str, Json]:
        """Plain data that `from_document` reads; defaults are left out."""
        document = self.model_dump(mode="json", exclude_defaults=True)
        faults = [{"kind": fault.kind, **data} for fault, data in zip(self.faults, document.pop("faults"), strict=True)]
        return {"name": self.name, **document, "faults": faults}

    @property
    def digest(self) -> str:
        """Tells plans apart by what they do, whatever they are called."""
        body = self.model_dump(mode="json", exclude={"name"})
        return hashlib.blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=4).hexdigest()


def fault_plan(source: str | Path | Mapping[str, Any] | FaultPlan | None) -> FaultPlan | None:
    """The plan that is meant: one already, its data, a preset's name, or a file; None for None and "off".

    Raises:
        FaultError: there is no such preset or file, or the plan is wrong.
    """
    from .presets import PRESETS

    if source is None or source == "off" or isinstance(source, FaultPlan):
        return None if source == "off" else source  # type: ignore[return-value]  # what is left are plans
    if isinstance(source, Mapping):
        return FaultPlan.from_document(source)
    if isinstance(source, str) and source in PRESETS:
        return FaultPlan.from_document(PRESETS[source], source)
    path = Path(source)
    if not path.exists():
        raise FaultError(f"{str(source)!r} is neither a file nor a preset (presets: {', '.join(sorted(PRESETS))})")
    return FaultPlan.load(path)


def _explain(error: Any) -> str:
    place = ""
    steps = list(error["loc"])
    for number, step in enumerate(steps):
        # A discriminated union puts the kind between the position and the field.
        if number == 2 and steps[0] == "faults" and isinstance(step, str) and len(steps) > 2:
            continue
        place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else step
    return f"{place or 'file'}: {error['msg'].removeprefix('Value error, ')}"
