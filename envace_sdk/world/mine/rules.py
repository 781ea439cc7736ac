"""What was learned of a tool, written as its rule."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from envace_sdk.world.dynamics import ToolRule

from .altering import Alterations
from .answering import sources_in
from .effects import Effects, Existence
from .hidden import Hidden
from .learned import Learned
from .phrasing import Phrases
from .requiring import requirements
from .returning import returns
from .roles import ENTITY
from .sources import THING, entity_as_thing, entity_as_thing_in_template, fetched, speaks_of
from .structure import SESSION, Structure

__all__ = ["Learned", "rule_of", "silenced"]


def rule_of(
    learned: Learned,
    structure: Structure,
    effects: Effects,
    existence: Existence,
    hidden: Hidden,
    phrases: Phrases,
) -> ToolRule:
    """The rule of a tool.

    Args:
        learned: what was learned of the tool.
        structure: the kinds of things.
        effects: what calls change of things that are shown.
        existence: which errors say that things are missing, or there already.
        hidden: what calls change of the session.
        phrases: the forms of texts.
    """
    primary = learned.cast.primary
    effect = _effect(learned, effects, existence)
    alterations = Alterations(learned, structure, effects, hidden)
    data: dict[str, Any] = {"effect": effect, **_about(learned, effect)}
    if primary is not None and effects.makes.get((learned.tool, ENTITY)) == "upsert":
        data["upsert"] = True
    data["requires"] = requirements(learned, existence)
    if effect in {"create", "update"}:
        data |= alterations.of_primary(primary, makes=effect == "create")
    data["also"] = alterations.of_others(and_primary=effect == "compute")
    data["returns"] = returns(learned, phrases, effect=effect)
    says_nothing = not data["returns"] and not data["also"] and not data["requires"]
    if effect == "compute" and says_nothing and not _is_reader(learned, effects):
        data["effect"] = "opaque"
    data = _with_lets(data, learned, effect)
    return ToolRule(**{name: value for name, value in data.items() if value not in ({}, [], None)})


def silenced(rule: ToolRule) -> ToolRule:
    """A rule that says no more than what a call requires, and that it changes nothing."""
    data = rule.model_dump(exclude_defaults=True)
    asked, lets = data.get("requires", []), data.get("let", {})
    if not asked:
        return ToolRule(effect="compute")
    if rule.effect == "read":
        asked = [_without_entity(one) for one in asked]
        lets = {THING: f"get({rule.collection!r}, {rule.key})", **entity_as_thing(lets)}
    return ToolRule(effect="compute", let=lets, requires=asked)


def _effect(learned: Learned, effects: Effects, existence: Existence) -> str:
    """What the tool does with the thing it is about."""
    primary, pair = learned.cast.primary, (learned.tool, ENTITY)
    if learned.listing is not None:
        return "search"
    if primary is None or learned.is_optional(primary):
        return "compute"
    if primary.fresh or effects.makes.get(pair) == "":
        return "create"
    if pair in effects.removes:
        return "delete"
    if effects.makes.get(pair) == "upsert" or any(place[:2] == pair for place in effects.sets):
        return "update"
    told = (source for _, part in (learned.answer.cases if learned.answer else ()) for source in sources_in(part))
    if existence.needs(*pair) or any(re.search(rf"\b{ENTITY}\.", source) for source in told):
        return "read"
    return "compute"


def _is_reader(learned: Learned, effects: Effects) -> bool:
    """Whether the tool is known to change nothing."""
    names = {(learned.tool, named.name) for named in learned.cast.named} | {(learned.tool, SESSION)}
    return names <= effects.harmless


def _about(learned: Learned, effect: str) -> dict[str, Any]:
    """The collection that the rule is about, and which of it."""
    primary = learned.cast.primary
    if learned.listing is not None:
        return {"collection": learned.listing.kind, **learned.listing.fields()}
    if primary is None or effect == "compute":
        return {}
    return {"collection": primary.kind, "key": primary.source or None}


def _with_lets(data: Mapping[str, Any], learned: Learned, effect: str) -> dict[str, Any]:
    """With the things that the rule speaks of fetched by name.

    A rule that computes has no `entity`, and to one that searches it is each thing that it finds: they fetch the
    thing that the call is about under another name.
    """
    primary = learned.cast.primary
    lets = _lets(data, learned)
    asked = data["requires"] if effect == "search" else [data, lets]
    if primary is None or effect not in {"search", "compute"} or not speaks_of(ENTITY, asked):
        return {**data, "let": lets}
    lets = {THING: fetched(primary, optional=learned.is_optional(primary)), **entity_as_thing(lets)}
    found = {**data, "let": lets, "requires": [_without_entity(one) for one in data["requires"]]}
    if effect == "compute":
        found["also"] = [_change_without_entity(change) for change in data["also"]]
        found["returns"] = entity_as_thing(data["returns"])
    return found


def _lets(data: Mapping[str, Any], learned: Learned) -> dict[str, str]:
    """What the rule speaks of besides the thing it is about, and what that is found by."""
    named = {one.name: one for one in learned.cast.named}
    spoken = [one for one in named.values() if one.name != ENTITY and one.source and speaks_of(one.name, data)]
    owners = {one.name: owner for one in spoken if (owner := named.get(_first_word(one.source))) is not None}
    needed = [owner for owner in owners.values() if owner.name != ENTITY and owner.source and owner not in spoken]
    found: dict[str, str] = {}
    for one in dict.fromkeys([*needed, *spoken]):
        thing = fetched(one, optional=learned.is_optional(one))
        owner = owners.get(one.name)
        found[one.name] = f"{owner.name} == null ? null : {thing}" if owner is not None else thing
    return found


def _first_word(source: str) -> str:
    found = re.match(r"\w+", source)
    return found.group() if found is not None else ""


def _without_entity(requirement: Mapping[str, Any]) -> dict[str, Any]:
    found = {**requirement, "that": entity_as_thing(requirement["that"])}
    if "error" in requirement:
        found["error"] = entity_as_thing_in_template(requirement["error"])
    return found


def _change_without_entity(change: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if name in {"effect", "collection"} else entity_as_thing(value) for name, value in change.items()
    }
