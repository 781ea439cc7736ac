"""Which argument of a tool names the thing that the call is about."""

from __future__ import annotations

from .arguments import Argument
from .groups import Group, Member
from .ids import STRONG, WEAK, is_id, names_thing
from .outputs import shape_of
from .owning import owner_of
from .reading import Reading
from .terms import NEW, OLD
from .verbs import Sense
from .words import bag, singular

__all__ = ["is_single", "moved", "own_id"]

_SINGLES: frozenset[Sense | None] = frozenset(
    {"read", "update", "put", "state", "flag", "end", "delete", "remove", "increase", "decrease", "exists", "copy"}
)


def moved(reading: Reading, group: Group) -> tuple[Argument, Argument] | None:
    """The old and the new key of a tool that renames: `source` and `destination`, `old_name` and `new_name`. What
    changes where another argument already names the thing (`user_id, old_email, new_email`) is no key.
    """
    if reading.sense != "update":
        return None
    texts = [argument for argument in reading.required if argument.is_text and argument.words]
    for old in texts:
        for new in texts:
            same = old.words[1:] == new.words[1:] and not is_id(old.words) and _is_key(old.words[1:], group)
            if same and old.words[0] in OLD and new.words[0] in NEW:
                others = (argument for argument in reading.required if argument is not old and argument is not new)
                return None if any(_names_own(argument, group) for argument in others) else (old, new)
    return None


def _is_key(stem: tuple[str, ...], group: Group) -> bool:
    """Whether a name may be that of a key: none at all, the thing's own noun, or one for names."""
    return not stem or stem[-1] in STRONG | WEAK or tuple(singular(word) for word in stem) in group.nouns


def _names_own(argument: Argument, group: Group) -> bool:
    return names_thing(argument, group.nouns) >= 0.6 and owner_of(argument, group.siblings, group) is None


def is_single(member: Member) -> bool:
    """Whether the tool may be about one thing, which a call names."""
    reading = member.reading
    if member.listed:
        return True
    if reading.sense == "read" and reading.name.plural and not any(a.required for a in reading.arguments):
        return False
    if reading.sense == "search" and (
        "read" not in reading.senses or reading.name.plural or len(reading.required) != 1
    ):
        return False
    return reading.sense in _SINGLES or reading.sense is None or (reading.sense == "search")


_SOURCES = bag("query queries sql statement expression script prompt question text q")
"""What is run or searched rather than named, even where the tool is named after it: `run_query(query)`."""

_SHOWN = 0.6
"""How much an argument with which the answered thing opens looks like its name."""

_MANY = 5
"""From this many tools on, what all of them ask for is where they work, not what they work on."""


def _is_context(argument: Argument, group: Group) -> bool:
    """Whether every tool of the toolset asks for it, makers and listers too: a `repo_path`, a `workspace`."""
    names = group.siblings.names
    return argument.words in names.common and sum(len(found.members) for found in group.siblings) >= _MANY


def own_id(member: Member, group: Group) -> Argument | None:
    """The argument that names the thing itself."""
    reading = member.reading
    best: tuple[float, int, Argument] | None = None
    for place, argument in enumerate(reading.arguments):
        if not argument.words or "_".join(argument.words) in _SOURCES:
            continue
        score = names_thing(argument, group.nouns)
        if owner_of(argument, group.siblings, group) is not None and score < 0.95:
            score = min(score, 0.1)
        elif owner_of(argument, group.siblings, group) is not None:
            score = 0.2
        if score < _SHOWN and _opens_answer(argument, reading) and owner_of(argument, group.siblings, group) is None:
            score = _SHOWN
        if len(argument.words) > 1:
            score += 0.2 if argument.words[0] in OLD and score else 0
            score = min(score, 0.3) if argument.words[0] in NEW else score
        if not score and argument.is_list:
            score = _names_many(argument, group)
        if not score and argument.required and argument.is_scalar and not argument.is_flag and not argument.enum:
            score = 0.3 if len(reading.required) == 1 else 0.05
        asked = bool(reading.name.by) and not reading.name.plural and argument.required
        if (reading.sense == "search" and score < 0.8 and not asked) or (reading.name.plural and score < 0.6):
            score = 0
        if not argument.required and reading.required and reading.sense != "put":
            score = 0  # what need not be given names nothing
        score += 0.25 if argument.required and score else 0
        context = score < 1.2 and argument.required and _is_context(argument, group)
        if score > 0.3 and not context and (best is None or (score, -place) > best[:2]):
            best = (score, -place, argument)
    return best[2] if best else None


def _opens_answer(argument: Argument, reading: Reading) -> bool:
    """Whether the thing that the tool answers opens with what the argument gives, as things open with their keys."""
    shape = shape_of(reading.tool)
    if shape is None or shape.wrap is None or shape.many or not shape.fields or not argument.required:
        return False
    own = argument.is_text and not argument.enum and not argument.is_list
    return own and shape.fields[0].words == argument.words


def _names_many(argument: Argument, group: Group) -> float:
    """How much a list looks like one of keys: `ticket_ids`, `entityNames`."""
    if not Argument(("",), argument.item, True).is_scalar or "object" in str(argument.item.get("type")):
        return 0.0
    single = Argument(argument.path, {"type": "string"}, argument.required)
    return names_thing(single, group.nouns)
