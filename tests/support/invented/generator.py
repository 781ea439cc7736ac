"""Random environments: `invent(seed)`."""

from __future__ import annotations

from random import Random

from .changes import add_changes
from .computes import add_pure, add_total
from .crud import add_create, add_delete, add_read, add_search, add_update
from .draft import Draft
from .environment import Invented
from .kinds import Kind, draw_kinds
from .sessions import add_login, add_selection
from .unusual import add_archive, add_pairs, add_rename

__all__ = ["FEATURES", "invent"]

_FEATURES = """
aggregate append argument_check composite compute count counted_key counter create credentials defaulted
delete entity_check envelope filter given_key holds implicit in_use joined limit login membership minted_key
moved moved_key now nullable ordered output_schema projection range read reference register renamed room rows
search session side_effect size status substring sum take_off text transfer update upsert whole
"""
FEATURES = frozenset(_FEATURES.split())
"""All classes of rules that tools are marked with."""


def invent(seed: int, *, tools: int | None = None, kinds: int | None = None, entities: int = 4) -> Invented:
    """An environment: of two or three kinds of things, each with the tools that chance gives it.

    Args:
        seed: the same gives the same environment.
        tools: how many tools it has, exactly; as many as come about when not given.
        kinds: how many kinds of things; enough for the tools when not given.
        entities: how many there are of each kind to begin with, about.
    """
    random = Random(f"environment {seed}")
    if kinds is None:
        kinds = random.randint(2, 3) if tools is None else max(2, tools // 6)
    leaning = random.choice(["plain", "plain", "odd", "mixed"])
    drawn = draw_kinds(random, kinds, leaning)
    for kind in drawn:
        kind.populate(random, random.randint(max(2, entities - 2), entities + 1))
    draft = Draft(
        random,
        leaning,
        drawn,
        text_rate=random.choice([0, 0, 0.15, 0.4, 1.0]),
        schema_rate=random.choice([0, 1.0]),
    )
    if draft.chance(0.4):
        add_login(draft)
    if draft.chance(0.45):
        add_selection(draft, random.choice(drawn))
    for kind in drawn:
        _add_tools(draft, kind, drawn)
    for _ in range(random.randint(0, 2)):
        add_pure(draft)
    return _trimmed(draft, tools).done(f"invented-{seed}")


def _add_tools(draft: Draft, kind: Kind, drawn: list[Kind]) -> None:
    add_read(draft, kind)
    add_create(draft, kind)
    if draft.chance(0.8):
        add_search(draft, kind)
    if draft.chance(0.6):
        add_update(draft, kind)
    if draft.chance(0.55):
        add_delete(draft, kind, next((one for one in drawn if one.other is kind), None))
    if draft.chance(0.35):
        add_total(draft, kind)
    add_changes(draft, kind)
    if draft.chance(0.18):
        add_pairs(draft, kind)
    if draft.chance(0.18):
        add_archive(draft, kind)
    if not kind.mint and draft.chance(0.8) and not any(one.other is kind for one in drawn):
        add_rename(draft, kind)


def _trimmed(draft: Draft, tools: int | None) -> Draft:
    """With exactly that many tools."""
    if tools is None:
        return draft
    while len(draft.tools) < tools:
        kind = draft.random.choice(draft.kinds)
        draft.random.choice([add_read, add_search, add_update])(draft, kind)
    for name in list(draft.tools)[tools:]:
        for part in (draft.tools, draft.rules, draft.features):
            del part[name]
    draft.openers = [name for name in draft.openers if name in draft.tools]
    return draft
