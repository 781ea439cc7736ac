"""Removals that keep the thing, marked as removed, so that it can be restored."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .arguments import Argument
from .groups import Group, Member
from .words import bag, spell

if TYPE_CHECKING:
    from .scene import Scene

__all__ = ["RESTORING", "keeps_removed", "removed_flag"]

RESTORING = bag("restore undelete recover")
_TOLD = re.compile(
    r"\bsoft[- ]?delet"
    r"|\bmark(?:s|ed|ing)?\b[^.;]{0,40}\bas (?:deleted|removed)\b"
    r"|\bcan (?:later )?be (?:restored|undeleted|recovered)\b"
    r"|\b(?:to|in|into) (?:the )?(?:trash|recycle bin|bin)\b"
)
_FINAL = re.compile(r"\bpermanent|\bforever\b|\bfor good\b|\birrevers|\bhard[- ]?delet|\bpurge")


def keeps_removed(member: Member, group: Group) -> bool:
    """Whether a removal only marks the thing: by its description, or since another tool takes it back."""
    reading = member.reading
    if reading.name.verb in RESTORING or _FINAL.search(reading.telling.text):
        return False
    if _TOLD.search(reading.telling.text):
        return True
    verbs = {other.reading.name.verb for other in group.members if not other.listed}
    removals = [m for m in group.members if m.reading.sense == "delete" and not m.listed and not m.aspect]
    return bool(verbs & RESTORING) and "archive" not in verbs and removals == [member]


def removed_flag(scene: Scene) -> str:
    """The field that says that a thing is removed."""
    found = scene.fields.find(("deleted",))
    if found is None or not found.is_flag:
        found = scene.fields.add(Argument((spell(("deleted",), scene.style),), {"type": "boolean"}, False))
    return found.name
