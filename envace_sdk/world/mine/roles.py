"""The things a call knows by name: those its arguments name, what these refer to, and the session."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import UNSET, Json
from envace_sdk.world.infer.cel import member
from envace_sdk.world.infer.words import singular, split

from .belief import Belief
from .evaluating import evaluate
from .links import is_idlike
from .structure import SESSION, Reference, Site, Structure

__all__ = ["ENTITY", "Cast", "Named", "cast_of"]

ENTITY: Final = "entity"
"""The name of the thing that a call is about."""
_TAKEN: Final = frozenset(
    {"args", "entity", "world", "now", "key", "item", "items", "total", "target", "session"}
    | {"size", "string", "int", "double", "bool"}
)
"""Names that mean something in the rule language already."""
_PLACE: Final = "place"
"""The name of the thing that another lies in."""


@dataclass(frozen=True, slots=True)
class Named:
    """A thing as a tool's rule knows it."""

    name: str
    kind: str
    source: str
    """The CEL expression of its key; "" for the session, and for what the call itself makes."""
    fresh: bool = False
    """Whether the call makes it, under a new key that the answer tells."""


class Cast:
    """The things that the rule of one tool can speak of, those first that others are found by."""

    def __init__(self, tool: str, named: Sequence[Named]) -> None:
        self.tool = tool
        self.named = tuple(named)

    @property
    def primary(self) -> Named | None:
        """The thing the call is about."""
        return next((named for named in self.named if named.name == ENTITY), None)

    def scope(self, args: Mapping[str, Json], belief: Belief) -> tuple[dict[str, Json], dict[str, Json]]:
        """The names that an expression sees before the call, and by name the keys of the things."""
        session = belief.session.document()
        scope: dict[str, Json] = {"args": dict(args), SESSION: session}
        keys: dict[str, Json] = {}
        for named in self.named:
            scope[named.name] = None
            if named.source:
                key = evaluate(named.source, scope)
                if key is not UNSET and key is not None and isinstance(key, str | int | float):
                    keys[named.name] = key
                    scope[named.name] = belief.document(named.kind, key)
        return scope, keys


def cast_of(
    tool: str,
    structure: Structure,
    scopes: Mapping[str, str],
    links: Mapping[str, Mapping[str, str]],
    trees: Collection[str] = (),
) -> Cast:
    """Who is who for a tool.

    Args:
        tool: its name.
        structure: the kinds, references and sites.
        scopes: by kind whose things are named relative to something, the CEL expression of that.
        links: by kind, its fields that name things, and of which kind.
        trees: the kinds whose keys are paths: each thing lies in another.
    """
    named: list[Named] = []
    used = set(_TAKEN)
    fresh = next((site for site in structure.sites_of(tool) if site.fresh), None)
    if fresh is not None:
        named.append(Named(ENTITY, fresh.kind, "", fresh=True))
    references = [reference for reference in structure.references_of(tool) if not reference.many]
    for reference in _in_order(references, structure.sites_of(tool)):
        name = _name(reference, used) if named else ENTITY
        used.add(name)
        named.append(Named(name, reference.kind, _key(reference, scopes)))
    for owner in [one for one in named if one.kind in trees and one.source]:
        name = _unused(_PLACE, used)
        used.add(name)
        named.append(Named(name, owner.kind, f"dirname({owner.source})"))
    for owner in list(named):
        for field_name, kind in sorted(links.get(owner.kind, {}).items()):
            if owner.fresh or kind == owner.kind:
                continue
            name = _unused(_words(field_name), used)
            used.add(name)
            named.append(Named(name, kind, member(owner.name, (field_name,))))
    return Cast(tool, named)


def _in_order(references: Sequence[Reference], sites: Sequence[Site]) -> list[Reference]:
    """The thing whose fields are shown comes first."""
    shown = {site.kind for site in sites if not site.many}
    return sorted(references, key=lambda r: r.kind not in shown)


def _key(reference: Reference, scopes: Mapping[str, str]) -> str:
    source = member("args", reference.path.split("."))
    base = scopes.get(reference.kind)
    return f"joinpath({base}, {source})" if base else source


def _name(reference: Reference, used: set[str]) -> str:
    return _unused(_words(reference.path), used)


def _words(name: str) -> str:
    words = list(split(name))
    while len(words) > 1 and is_idlike(words[-1]):
        words.pop()
    return "_".join(singular(word) if len(words) == 1 else word for word in words) or "thing"


def _unused(name: str, used: set[str]) -> str:
    base = name if name.isidentifier() else "thing"
    name, number = base, 2
    if name in used:
        name = f"{base}_"
    while name in used:
        name, number = f"{base}_{number}", number + 1
    return name
