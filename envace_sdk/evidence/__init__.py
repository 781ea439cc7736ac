"""Where an answer came from: canonical hashes, the label on every result, and the frame around rehearsed text."""

from .canonical import canonical, digest
from .framing import NOTICE, frame_rehearsal
from .label import (
    KEY,
    PREFIX,
    Claimed,
    Evidence,
    Observed,
    Rehearsed,
    label,
    read_label,
    says_rehearsed,
    strip,
    strip_blocks,
    strip_result,
)
from .secrets import install_key, keyed_redactor

__all__ = [
    "KEY",
    "NOTICE",
    "PREFIX",
    "Claimed",
    "Evidence",
    "Observed",
    "Rehearsed",
    "canonical",
    "digest",
    "frame_rehearsal",
    "install_key",
    "keyed_redactor",
    "label",
    "read_label",
    "says_rehearsed",
    "strip",
    "strip_blocks",
    "strip_result",
]
