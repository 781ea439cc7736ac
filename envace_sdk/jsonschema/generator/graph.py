"""A schema document as nodes, with its references resolved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urldefrag, urljoin

from envace_sdk.errors import SchemaError
from envace_sdk.json import UNSET, Json

from .. import rust
from ..dialect import Dialect, Path, dialect, reference_keywords, subschemas
from ..pointer import join, lookup, split
from ..regex import portable
from .adding import add_up
from .dead_ends import DeadEndError
from .keywords import STRING, Keywords, parse
from .shape import Shape

if TYPE_CHECKING:
    from .groups import Choices, Nodes

__all__ = ["BASE", "Graph", "Node"]

BASE: Final = "https://schema.invalid/"
"""The URI of a schema that has no `$id`."""
_KEPT: Final = 5000


class Node:
    """One schema: a place in the document, or one that was made to say what another one implies."""

    __slots__ = ("_keywords", "_source", "graph", "judged", "lasting", "memo", "pointer", "serial")

    def __init__(self, graph: Graph, serial: int, judged: Json, pointer: str, source: Json | Keywords) -> None:
        self.graph, self.serial, self.pointer = graph, serial, pointer
        self.judged = judged
        """A schema for the judge that stands for this node; for a made one it may ask for less."""
        self._source = source
        self._keywords: Keywords | None = source if isinstance(source, Keywords) else None
        self.lasting = True
        """Whether it will be met again, so that it is worth to keep what is found out about it."""
        self.memo: dict[str, object] = {}

    @property
    def keywords(self) -> Keywords:
        """What the schema says. Read late, for a schema may hold itself."""
        if self._keywords is None:
            self._keywords = parse(self._source, self)
        return self._keywords

    @property
    def is_true(self) -> bool:
        """Whether it allows everything."""
        return self is self.graph.true

    @property
    def is_false(self) -> bool:
        """Whether it allows nothing."""
        return self is self.graph.false

    def __repr__(self) -> str:
        return f"Node({self.serial}, {self.pointer or self.judged!r})"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a schema object is: the resource it belongs to, its place in that, and in the document."""

    resource: str
    inside: Path
    path: Path
    dialect: Dialect


