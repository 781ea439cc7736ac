"""What each tool does to its group's things, decided from its verb, its arguments, its annotations and its siblings."""

from __future__ import annotations

from collections.abc import Iterator

from .batches import batch_of
from .decision import Decision
from .elsewhere import is_namespace, runs_source
from .extending import extends, is_before
from .groups import Member
from .ids import bare, id_noun, is_id
from .looking import missing_look, try_read, try_search
from .reading import Reading
from .scene import Scene
from .soft import keeps_removed
from .terms import NEW, OLD
from .verbs import LOOKS, Sense, only_computes
from .writing import (
    is_missing_removal,
    try_create,
    try_delete,
    try_end,
    try_increase,
    try_listed,
    try_put,
    try_state,
    try_update,
)

__all__ = ["decide", "survey"]

_CHANGING: frozenset[Sense] = frozenset({"update", "state", "flag", "end", "increase", "decrease"})


def survey(scene: Scene) -> None:
    """Find the makers and removers of the group."""
    candidates = [
        member
        for member in scene.group.members
        if not member.listed
        and not member.aspect
        and not member.reading.read_only
        and not extends(member, scene)
        and member.reading.sense in {"create", "add", "put"}
        and not ("read" in member.reading.senses and batch_of(member, scene, objects=False))
    ]
    plain = [m for m in candidates if not scene.key.of(m.reading) or not scene.takes_key(m.reading)]
    keyed = [m for m in candidates if m not in plain]
    if plain:
        makers = plain + [m for m in keyed if not set(m.reading.senses) & (_CHANGING | {"put"})]
    else:
        firm = [m for m in keyed if not set(m.reading.senses) & _CHANGING or m.reading.sense == "put"]
        makers = firm or keyed
    scene.makers = frozenset(id(m.reading) for m in makers)
    scene.soft = frozenset(
        id(m.reading)
        for m in scene.group.members
        if m.reading.sense == "delete" and not m.listed and not m.aspect and keeps_removed(m, scene.group)
    )
    scene.removers = sum(
        m.reading.sense in {"delete", "remove"} and not m.listed and not m.aspect for m in scene.group.members
    )


def decide(member: Member, scene: Scene) -> Decision:
    """What this tool does. Of one that no rule can speak for it may still be known that it changes nothing."""
    found = _decide(member, scene)
    if found.kind != "opaque":
        return found
    if member.reading.read_only:
        return Decision("unchanging", 0.8, f"it is read-only; {found.reason}")
    if member.reading.senses == ("compute",) and only_computes(member.reading.computing):
        return Decision("unchanging", 0.5, f"'{member.reading.computing}' changes nothing; {found.reason}")
    return found


def _decide(member: Member, scene: Scene) -> Decision:
    reading = member.reading
    verb = reading.name.verb or reading.telling.verb or "its description"
    if _names_two(member, scene):
        return Decision("opaque", 0.2, f"'{verb}': it names two of them")
    if runs_source(reading):
        return Decision("opaque", 0.2, f"'{verb}': it runs what it is given")
    if is_namespace(scene):
        return Decision("opaque", 0.2, f"'{verb}': no tool names one, so '{scene.noun}' is where they work")
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
    return _by_form(member, scene)


def _names_two(member: Member, scene: Scene) -> bool:
    """Whether every call names two things of the group: `transfer(from_account_id, to_account_id)`."""
    nouns = scene.group.nouns
    ends = [
        argument.words[0] in OLD
        for argument in member.reading.required
        if len(argument.words) > 1
        and argument.words[0] in OLD | NEW
        and is_id(argument.words)
        and (bare(argument.words[1:], nouns) != argument.words[1:] or len(argument.words) == 2)
    ]
    return True in ends and False in ends


def _candidates(member: Member) -> Iterator[Sense]:
    """The senses to try, in order; annotations rule some out."""
    reading = member.reading
    seen: set[Sense] = set()
    for sense in reading.senses:
        looks = sense in LOOKS
        if reading.read_only and not looks:
            continue
        if looks and reading.hint("destructiveHint") and reading.hint("readOnlyHint") is False:
            continue
        if looks and sense != "compute" and reading.hint("readOnlyHint") is False and set(reading.senses) - LOOKS:
            continue
        if sense not in seen:
            seen.add(sense)
            yield sense
    if reading.read_only and reading.sense != "compute":
        yield from (sense for sense in ("read", "search") if sense not in seen)


