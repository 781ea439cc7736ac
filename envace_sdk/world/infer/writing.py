"""Whether a tool makes, changes or removes things, and how."""

from __future__ import annotations

from .arguments import Argument, fields_of
from .batches import batch_of, lookup_of
from .creates import matched
from .decision import Decision
from .fields import STATUS
from .groups import Member
from .inlays import inlay_of
from .pairs import replaced_text
from .reading import Reading
from .replacing import replaced_field
from .scene import Scene
from .states import flag_of, forms, status_value
from .terms import NEW, OLD
from .verbs import Sense, opposite
from .words import bag

__all__ = [
    "is_missing_removal",
    "try_create",
    "try_delete",
    "try_end",
    "try_increase",
    "try_listed",
    "try_put",
    "try_state",
    "try_update",
]

_REASONS = bag("reason note comment message why justification explanation")
_DELTAS = bag("delta diff difference change adjustment increment by")


def try_listed(sense: Sense, member: Member, scene: Scene) -> Decision | None:
    """Whether it puts something into a list of a thing, or takes it out."""
    noun = " ".join(member.aspect)
    inlay = inlay_of(member.reading, scene.group.nouns) if len(scene.key.parts) == 1 else None
    if inlay is not None and sense in {"delete", "remove", "end"}:
        return Decision(
            "take_many", 0.75, f"takes {noun} out of a list of each {scene.noun} it names", None, inlay.batch
        )
    if inlay is not None and sense in {"add", "create", "put", "update"}:
        return Decision(
            "append_many", 0.75, f"puts {noun} into a list of each {scene.noun} it names", None, inlay.batch
        )
    if not scene.key.of(member.reading):
        return None
    if sense in {"add", "create", "put"}:
        return Decision("append", 0.75, f"puts a {noun} into a list of the {scene.group.head}")
    if sense in {"delete", "remove", "end"}:
        return Decision("take", 0.75, f"takes a {noun} out of a list of the {scene.group.head}")
    return None


def try_create(sense: Sense, member: Member, scene: Scene) -> Decision | None:
    """Whether it makes one, or many."""
    reading = member.reading
    if member.aspect:
        if scene.takes_key(reading) and sense == "add":
            return Decision("append", 0.6, f"puts something into the {scene.group.head}")
        if scene.takes_key(reading) and scene.makers:
            return None
    if id(reading) not in scene.makers and scene.makers and scene.takes_key(reading):
        return None
    if id(reading) not in scene.makers and scene.makers and batch_of(member, scene, objects=False) is not None:
        return None  # it is given keys of things that are there
    batch = batch_of(member, scene, objects=True)
    if batch is not None:
        return Decision("create_many", 0.75, f"makes one for each of '{batch.name}'", batch=batch)
    if reading.read_only:
        return None
    return Decision("create", 0.9 if scene.group.members else 0.7, "makes one")


def try_put(member: Member, scene: Scene) -> Decision | None:
    """Whether it writes one that may be there or not."""
    reading = member.reading
    if member.aspect and not scene.makers:
        return None
    if scene.key.of(reading):
        others = [number for number in scene.makers if number != id(reading)]
        if others and "update" in reading.senses and scene.takes_key(reading) and reading.name.verb in {"set", "put"}:
            return None
        return Decision("upsert", 0.8, "writes one, there before or not")
    if id(reading) in scene.makers and matched(reading, scene):
        names = ", ".join(f"'{argument.name}'" for argument in matched(reading, scene))
        return Decision("upsert", 0.7, f"finds the one with this {names}, or makes it")
    if id(reading) in scene.makers:
        return Decision("create", 0.75, "makes one: it takes no key")
    return None


def try_update(member: Member, scene: Scene) -> Decision | None:
    """Whether it changes given fields."""
    reading = member.reading
    batch = batch_of(member, scene, objects=False) or batch_of(member, scene, objects=True)
    if batch is not None:
        return Decision("update_many", 0.7, f"changes each of '{batch.name}'", batch=batch)
    if scene.key.of(reading):
        return _update_of_one(member, scene)
    lookup = lookup_of(member, scene)
    if lookup is not None:
        return Decision("update", 0.7, f"changes the one whose {lookup[1].name} is given", lookup=lookup)
    if not scene.makers and not scene.key.given and _is_shown_alone(member, scene):
        return Decision("configure", 0.6, "changes the only one there is")
    return None


