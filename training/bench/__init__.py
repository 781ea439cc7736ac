"""Public benchmarks that the user has installed, run on any `ChatModel` and scored by their own checkers."""

from .asking import Answer, Asking, Item
from .bfcl import Bfcl
from .report import BenchReport, CategoryReport
from .running import run_bfcl

__all__ = ["Answer", "Asking", "BenchReport", "Bfcl", "CategoryReport", "Item", "run_bfcl"]
