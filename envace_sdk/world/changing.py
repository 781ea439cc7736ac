"""Creating, updating and deleting entities within one call."""

from __future__ import annotations

from collections.abc import Sequence

from envace_sdk.errors import DynamicsError, WorldError
from envace_sdk.json import UNSET, Json

from .dynamics import Change, CollectionRule, Dynamics, ToolRule
from .edits import Edits, Take
from .expressions import Scope
from .formula import Formula, Wording
from .keys import Document, get_path, key_of, key_text, set_path
from .mint import mint_key
from .names import noun_of
from .refusal import RefusedError, UnseenError

__all__ = ["AlsoChange", "Journal", "Subject", "Target"]


_CHANGE_STEPS = 50
"""What a change of one entity counts, against the bound on a call's work."""


class Journal:
    """What a call has written so far."""

    __slots__ = ("minted", "written")

    def __init__(self) -> None:
        self.written: set[tuple[str, str]] = set()
        self.minted: set[tuple[str, str]] = set()


class Subject:
    """The entity a rule or a change is about, as it is found and as it becomes."""

    __slots__ = ("document", "key", "value")

    def __init__(self, value: Json, key: str | None, document: Document | None) -> None:
        self.value = value
        """The key as it was given: one value, or the list of the parts."""
        self.key = key
        self.document = document


class Target:
    """Compiled: which entity of which collection, and how it is edited."""

    def __init__(
        self, rule: ToolRule | Change, collection: str, dynamics: Dynamics, place: str, *, source_name: str
    ) -> None:
        self.collection = collection
        self.rule: CollectionRule = dynamics.collections[collection]
        self.fields = self.rule.key_fields
        self.place = place
        self.upsert = rule.upsert
        sources = [] if rule.key is None else rule.key if isinstance(rule.key, list) else [rule.key]
        self._key = [Formula(source, f"{place}.key") for source in sources]
        self.keyed = bool(self._key)
        if len(self._key) > len(self.fields):
            raise DynamicsError(f"{place}.key: {len(self._key)} parts for a key of {len(self.fields)}")
        if rule.effect in {"update", "delete"} and len(self._key) < len(self.fields):
            raise DynamicsError(f"{place}.key: effect {rule.effect} needs all of {', '.join(self.fields)}")
        naming = frozenset(name for formula in self._key for name in formula.expression.fields_of(source_name))
        take: Take = rule.take
        self.edits = Edits(
            take, rule.set, rule.append, rule.remove, without=naming, place=place, like=rule.like, key=self.fields
        )
        missing = rule.missing if isinstance(rule, ToolRule) else None
        exists = rule.exists if isinstance(rule, ToolRule) else None
        self._missing = None if missing is None else Wording(missing, f"{place}.missing")
        self._exists = None if exists is None else Wording(exists, f"{place}.exists")

    def subject(self, scope: Scope) -> Subject:
        """The entity that the key names; without a whole key there is none."""
        parts = [formula.optional(scope) for formula in self._key]
        value: Json = parts if len(self.fields) > 1 else parts[0] if parts else None
        if not parts or any(part is UNSET or part is None for part in parts) or len(parts) < len(self.fields):
            return Subject(None if value is UNSET else value, None, None)
        key = key_text(value)
        return Subject(value, key, scope.get(self.collection, key))

    def require(self, subject: Subject, scope: Scope) -> None:
        """Make sure that the entity is there.

        Raises:
            RefusedError: it is not.
            UnseenError: it is not, but the real world may have it.
        """
        if subject.key is None:
            fields = " and ".join(self.fields)
            raise RefusedError("validation_error", f"{self._noun()}: {fields} must be given")
        if subject.document is None:
            self.check_seen(subject, scope)
            raise RefusedError("not_found", self._said(self._missing, subject.value, "not found", scope))

    def check_seen(self, subject: Subject, scope: Scope) -> None:
        """Make sure that an entity which is not there is known not to be.

        Raises:
            UnseenError: the real world may have it.
        """
        if subject.key is None or not self.rule.open:
            return
        if not scope.collection(self.collection).was_removed(subject.key):
            raise UnseenError

    def _noun(self) -> str:
        noun = noun_of(self.collection, self.rule)
        return noun[:1].upper() + noun[1:]

    def _said(self, wording: Wording | None, value: Json, predicate: str, scope: Scope) -> str:
        if wording is not None:
            return wording(scope)
        shown = ", ".join(map(key_text, value)) if isinstance(value, list) else key_text(value)
        return f"{self._noun()} '{shown}' {predicate}"

    def create(
        self, subject: Subject, source: Json, scope: Scope, journal: Journal, minted: Json = None
    ) -> tuple[str, Document]:
        """Make a new entity: under the given key, else under one that its fields or `minted` give, else a new one.

        Raises:
            RefusedError: the key is taken.
            DynamicsError: a value cannot be computed, or no new key can be found.
        """
        fields = self.fields
        given = subject.value if isinstance(subject.value, list) and len(fields) > 1 else [subject.value]
        parts = [*given, *[UNSET] * (len(fields) - len(given))]
        edited = [self.edits.gives(field, source) for field in fields]
        unknown = [at for at, part in enumerate(parts) if (part is UNSET or part is None) and not edited[at]]
        document: Document | None = None
        if any(edited[at] and (part is UNSET or part is None) for at, part in enumerate(parts)):
            document = self.edits.apply({}, source, scope)
            found = [get_path(document, field) for field in fields]
            parts = [here if part is UNSET or part is None else part for part, here in zip(parts, found, strict=True)]
        if minted is not None and unknown:
            named = minted if isinstance(minted, list) and len(fields) > 1 else [minted]
            for at, part in enumerate(named[: len(parts)]):
                parts[at] = part if at in unknown else parts[at]
        fresh = any(part is UNSET or part is None for part in parts)
        value = self._mint(parts, scope) if fresh else parts if len(parts) > 1 else parts[0]
        key = key_text(value)
        scope.names["key"] = value
        if key in scope.collection(self.collection):
            raise RefusedError("conflict", self._said(self._exists, value, "already exists", scope))
        document = self.edits.apply({}, source, scope) if document is None else document
        document = self._with_key(document, value if len(fields) > 1 else [value])
        if fresh:
            journal.minted.add((self.collection, key))
        self._put(key, document, scope, journal)
        return key, document

    def _mint(self, parts: Sequence[Json], scope: Scope) -> Json:
        try:
            schema = scope.wanted_key(self.collection)
            value, scope.state = mint_key(
                self.collection, self.rule, scope.state, scope.random, schema=schema, parts=parts
            )
        except WorldError as error:
            raise DynamicsError(f"{self.place}: {error}") from error
        return value

    def _with_key(self, document: Document, parts: Sequence[Json]) -> Document:
        fields = self.fields
        if len(fields) == 1 and "." not in fields[0] and fields[0] not in document:
            return {fields[0]: parts[0], **document}
        if all(get_path(document, field) == part for field, part in zip(fields, parts, strict=True)):
            return document
        whole: Document = {field: part for field, part in zip(fields, parts, strict=True) if "." not in field}
        whole |= document
        for field, part in zip(fields, parts, strict=True):
            whole = set_path(whole, field, part)
        return whole

    def update(self, subject: Subject, source: Json, scope: Scope, journal: Journal) -> tuple[str, Document]:
        """Edit the entity; a changed key field moves it to its new key.

        Raises:
            RefusedError: the new key is taken.
            DynamicsError: a value cannot be computed, or the key field would be lost.
        """
        before, old = subject.document, subject.key
        if before is None or old is None:
            raise AssertionError("an update needs an entity")
        document = self.edits.apply(before, source, scope)
        if document is before:
            return old, before
        key = key_of(document, self.rule.key)
        if key is None:
            raise DynamicsError(f"{self.place}: the update takes away the key ({', '.join(self.fields)})")
        if key != old and not self._keeps_key(before, document):
            if key in scope.collection(self.collection):
                parts = [get_path(document, field) for field in self.fields]
                value = parts if len(parts) > 1 else parts[0]
                raise RefusedError("conflict", self._said(self._exists, value, "already exists", scope))
            self._remove(old, scope, journal)
            old = key
        self._put(old, document, scope, journal)
        return old, document

    def _keeps_key(self, before: Document, after: Document) -> bool:
        """Also true of an entity that was put under another key than its fields say: that is not the edit's doing."""
        return all(get_path(before, field) == get_path(after, field) for field in self.fields)

    def delete(self, subject: Subject, scope: Scope, journal: Journal) -> None:
        """Remove the entity."""
        if subject.key is not None:
            self._remove(subject.key, scope, journal)

    def _put(self, key: str, document: Document, scope: Scope, journal: Journal) -> None:
        scope.state = scope.state.put(self.collection, key, document)
        scope.seen[id(document)] = (self.collection, key, document)
        journal.written.add((self.collection, key))

    def _remove(self, key: str, scope: Scope, journal: Journal) -> None:
        scope.state = scope.state.remove(self.collection, key)
        journal.written.add((self.collection, key))