class Graph:
    """The nodes of one schema document, and of the meta-schemas where it refers to them."""

    def __init__(self, document: Json) -> None:
        self.document = document
        self._serial = 0
        self._places: dict[int, _Place] = {}
        self._sources: list[Json] = []
        self._resources: dict[str, Json] = {}
        self._anchors: dict[tuple[str, str], Json] = {}
        self._dynamic: dict[str, list[Json]] = {}
        self._nodes: dict[int, Node] = {}
        self._presence: dict[str, tuple[Node, Node]] = {}
        self._shapes: dict[tuple[Nodes, Choices], Shape | DeadEndError] = {}
        self._adding: set[tuple[Nodes, Choices]] = set()
        self.has_unevaluated = False
        self.has_references = False
        self.true = self._new(True, "", True)
        self.false = self._new(False, "", False)
        self.text = self._new({"type": "string"}, "", Keywords(types=STRING))
        self._resources[BASE] = document
        self._index(document, _Place(BASE, (), (), dialect(document)))
        self.root = self.node(document)

    def _new(self, judged: Json, pointer: str, source: Json | Keywords) -> Node:
        self._serial += 1
        return Node(self, self._serial, judged, pointer, source)

    def made(self, judged: Json, keywords: Keywords, pointer: str = "", *, lasting: bool = True) -> Node:
        """A node of its own, that the judge tells by `judged`."""
        node = self._new(judged, pointer, keywords)
        node.lasting = lasting
        return node

    def shape(self, nodes: Nodes, choices: Choices = ()) -> Shape:
        """The shape of some schemas together, with some choices made.

        Raises:
            DeadEndError: they contradict each other.
        """
        key = (nodes, choices)
        found = self._shapes.get(key)
        if found is None:
            if key in self._adding:  # it is needed for itself: nothing speaks against it so far
                return Shape(self, nodes)
            if len(self._shapes) > _KEPT:
                self._shapes.clear()
            self._adding.add(key)
            try:
                found = add_up(self, nodes, choices)
            finally:
                self._adding.discard(key)
            if all(node.lasting for node in nodes):
                self._shapes[key] = found
        if isinstance(found, DeadEndError):
            raise DeadEndError(found.reason, size=found.size)
        return found

    def presence(self, name: str) -> tuple[Node, Node]:
        """The nodes of a property that is absent, and of one that is present."""
        found = self._presence.get(name)
        if found is None:
            absent = self.made(True, Keywords(properties={name: self.false}, silent=True))
            present = self.made(True, Keywords(required=(name,), silent=True))
            found = self._presence[name] = (absent, present)
        return found

    def node(self, source: Json) -> Node:
        """The node of a schema in the document."""
        if not isinstance(source, dict):
            return self.false if source is False else self.true
        node = self._nodes.get(id(source))
        if node is None:
            place = self._places[id(source)]
            judged = {"$ref": f"{place.resource}#{_fragment(place.inside)}"}
            node = self._nodes[id(source)] = self._new(judged, join(place.path), source)
        return node

    def sources(self) -> list[Json]:
        """Every schema of the document."""
        return list(self._sources)

    def dialect(self, source: Json) -> Dialect:
        """The dialect that a schema of the document is written in."""
        return self._places[id(source)].dialect

    def _index(self, source: Json, place: _Place) -> None:
        if not isinstance(source, dict) or id(source) in self._places:
            return
        own = dialect(source, place.dialect)
        identity = source.get("$id" if own > Dialect.DRAFT_4 else "id")
        if isinstance(identity, str) and not ("$ref" in source and own <= Dialect.DRAFT_7):
            uri, anchor = urldefrag(urljoin(place.resource, identity))
            if uri != place.resource:
                place = _Place(uri, (), place.path, own)
                self._resources.setdefault(uri, source)
            if anchor:
                self._anchors.setdefault((place.resource, anchor), source)
        place = _Place(place.resource, place.inside, place.path, own)
        self._places[id(source)] = place
        self._sources.append(source)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if own >= Dialect.DRAFT_2019 and isinstance(name := source.get(keyword), str):
                self._anchors.setdefault((place.resource, name), source)
                if keyword == "$dynamicAnchor":
                    self._dynamic.setdefault(name, []).append(source)
        if "unevaluatedProperties" in source or "unevaluatedItems" in source:
            self.has_unevaluated = True
        if not self.has_references and any(keyword in source for keyword in reference_keywords(own)):
            self.has_references = True
        for step, inner in subschemas(source, own):
            self._index(inner, _Place(place.resource, place.inside + _as_judged(step), place.path + step, own))

    def resolve(self, reference: str, source: Json, *, dynamic: bool = False) -> Node:
        """The node that a reference in `source` leads to.

        Raises:
            SchemaError: it leads nowhere.
        """
        place = self._places[id(source)]
        uri, fragment = urldefrag(urljoin(place.resource, reference))
        if dynamic and (outermost := self._outermost(uri, fragment)) is not None:
            return self.node(outermost)
        resource = self._resources.get(uri)
        if resource is None:
            resource = self._meta_schemas.get(uri)
            if resource is None:
                raise SchemaError(f"{join(place.path)}/$ref: {reference!r} is not part of the schema")
            self._resources[uri] = resource
            self._index(resource, _Place(uri, (), (), dialect(resource)))
        if fragment and not fragment.startswith("/"):
            target: Json = self._anchors.get((uri, fragment), UNSET)
        else:
            target = self._at(resource, uri, tuple(split(fragment)))
        if target is UNSET or not isinstance(target, dict | bool):
            raise SchemaError(f"{join(place.path)}/$ref: {reference!r} leads to no schema")
        return self.node(target)

    def _at(self, resource: Json, uri: str, steps: Path) -> Json:
        found = lookup(resource, steps)
        if isinstance(found, dict) and id(found) not in self._places:  # not where a schema is expected, but referred to
            path = self._places[id(resource)].path if isinstance(resource, dict) else ()
            self._index(found, _Place(uri, steps, path + steps, self.dialect(resource)))
        return found

    def _outermost(self, uri: str, fragment: str) -> Json | None:
        """The schema a dynamic reference means: that of the outermost resource with the anchor. The document's own
        comes first; among resources within it, that is as far as can be told without following the path taken.
        """
        if not fragment:  # $recursiveRef
            target = self._resources.get(uri)
            dynamic = isinstance(target, dict) and target.get("$recursiveAnchor") is True
            root = self.document
            return root if dynamic and isinstance(root, dict) and root.get("$recursiveAnchor") is True else None
        anchored = self._dynamic.get(fragment, [])
        if not any(candidate is self._anchors.get((uri, fragment)) for candidate in anchored):
            return None
        return anchored[0]

    @cached_property
    def _meta_schemas(self) -> dict[str, Json]:
        return {uri.rstrip("#"): contents for uri, contents in rust.meta_schemas()}


def _as_judged(step: Path) -> Path:
    """The step in the document that the judge runs, where a pattern may be written otherwise."""
    if step[0] == "patternProperties" and isinstance(step[-1], str):
        return (step[0], portable(step[-1]) or step[-1])
    return step


def _fragment(path: Path) -> str:
    return quote(rust.scrubbed(join(path)), safe="/~!$&'()*+,;=:@-._")
