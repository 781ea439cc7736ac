"""Where an answer came from: canonical hashes and the label on every result."""

from .canonical import canonical, digest
from .label import (
    KEY,
    PREFIX,
    Claimed,
    Evidence,
    Observed,
    Rehearsed,
    label,
    read_label,
    strip,
    strip_blocks,
    strip_result,
)

__all__ = [
    "KEY",
    "PREFIX",
    "Claimed",
    "Evidence",
    "Observed",
    "Rehearsed",
    "canonical",
    "digest",
    "label",
    "read_label",
    "strip",
    "strip_blocks",
    "strip_result",
]
