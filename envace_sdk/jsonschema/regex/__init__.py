"""Regular expressions as JSON Schema uses them: which engine matches one, and texts that match.

Schemas in the wild carry ECMA-262 patterns and Python patterns. jsonschema-rs runs the first, in linear time or with
a limit on backtracking; most of the second can be rewritten for it. What cannot is left to Python's `re`, but only
where it cannot run away.
"""

from __future__ import annotations

from .matching import matcher, portable
from .sample import Language, language
from .syntax import PatternError

__all__ = ["Language", "PatternError", "language", "matcher", "portable"]
