"""Things inside the one thing that a catalogue is about, told apart by no id of their own."""

from __future__ import annotations

from dataclasses import replace

from .arguments import Argument
from .groups import Group, Member
from .ids import STRONG
from .reading import Reading
from .words import singular

__all__ = ["fold_inner"]


def fold_inner(groups: list[Group]) -> None:
    """`slot.attach_note(id, note)` puts a note into the slot that `id` names, as it does in `slot.show(id)`, and
    `slot.notes(id)` shows what was put there: the note is given as such, and no tool asks for the id of one.
    """
    for found in list(groups):
        target = _subject(found, groups)
        if target is None or not all(_is_inner(member, found, target) for member in found.members):
            continue
        noun = found.noun
        adders = [member for member in found.members if member.reading.sense in {"add", "create", "put"}]
        if not any(_gives(member.reading, found) for member in adders):
            continue
        for member in found.members:
            member.aspect, member.listed = noun, bool(member.reading.senses) and not _looks(member.reading)
            if not member.reading.senses:
                member.reading = replace(member.reading, elected=("read",))
        target.members += found.members
        found.members = []


def _subject(found: Group, groups: list[Group]) -> Group | None:
    """The group of what all of its tools are named under."""
    owners = {member.reading.name.owner for member in found.members}
    if len(owners) != 1 or not (owner := owners.pop()):
        return None
    inherited = [other for other in groups if other is not found and owner in other.phrases]
    return next((o for o in inherited if any(m.reading.name.inherited for m in o.members)), None)


def _is_inner(member: Member, found: Group, target: Group) -> bool:
    """Whether it names one of the target's things by the same bare key as the target's own tools do."""
    keys = [argument for argument in member.reading.required if _is_bare(argument)]
    theirs = {a.words for m in target.members if m.reading.name.inherited for a in m.reading.required if _is_bare(a)}
    if len(keys) != 1 or keys[0].words not in theirs:
        return False
    return _gives(member.reading, found) or (_looks(member.reading) and len(member.reading.required) == 1)


def _is_bare(argument: Argument) -> bool:
    return len(argument.words) == 1 and argument.words[0] in STRONG


def _gives(reading: Reading, found: Group) -> bool:
    return any(tuple(singular(word) for word in argument.words) in found.nouns for argument in reading.required)


def _looks(reading: Reading) -> bool:
    return reading.sense in {"read", "search"} or (not reading.senses and reading.name.plural)
