"""Names as words: splitting any naming style, singular and plural, verb forms, and spelling words in a style."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

__all__ = [
    "bag",
    "base_verbs",
    "gerund",
    "is_plural",
    "participles",
    "plural",
    "segments",
    "singular",
    "spell",
    "split",
    "style_of",
]


def bag(text: str) -> frozenset[str]:
    """The words of a text, as a set: how this package writes its vocabularies."""
    return frozenset(text.split())


_LEVELS = re.compile(r"__+|[./:\\#>]+|\s*->\s*")
_PARAMETER = re.compile(r"\{[^{}]{0,60}\}")
"""The `{id}` of a path."""
_BOUNDARY = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])"  # ticketId
    r"|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s(?![a-z]))"  # HTTPServer, but IDs stays whole
)
_WORD = re.compile(r"[^\W_]+", re.UNICODE)

_IRREGULAR = {
    "people": "person",
    "children": "child",
    "men": "man",
    "women": "woman",
    "feet": "foot",
    "teeth": "tooth",
    "geese": "goose",
    "mice": "mouse",
    "oxen": "ox",
    "dice": "die",
    "indices": "index",
    "indexes": "index",
    "matrices": "matrix",
    "vertices": "vertex",
    "appendices": "appendix",
    "analyses": "analysis",
    "bases": "base",
    "crises": "crisis",
    "theses": "thesis",
    "hypotheses": "hypothesis",
    "diagnoses": "diagnosis",
    "synopses": "synopsis",
    "criteria": "criterion",
    "phenomena": "phenomenon",
    "alumni": "alumnus",
    "cacti": "cactus",
    "fungi": "fungus",
    "nuclei": "nucleus",
    "stimuli": "stimulus",
    "syllabi": "syllabus",
    "curricula": "curriculum",
    "leaves": "leaf",
    "lives": "life",
    "knives": "knife",
    "wives": "wife",
    "wolves": "wolf",
    "shelves": "shelf",
    "halves": "half",
    "loaves": "loaf",
    "thieves": "thief",
    "calves": "calf",
    "elves": "elf",
    "quizzes": "quiz",
    "lenses": "lens",
    "gases": "gas",
    "aliases": "alias",
    "biases": "bias",
    "canvases": "canvas",
    "atlases": "atlas",
    "shoes": "shoe",
    "toes": "toe",
    "caches": "cache",
    "niches": "niche",
    "axes": "axis",
    "uses": "use",
    "causes": "cause",
    "clauses": "clause",
    "pauses": "pause",
    "ids": "id",
    "menus": "menu",
    "gurus": "guru",
    "heroes": "hero",
    "potatoes": "potato",
    "tomatoes": "tomato",
    "echoes": "echo",
    "vetoes": "veto",
}
_PLURALS = {one: many for many, one in _IRREGULAR.items() if many != "indexes"}
_INVARIANT = bag(
    "series species news data media metadata information info equipment luggage feedback research sheep fish deer "
    "aircraft spacecraft software hardware furniture inventory staff stock money music chess always this was has "
    "does yes less plus minus means headquarters dns sms gps css js https os aws ios kubernetes redis its as vs "
    "previous various chassis debris ls ps"
)
_ENDING_IN_S = bag("gas lens canvas bias alias atlas chaos christmas texas")
_IE = bag("movie cookie zombie brownie calorie selfie pie tie lie die rookie genie hoodie smoothie prairie eerie indie")


def segments(name: str) -> list[tuple[str, ...]]:
    """The levels of a name (`crm__contact_add` has two, `acme.v1.Contacts.Create` four), each as lower-case words."""
    levels = (split(level) for level in _LEVELS.split(_PARAMETER.sub("", name)))
    return [level for level in levels if level]


@lru_cache(maxsize=8192)
def split(name: str) -> tuple[str, ...]:
    """Lower-case words of a name in any style: snake, camel, Pascal, kebab, dotted, spaced."""
    return tuple(word.lower() for word in _WORD.findall(_BOUNDARY.sub(" ", name).replace("_", " ")))


@lru_cache(maxsize=8192)
def singular(word: str) -> str:
    """The singular of a lower-case noun; a singular stays as it is."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if (
        word in _INVARIANT
        or word in _ENDING_IN_S
        or len(word) < 3
        or not word.endswith("s")
        or word.endswith(("ss", "us", "is"))
    ):
        return word
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 or word[:-1] in _IE else word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return word[:-1] if word.endswith(("izes", "azes", "ezes", "uzes")) else word[:-2]
    if word.endswith("uses") and not word.endswith(("ouses", "auses")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=8192)