class AlsoChange:
    """One compiled entry of `also`."""

    def __init__(self, change: Change, dynamics: Dynamics, place: str) -> None:
        self._effect = change.effect
        self._target = Target(change, change.collection, dynamics, place, source_name="item")
        self._each = Formula(change.each, f"{place}.each") if change.each is not None else None
        self._when = Formula(change.when, f"{place}.when") if change.when is not None else None

    def apply(self, scope: Scope, journal: Journal) -> None:
        """Make the change, for each element where there is an `each`.

        In its expressions, `target` is the entity that it changes, as it was.

        Raises:
            RefusedError: an entity is not there, or a new key is taken.
            DynamicsError: an expression cannot be computed.
        """
        if self._each is None:
            self._once(None, scope, journal)
            return
        items = self._each(scope)
        if items is None:
            return
        if not isinstance(items, list):
            raise self._each.wrong(f"`{self._each.expression.source}` must be a list, not {items!r:.60}")
        for item in items:
            scope.spend(_CHANGE_STEPS)
            scope.names["item"] = item
            self._once(item, scope, journal)
        scope.names.pop("item", None)

    def _once(self, item: Json, scope: Scope, journal: Journal) -> None:
        if self._when is not None and not self._when.holds(scope):
            return
        target, names = self._target, scope.names
        own_key = names.get("key")
        subject = target.subject(scope)
        names["target"] = subject.document
        try:
            if self._effect == "create" or (target.upsert and subject.document is None):
                target.create(subject, item, scope, journal)
                return
            target.require(subject, scope)
            if self._effect == "update":
                target.update(subject, item, scope, journal)
            else:
                target.delete(subject, scope, journal)
        except UnseenError:
            # The real world may have the entity; what it then becomes cannot be told, and nothing here shows it.
            return
        finally:
            names["key"] = own_key
            names.pop("target", None)
