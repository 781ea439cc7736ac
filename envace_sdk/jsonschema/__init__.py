"""JSON Schema: validate any value, and generate or complete valid ones."""

from __future__ import annotations

from .dialect import Dialect, dialect
from .generator import complete, generate
from .validator import Schema, Validator, compile_schema
from .violation import Violation, explain

__all__ = ["Dialect", "Schema", "Validator", "Violation", "compile_schema", "complete", "dialect",
           "explain", "generate"]  # fmt: skip
