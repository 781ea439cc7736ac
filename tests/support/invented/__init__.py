"""Invented environments: random and hand-written dynamics, callers that play them, and how alike two worlds answer."""

from .agent import Agent, record
from .agreement import Compared, Share, compare, share
from .environment import Invented, Play
from .generator import FEATURES, invent
from .recording import as_lines, write_case

__all__ = [
    "FEATURES",
    "Agent",
    "Compared",
    "Invented",
    "Play",
    "Share",
    "as_lines",
    "compare",
    "invent",
    "record",
    "share",
    "write_case",
]