def _is_shown_alone(member: Member, scene: Scene) -> bool:
    """Whether a tool shows the thing without asking which: `get_settings`, beside `update_settings(theme)`."""
    others = [m.reading for m in scene.group.members if m is not member]
    return any(reading.sense == "read" and not reading.required for reading in others)


def _update_of_one(member: Member, scene: Scene) -> Decision | None:
    reading = member.reading
    others = scene.others(reading)
    if replaced_text(reading) is not None:
        if replaced_field(scene) is None:
            return Decision("opaque", 0.3, "it edits a text in place, of which nothing is known")
        return Decision("replace", 0.7, "puts one text in the place of another")
    if any(_replaces(argument, reading) for argument in others):
        return Decision("opaque", 0.3, "it edits a text in place, of which nothing is known")
    if not others and not member.aspect and not reading.name.aims:
        undone = opposite(reading.name.verb)
        if undone and any(m.reading.name.verb == undone and scene.others(m.reading) for m in scene.group.members):
            return Decision("update", 0.7, f"takes back what '{undone}' gives")
        if reading.name.verb == "toggle" and sum(field.is_flag for field in scene.fields) == 1:
            return Decision("state", 0.7, "turns the only flag there is")
        return None
    if not scene.makers and "put" in reading.senses:
        return None
    if any(a.is_number and a.words[-1:] and a.words[-1] in _DELTAS and scene.field(a) is None for a in others):
        return Decision("increase", 0.75, "adds the difference it is given to a number")
    return Decision("update", 0.9, "changes the fields it is given")


def _replaces(argument: Argument, reading: Reading) -> bool:
    """Whether it is a list of replacements: elements of an old and a new text."""
    if not argument.is_list:
        return False
    words = [member.words for member in fields_of(argument.item, reading.tool.input_schema)]
    olds = {found[1:] for found in words if len(found) > 1 and found[0] in OLD}
    return any(found[0] in NEW and found[1:] in olds for found in words)


def try_increase(sense: Sense, member: Member, scene: Scene) -> Decision | None:
    """Whether it adds to a number, or takes from it."""
    reading = member.reading
    numeric = [argument for argument in scene.others(reading) if argument.is_number or not argument.types]
    if not numeric and len(reading.senses) > 1:
        return None
    if scene.key.of(reading) and len(numeric) <= 1:
        return Decision("increase", 0.7, "adds to a number" if sense == "increase" else "takes from a number")
    return None


def try_state(sense: Sense, member: Member, scene: Scene) -> Decision | None:
    """Whether it takes a thing a step further in its life."""
    if not scene.key.of(member.reading):
        return None
    if id(member.reading) in scene.makers:
        return None
    if member.reading.name.verb in {"validate", "verify"} and not _leaves_a_mark(member, scene):
        return None
    if _is_told_gone(member.reading) and not scene.removers and not _speaks_of_status(scene):
        return Decision("delete", 0.6, "it is told to remove, and no other tool does")
    what = "sets its status" if sense == "state" else "sets a flag"
    return Decision("state", 0.75, what)


def _leaves_a_mark(member: Member, scene: Scene) -> bool:
    """Whether looking a thing over is kept: a status or a flag for it is known, or it is said so."""
    verb, told = member.reading.name.verb, member.reading.telling.text
    known = status_value(verb, member.reading, scene.fields) is not None or flag_of(verb, scene.fields) is not None
    return known or any(word in told for word in ("mark", "status", " set", "as verified", "as valid"))


def try_end(member: Member, scene: Scene) -> Decision | None:
    """A last step sets a status where there is one, or where another tool removes; else it removes."""
    reading = member.reading
    if not scene.key.of(reading):
        return None
    told, gone = reading.telling.text, _is_told_gone(reading)
    kept = any(word in told for word in ("mark", "status", "set to", "state to", "as cancel", "as clos", "keeps"))
    if kept or (status_value(reading.name.verb, reading, scene.fields) is not None and not gone):
        return Decision("state", 0.8, "there is a status for it")
    if scene.removers and not gone:
        return Decision("state", 0.7, "another tool removes")
    if not gone and _asked_for(reading.name.verb, scene):
        return Decision("state", 0.7, "a search asks for such")
    return Decision("delete", 0.75, "no status is known for it, and no other tool removes")


