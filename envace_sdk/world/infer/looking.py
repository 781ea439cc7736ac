"""Whether a tool shows one thing or lists many."""

from __future__ import annotations

from .batches import batch_of, lookup_of
from .decision import Decision
from .groups import Member
from .reading import Reading
from .scene import Scene
from .terms import BOUNDS, PAGING, TEXTS
from .words import bag

__all__ = ["missing_look", "try_read", "try_search"]

_TRAILS = bag("history timeline feed")
_STATS = bag("stat stats statistic statistics summary metric metrics overview count counts total totals")


def try_read(member: Member, scene: Scene) -> Decision | None:
    """Whether it shows one, or what is known of several."""
    reading = member.reading
    if _is_stats(reading):
        return Decision("stats", 0.5, "sums up what is there")
    batch = batch_of(member, scene, objects=False)
    if batch is not None:
        return Decision("read_many", 0.75, f"shows those that '{batch.name}' names", batch=batch)
    lookup = lookup_of(member, scene)
    if lookup is not None:
        return Decision("read", 0.8, f"shows the one whose {lookup[1].name} is given", lookup=lookup)
    if reading.name.tail in _TRAILS and scene.key.of(reading):
        return Decision("opaque", 0.3, f"shows a {reading.name.tail}, of which no other tool speaks")
    if scene.key.of(reading) and not scene.takes_key(reading) and not scene.makers:
        return Decision("opaque", 0.3, "it shows something also without a key, of which no other tool speaks")
    if scene.key.of(reading) and (scene.takes_key(reading) or not reading.name.plural):
        if member.aspect and scene.readers() and scene.fields.find(member.aspect) is None:
            return Decision("opaque", 0.3, f"shows {' '.join(member.aspect)}, of which no other tool speaks")
        return Decision("read", 0.9, f"shows the one that '{scene.key.of(reading)[-1].name}' names")
    if _is_settings(member, scene):
        return Decision("settings", 0.6, "shows the only one there is")
    return None


def try_search(member: Member, scene: Scene) -> Decision | None:
    """Whether it lists many."""
    reading = member.reading
    if member.aspect:
        return None
    narrow = [argument for argument in reading.required if not argument.is_list]
    if (
        "read" in reading.senses
        and not reading.name.plural
        and scene.takes_key(reading)
        and len(narrow) == len(reading.arguments) == len(scene.key.parts)
    ):
        return Decision("read", 0.8, f"shows the one that '{scene.key.of(reading)[-1].name}' names")
    if "read" in reading.senses and not reading.name.plural and scene.key.of(reading) and not scene.readers():
        listers = [m for m in scene.group.members if m.reading.sense == "search" and m.reading.name.plural]
        if listers and not reading.required:
            return Decision("read", 0.65, "shows one: another tool lists them")
    if reading.name.by and not reading.name.plural and (lookup := lookup_of(member, scene)) is not None:
        return Decision("read", 0.75, f"shows the one whose {lookup[1].name} is given", lookup=lookup)
    if reading.name.verb == "list" and not reading.name.plural and scene.takes_key(reading):
        return Decision("opaque", 0.3, "lists what is in one, of which no other tool speaks")
    known = bool(scene.makers) or reading.sense in {"search", "read"}
    if not known:
        return None
    if reading.sense == "read" and not reading.name.plural and not scene.makers:
        return None
    return Decision("search", 0.9 if reading.sense == "search" or reading.name.plural else 0.7, "lists many")


def _is_stats(reading: Reading) -> bool:
    named = (set(reading.name.noun) | {word for _, words in reading.name.aims for word in words}) & _STATS
    raw = set(reading.tool.name.lower().replace("-", "_").split("_"))
    return bool(named or raw & _STATS & {"stats", "statistics", "metrics"}) and not reading.required


def _is_settings(member: Member, scene: Scene) -> bool:
    """Whether there is only one such thing: it is read and changed without a key, and never made."""
    if scene.makers or scene.key.given or member.reading.required:
        return False
    return any(
        other.reading.sense in {"update", "put"} and not scene.key.of(other.reading) for other in scene.group.members
    )


def missing_look(member: Member, scene: Scene) -> Decision | None:
    """A tool of which no word says what it does may be the one that shows things, or lists them, if the things are
    made and nothing else does.
    """
    reading = member.reading
    if reading.senses or not scene.makers or reading.hint("destructiveHint") or reading.hint("readOnlyHint") is False:
        return None
    siblings = [m.reading for m in scene.group.members if m is not member]
    others = scene.others(reading)
    if scene.takes_key(reading) and not others:
        shown = any(other.sense == "read" and scene.takes_key(other) for other in siblings)
        alike = any(not other.senses and scene.takes_key(other) and not scene.others(other) for other in siblings)
        return None if shown or alike else Decision("read", 0.4, "it takes the key alone, and no other tool shows one")
    listed = any(other.sense == "search" for other in siblings)
    if reading.required or scene.key.of(reading) or listed:
        return None
    paged = {id(argument) for argument in reading.arguments if "_".join(argument.words) in PAGING | TEXTS}
    known = all(id(a) in paged or scene.field(a) is not None or set(a.words) & BOUNDS for a in others)
    return Decision("search", 0.4, "it asks for no one thing, and no other tool lists them") if known else None
