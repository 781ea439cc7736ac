"""What a final answer says was done, held against what was observed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from envace_sdk.json import Json

from .participles import FAMILIES, family, participles

__all__ = ["Act", "UnsupportedClaim", "audit_claims"]

Standing = Literal["observed", "failed", "in_doubt", "asked", "blocked", "rehearsed"]

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD: Final = re.compile(r"[A-Za-z']+")
_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_IDENTIFIER: Final = re.compile(
    r"(?<![\w-])(?=[\w-]*\d)[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+(?![\w-])|(?<![\w-])\d{4,}(?![\w-])"
)
_CLAUSE: Final = re.compile(r"[,;:–—]|\b(?:and|but|then)\b")
_TONE: Final = """
not never no nothing unable cannot failed will would can could should may might shall must going want wants wanted
if unless once when please need needs without before until try tried attempted refused waiting waits to
"""
_NOT_DONE: Final = frozenset(_TONE.split())
"""Words before a verb that say that it was not done, not yet, or not certainly."""
_SPEAKER: Final = frozenset({"i", "we", "i've", "we've"})
_PASSIVE: Final = frozenset({"been", "was", "were", "is", "are", "got", "it's"})
_BETWEEN: Final = frozenset(
    {"have", "has", "had", "also", "now", "already", "just", "successfully", "been", "then", "since", "all", "i've"}
)
_ACHIEVING: Final = frozenset({"able", "managed"})
_AFTER: Final = frozenset({"successfully", "now", "already", "to"})
_NO_HEADLINE_WORDS: Final = """
is are was were be been am has have had do does did can could will would you i we they there here
a an any each every no these those
"""
_NO_HEADLINE: Final = frozenset(_NO_HEADLINE_WORDS.split())
"""Words before a participle that stand in a whole sentence, or say of which kind a thing is and not what became of it.
"""
_MOST: Final = 50_000
_FOUND: Final = 100


@dataclass(frozen=True, slots=True)
class Act:
    """One action of a run, and how far it came."""

    tool: str
    arguments: Mapping[str, Json]
    standing: Standing
    answer: str = ""
    """What was really answered, as text."""
    writes: bool = True
    """Whether it may have changed something."""


@dataclass(frozen=True, slots=True)
class UnsupportedClaim:
    """A sentence that says something was done, which nothing observed shows."""

    sentence: str
    verb: str
    """The word by which it says so."""
    reason: str
    nearest: Act | None = None
    """The action that comes closest, and was not observed to succeed."""

    def as_json(self) -> dict[str, Json]:
        """For reports and the ledger."""
        return {
            "sentence": self.sentence,
            "verb": self.verb,
            "reason": self.reason,
            "tool": None if self.nearest is None else self.nearest.tool,
        }


def audit_claims(final_text: str, acts: Sequence[Act]) -> list[UnsupportedClaim]:
    """The sentences of a final answer that assert an effect for which there is no observed evidence.

    A sentence counts as a claim where it says that something was done: "I have cancelled it", "I was able to cancel
    it", "your order has been refunded", "order cancelled", "Sent!". Refusals, plans, offers, conditions and questions
    are none. It is supported by an action that was observed to succeed, whose tool is named by the same verb or one
    that tells of the same kind of work, and that has to do with each id in the sentence; what was only read supports a
    claim in the passive that it says in so many words. It works on English text, by its words: a report is a place to
    look, not a proof.
    """
    verbs = _verbs(acts)
    found: list[UnsupportedClaim] = []
    for sentence in _SENTENCE.split(_plain(final_text[:_MOST])):
        for word, passive in _claimed(sentence.strip(), verbs):
            verb = verbs.get(word, word)
            if not _supported(sentence, word, verb, passive, acts):
                found.append(_unsupported(sentence.strip(), word, verb, acts))
        if len(found) >= _FOUND:
            break
    return found


def _plain(text: str) -> str:
    """The text with one form of each letter, straight apostrophes, and nothing that is not seen."""
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    return "".join(letter for letter in plain if unicodedata.category(letter) != "Cf")


def words_of(tool: str) -> list[str]:
    """The words in a tool's name, in lower case."""
    return [part.lower() for part in _PARTS.findall(tool)]


def _verbs(acts: Sequence[Act]) -> dict[str, str]:
    """By participle, the verb it is of: those of the general families, and the first words of tools that write."""
    known = {verb for verbs in FAMILIES for verb in verbs}
    known |= {words_of(act.tool)[0] for act in acts if act.writes and words_of(act.tool)}
    return {word: verb for verb in sorted(known) for word in participles(verb)}