def plural(word: str) -> str:
    """The plural of a lower-case noun; a plural stays as it is."""
    if word in _PLURALS:
        return _PLURALS[word]
    if word in _INVARIANT:
        return word
    if is_plural(word):
        return word
    if word.endswith("y") and len(word) > 1 and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    return word + "s"


def is_plural(word: str) -> bool:
    """Whether a lower-case word has the form of a plural."""
    return singular(word) != word


_PARTICIPLES = {
    "send": "sent",
    "pay": "paid",
    "read": "read",
    "hold": "held",
    "begin": "begun",
    "write": "written",
    "withdraw": "withdrawn",
    "freeze": "frozen",
    "take": "taken",
    "make": "made",
    "give": "given",
    "win": "won",
    "lose": "lost",
    "sell": "sold",
    "buy": "bought",
    "hide": "hidden",
    "shut": "shut",
    "split": "split",
    "put": "put",
    "set": "set",
    "undo": "undone",
    "do": "done",
    "lend": "lent",
    "return": "returned",
    "forget": "forgotten",
    "choose": "chosen",
    "activate": "active",
    "deactivate": "inactive",
    "open": "open",
    "reopen": "open",
    "checkin": "checked_in",
    "check-in": "checked_in",
    "checkout": "checked_out",
    "check-out": "checked_out",
    "signup": "signed_up",
    "setup": "set_up",
    "rollback": "rolled_back",
    "teardown": "torn_down",
    "login": "logged_in",
    "logout": "logged_out",
}
_DOUBLED = re.compile(r"^(?:[^aeiou]*[aeiou][bdgmnprt]|.*(?:cancel|travel|label|level|model|enrol|equip|submit|admit|"
                      r"commit|permit|refer|defer|transfer|ban|unpin|unban|unflag|unplug|untag|unmap))$")  # fmt: skip


@lru_cache(maxsize=2048)
def participles(verb: str) -> tuple[str, ...]:
    """How something is called once `verb` was done to it, likeliest first: cancel → cancelled, canceled, cancel."""
    forms: list[str] = []
    if verb in _PARTICIPLES:
        forms.append(_PARTICIPLES[verb])
    if verb.endswith("e"):
        forms.append(verb + "d")
    elif verb.endswith("y") and len(verb) > 1 and verb[-2] not in "aeiou":
        forms.append(verb[:-1] + "ied")
    else:
        if _DOUBLED.match(verb):
            forms.append(verb + verb[-1] + "ed")
        forms.append(verb + "ed")
    return tuple(dict.fromkeys((*forms, verb)))


def gerund(verb: str) -> tuple[str, ...]:
    """The ing-forms a verb may have: book → booking, schedule → scheduling."""
    if verb.endswith("e") and not verb.endswith("ee"):
        return (verb[:-1] + "ing",)
    return (verb + "ing", verb + verb[-1:] + "ing")


@lru_cache(maxsize=8192)
def base_verbs(word: str) -> tuple[str, ...]:
    """What a word of a sentence may be a form of: "creates", "creating" and "created" → create."""
    found = [word]
    if word.endswith(("ies", "ied")):
        found.append(word[:-3] + "y")
    if word.endswith("es"):
        found.append(word[:-2])
    if word.endswith("s") and not word.endswith("ss"):
        found.append(word[:-1])
    for suffix in ("ing", "ed"):
        stem = word.removesuffix(suffix)
        if stem != word and len(stem) > 1:
            found += [stem, stem + "e"]
            if stem[-1] == stem[-2]:
                found.append(stem[:-1])
    return tuple(dict.fromkeys(found))


def style_of(names: Iterable[str]) -> str:
    """The naming style most of these names speak: "snake", "camel", "pascal" or "kebab"; snake when nothing tells."""
    votes = {"snake": 0, "camel": 0, "pascal": 0, "kebab": 0}
    for name in names:
        if "_" in name:
            votes["snake"] += 1
        elif "-" in name:
            votes["kebab"] += 1
        elif name[:1].isupper() and not name.isupper():
            votes["pascal"] += 1
        elif any(letter.isupper() for letter in name[1:]):
            votes["camel"] += 1
    return max(votes, key=lambda style: (votes[style], style == "snake"))


def spell(words: Sequence[str], style: str) -> str:
    """Words as one name in a style."""
    if style == "camel" and words:
        return words[0] + "".join(word.capitalize() for word in words[1:])
    if style == "pascal":
        return "".join(word.capitalize() for word in words)
    return ("-" if style == "kebab" else "_").join(words)
