"""Something to start with, for worlds that nobody has filled."""

from __future__ import annotations

from random import Random
from typing import Final

from envace_sdk.errors import SchemaError, WorldError
from envace_sdk.json import Json
from envace_sdk.jsonschema import generate
from envace_sdk.rehearse.environment import Environment
from envace_sdk.world.keys import Document, key_of, key_text, set_path
from envace_sdk.world.mint import mint
from envace_sdk.world.state import State

__all__ = ["populate"]

_ENTITIES: Final = 6
_TRIES: Final = 3


def populate(environment: Environment, random: Random) -> dict[str, list[Document]]:
    """Entities for the collections in which the environment's start has none, by collection.

    They are instances of what the tools' schemas say of an entity; fields that are called like the key of another
    collection hold keys of entities there.
    """
    state = environment.start
    empty = [name for name in environment.dynamics.collections if not len(state.collection(name))]
    schemas = environment.entity_schemas(state) if empty else {}
    made: dict[str, list[Document]] = {}
    for name in empty:
        documents: list[Document] = []
        for _ in range(_ENTITIES):
            document = _entity(environment, name, schemas[name], state, random)
            key = None if document is None else key_of(document, environment.dynamics.collections[name].key)
            if document is not None and key is not None and state.get(name, key) is None:
                state = state.put(name, key, document)
                documents.append(document)
        if documents:
            made[name] = documents
    return {name: [_linked(environment, name, one, made, random) for one in found] for name, found in made.items()}


def _entity(environment: Environment, name: str, schema: Json, state: State, random: Random) -> Document | None:
    rule = environment.dynamics.collections[name]
    for _ in range(_TRIES):
        try:
            key = mint(name, rule, state, random, schema)
            known: Json = {}
            for field, value in zip(rule.key_fields, key if isinstance(key, list) else [key], strict=False):
                known = set_path(known, field, value)
            made = generate(schema, random=random, clock=state.clock, known=known, name=name)
        except (SchemaError, WorldError):
            continue
        if isinstance(made, dict):
            return made
    return None


def _linked(
    environment: Environment, name: str, document: Document, made: dict[str, list[Document]], random: Random
) -> Document:
    """With the keys of others where fields are called like them."""
    own = environment.dynamics.collections[name].key_fields
    for other, documents in made.items():
        fields = environment.dynamics.collections[other].key_fields
        field = fields[0]
        if other == name or len(fields) > 1 or field in own or field not in document:
            continue
        key = random.choice(documents).get(field)
        if isinstance(key, str) and key_text(key):
            document = {**document, field: key}
    return document
