"""Which tools are about the same kind of thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .ids import id_noun, is_id
from .index import Groups, Phrases
from .reading import Reading
from .verbs import Sense, is_nounish
from .words import bag, singular

__all__ = ["Group", "Member", "Phrase", "group"]

Phrase = tuple[str, ...]

MAKING: frozenset[Sense] = frozenset({"create", "add", "copy", "put"})
_THINGS: frozenset[Sense] = frozenset({"create", "add", "copy", "search", "delete", "remove", "put"})
_SINGLE: frozenset[Sense] = frozenset({"update", "state", "flag", "end", "increase", "decrease", "delete", "remove"})
_FIGURES = bag("stat statistic summary metric count total")
"""What is reckoned from things rather than one of them."""


@dataclass(eq=False)
class Member:
    """A tool in its group."""

    reading: Reading
    aspect: Phrase = ()
    """What its name says beyond the thing itself: the `status` of `update_ticket_status`."""
    listed: bool = False
    """Whether the aspect is a list inside the thing (`add_ticket_label`)."""


@dataclass(eq=False)
class Group:
    """Tools about one kind of thing."""

    phrases: Phrases
    """What the tools call it, with how many do."""
    members: list[Member] = field(default_factory=list)
    siblings: Groups = field(default_factory=Groups, repr=False)
    """All groups of the toolset, this one included."""

    @property
    def head(self) -> str:
        """What most tools call it, in one word."""
        return self.noun[-1] if self.noun else "item"

    @property
    def noun(self) -> Phrase:
        """What most tools call it; of equally common names the shortest."""
        votes = Counter(self.phrases)
        heads = Counter(phrase[-1:] for phrase in self.phrases if len(phrase) > 1)
        for head, kinds in heads.items():
            if kinds > 1:  # `zeige auftrag` and `loesche auftrag` agree on the last word only
                votes[head] += sum(self.phrases[phrase] for phrase in self.phrases if phrase[-1:] == head)
        return max(votes, key=lambda phrase: (votes[phrase], -len(phrase)), default=())

    @property
    def nouns(self) -> frozenset[Phrase]:
        """All it is called, qualified or not."""
        return self.siblings.names.of(self)

    def absorb(self, other: Group) -> None:
        """Take over another group's tools and names."""
        self.phrases.update(other.phrases)
        self.members += other.members
        other.members = []
        if other in other.siblings:
            other.siblings.remove(other)

    def having(self, *senses: Sense) -> list[Member]:
        """The members whose likeliest sense is one of these."""
        return [member for member in self.members if member.reading.sense in senses]

    @property
    def makers(self) -> list[Member]:
        """The members that seem to make such things."""
        return [m for m in self.having("create", "add", "copy", "put") if not m.aspect]


def group(readings: Sequence[Reading], label: str) -> Groups:
    """Sort the tools into groups by their nouns; `label` names what a toolset without nouns is about."""
    phrases = [_phrase(reading) for reading in readings]
    aspects = _aspects(readings, phrases)
    groups = Groups()
    namesakes: dict[str, list[Group]] = {}
    homeless: list[Reading] = []
    order = sorted(range(len(readings)), key=lambda number: len(_thing(phrases[number], aspects[number])))
    for number in order:
        thing = _thing(phrases[number], aspects[number])
        if not thing:
            homeless.append(readings[number])
            continue
        member = Member(readings[number], aspects[number])
        home = next((found for found in namesakes.get(thing[-1], ()) if _same(found, thing, member)), None)
        if home is None:
            home = Group(Phrases())
            groups.append(home)
            namesakes.setdefault(thing[-1], []).append(home)
        home.phrases[thing] += 1
        home.members.append(member)
    for found in groups:
        found.siblings = groups
    for reading in homeless:
        _shelter(reading, readings, groups, label)
    place = {id(reading): number for number, reading in enumerate(readings)}
    for found in groups:
        found.members.sort(key=lambda member: place[id(member.reading)])
    groups.sort(key=lambda found: place[id(found.members[0].reading)])
    return groups


def _phrase(reading: Reading) -> Phrase:
    """The noun phrase, with what follows "of" before it: the status of a ticket is a ticket status."""
    noun = _without_ids(reading)
    owner = next((words for preposition, words in reading.name.aims if preposition == "of" and words), ())
    return (*owner, *noun) if owner else noun


def _without_ids(reading: Reading) -> Phrase:
    """The noun phrase without the ids that paths put into it: `get_orders_order_id` gets an order."""
    noun = reading.name.noun
    for argument in reading.arguments:
        words = tuple(singular(word) for word in argument.words)
        if id_noun(argument.words) is None or len(words) >= len(noun):
            continue
        for place in range(1, len(noun) - len(words) + 1):
            if noun[place : place + len(words)] == words:
                noun = noun[:place] + noun[place + len(words) :]
                break
    return noun


