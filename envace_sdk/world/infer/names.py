"""Reading tool names: which word is the verb, which are the thing it acts on, which only say where it belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .drafts import MANY_OF, PARTS, TAILS, Draft, is_clear, read_drafts
from .verbs import is_half_nounish, is_nounish, known, leading, senses
from .words import bag, base_verbs, is_plural, singular

__all__ = ["Name", "phrase", "read_names"]

PREPOSITIONS = bag("by for to from in into on onto of with within at as per via against under about")
DETERMINERS = bag(
    "a an the my our your their his her its this that these those all any some new existing current given "
    "specific single multiple many one several each every own full available batch bulk and or me us you it them"
)
_MANY = bag("all multiple many several batch bulk")


@dataclass(frozen=True)
class Name:
    """A tool name taken apart. Nouns are in the singular."""

    verb: str = ""
    noun: tuple[str, ...] = ()
    """What the verb acts on; empty when the name does not say."""
    plural: bool = False
    """Whether it speaks of many."""
    owner: tuple[str, ...] = ()
    """What the noun belongs to (`ticket_add_comment`, `tickets.comments.create`): a ticket."""
    by: tuple[str, ...] = ()
    """The words after "by"."""
    aims: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Other prepositions with what follows: `move_card_to_list`, `mark_as_done`."""
    tail: str = ""
    """A word for many that followed the noun: the `history` of `workout_history`."""
    inherited: bool = False
    """Whether the noun is that of its namespace (`tickets.create`)."""


def read_names(
    names: Sequence[str], openings: Sequence[str], objects: Sequence[tuple[str, ...]] | None = None
) -> list[Name]:
    """Read all names of a toolset together, since each says how the others are built.

    `openings` are the words with which the tools' descriptions open, "" where there is none; `objects` are what they
    speak of.
    """
    drafts = read_drafts(names, openings, objects or [()] * len(names))
    counted = {singular(word) for draft in drafts for word in draft.words if is_plural(word)}
    places: list[int | None] = [_clear_verb(draft, counted) for draft in drafts]
    phrases = Counter(
        found
        for draft, place in zip(drafts, places, strict=True)
        if place is not None
        for found in _noun_phrases(draft, place)
    )
    for number, draft in enumerate(drafts):
        if places[number] is None:
            places[number] = _likely_verb(draft, phrases)
    things = _things(drafts, places)
    _forget_namespaces(drafts, places)
    return [_name(draft, place, things) for draft, place in zip(drafts, places, strict=True)]


def phrase(words: Iterable[str]) -> tuple[str, ...]:
    """A noun phrase in the singular, determiners dropped."""
    return tuple(singular(word) for word in words if word not in DETERMINERS)


def _clear_verb(draft: Draft, counted: set[str]) -> int | None:
    """The place of the verb where the name alone tells it; `counted` are things that some name has in the plural."""
    words = draft.words
    last = _last(words)
    told = base_verbs(draft.told) if draft.told else ()
    if len(words) == 1:
        return 0 if known(words[0]) and (not is_nounish(words[0]) or words[0] in told or draft.shared) else None
    for place in (0, last):
        if known(words[place]) and words[place] in told:
            return place
    if last and words[last] in counted:  # draft_change, beside search_changes
        last -= 1
    for place in (0, last):
        if is_clear(words[place]):
            return place
    if is_half_nounish(words[0]) and known(words[0]) and not is_nounish(words[0]):
        return 0
    middle = next((place for place in range(1, last) if is_clear(words[place])), None)
    if middle is not None:
        return middle
    if known(words[last]) and not is_nounish(words[last]):
        return last
    return None


def _last(words: Sequence[str]) -> int:
    """The last place where a verb may stand: what follows a preposition (`mark_as_done`) is none."""
    return next((place for place, word in enumerate(words) if place and word in PREPOSITIONS), len(words)) - 1


def _forget_namespaces(drafts: list[Draft], places: Sequence[int | None]) -> None:
    """A shared first word is a namespace, not a thing, where nearly every name has a noun of its own."""
    shared = [(draft, place) for draft, place in zip(drafts, places, strict=True) if draft.shared]
    nounless = [draft for draft, place in shared if place is not None and not _noun_phrases(draft, place)]
    if len(nounless) < 2 and len(nounless) * 2 <= len(shared):
        for draft in nounless:
            draft.shared = ()


