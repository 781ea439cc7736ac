"""What can be known of the world in the middle of a recorded episode, and who may have changed it since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.world.keys import key_text

from .episodes import Step
from .structure import SESSION

if TYPE_CHECKING:
    from .roles import Named

__all__ = ["EXISTS", "Belief", "Suspect", "Thing", "accuse"]

EXISTS = ""
"""In place of a field's name: whether the thing exists."""


@dataclass(eq=False, slots=True)
class Suspect:
    """A call that may have changed a thing, in a way that is not known."""

    step: Step
    named: Named
    """As what the call knows the thing."""
    scope: dict[str, Json]
    """What was known before the call."""
    pair: tuple[str, str] = field(init=False)
    """The tool, and the name that it has for the thing."""

    def __post_init__(self) -> None:
        self.pair = (self.step.tool, self.named.name)


@dataclass(eq=False, slots=True)
class Thing:
    """What is known of one thing."""

    kind: str
    key: Json
    fields: dict[str, Json] = field(default_factory=dict)
    exists: bool | None = None
    """None: nobody has said."""
    pending: dict[str, list[Suspect]] = field(default_factory=dict)
    """By field, or EXISTS: the calls that may have changed it since it was last known."""
    everything: list[Suspect] = field(default_factory=list)
    """The calls that may have given it fields which are not known yet."""
    assumed: bool = False
    """Whether it is only there because other episodes say so."""
    born: bool = False
    """Whether a call of the episode made it."""
    looked: dict[str, int] = field(default_factory=dict)
    """By viewer, how much of `everything` had happened when it last showed the thing."""
    shown_by: dict[str, str] = field(default_factory=dict)
    """By field, the tool that showed it last."""

    def forget(self, *suspects: Suspect) -> None:
        """Know nothing any more; what is shown next, the suspects have given."""
        self.fields, self.pending, self.everything, self.looked = {}, {}, list(suspects), {}

    def show(self, name: str, value: Json, viewer: str) -> None:
        """Know a field, by whom it was shown."""
        self.fields[name] = value
        self.shown_by[name] = viewer
        self.pending.pop(name, None)

    def known(self, name: str) -> Json | Unset:
        """What was last known of a field, or with EXISTS of whether the thing exists, changed since or not."""
        if name == EXISTS:
            return UNSET if self.exists is None else self.exists
        return self.fields.get(name, UNSET)

    def document(self) -> dict[str, Json]:
        """The fields that are known for certain."""
        pending = self.pending
        if not pending:
            return dict(self.fields)
        return {name: value for name, value in self.fields.items() if name not in pending}

    def suspects(self, name: str, viewer: str) -> list[Suspect]:
        """Who may have changed a field since it was last known; of an unknown one, since the viewer last looked."""
        if name in self.pending:
            return self.pending[name]
        if self.known(name) is not UNSET:
            return []
        return self.everything[self.looked.get(viewer, 0) :]


class Belief:
    """The things of one episode.

    Args:
        start: by kind and the text of its key, what there is in the beginning.
        keys: by kind, the field that holds the key.
    """

    def __init__(
        self,
        start: Mapping[str, Mapping[str, Mapping[str, Json]]] | None = None,
        keys: Mapping[str, str] | None = None,
    ) -> None:
        self._keys = keys or {}
        self._start = start or {}
        session = Thing(SESSION, "", exists=True)
        self._things: dict[str, dict[str, Thing]] = {SESSION: {"": session}}
        """Those that anything was heard of in the episode: of a large start, most episodes touch little."""
        for document in self._start.get(SESSION, {}).values():
            session.fields.update(document)
            session.assumed = True

    @property
    def session(self) -> Thing:
        """What is true of the session as a whole."""
        return self._things[SESSION][""]

    def thing(self, kind: str, key: Json) -> Thing:
        """The thing of that name, known or not."""
        if kind == SESSION:
            return self.session
        held = self._things.setdefault(kind, {})
        text = key_text(key)
        found = held.get(text)
        if found is None:
            found = held[text] = self._begun(kind, text) or Thing(kind, key)
        return found

    def _begun(self, kind: str, text: str) -> Thing | None:
        """The thing as it is in the beginning, if it is there."""
        document = self._start.get(kind, {}).get(text)
        return None if document is None else Thing(kind, text, dict(document), exists=True, assumed=True)

    def find(self, kind: str, key: Json) -> Thing | None:
        """The thing of that name, if anything was heard of it."""
        if kind == SESSION:
            return self.session
        text = key_text(key)
        known = text in self._things.get(kind, {}) or text in self._start.get(kind, {})
        return self.thing(kind, text) if known else None

    def heard_of(self, kind: str) -> list[Thing]:
        """All that anything was heard of in the episode: what there was in the beginning, then in that order."""
        held, begun = self._things.get(kind, {}), self._start.get(kind, {})
        first = [held[text] for text in begun if text in held] if begun else []
        return [*first, *(thing for text, thing in held.items() if text not in begun)]

    def document(self, kind: str, key: Json) -> dict[str, Json] | None:
        """The fields of a thing that is there; None of one that is not, or that nothing is known of."""
        if key is UNSET or key is None:
            return None
        thing = self.find(kind, key)
        if thing is None or not thing.exists:
            return None
        return self.whole(thing)

    def whole(self, thing: Thing) -> dict[str, Json]:
        """What is known of a thing, and its key."""
        name = self._keys.get(thing.kind)
        return thing.document() if name is None else {name: thing.key, **thing.document()}


def accuse(thing: Thing, name: str, suspect: Suspect) -> None:
    """Note that a call may have changed a field."""
    thing.pending.setdefault(name, []).append(suspect)