def _thing(phrase: Phrase, aspect: Phrase) -> Phrase:
    return phrase[: len(phrase) - len(aspect)] if aspect else phrase


def _aspects(readings: Sequence[Reading], phrases: Sequence[Phrase]) -> list[Phrase]:
    """For each tool, the end of its noun phrase that names a part of a thing rather than a thing."""
    named = Counter(phrase for phrase in phrases if phrase)
    heads = Counter(phrase[-1] for phrase in phrases if phrase)
    keyed = {
        noun[-1] for reading in readings for argument in reading.required if (noun := id_noun(argument.words)) and noun
    }
    things = {
        phrase[-1]
        for reading, phrase in zip(readings, phrases, strict=True)
        if phrase and (reading.name.plural or reading.sense in _THINGS)
    }
    found: list[Phrase] = []
    for reading, phrase in zip(readings, phrases, strict=True):
        aspect: Phrase = ()
        if len(phrase) > 1 and phrase[-1] in _FIGURES and reading.sense not in MAKING:
            aspect = phrase[-1:]
        elif len(phrase) > 1 and phrase[-1] not in things:
            for cut in range(len(phrase) - 1, 0, -1):
                before = phrase[:cut]
                if before in named or heads[before[-1]] > heads[phrase[-1]] or before[-1] in keyed:
                    aspect = phrase[cut:]
                    break
        elif len(phrase) > 1 and reading.sense not in _THINGS and not reading.name.plural:
            aspect = next(
                (phrase[cut:] for cut in range(len(phrase) - 1, 0, -1) if _keyed_by(reading, phrase[:cut])), ()
            )
        elif phrase and phrase[-1] not in things and reading.name.owner and not reading.name.inherited:
            owner = reading.name.owner
            if owner in named or heads[owner[-1]] or owner[-1] in keyed:
                aspect = phrase
        found.append(aspect)
    return found


def _keyed_by(reading: Reading, phrase: Phrase) -> bool:
    """Whether every call names one of these things: `update_pull_request_branch(pull_number)` a pull request."""
    nouns = [noun for argument in reading.required if (noun := id_noun(argument.words))]
    return any(noun in {phrase, phrase[-1:], phrase[:1]} for noun in nouns)


def _same(found: Group, thing: Phrase, member: Member) -> bool:
    """Whether a group's things go by this name too. Kinds of a thing that are each made by a tool of their own
    (purchase orders, work orders) are different things.
    """
    for phrase in found.phrases:
        if phrase == thing:
            return True
    if not any(phrase[-1] == thing[-1] for phrase in found.phrases):
        return False
    nested = any(phrase[-len(thing) :] == thing or thing[-len(phrase) :] == phrase for phrase in found.phrases)
    held = {other.reading.sense for other in found.members if not other.aspect}
    clash: frozenset[Sense | None] = frozenset({"create"} if nested else {"create", "read", "search", "delete"})
    return member.reading.sense not in held & clash


def _shelter(reading: Reading, readings: Sequence[Reading], groups: Groups, label: str) -> None:
    """Find the group of a tool whose name has no noun."""
    home = _home(reading, groups)
    if home is None and len(groups) == 1:
        home = groups[0]
    if home is None:
        noun = _common_noun(readings) or (label,)
        home = Group(Phrases({noun: 1}), siblings=groups)
        groups.append(home)
    verb = reading.name.verb
    said = reading.sense in {"create", "add"} and is_nounish(verb) and _home(reading, groups) is home
    keyed = any(id_noun(argument.words) in home.nouns for argument in reading.required)
    # `reply(thread_id, text)` makes a reply to a thread, not a thread
    home.members.append(Member(reading, (verb,), listed=True) if said and keyed else Member(reading))


def _home(reading: Reading, groups: Iterable[Group]) -> Group | None:
    for argument in reading.required:
        noun = id_noun(argument.words)
        for found in groups:
            if noun and noun in found.nouns:
                return found
    return next((found for found in groups if reading.telling.object[-1:] in found.nouns), None)


def _common_noun(readings: Sequence[Reading]) -> Phrase:
    """What a toolset without nouns calls its things in its identifiers, or else in its descriptions."""
    keyed = Counter(
        noun
        for reading in readings
        for argument in reading.arguments
        if (noun := id_noun(argument.words)) and is_id(argument.words)
    )
    if keyed:
        return keyed.most_common(1)[0][0]
    told = Counter(reading.telling.object[-1:] for reading in readings if reading.telling.object)
    return told.most_common(1)[0][0] if told else ()
