"""Which group's things an argument identifies."""

from __future__ import annotations

from .arguments import Argument
from .groups import Group
from .ids import before_id, id_noun, names_thing
from .index import Groups
from .reading import Reading
from .words import singular

__all__ = ["has_own_id", "has_own_id_in", "owner_of", "owners_of"]


def owner_of(argument: Argument, groups: Groups, own: Group | None = None) -> Group | None:
    """The other group whose things an argument identifies (`ticket_id`, or `id` that is "the ticket's id")."""
    noun = id_noun(argument.words, weak=True)
    if noun is None and len(argument.words) == 1 and argument.is_scalar:
        found = groups.names.joined(before_id(argument.words[0]), own)
        if found is not None:
            return found  # ticketid
    if noun is None:
        noun = tuple(singular(word) for word in argument.words) if argument.is_scalar else None
    if noun:
        return groups.names.called(noun, own)
    if noun == () and own is not None and argument.description:
        words = {singular(word) for word in argument.description.lower().replace("'s", "").split()}
        if not any(phrase[-1] in words for phrase in own.nouns):
            return groups.names.headed(words, own)
    return None


def has_own_id(reading: Reading, found: Group, *, least: float = 0.6) -> bool:
    """Whether a tool takes what may be the id of one of the group's things."""
    return any(has_own_id_in(argument, found, least=least) for argument in reading.arguments)


def has_own_id_in(argument: Argument, found: Group, *, least: float = 0.6) -> bool:
    """Whether an argument may be the id of one of the group's things."""
    return names_thing(argument, found.nouns) >= least and owner_of(argument, found.siblings, found) is None


def owners_of(reading: Reading, own: Group) -> list[Group]:
    """The groups whose things every call of the tool names, besides its own."""
    found = (owner_of(argument, own.siblings, own) for argument in reading.required)
    return [owner for owner in found if owner is not None]
