"""Tools that act under another name on what their answers show: `apply_voucher(order_id)`, which answers the order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .arguments import Argument
from .groups import Group, Member, Phrase
from .ids import names_thing
from .index import Groups, Phrases
from .outputs import Shape, shape_of
from .owning import has_own_id_in
from .verbs import LOOKS, Sense
from .words import singular, split

__all__ = ["follow_answers"]

_CHANGING: frozenset[Sense] = frozenset({"update", "put", "state", "flag"})
_ALIKE = 0.8
"""How much of two views must agree for them to be of the same kind of thing."""
_FEWEST = 4
"""How many fields a view must have to tell one kind of thing from another."""


def follow_answers(groups: Groups) -> None:
    """Give tools that change things, named after what nothing else speaks for, to the things that they answer."""
    for found in list(groups):
        for member in list(found.members):
            shape = _shown_by(member)
            if shape is None or member.listed:
                continue
            target = _changed(member, shape, found, groups)
            if target is not None:
                found.members.remove(member)
                target.members.append(Member(member.reading, found.noun))
                continue
            noun = _made(member, shape)
            if noun is not None:
                _give(member, noun, found, groups)


def _shown_by(member: Member) -> Shape | None:
    """The one thing that a tool which may change something answers."""
    shape = None if member.reading.read_only else shape_of(member.reading.tool)
    return None if shape is None or shape.many or not shape.fields else shape


def _changed(member: Member, shape: Shape, found: Group, groups: Iterable[Group]) -> Group | None:
    """The other group of which a call names one thing, and answers that thing as the group's own tools show it."""
    reading = member.reading
    if not set(reading.senses) & _CHANGING or any(m.reading.sense in LOOKS for m in found.members):
        return None
    for group in groups:
        named = any(has_own_id_in(argument, group, least=0.95) for argument in reading.required)
        if group is not found and named and any(_alike(shape.fields, view) for view in _views(group)):
            return group
    return None


def _views(group: Group) -> Iterable[Sequence[Argument]]:
    for member in group.members:
        shape = shape_of(member.reading.tool)
        if shape is not None and not member.aspect and not member.listed:
            yield shape.fields


def _alike(one: Sequence[Argument], other: Sequence[Argument]) -> bool:
    names, others = {field.words for field in one}, {field.words for field in other}
    return len(names) >= _FEWEST and len(names & others) >= _ALIKE * len(names | others)


def _made(member: Member, shape: Shape) -> Phrase | None:
    """What a tool makes of which no word says what it does: it writes, and what it answers has an id that the call
    does not give.
    """
    reading = member.reading
    told = set(reading.senses) - {"compute"} or reading.hint("readOnlyHint") is not False
    if told or reading.hint("idempotentHint") or shape.wrap is None:
        return None
    noun = tuple(singular(word) for word in split(shape.wrap))
    ids = [field for field in shape.fields if names_thing(field, frozenset([noun])) >= 0.95]
    given = any(names_thing(argument, frozenset([noun])) >= 0.6 for argument in reading.arguments)
    return noun if ids and not given else None


def _give(member: Member, noun: Phrase, found: Group, groups: Groups) -> None:
    """Make the tool the maker of these things, unless there are other makers."""
    target = next((group for group in groups if noun in group.nouns), None)
    if target is not None and target.makers:
        return
    found.members.remove(member)
    if target is None:
        target = Group(Phrases({noun: 1}), siblings=groups)
        groups.append(target)
    target.members.append(Member(replace(member.reading, elected=("create",))))
