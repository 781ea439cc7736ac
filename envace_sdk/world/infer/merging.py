"""Groups that turn out to be one: tools that call the same thing by different nouns, and parts kept inside a thing."""

from __future__ import annotations

from collections.abc import Iterable
from os.path import commonprefix

from .arguments import Argument
from .groups import MAKING, Group, Member, Phrase
from .ids import STRONG, WEAK, bare, id_noun, names_thing
from .reading import Reading
from .verbs import Sense
from .words import gerund, singular

__all__ = ["merge"]

_PARTS: frozenset[Sense | None] = frozenset({"add", "remove", "delete"})
_ROLES: dict[Sense, str] = {
    "create": "make",
    "add": "make",
    "copy": "make",
    "put": "make",
    "read": "read",
    "search": "search",
    "update": "change",
    "state": "change",
    "flag": "change",
    "delete": "remove",
    "end": "remove",
    "remove": "remove",
}
_THRESHOLD = 2.0


def merge(groups: list[Group]) -> None:
    """Join, move and fold in place."""
    _join_keys(groups)
    _move_parts(groups)
    _follow_keys(groups)
    _find_makers(groups)
    _join_strays(groups)
    _fold_lists(groups)
    groups[:] = [found for found in groups if found.members]


def owner_of(argument: Argument, groups: list[Group], own: Group | None = None) -> Group | None:
    """The other group whose things an argument identifies (`ticket_id`, or `id` that is "the ticket's id")."""
    noun = id_noun(argument.words, weak=True)
    if noun is None and len(argument.words) == 1 and argument.is_scalar:
        for found in groups:
            if found is not own and bare(argument.words, found.nouns) != argument.words:
                return found  # ticketid
    if noun is None:
        noun = tuple(singular(word) for word in argument.words) if argument.is_scalar else None
    if noun:
        return next((found for found in groups if found is not own and noun in found.nouns), None)
    if noun == () and own is not None and argument.description:
        words = {singular(word) for word in argument.description.lower().replace("'s", "").split()}
        if not any(phrase[-1] in words for phrase in own.nouns):
            return next((found for found in groups if found is not own and found.head in words), None)
    return None


def has_own_id(reading: Reading, found: Group, *, least: float = 0.6) -> bool:
    """Whether a tool takes what may be the id of one of the group's things."""
    for argument in reading.arguments:
        if names_thing(argument, found.nouns) >= least and owner_of(argument, found.siblings, found) is None:
            return True
    return False


def _owners(reading: Reading, own: Group) -> list[Group]:
    found = (owner_of(argument, own.siblings, own) for argument in reading.required)
    return [owner for owner in found if owner is not None]


def _absorb(into: Group, other: Group) -> None:
    into.phrases.update(other.phrases)
    into.members += other.members
    other.members = []
    if other in other.siblings:
        other.siblings.remove(other)


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
                _absorb(other, found)
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
    owners = _owners(reading, found)
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
        member.reading.sense in {"search", "read"} and target in _owners(member.reading, found)
        for member in found.members
    )


def _follow_keys(groups: list[Group]) -> None:
    """Tools that are keyed with another thing's id speak of that thing: `get_issue(ticket_id)`, `mark_done(task_id)`."""
    for found in list(groups):
        if found.makers or not found.members:
            continue
        singles = [m for m in found.members if m.reading.sense != "search" and not m.reading.name.plural]
        owners = [_single_owner(member.reading, found) for member in singles]
        if not singles or any(owner is None for owner in owners) or len({id(owner) for owner in owners}) != 1:
            continue
        target = owners[0]
        assert target is not None
        readers = target.having("read", "search")
        if len(singles) == len(found.members) or not readers:
            has_reader = any(m.reading.sense == "read" for m in target.members)
            whole = not has_reader and any(m.reading.sense == "read" for m in singles)
            for member in list(found.members):
                _move(member, found, target, () if whole or not readers else (*found.noun, *member.aspect))
            if whole or not readers:
                target.phrases.update(found.phrases)


def _single_owner(reading: Reading, found: Group) -> Group | None:
    if has_own_id(reading, found):
        return None
    owners = _owners(reading, found)
    return owners[0] if owners else None


def _find_makers(groups: list[Group]) -> None:
    """Things that nobody makes are made by a tool that calls them otherwise: `book_table` makes the bookings."""
    for orphan in list(groups):
        if orphan.makers or not any(
            member.reading.sense in {"read", "search"} or has_own_id(member.reading, orphan)
            for member in orphan.having("read", "search", "update", "delete", "end", "state", "flag")
        ):
            continue
        scores = [
            (_maker_score(member, source, orphan), -number, member, source)
            for number, source in enumerate(groups)
            if source is not orphan
            for member in source.makers
        ]
        if not scores:
            continue
        best, _, maker, source = max(scores, key=lambda score: score[:2])
        if best < _THRESHOLD:
            continue
        rest = [member for member in source.members if member is not maker]
        apart = bool(_roles(source) & {"read", "search"}) or bool(_roles_of(rest) & _roles(orphan))
        if apart and any(member.reading.sense in _ROLES for member in rest) and _independent(source, maker, rest):
            _move(maker, source, orphan)
        else:
            name = source.noun
            _absorb(orphan, source)
            orphan.phrases[name] += 0


def _independent(source: Group, maker: Member, rest: list[Member]) -> bool:
    """Whether what the maker is called after is a thing of its own: tables are, in `book_table(table_id)`."""
    return has_own_id(maker.reading, source, least=0.85) or any(has_own_id(member.reading, source) for member in rest)


