"""Verbs of two words: what `look up` and `hand over` mean in one."""

from __future__ import annotations

from collections.abc import Sequence

from .verbs import known, leading
from .words import bag, base_verbs

__all__ = ["phrasal", "told_verb"]

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
    ("get", "or"): "upsert",
    ("find", "or"): "upsert",
}

_PARTICLES = bag("up out off down away over back rid")
"""Second words that make a verb of two words also in a sentence, where "in", "or" and "all" may mean anything."""


def phrasal(words: Sequence[str]) -> tuple[str, ...]:
    """The words with verbs of two words (`look up`) as one."""
    out: list[str] = []
    at = 0
    while at < len(words):
        joined = _PHRASAL.get((words[at], words[at + 1])) if at + 1 < len(words) else None
        out.append(joined or words[at])
        at += 2 if joined else 1
        if joined == "upsert" and at < len(words) - 1 and known(words[at]):  # create_or_update_ticket
            at += 1
    return tuple(out)


def told_verb(words: Sequence[str]) -> str | None:
    """The general verb with which the words of a sentence open: "Creates a …" → create, "Works out …" → calculate."""
    if len(words) > 1 and words[1] in _PARTICLES:
        for verb in base_verbs(words[0]):
            if joined := _PHRASAL.get((verb, words[1])):
                return joined
    return leading(words[0]) if words else None
