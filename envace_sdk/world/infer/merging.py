"""Groups that turn out to be one, and parts that are kept inside a thing."""

from __future__ import annotations

from .answered import follow_answers
from .groups import MAKING, Group, Member, Phrase
from .ids import STRONG, WEAK, names_thing
from .index import Groups
from .inlays import fold_inlays
from .makers import elect_makers, find_makers, join_strays
from .owning import has_own_id, has_own_id_in, owner_of, owners_of
from .reading import Reading
from .verbs import Sense
from .views import join_views
from .words import singular

__all__ = ["merge"]

_PARTS: frozenset[Sense | None] = frozenset({"add", "remove", "delete"})


def merge(groups: Groups) -> None:
    """Join, move and fold in place."""
    _join_keys(groups)
    _move_parts(groups)
    follow_answers(groups)
    _follow_keys(groups)
    join_views(groups)
    fold_inlays(groups)
    find_makers(groups)
    join_strays(groups)
    _fold_lists(groups)
    elect_makers(groups)
    groups[:] = [found for found in groups if found.members]


def _move(member: Member, source: Group, target: Group, aspect: Phrase = ()) -> None:
    source.members.remove(member)
    target.members.append(Member(member.reading, aspect, member.listed))


def _join_keys(groups: list[Group]) -> None:
    """`list_keys` lists what `get_value(key)` gets: a group named like the key of another is the same."""
    for found in list(groups):
        if len(found.noun) != 1 or found.head not in STRONG | WEAK or found.makers:
            continue
        for other in groups:
            if other is not found and any(
                argument.words == found.noun for member in other.members for argument in member.reading.required
            ):
                noun = found.noun
                other.absorb(found)
                other.phrases[noun] = 0
                break


def _move_parts(groups: list[Group]) -> None:
    """What is put into a thing (`add_product_to_cart`) is a matter of that thing, where the call names both."""
    for found in list(groups):
        for member in list(found.members):
            reading = member.reading
            if reading.sense not in {"add", "remove", "delete", "update"} or reading.name.verb in {"create", "delete"}:
                continue
            target = _aim(reading, found)
            if target is None or not (has_own_id(reading, found) or _named_alone(reading, found)):
                continue
            if reading.sense == "update" and not _keeps(target, found):
                continue
            if reading.sense != "update" and _has_lister(found, target):
                continue
            member.listed = reading.sense != "update"
            _move(member, found, target, found.noun if member.listed else ())


def _aim(reading: Reading, found: Group) -> Group | None:
    """The other group of which the call names one thing, and to which the tool's name points."""
    owners = owners_of(reading, found)
    for preposition, words in reading.name.aims:
        if preposition in {"to", "from", "into", "in", "on", "onto", "with"} and words:
            phrase = tuple(singular(word) for word in words)
            for owner in owners:
                if phrase in owner.nouns or phrase[-1:] in owner.nouns:
                    return owner
    return owners[0] if reading.sense == "update" and len(owners) == 1 else None


def _named_alone(reading: Reading, found: Group) -> bool:
    """Whether the thing is given by its name: `add_label_to_issue(issue, label)`."""
    return any(tuple(singular(word) for word in argument.words) in found.nouns for argument in reading.arguments)


def _keeps(target: Group, found: Group) -> bool:
    """Whether things of the target know one of the found: `list_tickets(agent_id)`."""
    return any(
        owner_of(argument, found.siblings, target) is found
        for member in target.members
        for argument in member.reading.arguments
        if member.reading.sense in MAKING | {"search"}
    )


def _has_lister(found: Group, target: Group) -> bool:
    """Whether the things of a group are listed by what they are in: `list_team_members(team_id)`."""
    return any(
        member.reading.sense in {"search", "read"} and target in owners_of(member.reading, found)
        for member in found.members
    )


def _follow_keys(groups: list[Group]) -> None:
    """Tools keyed with another thing's id speak of that thing: `get_issue(ticket_id)`, `mark_done(task_id)`."""
    for found in list(groups):
        if found.makers or not found.members:
            continue
        singles = [m for m in found.members if m.reading.sense != "search" and not m.reading.name.plural]
        owners = [_single_owner(member.reading, found) for member in singles]
        if not singles or any(owner is None for owner in owners) or len({id(owner) for owner in owners}) != 1:
            continue
        target = owners[0]
        if target is None:
            continue
        readers = target.having("read", "search")
        if len(singles) == len(found.members) or not readers:
            has_reader = any(m.reading.sense == "read" for m in target.members)
            whole = not has_reader and any(m.reading.sense == "read" for m in singles)
            for member in list(found.members):
                _move(member, found, target, () if whole or not readers else (*found.noun, *member.aspect))
            if whole or not readers:
                target.phrases.update(found.phrases)


def _single_owner(reading: Reading, found: Group) -> Group | None:
    if any(has_own_id_in(argument, found, least=0.9) for argument in reading.required):
        return None
    owners = owners_of(reading, found)
    return owners[0] if owners else None


def _fold_lists(groups: list[Group]) -> None:
    """Things that are only put into another and taken out again, and never listed, are a list in that other."""
    for found in list(groups):
        if not found.members or any(member.reading.sense not in _PARTS for member in found.members):
            continue
        owners = [owners_of(member.reading, found) for member in found.members]
        common = next((o for o in owners[0] if all(o in other for other in owners)), None)
        removers = [m for m in found.members if m.reading.sense != "add"]
        if common is None or any(not owners_of(m.reading, found) for m in removers):
            continue
        given = {a.words for m in found.members if m not in removers for a in m.reading.arguments}
        if any(
            names_thing(a, found.nouns) >= 0.95 and a.words not in given and owner_of(a, found.siblings, found) is None
            for m in removers
            for a in m.reading.required
        ):
            continue  # each has an id of its own
        for member in list(found.members):
            member.listed = True
            _move(member, found, common, found.noun)
