"""From a toolset to its dynamics."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from envace_sdk.tools.model import Tool
from envace_sdk.world.dynamics import Change, CollectionRule, Dynamics, ToolRule

from .changes import configure_rule, increase_rule, settings_rule, state_rule, update_rule
from .creates import copy_rule, create_many_rule, create_rule, upsert_rule
from .decision import Case, Decision, Kind
from .effects import decide, survey
from .extending import extend_rule
from .gathering import known_fields
from .groups import Group, group
from .inlays import append_many_rule, take_many_rule
from .keys import find_key
from .lists import append_rule, take_rule
from .makers import elect_makers
from .merging import merge
from .mints import mint_of
from .outputs import entity_fields
from .reading import read
from .reads import exists_rule, opaque_rule, read_rule, stats_rule, unchanging_rule
from .removals import clear_rule, delete_many_rule, delete_rule, read_many_rule, update_many_rule
from .replacing import replace_rule
from .scene import Scene
from .searches import count_rule, search_rule
from .subjects import fold_inner
from .trying import tried_by
from .words import plural, spell, split, style_of

__all__ = ["infer"]

_Builder = Callable[[Case], dict[str, Any]]

_BUILDERS: dict[Kind, _Builder] = {
    "create": create_rule,
    "copy": copy_rule,
    "upsert": upsert_rule,
    "read": read_rule,
    "search": search_rule,
    "update": update_rule,
    "state": state_rule,
    "increase": increase_rule,
    "replace": replace_rule,
    "extend": extend_rule,
    "append": append_rule,
    "take": take_rule,
    "delete": delete_rule,
    "clear": clear_rule,
    "count": count_rule,
    "exists": exists_rule,
    "stats": stats_rule,
    "settings": settings_rule,
    "configure": configure_rule,
    "create_many": create_many_rule,
    "read_many": read_many_rule,
    "update_many": update_many_rule,
    "delete_many": delete_many_rule,
    "append_many": append_many_rule,
    "take_many": take_many_rule,
    "unchanging": unchanging_rule,
    "opaque": opaque_rule,
}

_EARLY: frozenset[Kind] = frozenset(
    {"update", "state", "increase", "replace", "append", "take", "configure", "update_many", "append_many", "take_many"}
)
"""What changes things is looked at first: it may speak of fields that makers start and searches look for."""

_CHANGES: frozenset[Kind] = _EARLY | {"upsert", "extend"}
_MAKES: frozenset[Kind] = frozenset({"create", "copy", "upsert", "create_many"})

_IGNORING = 0.2
"""How much less sure a search is that leaves arguments aside."""

_FIRST = 1001
"""The first of ids that are numbers, high enough not to be taken for a count."""


def infer(toolset: Iterable[Tool]) -> Dynamics:
    """The dynamics that a toolset's definitions suggest, with a reason and a confidence for every tool.

    A collection into which no tool creates is `open`: the real world may hold what this one has not seen.
    """
    tools = list(toolset)
    label = getattr(toolset, "name", "")
    readings = read(tools)
    groups = group(readings, _label(label))
    fold_inner(groups)
    elect_makers(groups, told=True)
    merge(groups)
    style = _style(tools)
    names = [argument.name for reading in readings for argument in reading.arguments]
    collections: dict[str, CollectionRule] = {}
    rules: dict[str, ToolRule] = {}
    scenes: list[Scene] = []
    for found in groups:
        scenes.append(_scene(found, names, style, taken={scene.collection for scene in scenes}))
    decided = [{id(member): decide(member, scene) for member in scene.group.members} for scene in scenes]
    for scene, decisions in zip(scenes, decided, strict=True):
        found, scene.scenes = scene.group, scenes
        scene.changes = any(decision.kind in _CHANGES for decision in decisions.values())
        used = False
        for member in sorted(found.members, key=lambda m: _turn(decisions[id(m)])):
            decision = decisions[id(member)]
            rule = rules[member.reading.tool.name] = _rule(Case(member, decision, scene))
            scene.held.update(_given_by(rule, decision))
            used = used or decision.kind not in {"opaque", "unchanging"}
        if used:
            makes = any(decision.kind in _MAKES for decision in decisions.values())
            collections[scene.collection] = _collection(scene, makes)
    ordered = {tool.name: rules[tool.name] for tool in tools if tool.name in rules}
    return Dynamics(collections=collections, tools=ordered)


def _turn(decision: Decision) -> int:
    """When a rule is written: searches last, for what things have is known then."""
    return 0 if decision.kind in _EARLY else 2 if decision.kind in {"search", "count"} else 1


def _given_by(rule: ToolRule, decision: Decision) -> Iterator[str]:
    """The fields that a rule gives things."""
    changes: tuple[ToolRule | Change, ...] = (rule, *rule.also)
    for change in changes:
        yield from (path.split(".")[0] for path in (*change.set, *change.append))
        if isinstance(change.take, list | dict):
            yield from change.take
        elif decision.batch is not None:
            members = decision.batch.item.get("properties")
            yield from members if isinstance(members, Mapping) else ()


def _label(name: str) -> str:
    words = split(name)
    return words[-1] if words else "item"


def _style(tools: Iterable[Tool]) -> str:
    """The style in which answers spell their fields: that of the arguments, for they go into the answers."""
    names: list[str] = []
    for tool in tools:
        properties = tool.input_schema.get("properties")
        if isinstance(properties, dict):
            names += properties
    told = [name for name in names if len(split(name)) > 1]
    if told:
        return style_of(told)
    style = style_of(tool.name for tool in tools)
    if any(name[:1].isupper() for name in names):
        return "pascal"
    return "camel" if style == "camel" else "snake"


def _scene(found: Group, names: list[str], style: str, taken: set[str]) -> Scene:
    key = find_key(found, names)
    fields = known_fields(found, key, style)
    noun, shown = found.noun or ("item",), entity_fields(found)
    collection = base = _safe("_".join((*noun[:-1], plural(noun[-1]))))
    number = 2
    while collection in taken:
        collection, number = f"{base}_{number}", number + 1
    scene = Scene(
        group=found,
        key=key,
        fields=fields,
        collection=collection,
        noun=" ".join(noun),
        list_name=spell((*noun[:-1], plural(noun[-1])), style),
        style=style,
        shown=bool(shown),
        held={field.name for field in shown} | {part.field for part in key.parts},
    )
    survey(scene)
    return scene


def _safe(name: str) -> str:
    return re.sub(r"[^\w-]", "_", name) or "items"


def _rule(case: Case) -> ToolRule:
    built = _BUILDERS[case.decision.kind](case)
    sure, reason = case.decision.confidence, case.decision.reason
    ignored = built.pop("ignored", ())
    if ignored:
        sure = round(max(sure - _IGNORING, 0.1), 2)
        reason += f"; nothing says what {', '.join(map(repr, ignored[:5]))} narrows"
    if _writes(built) and (condition := tried_by(case.member.reading, case.scene)):
        built["unless"] = condition
    filled = {name: value for name, value in built.items() if value not in ({}, [], None)}
    return ToolRule(**filled, confidence=sure, reason=reason)


def _writes(built: Mapping[str, Any]) -> bool:
    return built["effect"] in {"create", "update", "delete"} or bool(built.get("also"))


def _is_chosen(scene: Scene) -> bool:
    """Whether every call that makes one gives its key."""
    makers = [member.reading for member in scene.makers_()]
    return not scene.key.minted and bool(makers) and all(map(scene.takes_key, makers))


def _collection(scene: Scene, makes: bool) -> CollectionRule:
    names = [part.field for part in scene.key.parts]
    default = " ".join(scene.collection.split("_"))
    noun = scene.noun if plural(scene.noun.split(" ")[-1]) != default or scene.noun != default.removesuffix("s") else ""
    mint = mint_of(scene.group, scene.key) if makes and not _is_chosen(scene) else ""
    return CollectionRule(
        key=names[0] if len(names) == 1 else names,
        noun=noun,
        mint=mint,
        start_at=_FIRST if mint == "{int}" else 1,
        open=not makes,
    )