def _maker_score(member: Member, source: Group, orphan: Group) -> float:
    reading = member.reading
    score = 0.0
    heads = {phrase[-1] for phrase in orphan.phrases}
    if any(_nominal(reading.name.verb, head) for head in heads):
        score += 2
    if reading.telling.object[-1:] and reading.telling.object[-1] in heads:
        score += 3
    elif heads & (reading.telling.words - {source.head}):
        score += 1
    told = [m.reading.telling for m in orphan.members]
    if any(telling.object and telling.object[-1] == source.head for telling in told):
        score += 2
    if any(a[: len(b)] == b or b[: len(a)] == a for a in source.phrases for b in orphan.phrases if a and b):
        score += 2
    source_roles, orphan_roles = _roles(source), _roles(orphan)
    if not source_roles & {"read", "search"}:
        score += 1 if source_roles & orphan_roles else 2
    if _shared_arguments(reading, orphan):
        score += 1
    if has_own_id(reading, source, least=0.85) and source_roles & {"read", "search", "remove"}:
        score += 1
    if any(owner_of(argument, source.siblings, source) is orphan for argument in reading.arguments):
        score -= 5
    if source_roles & {"read"} and source_roles & {"search", "remove"} and not has_own_id(reading, source, least=0.85):
        score -= 3
    if reading.telling.object[-1:] == (source.head,):
        score -= 1.5
    if any(telling.object[-1:] and telling.object[-1] in heads for telling in told) and not source_roles >= {"make"}:
        score -= 1
    return score


def _nominal(verb: str, noun: str) -> bool:
    """Whether the noun is made from the verb: book → booking, reserve → reservation, subscribe → subscription."""
    if len(verb) < 3 or verb == noun:
        return False
    if noun in gerund(verb) or noun in {f"{verb}ment", f"{verb}ing", f"{verb}er"}:
        return True
    common = len(commonprefix((verb, noun)))
    return common >= max(4, len(verb) - 2) and noun.endswith(("ion", "ment", "al", "ance", "ence", "ure", "age"))


def _roles(found: Group) -> set[str]:
    return _roles_of(found.members)


def _roles_of(members: Iterable[Member]) -> set[str]:
    return {_ROLES[m.reading.sense] for m in members if m.reading.sense in _ROLES and not m.listed}


def _shared_arguments(reading: Reading, orphan: Group) -> bool:
    """Whether what the tool gives is what the orphan's tools change or look for."""
    given = {bare(argument.words, orphan.nouns) for argument in reading.arguments}
    known = [
        bare(argument.words, orphan.nouns)
        for member in orphan.members
        for argument in member.reading.arguments
        if not names_thing(argument, orphan.nouns)
    ]
    return len(known) > 0 and sum(words in given for words in known) * 2 >= len(known)


def _join_strays(groups: list[Group]) -> None:
    """A tool alone with its noun does for the others' thing what they lack: `remove_entry`, beside notes that nobody
    removes; `staff_directory`, which "lists employees".
    """
    whole = [found for found in groups if found.makers and _roles(found) & {"read", "search", "change", "remove"}]
    for stray in [found for found in groups if found.members and not found.makers]:
        for target in whole:
            if target is not stray and _belongs(stray, target, alone=len(whole) == 1):
                _join(stray, target)
                break


def _join(stray: Group, target: Group) -> None:
    names = list(stray.phrases)
    for member in stray.members:
        # `set_mileage(vin, mileage)`: the noun is what it changes, not another name of the thing
        if any(tuple(singular(w) for w in a.words) in names for a in member.reading.arguments):
            member.aspect = (*stray.noun, *member.aspect)
    _absorb(target, stray)
    for name in names:
        if any(not member.aspect for member in target.members if member.reading.name.noun == name):
            target.phrases[name] = 0
        else:
            del target.phrases[name]


def _belongs(stray: Group, target: Group, *, alone: bool) -> bool:
    roles = _roles(stray)
    told = {m.reading.telling.object[-1:] for m in stray.members if m.reading.telling.object}
    theirs = {m.reading.telling.object[-1:] for m in target.members if m.reading.telling.object}
    if told & stray.nouns and not told & target.nouns:
        return False
    if told & (target.nouns | theirs):
        return not roles & {"read"} or not _roles(target) & {"read"}
    if not roles or roles & _roles(target) or not alone or told:
        return False
    if roles == {"search"}:
        arguments = [a.words for m in stray.members for a in m.reading.arguments]
        made = [a.words for m in target.makers for a in m.reading.arguments]
        return any(words in made for words in arguments)
    foreign = any(_owners(m.reading, stray) for m in stray.members)
    keyed = all(has_own_id(m.reading, stray) or m.reading.required for m in stray.members)
    return not foreign and keyed and roles <= {"remove", "change"}


def _fold_lists(groups: list[Group]) -> None:
    """Things that are only put into another and taken out again, and never listed, are a list in that other."""
    for found in list(groups):
        if not found.members or any(member.reading.sense not in _PARTS for member in found.members):
            continue
        owners = [_owners(member.reading, found) for member in found.members]
        common = next((o for o in owners[0] if all(o in other for other in owners)), None)
        removers = [m for m in found.members if m.reading.sense != "add"]
        if common is None or any(not _owners(m.reading, found) for m in removers):
            continue
        given = {a.words for m in found.members if m not in removers for a in m.reading.arguments}
        if any(
            names_thing(a, found.nouns) >= 0.95 and a.words not in given and owner_of(a, groups, found) is None
            for m in removers
            for a in m.reading.required
        ):
            continue  # each has an id of its own
        for member in list(found.members):
            member.listed = True
            _move(member, found, common, found.noun)
