"""What tools show says what they are about: an output schema that shows the fields of things that others make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .arguments import Argument
from .groups import Group, Member, Phrase
from .ids import STRONG, bare
from .keys import given_to
from .outputs import entity_fields, shape_of
from .owning import has_own_id
from .words import singular, split

__all__ = ["join_views", "shown_group"]

_NAMED, _UNNAMED = 0.5, 0.8
"""How many of the fields must agree where the list bears the things' name, and where it does not."""


def join_views(groups: Sequence[Group]) -> None:
    """Give tools that look, called by a noun that nothing else speaks for, to the things they show: `search_nodes`
    and `read_graph` whose answers list entities.
    """
    for found in groups:
        if found.makers or any(has_own_id(member.reading, found, least=0.9) for member in found.members):
            continue
        for member in list(found.members):
            target = _target(member, found, groups)
            if target is None:
                continue
            found.members.remove(member)
            target.members.append(Member(member.reading))
            if not found.members:
                target.phrases.update(dict.fromkeys(found.phrases, 0))


def _target(member: Member, found: Group, groups: Iterable[Group]) -> Group | None:
    if member.aspect or member.listed or member.reading.sense not in {"read", "search"}:
        return None
    shape = shape_of(member.reading.tool)
    if shape is None or not shape.fields or (shape.wrap and _noun(shape.wrap) in found.nouns):
        return None
    return shown_group(shape.wrap, shape.fields, (group for group in groups if group is not found))


def _noun(name: str) -> Phrase:
    return tuple(singular(word) for word in split(name))


def shown_group(name: str | None, fields: Sequence[Argument], groups: Iterable[Group]) -> Group | None:
    """The group whose things have these fields, shown under a name; None where no group's things are made so."""
    best: tuple[float, Group] | None = None
    for group in groups:
        named = name is not None and _noun(name) in group.nouns
        score = _likeness(fields, group)
        if score >= (_NAMED if named else _UNNAMED) and (best is None or score + named > best[0]):
            best = score + named, group
    return best[1] if best else None


def _likeness(fields: Sequence[Argument], group: Group) -> float:
    """How many of the fields are such as the group's things have, and the other way round; 0 where they are few."""
    if not group.makers:
        return 0.0
    shown = {bare(field.words, group.nouns) for field in fields}
    shown = {words for words in shown if words[-1] not in STRONG or len(shown) == 1} or shown
    given = [argument for member in group.makers for argument in given_to(member.reading)]
    needed = {bare(argument.words, group.nouns) for argument in given if argument.required}
    known = {bare(argument.words, group.nouns) for argument in (*given, *entity_fields(group))}
    if len(shown & known) < 2:
        return 0.0
    return min(len(shown & known) / len(shown), len(shown & needed) / len(needed) if needed else 1.0)