def _try(sense: Sense, member: Member, scene: Scene) -> Decision | None:  # noqa: C901  one line per sense
    reading = member.reading
    if member.listed:
        return try_listed(sense, member, scene)
    if extends(member, scene):
        return Decision("extend", 0.75, f"puts text {'before' if is_before(reading) else 'after'} what is there")
    if sense in {"create", "add"}:
        return try_create(sense, member, scene)
    if sense == "copy":
        return Decision("copy", 0.8, "makes a copy of one that is there") if scene.takes_key(reading) else None
    if sense == "put":
        return try_put(member, scene)
    if sense == "read":
        return try_read(member, scene)
    if sense == "search":
        return try_search(member, scene)
    if sense == "count":
        return Decision("count", 0.8, "counts what a search would find")
    if sense == "exists":
        return Decision("exists", 0.8, "says whether the key is there") if scene.key.of(reading) else None
    if sense == "update":
        return try_update(member, scene)
    if sense in {"increase", "decrease"}:
        return try_increase(sense, member, scene)
    if sense in {"state", "flag"}:
        return try_state(sense, member, scene)
    if sense == "end":
        return try_end(member, scene)
    if sense in {"delete", "remove"}:
        return try_delete(sense, member, scene)
    return None


def _by_form(member: Member, scene: Scene) -> Decision:
    """What arguments and annotations suggest where no word does."""
    reading = member.reading
    nothing = Decision("opaque", 0.2, "nothing says what it does")
    if member.listed or "compute" in reading.senses:
        return nothing
    return (
        _by_hints(reading, scene)
        or _by_noun(member, scene)
        or missing_look(member, scene)
        or _by_arguments(member, scene)
        or nothing
    )


def _by_noun(member: Member, scene: Scene) -> Decision | None:
    """A name without a verb: `plants` lists them, `plant(id)` shows one."""
    reading = member.reading
    if reading.senses or reading.name.verb or not reading.name.noun:
        return None
    takes = scene.takes_key(reading)
    if reading.name.plural and not takes and not reading.hint("destructiveHint"):
        return Decision("search", 0.6, "a plural alone lists them")
    own = {reading.name.noun, reading.name.noun[-1:]}
    shared = any(m is not member and m.reading.name.noun in own for m in scene.group.members)
    keyed = any(argument.words in own or id_noun(argument.words) in own for argument in scene.key.of(reading))
    if takes and (shared or keyed) and not scene.others(reading) and not member.aspect:
        return Decision("read", 0.6, "a noun alone, with a key, shows one")
    return None


def _by_hints(reading: Reading, scene: Scene) -> Decision | None:
    if not scene.takes_key(reading):
        return None
    if reading.read_only:
        return Decision("read", 0.5, "it is read-only and takes the key")
    if reading.hint("destructiveHint") and scene.makers and not scene.others(reading):
        return Decision("delete", 0.5, "it is destructive and takes the key only")
    return None


def _by_arguments(member: Member, scene: Scene) -> Decision | None:
    reading = member.reading
    if reading.senses or reading.read_only:
        return None
    others = scene.others(reading)
    if scene.takes_key(reading) and scene.makers:
        if any(scene.field(argument) is not None for argument in others):
            return Decision("update", 0.45, "it takes the key and fields of the thing", sense="update")
        if any(argument.required for argument in others):
            return Decision("update", 0.3, "it takes the key and something else", sense="update")
        if not member.aspect and is_missing_removal(member, scene):
            return Decision("delete", 0.4, "it takes the key alone, and no other tool removes", sense="delete")
        if not others and reading.name.verb:
            return Decision("state", 0.3, f"'{reading.name.verb}' is taken for a step in its life", sense="state")
    if not scene.makers and reading.required and scene.readers() and not scene.key.of(reading):
        return Decision("create", 0.4, "nothing else makes these, and it takes no key")
    return None