def _noun_phrases(draft: Draft, place: int) -> set[tuple[str, ...]]:
    before, after = draft.words[:place], draft.words[place + 1 :]
    found = {phrase(_until_preposition(words)) for words in (before, after)}
    return {words for words in found if words} | {words[-1:] for words in found if words}


def _until_preposition(words: Sequence[str]) -> Sequence[str]:
    cut = next((place for place, word in enumerate(words) if word in PREPOSITIONS), len(words))
    return words[:cut]


def _likely_verb(draft: Draft, phrases: Counter[tuple[str, ...]]) -> int | None:
    """The place of the verb where siblings or the description must tell it."""
    words = draft.words
    last = _last(words)
    nouns = {found for (*_, found) in phrases}
    if words[0] in DETERMINERS and not known(words[0]):
        return None
    if draft.bare:
        return 0
    if len(words) == 1 and draft.shared and not is_plural(words[0]) and not known(words[0]) and words[0] not in nouns:
        return 0 if leading(draft.told) else None  # kunde_anlegen -- Creates a customer.
    if len(words) == 1:
        return 0 if known(words[0]) and singular(words[0]) not in nouns else None
    if known(words[0]) and singular(words[0]) not in nouns:
        return 0
    told = base_verbs(draft.told) if draft.told else ()
    if known(words[last]) and singular(words[last]) not in nouns and (not told or words[last] in told):
        return last
    if words[0] in told:
        return 0
    after, before = phrase(_until_preposition(words[1:])), phrase(words[:last])
    if after and (after in phrases or after[-1:] in phrases) and singular(words[0]) not in nouns:
        return 0
    if before in phrases and singular(words[last]) not in nouns and not is_plural(words[last]):
        return last if words[last] in told else None
    if known(words[0]) and not is_plural(words[last]) and words[last] in told:
        return last
    return None


def _things(drafts: Sequence[Draft], places: Sequence[int | None]) -> set[tuple[str, ...]]:
    """What is made or removed as such: `create_task_list` says that a task list is more than a list of tasks."""
    found = set()
    for draft, place in zip(drafts, places, strict=True):
        if place is not None and {"create", "delete"} & set(senses(draft.words[place])):
            found |= _noun_phrases(draft, place)
    return found


def _name(draft: Draft, place: int | None, things: set[tuple[str, ...]]) -> Name:
    words = draft.words
    verb = "" if place is None else words[place]
    before = () if place is None else words[:place]
    after = words if place is None else words[place + 1 :]
    main, aims = _aims(after)
    if before and not main:
        main, more = _aims(before)
        aims, before = (*more, *aims), ()
    owner = phrase(_until_preposition(before))
    namespace = [phrase(level) for level in (*draft.context, draft.shared) if level]
    many = any(word in _MANY for word in words)
    tail = ""
    if len(main) == 1 and main[0] in TAILS:  # change the details of a plant
        main = next((found for preposition, found in aims if preposition == "of" and found), main)
    while len(main) > 1 and (main[-1] in TAILS or main[-1] in MANY_OF) and phrase(main) not in things:
        many = many or main[-1] in MANY_OF
        tail = main[-1] if main[-1] in MANY_OF else tail
        main = main[:-1]
    if len(main) > 1 and main[-1] in PARTS and "update" in senses(verb) and phrase(main[-1:]) not in things:
        main = main[:-1]
    noun = phrase(main)
    inherited = False
    if not noun and namespace:
        inherited = True
        noun = namespace.pop()
        own = [level for level in (*draft.context, draft.shared) if level][-1]
        main = own
    owner = owner or (namespace[-1] if namespace else ())
    by = next((found for preposition, found in aims if preposition == "by"), ())
    plural = many or (bool(main) and is_plural(main[-1]) and not inherited)
    others = tuple((preposition, found) for preposition, found in aims if preposition != "by")
    return Name(verb, noun, plural, owner, by, others, tail, inherited)


def _aims(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...]]:
    """What stands before the first preposition, and what each preposition governs."""
    main: list[str] = []
    aims: list[tuple[str, list[str]]] = []
    for word in words:
        if word in PREPOSITIONS:
            aims.append((word, []))
        elif aims:
            aims[-1][1].append(word)
        else:
            main.append(word)
    return tuple(main), tuple((preposition, tuple(found)) for preposition, found in aims)
