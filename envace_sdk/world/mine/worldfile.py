"""The initial world as a file that people and `envace-sdk learn` write in turn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from envace_sdk.errors import WorldError
from envace_sdk.json import Json
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.files import read_file
from envace_sdk.world.keys import Document, key_of
from envace_sdk.world.plain import check_json
from envace_sdk.world.rulefile import digest_of_json
from envace_sdk.world.seed_data import read_start

__all__ = ["WorldFile"]

_SESSION = "session"

Start = Mapping[str, Sequence[Document]]


@dataclass(frozen=True, slots=True)
class WorldFile:
    """What a world begins with.

    A collection that is as it was learned is learned anew. Of one that a person changed, or wrote, every entity is
    kept, and entities with other keys are added; one that a person took out stays out.
    """

    collections: dict[str, list[Document]]
    digests: dict[str, str]
    """By collection, one of what was learned."""
    notes: tuple[str, ...] = ()
    """What was kept, and what was added to it."""
    clock: Json = None

    @classmethod
    def names(cls, path: Path) -> list[str]:
        """The collections in a file; none where there is no file. Raises: WorldError, when it is wrong."""
        return list(_read(path)[1])

    @classmethod
    def merged(cls, path: Path, learned: Start, digests: Mapping[str, str], dynamics: Dynamics) -> WorldFile:
        """What is in the file with what was learned.

        Args:
            path: the file, if it is there.
            learned: what was learned.
            digests: those that were kept when the file was last written.
            dynamics: the rules, which say what the keys are.

        Raises:
            WorldError: the file is wrong, or does not go with the rules; the message names the place.
        """
        clock, held = _read(path)
        found = {
            name: usable for name in dynamics.collections if (usable := _usable(learned.get(name, ()), name, dynamics))
        }
        collections: dict[str, list[Document]] = {}
        notes: list[str] = []
        for name in dict.fromkeys([*held, *found]):
            news = found.get(name, [])
            if name not in held:
                if name in digests:
                    notes.append(f"{path.name}: {name} was taken out, and stays out")
                else:
                    collections[name] = news
            elif digests.get(name) == digest_of_json(list(held[name])):
                if news:
                    collections[name] = news
            else:
                collections[name], added = _added(held[name], news, name, dynamics, path)
                notes.append(f"{path.name}: {name} is yours: {_count(len(held[name]))} kept, {added} added")
        made = {name: digest_of_json(news) for name, news in found.items()}
        return cls(collections, made, tuple(notes), clock)

    def text(self) -> str:
        """The file's text: JSON with an entity a line."""
        lines = ["{"]
        if self.clock is not None:
            lines.append(f'  "clock": {json.dumps(self.clock)},')
        lines.append('  "collections": {' + ("" if self.collections else "}"))
        for number, (name, documents) in enumerate(self.collections.items(), 1):
            lines.append(f"    {_json(name)}: [")
            lines += [f"      {_json(document)}," for document in documents]
            if documents:
                lines[-1] = lines[-1][:-1]
            lines.append("    ]" + ("," if number < len(self.collections) else ""))
        return "\n".join([*lines, *(["  }"] if self.collections else []), "}", ""])


def _read(path: Path) -> tuple[Json, dict[str, Sequence[Document]]]:
    if not path.exists():
        return None, {}
    data = read_file(path)
    _, collections = read_start(data, str(path))
    return data.get("clock") if isinstance(data, dict) else None, collections


def _usable(documents: Sequence[Document], name: str, dynamics: Dynamics) -> list[Document]:
    """Those that can be in a world: with a key of their own, and plain JSON."""
    kept: dict[str, Document] = {}
    for document in documents:
        key = key_of(document, dynamics.collections[name].key)
        try:
            check_json(document, name)
        except WorldError:
            continue
        if key is not None and key not in kept:
            kept[key] = document
    return list(kept.values())


def _added(
    held: Sequence[Document], news: Sequence[Document], name: str, dynamics: Dynamics, path: Path
) -> tuple[list[Document], int]:
    """A person's entities with those that were learned beside them, and how many these are."""
    rule = dynamics.collections.get(name)
    if rule is None:
        known = ", ".join(dynamics.collections) or "none"
        raise WorldError(f"{path}: collections.{name}: no such collection is in the rules (there are: {known})")
    keys: dict[str, int] = {}
    for number, document in enumerate(held):
        key = key_of(document, rule.key)
        if key is None:
            wanted = " and ".join(map(repr, rule.key_fields))
            raise WorldError(f"{path}: collections.{name}[{number}]: no key: the rules want {wanted}")
        keys.setdefault(key, number)
    made = list(held)
    added = 0
    for document in news:
        place = keys.get(str(key_of(document, rule.key)))
        if place is None:
            made.append(document)
            added += 1
        elif name == _SESSION:
            made[place] = {**made[place], **{k: v for k, v in document.items() if k not in made[place]}}
    return made, added


def _json(value: Json) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def _count(number: int) -> str:
    return f"{number} {'entity' if number == 1 else 'entities'}"
