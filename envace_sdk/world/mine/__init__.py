"""Mining: the dynamics of a toolset, learned from recordings of the real one without a language model."""

from __future__ import annotations

from .learning import Result, learn

__all__ = ["Result", "learn"]
