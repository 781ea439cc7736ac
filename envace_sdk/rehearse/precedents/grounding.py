"""What the world knows of the things in an answer overrides what a precedent says of them."""

from __future__ import annotations

from copy import deepcopy

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.world.absorb import shown_entities
from envace_sdk.world.dynamics import Dynamics, ToolRule
from envace_sdk.world.state import State

__all__ = ["grounded"]


def grounded(value: Json, rule: ToolRule | None, dynamics: Dynamics, state: State) -> Json | Unset:
    """The answer with the fields of known entities as the world has them; UNSET where nothing is known otherwise."""
    if not isinstance(value, dict | list) or not _news(value, rule, dynamics, state):
        return UNSET
    own = deepcopy(value)
    for shown, held in _news(own, rule, dynamics, state):
        shown.update({name: held[name] for name in shown if name in held})
    return own


def _news(
    value: Json, rule: ToolRule | None, dynamics: Dynamics, state: State
) -> list[tuple[dict[str, Json], dict[str, Json]]]:
    found = []
    for collection, key, shown in shown_entities(value, rule, dynamics):
        held = state.get(collection, key)
        if held is not None and any(name in held and held[name] != part for name, part in shown.items()):
            found.append((shown, held))
    return found
