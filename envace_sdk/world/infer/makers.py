"""Tools that call the same thing by different nouns: the maker of things that others read, and tools left alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .arguments import fields_of
from .groups import Group, Member, Phrase
from .ids import STRONG, bare, names_thing
from .owning import has_own_id, has_own_id_in, owner_of, owners_of
from .reading import Reading
from .verbs import Sense
from .words import bag, base_verbs, gerund, singular

__all__ = ["elect_makers", "find_makers", "join_strays"]

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
_ENOUGH = 2.0
"""The evidence it takes to hold two nouns for one; see `_evidence`."""

_MERE = bag("record entry item object instance row document resource element card file")
"""Nouns that add nothing to the one before them."""

_DEVERBAL = ("ion", "ment", "al", "ance", "ence", "ure", "age", "er", "ee")


def find_makers(groups: list[Group]) -> None:
    """Things that nobody makes are made by a tool that calls them otherwise: `book_table` makes the reservations."""
    for orphan in list(groups):
        if (
            not orphan.members
            or orphan.makers
            or not any(
                member.reading.sense in {"read", "search"} or has_own_id(member.reading, orphan)
                for member in orphan.having("read", "search", "update", "delete", "end", "state", "flag")
            )
        ):
            continue
        sources = [found for found in groups if found is not orphan and found.makers]
        unread = [found for found in sources if not _roles(found) & {"read", "search"}]
        scores = [
            (_evidence(member, source, orphan, alone=unread == [source]), -number, member, source)
            for number, source in enumerate(sources)
            for member in source.makers
        ]
        if not scores:
            continue
        best, _, maker, source = max(scores, key=lambda score: score[:2])
        if best >= _ENOUGH:
            _give(maker, source, orphan)


def _give(maker: Member, source: Group, orphan: Group) -> None:
    """Give the maker to the things it makes: alone, if what it is named after is a thing of its own."""
    rest = [member for member in source.members if member is not maker]
    apart = bool(_roles(source) & {"read", "search"}) or bool(_roles_of(rest) & _roles(orphan))
    keyed = has_own_id(maker.reading, source, least=0.85) or any(has_own_id(m.reading, source) for m in rest)
    if apart and keyed and _roles_of(rest):
        source.members.remove(maker)
        orphan.members.append(Member(maker.reading))
    else:
        orphan.absorb(source)


def _evidence(member: Member, source: Group, orphan: Group, *, alone: bool) -> float:
    """How much speaks for a tool making the orphan's things, though it is named after others."""
    return _wording(member.reading, source, orphan) + _structure(member.reading, source, orphan, alone=alone)


def _wording(reading: Reading, source: Group, orphan: Group) -> float:
    """Evidence in names and descriptions."""
    score = 0.0
    heads = {phrase[-1] for phrase in orphan.phrases if phrase}
    told = [member.reading.telling.object for member in orphan.members]
    if any(_nominal(reading.name.verb, head) for head in heads):
        score += 2
    if heads & set(reading.telling.object[-1:]):
        score += 3
    elif heads & (reading.telling.words - {source.head}):
        score += 0.5
    if any(words[-1:] == (source.head,) for words in told):
        score += 2
    elif source.head in reading.telling.object and any(heads & set(words) for words in told):
        score -= 1.5  # each is described as what it is called
    elif reading.telling.object and not any(set(reading.telling.object[-1:]) & set(words) for words in told):
        score -= 1
    if any(_extends(a, b) or _extends(b, a) for a in source.phrases for b in orphan.phrases):
        score += 2
    return score


def _extends(longer: Phrase, shorter: Phrase) -> bool:
    """`ticket record` is no more than `ticket`."""
    rest = longer[len(shorter) :]
    return bool(shorter and rest) and longer[: len(shorter)] == shorter and set(rest) <= _MERE


def _structure(reading: Reading, source: Group, orphan: Group, *, alone: bool) -> float:
    """Evidence in what the tools take, and in which tools there are."""
    score = 0.0
    roles = _roles(source)
    if not roles & {"read", "search"}:
        shown = bool(_roles(orphan) & {"read", "search"})
        score += 1 + (alone and shown and any(has_own_id(m.reading, orphan, least=0.85) for m in orphan.members))
    elif "read" in roles and roles & {"search", "remove"} and not has_own_id(reading, source, least=0.85):
        score -= 3
    if has_own_id(reading, source, least=0.85) and roles & {"read", "search", "remove"}:
        score += 1
    if _shared_arguments(reading, orphan):
        score += 1
    if any(owner_of(argument, source.siblings, source) is orphan for argument in reading.arguments):
        score -= 5
    return score


def _nominal(verb: str, noun: str) -> bool:
    """Whether the noun is made from the verb: book → booking, reserve → reservation, subscribe → subscription."""
    if len(verb) < 3 or verb == noun:
        return False
    if noun in gerund(verb):
        return True
    common = next((n for n, (a, b) in enumerate(zip(verb, noun, strict=False)) if a != b), min(len(verb), len(noun)))
    return common >= max(3, len(verb) - 2) and noun.endswith(_DEVERBAL) and len(noun) > len(verb)


