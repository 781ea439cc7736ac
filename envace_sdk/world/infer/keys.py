"""How the things of a group are told apart, and by which argument each tool names one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .arguments import Argument, fields_of
from .groups import Group, Member
from .ids import STRONG, WEAK, bare, names_thing
from .naming import is_single, moved, own_id
from .outputs import entity_fields
from .owning import owner_of
from .reading import Reading
from .terms import OLD
from .words import singular, spell, style_of

__all__ = ["Key", "KeyPart", "find_key", "given_to"]


@dataclass(frozen=True)
class KeyPart:
    """One field of a key."""

    field: str
    """The entity's field, as spelled in answers."""
    words: tuple[str, ...]
    """Its bare name, in words."""
    argument: Argument | None = None
    """An argument that gives it, for its schema."""


@dataclass
class Key:
    """The key of a group."""

    parts: tuple[KeyPart, ...]
    given: dict[int, tuple[Argument, ...]] = field(default_factory=dict)
    """Per tool (by identity of its reading) the arguments that give the parts, in their order."""
    minted: bool = True
    """Whether the last part is made by the server."""
    lookups: dict[int, Argument] = field(default_factory=dict)
    """Per tool that names a thing by another field than the key, the argument that does."""
    moves: dict[int, Argument] = field(default_factory=dict)
    """Per tool that gives a thing a new key (`move_file(source, destination)`), the argument that says which."""

    @property
    def own(self) -> KeyPart:
        """The part that is the thing's own; those before it say where it belongs."""
        return self.parts[-1]

    def of(self, reading: Reading) -> tuple[Argument, ...]:
        """The arguments by which the tool names one; empty when it does not."""
        return self.given.get(id(reading), ())


def find_key(group: Group, names: Sequence[str]) -> Key:
    """The key of a group's things; `names` are argument names of the whole toolset, for their style."""
    singles = [member for member in group.members if is_single(member)]
    moves = {id(m.reading): pair for m in singles if (pair := moved(m.reading, group)) is not None}
    owns = {id(m.reading): own for m in singles if id(m.reading) not in moves and (own := own_id(m, group)) is not None}
    if not owns:
        return _by_members(group) or _unseen(group, names)
    words, reader = _primary(group, singles, owns)
    others = _others(group, singles, owns, words)
    made = _made(group)
    spelled = _spelling(group, words, owns[id(reader.reading)], made)
    parts = [
        KeyPart(spelled.get(other, other_argument.name), other, other_argument) for other, other_argument in others
    ]
    own_argument = owns[id(reader.reading)]
    parts.append(KeyPart(spelled[words], words, own_argument))
    key = Key(tuple(parts))
    for member in group.members:
        own = owns.get(id(member.reading))
        if own is None and len(parts) == 1 and (pair := moves.get(id(member.reading))) is not None:
            key.given[id(member.reading)], key.moves[id(member.reading)] = pair[:1], pair[1]
        elif own is not None and _is_lookup(own, group, words, made):
            key.lookups[id(member.reading)] = own
        elif given := _given(member, group, key, own):
            key.given[id(member.reading)] = given
    key.minted = not any(words in arguments for arguments in made)
    return key


def _by_members(group: Group) -> Key | None:
    """The key of things that are made and removed many at a time, each named by all it has: a list of relations."""
    made = _made(group)
    for member in group.members:
        lists = [argument for argument in member.reading.required if argument.is_list]
        if member.reading.sense not in {"delete", "remove"} or len(lists) != 1 or len(member.reading.required) != 1:
            continue
        named = [m for m in fields_of(lists[0].item, member.reading.tool.input_schema) if m.required and m.is_scalar]
        words = [bare(argument.words, group.nouns) for argument in named]
        if named and made and all(word in arguments for word in words for arguments in made):
            parts = tuple(KeyPart(a.name, w, a) for a, w in zip(named, words, strict=True))
            return Key(parts, minted=False)
    return None


def _primary(group: Group, singles: Sequence[Member], owns: dict[int, Argument]) -> tuple[tuple[str, ...], Member]:
    """The words of the key, and the tool whose spelling of it counts."""
    made = _made(group)
    weights = {"read": 3.0, "delete": 2.0, "end": 2.0, "update": 1.5}
    votes: Counter[tuple[str, ...]] = Counter()
    speaker: dict[tuple[str, ...], Member] = {}
    for member in singles:
        own = owns.get(id(member.reading))
        if own is None:
            continue
        words = key_words(own, group)
        weight = weights.get(member.reading.sense or "", 1.0)
        if member.listed or member.aspect or own.is_list:
            weight = 0.8
        votes[words] += weight  # type: ignore[assignment]  # weights need not be whole
        held = speaker.get(words)
        if held is None or weight > weights.get(held.reading.sense or "", 1.0):
            speaker[words] = member
    minted = [words for words in votes if not any(words in arguments for arguments in made)]
    candidates = minted if len(minted) < len(votes) and minted and _strong(minted) else list(votes)
    words = max(candidates, key=lambda found: votes[found])
    return words, speaker[words]


def _strong(found: Sequence[tuple[str, ...]]) -> bool:
    return any(words[-1] in STRONG for words in found)


def key_words(argument: Argument, group: Group) -> tuple[str, ...]:
    """The bare name of a key argument: `ticket_id` → id, `old_name` → name, `project` by its description → name."""
    words = bare(argument.words, group.nouns)
    if argument.is_list and words:
        words = (*words[:-1], singular(words[-1]))
    if len(words) > 1 and words[0] in OLD:
        words = bare(words[1:], group.nouns)
    if tuple(singular(word) for word in words) in group.nouns:
        made = _made(group)
        told = [
            w for w in argument.description.lower().replace(",", " ").replace(".", " ").split() if w in STRONG | WEAK
        ]
        if told and any((told[0],) in arguments for arguments in made) and told[0] not in {"id", "ids"}:
            return (told[0],)
    return words


