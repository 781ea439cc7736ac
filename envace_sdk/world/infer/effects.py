"""What each tool does to its group's things, decided from its verb, its arguments, its annotations and its siblings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .arguments import Argument
from .fields import Field
from .groups import Member
from .ids import names_thing
from .reading import Reading
from .scene import Scene
from .verbs import Sense
from .words import bag

__all__ = ["Decision", "Kind", "decide", "survey"]

Kind = Literal[
    "create",
    "copy",
    "upsert",
    "read",
    "search",
    "update",
    "state",
    "increase",
    "append",
    "take",
    "delete",
    "clear",
    "count",
    "exists",
    "stats",
    "settings",
    "configure",
    "create_many",
    "read_many",
    "update_many",
    "delete_many",
    "opaque",
]

_CHANGING: frozenset[Sense] = bag("update state flag end increase decrease")
_STATS = bag("stat stats statistic statistics summary metric metrics overview count counts total totals")


@dataclass(frozen=True)
class Decision:
    """What a tool does, how sure that is, and why."""

    kind: Kind
    confidence: float
    reason: str
    lookup: tuple[Argument, Field] | None = None
    """The thing is named by another field of it than its key."""
    batch: Argument | None = None
    """The list that says which things, or holds them."""
    sense: Sense | None = None


def survey(scene: Scene) -> None:
    """Find the makers and removers of the group."""
    candidates = [
        member
        for member in scene.group.members
        if not member.listed
        and not member.aspect
        and not member.reading.read_only
        and member.reading.sense in {"create", "add", "put"}
    ]
    plain = [m for m in candidates if not scene.key.of(m.reading) or not scene.takes_key(m.reading)]
    keyed = [m for m in candidates if m not in plain]
    if plain:
        makers = plain + [m for m in keyed if not set(m.reading.senses) & (_CHANGING | {"put"})]
    else:
        firm = [m for m in keyed if not set(m.reading.senses) & _CHANGING or m.reading.sense == "put"]
        makers = firm or keyed
    scene.makers = frozenset(id(m.reading) for m in makers)
    scene.removers = sum(
        m.reading.sense in {"delete", "remove"} and not m.listed and not m.aspect for m in scene.group.members
    )


def decide(member: Member, scene: Scene) -> Decision:
    """What this tool does."""
    reading = member.reading
    verb = reading.name.verb or reading.telling.verb or "its description"
    tried: set[str] = set()
    for sense in _candidates(member):
        found = _try(sense, member, scene)
        if found is not None:
            sure = found.confidence
            if not reading.name.verb or (sense != reading.senses[0] if reading.senses else True):
                sure -= 0.1
            if member.aspect and not member.listed:
                sure -= 0.05
            return Decision(
                found.kind, round(max(sure, 0.1), 2), f"'{verb}': {found.reason}", found.lookup, found.batch, sense
            )
        tried.add(sense)
    return _by_form(member, scene)


def _candidates(member: Member) -> Iterator[Sense]:
    """The senses to try, in order; annotations rule some out."""
    reading = member.reading
    seen: set[Sense] = set()
    for sense in reading.senses:
        looks = sense in {"read", "search", "count", "exists", "compute"}
        if reading.read_only and not looks:
            continue
        if reading.hint("readOnlyHint") is False and looks and len(reading.senses) > 1 and sense != "compute":
            if any(s not in {"read", "search", "count", "exists", "compute"} for s in reading.senses):
                continue
        if sense not in seen:
            seen.add(sense)
            yield sense
    if reading.read_only:
        yield from (sense for sense in ("read", "search") if sense not in seen)  # type: ignore[misc]


def _try(sense: Sense, member: Member, scene: Scene) -> Decision | None:  # noqa: C901  one line per sense
    reading = member.reading
    if member.listed:
        return _try_listed(sense, member, scene)
    if sense in {"create", "add"}:
        return _try_create(sense, member, scene)
    if sense == "copy":
        return Decision("copy", 0.8, "makes a copy of one that is there") if scene.takes_key(reading) else None
    if sense == "put":
        return _try_put(member, scene)
    if sense == "read":
        return _try_read(member, scene)
    if sense == "search":
        return _try_search(member, scene)
    if sense == "count":
        return Decision("count", 0.8, "counts what a search would find")
    if sense == "exists":
        return Decision("exists", 0.8, "says whether the key is there") if scene.key.of(reading) else None
    if sense == "update":
        return _try_update(member, scene)
    if sense in {"increase", "decrease"}:
        return _try_increase(sense, member, scene)
    if sense in {"state", "flag"}:
        return _try_state(sense, member, scene)
    if sense == "end":
        return _try_end(member, scene)
    if sense in {"delete", "remove"}:
        return _try_delete(member, scene)
    return None


def _try_listed(sense: Sense, member: Member, scene: Scene) -> Decision | None:
    if not scene.key.of(member.reading):
        return None
    noun = " ".join(member.aspect)
    if sense in {"add", "create", "put"}:
        return Decision("append", 0.75, f"puts a {noun} into a list of the {scene.group.head}")
    if sense in {"delete", "remove", "end"}:
        return Decision("take", 0.75, f"takes a {noun} out of a list of the {scene.group.head}")
    return None


def _try_create(sense: Sense, member: Member, scene: Scene) -> Decision | None:
    reading = member.reading
    if member.aspect:
        if scene.takes_key(reading) and sense == "add":
            return Decision("append", 0.6, f"puts something into the {scene.group.head}")
        if scene.takes_key(reading) and scene.makers:
            return None
    if id(reading) not in scene.makers and scene.makers and scene.takes_key(reading):
        return None
    batch = _batch(member, scene, objects=True)
    if batch is not None:
        return Decision("create_many", 0.75, f"makes one for each of '{batch.name}'", batch=batch)
    if reading.read_only:
        return None
    return Decision("create", 0.9 if scene.group.members else 0.7, "makes one")


def _try_put(member: Member, scene: Scene) -> Decision | None:
    reading = member.reading
    if member.aspect and not scene.makers:
        return None
    if scene.key.of(reading):
        others = [number for number in scene.makers if number != id(reading)]
        if others and "update" in reading.senses and scene.takes_key(reading) and reading.name.verb in {"set", "put"}:
            return None
        return Decision("upsert", 0.8, "writes one, there before or not")
    if id(reading) in scene.makers:
        return Decision("create", 0.75, "makes one: it takes no key")
    return None


def _try_read(member: Member, scene: Scene) -> Decision | None:
    reading = member.reading
    if _is_stats(reading):
        return Decision("stats", 0.5, "sums up what is there")
    batch = _batch(member, scene, objects=False)
    if batch is not None:
        return Decision("read_many", 0.75, f"shows those that '{batch.name}' names", batch=batch)
    lookup = _lookup(member, scene)
    if lookup is not None:
        return Decision("read", 0.8, f"shows the one whose {lookup[1].name} is given", lookup=lookup)
    if scene.key.of(reading) and (scene.takes_key(reading) or not reading.name.plural):
        if member.aspect and scene.readers() and scene.fields.find(member.aspect) is None:
            return Decision("opaque", 0.3, f"shows {' '.join(member.aspect)}, of which no other tool speaks")
        return Decision("read", 0.9, f"shows the one that '{scene.key.of(reading)[-1].name}' names")
    if _is_settings(member, scene):
        return Decision("settings", 0.6, "shows the only one there is")
    return None


def _try_search(member: Member, scene: Scene) -> Decision | None:
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
    if reading.name.by and not reading.name.plural and (lookup := _lookup(member, scene)) is not None:
        return Decision("read", 0.75, f"shows the one whose {lookup[1].name} is given", lookup=lookup)
    known = bool(scene.makers) or reading.sense in {"search", "read"}
    if not known:
        return None
    if reading.sense == "read" and not reading.name.plural and not scene.makers:
        return None
    return Decision("search", 0.9 if reading.sense == "search" or reading.name.plural else 0.7, "lists many")


def _try_update(member: Member, scene: Scene) -> Decision | None:
    reading = member.reading
    batch = _batch(member, scene, objects=False) or _batch(member, scene, objects=True)
    if batch is not None:
        return Decision("update_many", 0.7, f"changes each of '{batch.name}'", batch=batch)
    if scene.key.of(reading):
        if not scene.others(reading) and not member.aspect and not reading.name.aims:
            return None
        if not scene.makers and "put" in reading.senses:
            return None
        return Decision("update", 0.9, "changes the fields it is given")
    lookup = _lookup(member, scene)
    if lookup is not None:
        return Decision("update", 0.7, f"changes the one whose {lookup[1].name} is given", lookup=lookup)
    if not scene.makers and not scene.key.given and not reading.name.plural | bool(member.aspect):
        return Decision("configure", 0.6, "changes the only one there is")
    if not scene.makers and not scene.key.given:
        return Decision("configure", 0.6, "changes the only one there is")
    return None


def _try_increase(sense: Sense, member: Member, scene: Scene) -> Decision | None:
    reading = member.reading
    numeric = [argument for argument in scene.others(reading) if argument.is_number or not argument.types]
    if scene.key.of(reading) and len(numeric) <= 1:
        return Decision("increase", 0.7, "adds to a number" if sense == "increase" else "takes from a number")
    return None


def _try_state(sense: Sense, member: Member, scene: Scene) -> Decision | None:
    if not scene.key.of(member.reading):
        return None
    if id(member.reading) in scene.makers:
        return None
    what = "sets its status" if sense == "state" else "sets a flag"
    return Decision("state", 0.75, what)


def _try_end(member: Member, scene: Scene) -> Decision | None:
    """A last step sets a status where there is one, or where another tool removes; else it removes."""
    reading = member.reading
    if not scene.key.of(reading):
        return None
    told = reading.telling.text
    gone = any(word in told for word in ("delete", "remove", "permanent", "erase"))
    kept = any(word in told for word in ("mark", "status", "set to", "state to", "as cancel", "as clos", "keeps"))
    from .states import status_value

    if kept or (status_value(reading.name.verb, reading, scene.fields) is not None and not gone):
        return Decision("state", 0.8, "there is a status for it")
    if scene.removers and not gone:
        return Decision("state", 0.7, "another tool removes")
    return Decision("delete", 0.75, "no status is known for it, and no other tool removes")


def _try_delete(member: Member, scene: Scene) -> Decision | None:
    reading = member.reading
    batch = _batch(member, scene, objects=False) or _batch(member, scene, objects=True)
    if batch is not None:
        return Decision("delete_many", 0.75, f"removes each of '{batch.name}'", batch=batch)
    if scene.key.of(reading):
        if member.aspect and scene.fields.find(member.aspect) is not None:
            return Decision("update", 0.6, f"unsets its {' '.join(member.aspect)}")
        return Decision("delete", 0.9, "removes one")
    lookup = _lookup(member, scene)
    if lookup is not None:
        return Decision("delete", 0.75, f"removes the one whose {lookup[1].name} is given", lookup=lookup)
    if not [argument for argument in reading.required if not argument.is_flag] and (
        reading.name.plural or not scene.key.given or reading.name.verb in {"clear", "purge", "flush", "wipe"}
    ):
        return Decision("clear", 0.6, "removes all")
    return None


def _lookup(member: Member, scene: Scene) -> tuple[Argument, Field] | None:
    """The argument that names a thing by another field than its key: `find_customer_by_email(email)`."""
    reading = member.reading
    found = scene.key.lookups.get(id(reading))
    if found is not None:
        field = scene.fields.find(scene.fields.bare(found))
        if field is not None:
            return found, field
    return None


def _batch(member: Member, scene: Scene, *, objects: bool) -> Argument | None:
    """The list on which a tool works one by one: of objects (to make), or of keys."""
    reading = member.reading
    if scene.takes_key(reading):
        return None
    lists = [argument for argument in reading.required if argument.is_list]
    if len(lists) != 1:
        optional = [argument for argument in reading.arguments if argument.is_list and not reading.required]
        if len(reading.arguments) != 1 or len(optional) != 1:
            return None
        lists = optional
    found = lists[0]
    scalars = [a for a in reading.required if a is not found and a.is_scalar]
    item = Argument((*found.path, "item"), found.item, True)
    named = bare_plural(found, scene)
    if objects:
        whole = item.is_object and isinstance(found.item.get("properties"), dict)
        return found if whole and not scalars and (named or len(reading.arguments) == 1) else None
    return found if item.is_scalar and not item.is_object and not item.is_list and named else None


def bare_plural(found: Argument, scene: Scene) -> bool:
    """Whether a list's name says that it holds such things, or their keys."""
    stand_in = Argument((*found.path[:-1], found.name), {"type": "string"}, found.required)
    generic = set(found.words) <= bag("items records entries objects elements rows batch list data")
    return (
        generic
        or names_thing(stand_in, scene.group.nouns) >= 0.6
        or scene.fields.bare(found)[-1:] == (f"{scene.key.own.words[-1]}s",)
    )


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


def _by_form(member: Member, scene: Scene) -> Decision:
    """What arguments and annotations suggest where no word does."""
    reading = member.reading
    takes = scene.takes_key(reading)
    if member.listed or "compute" in reading.senses:
        return Decision("opaque", 0.2, "nothing says what it does")
    if takes and reading.read_only:
        return Decision("read", 0.5, "it is read-only and takes the key")
    if takes and reading.hint("destructiveHint") and not scene.others(reading):
        return Decision("delete", 0.5, "it is destructive and takes the key only")
    if takes and scene.makers and not reading.senses:
        known = [a for a in scene.others(reading) if scene.fields.find(scene.fields.bare(a)) is not None]
        if known:
            return Decision("update", 0.45, "it takes the key and fields of the thing")
        if not scene.others(reading) and reading.name.verb:
            return Decision("state", 0.3, f"'{reading.name.verb}' is taken for a step in its life", sense="state")
    if not takes and not scene.makers and not reading.read_only and not reading.senses and len(reading.required) > 0:
        if scene.readers() and not scene.key.of(reading):
            return Decision("create", 0.4, "nothing else makes these, and it takes no key")
    return Decision("opaque", 0.2, "nothing says what it does")
