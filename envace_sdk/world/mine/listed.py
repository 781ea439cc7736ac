"""Calls that list things: which they showed, and which they did not."""

from __future__ import annotations

from collections.abc import Mapping

from envace_sdk.json import Json, Unset
from envace_sdk.world.keys import key_text

from .evaluating import evaluate
from .moments import Moment
from .structure import Site, records

__all__ = ["Case", "Document", "Pair"]

Document = Mapping[str, Json]
Pair = tuple["Case", Document]
"""A call and a thing that was there."""


class Case:
    """One call, the things that it listed, and those that it did not.

    Args:
        moment: the call, and what was known to be there.
        site: where its answer shows the things.
    """

    def __init__(self, moment: Moment, site: Site) -> None:
        self.moment = moment
        self.records: list[Mapping[str, Json]] = []
        self.keys: list[str] = []
        for name, record in records(site, moment.step):
            key = evaluate(site.join, {**moment.scope, "item": {site.key: name}}) if site.join else name
            if not isinstance(key, Unset):
                self.keys.append(key_text(key))
                self.records.append(record)
        things = moment.things.get(site.kind, {})
        shown = set(self.keys)
        self.known = list(things.items())
        self.listed = [things[key] for key in self.keys if things.get(key) is not None]
        self.others = [document for key, document in things.items() if key not in shown]

    @property
    def session(self) -> Document:
        """What was known of the session."""
        held = self.moment.scope["session"]
        return held if isinstance(held, dict) else {}

    def scope(self, document: Document) -> dict[str, Json]:
        """What a condition on a thing can be made of."""
        scope = {"args": self.moment.scope["args"], "session": self.moment.scope["session"], "entity": dict(document)}
        path = document.get("path")
        if isinstance(path, str):
            scope["parent"] = path.rpartition("/")[0] or "/"
        return scope
