"""Answers after precedents: in the form in which the real server answered calls like this one.

`cases` are recorded calls, each in its `scene`: the arguments, and the `events` before it, of which `features` are what
situations can share. From them are learned, tool by tool in a `book` and for all tools in the `commons`: when calls
fail, how, and when an answer is given again (`tree`, over `forms` of answers); which case is most like a call
(`likeness`); which values of an answer come from the call or from earlier ones (`origins`, `explained`), and which are
made anew (`fresh`). Texts that show things line by line (`sheet`, with its `frames`) are followed on `boards`: what
other calls do to them (`moves`) is learned, and tells more of what calls are answered. `archive` puts it together: it
chooses a precedent, has it told again (`retell`), and says how far that can be trusted (`trust`). `journal` keeps what
happened in a world, and `rehearser` is the layer of the ladder.
"""

from __future__ import annotations

from .events import call_key, leaves
from .origins import is_distinctive
from .rehearser import Precedents

__all__ = ["Precedents", "call_key", "is_distinctive", "leaves"]
