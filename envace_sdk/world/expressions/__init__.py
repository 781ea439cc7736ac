"""CEL expressions over JSON values and the world, and templates that hold them.

The language is CEL as cel-python parses it, with JSON's values (see `values`), the functions in `functions`, and
bounds on time and size that no expression can pass.
"""

from __future__ import annotations

from .expression import Expression, compile_expression
from .failure import AbsentError, ExhaustedError
from .scope import MAX_STEPS, CollectionView, Scope, WorldView
from .template import Template, compile_template
from .values import equal, to_text

__all__ = [
    "MAX_STEPS",
    "AbsentError",
    "CollectionView",
    "ExhaustedError",
    "Expression",
    "Scope",
    "Template",
    "WorldView",
    "compile_expression",
    "compile_template",
    "equal",
    "to_text",
]
