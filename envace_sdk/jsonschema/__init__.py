"""JSON Schema: validate any value, and generate or complete valid ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .dialect import Dialect, dialect
from .validator import Schema, Validator, compile_schema
from .violation import Violation, explain

if TYPE_CHECKING:
    from .generator import complete, generate

__all__ = [
    "Dialect",
    "Schema",
    "Validator",
    "Violation",
    "compile_schema",
    "complete",
    "dialect",
    "explain",
    "generate",
]


def __getattr__(name: str) -> Any:
    """The generator, loaded when first asked for: many only validate."""
    if name in {"complete", "generate"}:
        from . import generator

        globals().update(complete=generator.complete, generate=generator.generate)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
