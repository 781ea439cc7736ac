"""Explaining values: the smallest expressions of the rule language that give them, from examples alone.

Each family of hypotheses is a module: `copies`, `arithmetic`, `concatenation`, `objects` and so on. They work on a
`Table`, whose rows are examples and whose columns are the values of expressions (`Term`), computed by the language's
own functions; what a family finds is checked once more by the evaluator, on all examples.
"""

from __future__ import annotations

from .example import Example, Explanation
from .explaining import Explainer, explain

__all__ = ["Example", "Explainer", "Explanation", "explain"]
