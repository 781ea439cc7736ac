"""Verbs of two words: what `look up` and `hand over` mean in one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .verbs import LOOKS, known, leading, opposite, senses
from .words import bag, base_verbs

__all__ = ["phrasal", "shows_too", "told_verb"]

_PHRASAL: dict[tuple[str, str], str] = {
    ("look", "up"): "lookup",
    ("looked", "up"): "lookup",
    ("take", "look"): "view",
    ("look", "at"): "view",
    ("set", "up"): "setup",
    ("sign", "up"): "signup",
    ("check", "in"): "checkin",
    ("check", "out"): "checkout",
    ("top", "up"): "increase",
    ("tear", "down"): "teardown",
    ("throw", "away"): "discard",
    ("write", "down"): "write",
    ("cross", "off"): "remove",
    ("cross", "out"): "remove",
    ("take", "down"): "remove",
    ("take", "out"): "remove",
    ("take", "off"): "remove",
    ("get", "rid"): "discard",
    ("hand", "over"): "transfer",
    ("hand", "in"): "submit",
    ("give", "back"): "return",
    ("send", "back"): "return",
    ("work", "out"): "calculate",
    ("figure", "out"): "calculate",
    ("re", "open"): "reopen",
    ("re", "schedule"): "reschedule",
    ("un", "assign"): "unassign",
    ("un", "register"): "unregister",
    ("opt", "out"): "unsubscribe",
    ("switch", "on"): "enable",
    ("switch", "off"): "disable",
    ("turn", "on"): "enable",
    ("turn", "off"): "disable",
    ("bring", "up"): "read",
    ("pull", "up"): "read",
    ("clean", "up"): "purge",
    ("put", "away"): "store",
    ("roll", "back"): "rollback",
    ("log", "in"): "login",
    ("log", "out"): "logout",
    ("find", "all"): "list",
    ("list", "all"): "list",
    ("get", "all"): "list",
    ("fetch", "all"): "list",
    ("show", "all"): "list",
    ("create", "or"): "upsert",
    ("add", "or"): "upsert",
    ("update", "or"): "upsert",
    ("insert", "or"): "upsert",
    ("get", "or"): "ensure",
    ("find", "or"): "ensure",
    ("fetch", "or"): "ensure",
    ("lookup", "or"): "ensure",
}

_PAIRS = {("show", "hide"), ("start", "stop"), ("open", "close")}
"""Verbs of which one undoes the other, besides those that their prefix tells."""

_PARTICLES = bag("up out off down away over back rid")
"""Second words that make a verb of two words also in a sentence, where "in", "or" and "all" may mean anything."""


def phrasal(words: Sequence[str]) -> tuple[str, ...]:
    """The words with verbs of two words (`look up`) as one; of `fetch and delete`, what it changes."""
    out: list[str] = []
    at = 0
    while at < len(words):
        joined = _PHRASAL.get((words[at], words[at + 1])) if at + 1 < len(words) else None
        if joined == "ensure" and "create" not in senses("".join(words[at + 2 : at + 3])):
            joined = None
        size = 2 if joined else 1
        if joined is None and not out:
            joined, size = _compound(words)
        out.append(joined or words[at])
        at += size
        if joined in {"upsert", "ensure"} and at < len(words) - 1 and known(words[at]):  # create_or_update_ticket
            at += 1
    return tuple(out)


def _compound(words: Sequence[str]) -> tuple[str | None, int]:
    """The verb that two at the beginning of a name amount to, and how many words they are."""
    linked = len(words) > 2 and words[1] in {"and", "or", "then"}
    other = words[2 if linked else 1] if len(words) > 1 else ""
    if len(words) < 3 or not known(words[0]) or not known(other):
        return None, 1
    if opposite(other) == words[0] or (words[0], other) in _PAIRS:
        return "set", 3 if linked else 2
    if linked and words[1] != "or" and senses(words[0])[0] in LOOKS and senses(other)[0] not in LOOKS:
        return other, 3
    return None, 1


def shows_too(words: Sequence[str]) -> bool:
    """Whether a name says that it shows what it changes: `fetch_and_delete_message`."""
    return any(
        second in {"and", "then"} and senses(first)[:1] and senses(first)[0] in LOOKS
        for first, second in pairwise(words)
    )


def told_verb(words: Sequence[str]) -> str | None:
    """The general verb with which the words of a sentence open: "Creates a …" → create, "Works out …" → calculate."""
    if len(words) > 1 and words[1] in _PARTICLES:
        for verb in base_verbs(words[0]):
            if joined := _PHRASAL.get((verb, words[1])):
                return joined
    return leading(words[0]) if words else None