def _is_lookup(
    own: Argument, group: Group, words: tuple[str, ...], made: Sequence[dict[tuple[str, ...], Argument]]
) -> bool:
    """Whether a tool names a thing by another field than the key, one that its maker is given."""
    asked = key_words(own, group)
    return asked != words and any(asked in arguments for arguments in made)


def _made(group: Group) -> list[dict[tuple[str, ...], Argument]]:
    """Per tool that makes such things, its arguments by their bare names."""
    makers = [m.reading for m in group.having("create", "add", "put") if not m.listed and not m.aspect]
    plain = [reading for reading in makers if reading.sense != "put"]
    return [
        {
            bare(argument.words, group.nouns): argument
            for argument in given_to(reading)
            if len(argument.words) > 1 or owner_of(argument, group.siblings, group) is None
        }
        for reading in plain or makers
    ]


def given_to(reading: Reading) -> Sequence[Argument]:
    """What a maker is given for one thing; where it makes many at once, the members of the list's elements."""
    lists = [argument for argument in reading.arguments if argument.is_list]
    if len(reading.arguments) == len(lists) == 1 and (members := fields_of(lists[0].item, reading.tool.input_schema)):
        return members
    return reading.arguments


def _others(
    group: Group, singles: Sequence[Member], owns: dict[int, Argument], own: tuple[str, ...]
) -> list[tuple[tuple[str, ...], Argument]]:
    """What every tool asks for beside the thing's own id, and the makers too: the outer parts of the key.

    `own` are the bare words of the id. An argument that says the same (`user_id` beside a user's `id`) is no other
    part of the key, nor does a second one of the same words add to it.
    """
    asking = [m for m in singles if id(m.reading) in owns and not m.listed]
    if not any(m.reading.sense in {"read", "delete", "end", "state", "flag"} for m in asking):
        return []
    found: list[tuple[tuple[str, ...], Argument]] = []
    taken = {own}
    made = _made(group)
    first = next(m for m in asking if m.reading.sense in {"read", "delete", "end", "state", "flag"})
    for argument in first.reading.required:
        words = bare(argument.words, group.nouns)
        if argument is owns[id(first.reading)] or not argument.is_scalar or argument.enum or argument.is_flag:
            continue
        if words in taken:
            continue
        common = all(
            any(bare(other.words, group.nouns) == words and other.required for other in member.reading.arguments)
            for member in asking
        )
        in_makers = all(any(w == words and a.required for w, a in arguments.items()) for arguments in made)
        identifies = words[-1] in STRONG | WEAK or owner_of(argument, group.siblings, group) is not None
        if common and in_makers and (made or identifies) and (identifies or len(asking) > 1):
            found.append((words, argument))
            taken.add(words)
    return found[:4]


def _spelling(
    group: Group,
    words: tuple[str, ...],
    argument: Argument,
    made: Sequence[dict[tuple[str, ...], Argument]],
) -> dict[tuple[str, ...], str]:
    """How key fields are spelled: as an output schema shows them, else as the maker takes them, else as asked for."""
    shown = {bare(found.words, group.nouns): found.name for found in entity_fields(group)}
    spelled = dict(shown)
    if words not in spelled:
        maker = next((arguments[words] for arguments in made if words in arguments), None)
        spelled[words] = _one_of(argument) if maker is None else maker.name
        if shown and maker is None:
            stand_in = [name for found, name in shown.items() if found in {("id",), ("uuid",)} or found[-1] in STRONG]
            if len(stand_in) == 1 or ("id",) in shown:
                spelled[words] = shown.get(("id",), stand_in[0])
    return spelled


def _one_of(argument: Argument) -> str:
    """The name of one key, where the argument is a list of them."""
    if not argument.is_list or not argument.words:
        return argument.name
    last = argument.words[-1]
    return argument.name[: -len(last)] + (
        singular(last) if argument.name.endswith(last) else argument.name[-len(last) :]
    )


def _given(member: Member, group: Group, key: Key, own: Argument | None) -> tuple[Argument, ...]:
    """The arguments of a tool that give the key's parts; none unless all are there."""
    if own is not None and own.is_list:
        own = None
    arguments = {bare(argument.words, group.nouns): argument for argument in member.reading.arguments}
    found: list[Argument] = []
    named = arguments.get(key.own.words)
    if named is not None and named.is_scalar and (own is None or bare(own.words, group.nouns) != key.own.words):
        own = named if owner_of(named, group.siblings, group) is None else own
    for part in key.parts[:-1]:
        if part.words not in arguments:
            return ()
        found.append(arguments[part.words])
    if own is None:
        own = arguments.get(key.own.words)
        if own is not None and (not own.is_scalar or owner_of(own, group.siblings, group) is not None):
            own = None
    return (*found, own) if own is not None else ()


def _unseen(group: Group, names: Sequence[str]) -> Key:
    """The key of things that no tool asks for by key: named as an answer's schema or other things' keys suggest."""
    shown = entity_fields(group)
    for argument in shown:
        if names_thing(argument, group.nouns) >= 0.95:
            return Key((KeyPart(argument.name, bare(argument.words, group.nouns), argument),))
    return Key((KeyPart(spell(("id",), style_of(names)), ("id",)),))
