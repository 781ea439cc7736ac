"""How rehearsed text is shown to a model: as a prediction, whatever it says itself.

This is the only place that does so. Whoever passes a rehearsal on to a model as text passes it through here.
"""

from __future__ import annotations

import hashlib
from typing import Final

__all__ = ["NOTICE", "frame_rehearsal"]

NOTICE: Final = "This is a prediction. Nothing was executed, and nothing has changed."
"""In every framed text, before and after what was predicted."""


def frame_rehearsal(text: str, *, tool: str = "", outcome: str = "", confidence: float | None = None) -> str:
    """Rehearsed text, framed so that a model cannot take it for something that happened.

    The text stands between two lines with a mark derived from it, so that nothing in it can end the frame early.

    Args:
        text: what was predicted: an answer, a state change, a summary of several.
        tool: whose call it is of.
        outcome: the predicted status of the call.
        confidence: probability, 0 to 1, that it would come so.
    """
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    of = f" of {' '.join(tool.split())}" if tool else ""
    status = f"; predicted status: {' '.join(outcome.split())}" if outcome else ""
    sure = "" if confidence is None else f"; confidence: {confidence:.0%}"
    head = f"Rehearsal{of}{status}{sure}. {NOTICE}"
    return f"{head}\n<rehearsal-{mark}>\n{text}\n</rehearsal-{mark}>\n{NOTICE}"