def _shared_arguments(reading: Reading, orphan: Group) -> bool:
    """Whether what the tool gives is what the orphan's tools change, look for or name."""
    given = {bare(argument.words, orphan.nouns) for argument in reading.arguments}
    for argument in reading.arguments:
        if argument.is_list:
            members = fields_of(argument.item, reading.tool.input_schema)
            given |= {bare(member.words, orphan.nouns) for member in members}
    known = [
        tuple(singular(word) for word in bare(argument.words, orphan.nouns))
        for member in orphan.members
        for argument in member.reading.arguments
        if not names_thing(argument, orphan.nouns) and argument.words[-1:] and argument.words[-1] not in STRONG
    ]
    singulars = {tuple(singular(word) for word in words) for words in given}
    return len(known) > 0 and sum(words in singulars for words in known) * 2 >= len(known)


def _roles(found: Group) -> set[str]:
    return _roles_of(found.members)


def _roles_of(members: Iterable[Member]) -> set[str]:
    return {_ROLES[m.reading.sense] for m in members if m.reading.sense in _ROLES and not m.listed}


def elect_makers(groups: list[Group], *, told: bool = False) -> None:
    """Things that are shown by their key and that no tool makes by its words are made by the one tool that changes
    something without asking for the key: `dispatch_job(name)`, beside `job_info(number)`. With `told`, only where its
    description says by the verb of its name that it acts on such a thing: `slot.claim` -- Claims a slot.
    """
    for found in groups:
        looking = [m for m in found.members if m.reading.sense in {"read", "search"} or _names_only(m.reading)]
        if found.makers or not any(has_own_id(member.reading, found) for member in looking):
            continue
        keys = {
            argument.words
            for member in looking
            for argument in member.reading.required
            if has_own_id_in(argument, found)
        }
        candidates = [
            member
            for member in found.members
            if not member.aspect and not member.listed and _may_make(member.reading, found, keys)
        ]
        if len(candidates) == 1 and (not told or _is_told(candidates[0].reading, found)):
            candidates[0].reading = replace(candidates[0].reading, elected=("create",))


def _is_told(reading: Reading, found: Group) -> bool:
    opens = reading.name.verb in base_verbs(reading.telling.opening)
    return reading.name.inherited and opens and reading.telling.object[-1:] == (found.head,)


def _names_only(reading: Reading) -> bool:
    """Whether it is called by a noun alone: `seat(seat_id)`, `seats`."""
    return not reading.senses and not reading.name.verb and len(reading.required) < 2


_CHANGING = bag("update edit modify patch change set configure adjust alter amend reset toggle mark")
"""Verbs of change, which need something to be there; others may be special words for making (`assign_seat`)."""


def _may_make(reading: Reading, found: Group, keys: set[Phrase]) -> bool:
    acts = not set(reading.senses) & {"read", "search", "count", "exists", "compute", "delete", "remove"}
    acts = acts and ("update" not in reading.senses or reading.name.verb not in _CHANGING)
    keyed = has_own_id(reading, found, least=0.8) or any(argument.words in keys for argument in reading.arguments)
    return acts and not reading.read_only and bool(reading.required) and not keyed


def join_strays(groups: list[Group]) -> None:
    """A tool alone with its noun does for the others' thing what they lack: `remove_entry`, beside notes that nobody
    removes; `staff_directory`, which "lists employees".
    """
    whole = [found for found in groups if found.makers and _roles(found) & {"read", "search", "change", "remove"}]
    for stray in [found for found in groups if found.members and not found.makers]:
        for target in whole:
            if target is not stray and target.members and _belongs(stray, target, alone=len(whole) == 1):
                _join(stray, target)
                break


def _join(stray: Group, target: Group) -> None:
    names = list(stray.phrases)
    for member in stray.members:
        # `set_mileage(vin, mileage)`: the noun is what it changes, not another name of the thing
        if any(tuple(singular(w) for w in a.words) in names for a in member.reading.arguments):
            member.aspect = (*stray.noun, *member.aspect)
    target.absorb(stray)
    for name in names:
        if any(not member.aspect for member in target.members if member.reading.name.noun == name):
            target.phrases[name] = 0
        else:
            del target.phrases[name]


def _lists_perhaps(stray: Group) -> bool:
    """Whether it is one tool without a verb that can be called without arguments: `docket(case_no)`."""
    readings = [member.reading for member in stray.members]
    return len(readings) == 1 and not readings[0].senses and not readings[0].required


def _belongs(stray: Group, target: Group, *, alone: bool) -> bool:
    roles = _roles(stray)
    told = {m.reading.telling.object[-1:] for m in stray.members if m.reading.telling.object}
    objects = [m.reading.telling.object[-1:] for m in target.members if m.reading.telling.object]
    theirs = {words for words in objects if objects.count(words) > 1}
    if told & stray.nouns:
        return False
    if told & (target.nouns | theirs):
        return not roles & {"read"} or not _roles(target) & {"read"}
    if (not roles and not _lists_perhaps(stray)) or roles & _roles(target) or not alone or told:
        return False
    if roles == {"search"} or _lists_perhaps(stray):
        arguments = [a.words for m in stray.members for a in m.reading.arguments]
        made = [a.words for m in target.makers for a in m.reading.arguments]
        return any(words in made for words in arguments)
    foreign = any(owners_of(m.reading, stray) for m in stray.members)
    keyed = all(has_own_id(m.reading, stray) or m.reading.required for m in stray.members)
    return not foreign and keyed and roles <= {"remove", "change"}