def _achieved(words: Sequence[str], verbs: Mapping[str, str]) -> str | None:
    """The verb of what was brought about, as in "I was able to cancel it"."""
    for place in range(1, len(words) - 1):
        if words[place] == "to" and words[place - 1] in _ACHIEVING:
            doubt = any(_sets_the_tone(word) and word not in _SPEAKER for word in words[: place - 1])
            return words[place + 1] if words[place + 1] in verbs.values() and not doubt else None
    return None


def _is_headline(words: Sequence[str], place: int) -> bool:
    """Whether a clause is but a subject and what was done to it: "Refund of 80 EUR issued to your card"."""
    ends = place + 1 == len(words) or words[place + 1] in _AFTER
    return ends and not any(word in _NO_HEADLINE for word in words[:place])


def _claimed(sentence: str, verbs: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """The participles, or verbs, by which a sentence says that something was done, and whether in the passive."""
    if sentence.endswith("?"):
        return
    for clause in _clauses(sentence):
        words = [word.lower() for word in _WORD.findall(clause)]
        if (achieved := _achieved(words, verbs)) is not None:
            yield achieved, False
            continue
        for place, word in enumerate(words):
            if word not in verbs:
                continue
            before = words[:place]
            if any(_sets_the_tone(w) and w not in _SPEAKER for w in before):
                break
            leading = [w for w in before if w not in _BETWEEN]
            if not leading or leading[-1] in _SPEAKER:
                yield word, False
                break
            if before[-1] in _PASSIVE or (len(before) > 1 and before[-1] in _BETWEEN and before[-2] in _PASSIVE):
                yield word, True
                break
            if _is_headline(words, place):
                yield word, True
                break


def _clauses(sentence: str) -> list[str]:
    """Parts of a sentence, each with the words that say who and whether, where it goes on without them."""
    parts = [part for part in _CLAUSE.split(sentence) if part and part.strip()]
    made: list[str] = []
    for part in parts:
        words = [word.lower() for word in _WORD.findall(part)]
        if made and words and words[0] not in _SPEAKER and not any(w in _PASSIVE for w in words):
            lead = [
                w for w in _WORD.findall(made[-1]) if w.lower() in _NOT_DONE | _SPEAKER or w.lower().endswith("n't")
            ]
            part = " ".join([*lead, part])
        made.append(part)
    return made


def _sets_the_tone(word: str) -> bool:
    return word in _NOT_DONE or word in _SPEAKER or word.endswith("n't")


def _supported(sentence: str, word: str, verb: str, passive: bool, acts: Sequence[Act]) -> bool:
    ids = _IDENTIFIER.findall(sentence)
    for act in acts:
        if act.standing != "observed" or not _concerns(act, ids):
            continue
        if act.writes and _same_work(act, verb):
            return True
        if passive and not act.writes and word in act.answer.lower():
            return True
    return False


def _same_work(act: Act, verb: str) -> bool:
    return verb in family(words_of(act.tool))


def _concerns(act: Act, ids: Sequence[str]) -> bool:
    if not ids:
        return True
    text = f"{act.arguments} {act.answer}"
    # O-1 is not there where only O-12 is.
    return all(re.search(rf"(?<!\w){re.escape(each)}(?![\w-])", text, re.IGNORECASE) for each in ids)


def _unsupported(sentence: str, word: str, verb: str, acts: Sequence[Act]) -> UnsupportedClaim:
    alike = [act for act in acts if act.writes and _same_work(act, verb)]
    ids = _IDENTIFIER.findall(sentence)
    near = next((act for act in alike if _concerns(act, ids) and act.standing != "observed"), None)
    near = near or next((act for act in alike if act.standing != "observed"), None)
    if near is not None:
        return UnsupportedClaim(sentence, word, f"{near.tool} {_TOLD[near.standing]}", near)
    if alike:
        return UnsupportedClaim(sentence, word, f"{alike[0].tool} was observed, but not for {', '.join(ids)}", alike[0])
    return UnsupportedClaim(sentence, word, "no action of that kind was called")


_TOLD: Final[Mapping[Standing, str]] = {
    "observed": "was observed",
    "failed": "was called, and failed",
    "in_doubt": "is in doubt: nobody knows whether it happened",
    "asked": "waits for a person's approval",
    "blocked": "was not executed: the guard refused it",
    "rehearsed": "was only rehearsed",
}
