"""Gathering the fields of a group's things from all its tools."""

from __future__ import annotations

from collections.abc import Iterator

from .arguments import Argument
from .fields import Fields, is_control
from .groups import Group, Member
from .keys import Key, given_to
from .outputs import entity_fields
from .pairs import is_former, replaced_text
from .terms import BOUNDS, NEW, PAGING, TEXTS
from .words import bag, plural, spell

__all__ = ["known_fields"]

_GENERAL = bag("update edit modify patch change set save put write upsert replace alter amend configure")
"""Verbs whose single argument is a field by its own name; another verb may mean a field that it does not name."""

_RENEWING = NEW | bag("add remove append")


def known_fields(group: Group, key: Key, style: str) -> Fields:
    """All fields that the group's tools speak of: output schemas first, then makers, then changers, then searches."""
    fields = Fields(group.nouns)
    keyed = {id(argument) for arguments in key.given.values() for argument in arguments}
    for shown in entity_fields(group):
        fields.add(shown)
    for part in key.parts:
        if part.argument is not None and not part.argument.is_list:
            fields.add(part.argument, name=part.field)
    for argument in _made(group):
        fields.add(argument, writable=True).made = True
    for member, argument in _changed(group, keyed):
        if fields.find(fields.bare(argument)) is not None or not _is_veiled(member, argument, keyed):
            fields.add(argument, writable=True, loose=True)
    for member in group.members:
        if member.listed and member.reading.sense == "add":
            words = (*member.aspect[:-1], plural(member.aspect[-1])) if member.aspect else ("items",)
            if fields.find(words) is None:
                fields.add(Argument((spell(words, style),), {"type": "array"}, False), writable=True)
    for argument in _searched(group, keyed):
        known = fields.find(fields.bare(argument))
        if known is None or known.is_list == argument.is_list:
            fields.add(argument, loose=True)
    return fields


def _made(group: Group) -> Iterator[Argument]:
    for member in group.members:
        if member.reading.sense in {"create", "add", "put"} and not member.listed and not member.aspect:
            yield from (argument for argument in given_to(member.reading) if not is_control(argument))


def _changed(group: Group, keyed: set[int]) -> Iterator[tuple[Member, Argument]]:
    for member in group.members:
        if member.reading.sense in {"update", "put", "state", "flag"} and not member.listed:
            yield from ((member, argument) for argument in _others(member, keyed))


def _others(member: Member, keyed: set[int]) -> list[Argument]:
    """What a tool gives besides keys; the two texts of a replacement are in a field, but no fields."""
    reading = member.reading
    passing = {id(argument) for argument in replaced_text(reading) or ()}
    return [
        a
        for a in reading.arguments
        if id(a) not in keyed and id(a) not in passing and not is_control(a) and not is_former(a, reading)
    ]


def _is_veiled(member: Member, argument: Argument, keyed: set[int]) -> bool:
    """Whether the argument may mean a field of another name: `assign_ticket(agent)`, `new_title`."""
    renews = argument.words[:1] and argument.words[0] in _RENEWING
    special = member.aspect or member.reading.name.verb not in _GENERAL
    return bool(renews or (special and len(_others(member, keyed)) == 1))


def _searched(group: Group, keyed: set[int]) -> Iterator[Argument]:
    for member in group.members:
        if member.reading.sense in {"search", "read", "count"} and not member.aspect:
            for argument in member.reading.arguments:
                control = is_control(argument, looking=True)
                if id(argument) not in keyed and not control and not _only_searches(argument):
                    yield argument


def _only_searches(argument: Argument) -> bool:
    """Whether a search argument says how to search rather than what a thing has."""
    words, joined = argument.words, "_".join(argument.words)
    if joined in PAGING or joined in TEXTS or argument.is_object or (argument.is_list and not argument.item):
        return True
    if argument.is_flag and set(words) & {"only", "just"}:
        return True
    ends = {words[0], words[-1]} if words else set()
    return bool(ends & BOUNDS) or (len(words) > 1 and words[-1] in {"contains", "like", "query"})