def _asked_for(verb: str, scene: Scene) -> bool:
    """Whether a search speaks of things to which this was done: `include_closed`, `cancelled`."""
    done = {form[-1] for form in forms(verb) if form[-1] != verb}
    looks = (m.reading for m in scene.group.members if m.reading.sense in {"search", "count", "read"})
    return any(argument.is_flag and argument.words[-1] in done for reading in looks for argument in reading.arguments)


def is_missing_removal(member: Member, scene: Scene) -> bool:
    """Whether a tool of which no word says what it does is the removal that its siblings lack: it takes no more than
    the key and a reason, things are made, shown and changed by others, and nothing speaks of a step in their life.
    """
    reading = member.reading
    others = [argument for argument in scene.others(reading) if not set(argument.words) & _REASONS]
    if others or not scene.makers or scene.removers or not reading.name.verb:
        return False
    if reading.hint("destructiveHint") or _is_told_gone(reading):
        return True
    if reading.telling.text or reading.hint("destructiveHint") is False or _speaks_of_status(scene):
        return False
    siblings = [m.reading for m in scene.group.members if m is not member and not m.aspect]
    shown = [other for other in siblings if not other.senses and not other.name.verb and scene.takes_key(other)]
    alike = any(
        not other.senses and scene.takes_key(other) and not scene.others(other) and other not in shown
        for other in siblings
    )
    seen = {other.sense for other in siblings} | ({"read"} if len(shown) == 1 else set())
    for other in siblings:  # what no word tells, its arguments may
        if not other.senses and not other.required:
            seen.add("search")
        elif not other.senses and scene.takes_key(other) and scene.others(other):
            seen.add("update")
    ends = any("end" in other.senses for other in siblings)
    return {"read", "search"} <= seen and bool(seen & {"update", "put"}) and not alike and not ends


def _speaks_of_status(scene: Scene) -> bool:
    if scene.fields.status is not None:
        return True
    words = [m.aspect for m in scene.group.members]
    words += [argument.words for m in scene.group.members for argument in m.reading.arguments]
    return any(found[-1] in STATUS for found in words if found)


def _is_told_gone(reading: Reading) -> bool:
    """Whether the description says that the thing is no more."""
    gone = ("delete", "remove", "permanent", "erase", "discard", "for good", "irrevers")
    return any(word in reading.telling.text for word in gone)


def try_delete(sense: Sense, member: Member, scene: Scene) -> Decision | None:
    """Whether it removes one, many or all."""
    reading = member.reading
    if sense == "remove" and "delete" not in reading.senses and not _is_told_gone(reading):
        simple = scene.takes_key(reading) and not scene.others(reading)
        return Decision("state", 0.5, "it is taken for a step in its life") if simple else None
    batch = batch_of(member, scene, objects=False) or batch_of(member, scene, objects=True)
    if batch is not None:
        return Decision("delete_many", 0.75, f"removes each of '{batch.name}'", batch=batch)
    if id(reading) in scene.soft and scene.takes_key(reading):
        return Decision("state", 0.7, "it keeps the thing, marked as removed", sense="flag")
    if scene.key.of(reading):
        if member.aspect and scene.fields.find(member.aspect) is not None:
            return Decision("update", 0.6, f"unsets its {' '.join(member.aspect)}")
        return Decision("delete", 0.9, "removes one")
    lookup = lookup_of(member, scene)
    if lookup is not None:
        return Decision("delete", 0.75, f"removes the one whose {lookup[1].name} is given", lookup=lookup)
    asked = [argument for argument in scene.others(reading) if not argument.is_flag]
    all_of_them = reading.name.plural or not scene.key.given or reading.name.verb in {"clear", "purge", "flush", "wipe"}
    if asked and reading.name.plural:
        known = all(a.is_scalar and (field := scene.field(a)) is not None and field.writable for a in asked)
        return Decision("clear", 0.55, "removes those that are as asked") if known else None
    if all_of_them and not any(argument.required for argument in asked):
        return Decision("clear", 0.6, "removes all")
    return None
