"""Templates: literal text with slots and repeated parts, that read a text into values and write it back.

A slot's value is a text, or a number where the number prints as exactly the text that was read. What `parse` reads,
`render` writes back character by character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from envace_sdk.json import Json

from ...infer import cel
from .matcher import Program, compile_program, match
from .slot import Slot

__all__ = ["Part", "Rows", "Template"]

_PATH: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\['[^'\\]*'\])*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rows:
    """A part that is repeated, zero or more times."""

    name: str
    item: Template
    separator: str = "\n"


Part: TypeAlias = str | Slot | Rows


@dataclass(frozen=True, slots=True)
class Template:
    """The form of a text: what it is made of, in order. Slots and rows of one template have different names."""

    parts: tuple[Part, ...]
    _program: list[Program] = field(default_factory=list, init=False, repr=False, compare=False)

    def parse(self, text: str) -> dict[str, Json] | None:
        """What the slots and rows of a text of this form hold: texts and numbers by name, rows as lists of such.

        None where the text has not this form. Takes time linear in the text, times the parts of the template; a text
        that would take unreasonably long all the same counts as one that has not this form.
        """
        first = self.parts[0] if self.parts else ""
        if isinstance(first, str) and not text.startswith(first):
            return None
        if not self._program:
            self._program.append(compile_program(self.parts))
        return match(self._program[0], text)

    def render(self, values: Mapping[str, Json]) -> str:
        """The text of this form that holds these values.

        Raises:
            KeyError: a slot or rows have no value.
        """
        return "".join(self._written(values))

    def _written(self, values: Mapping[str, Json]) -> Iterator[str]:
        for part in self.parts:
            if isinstance(part, str):
                yield part
            elif isinstance(part, Slot):
                yield part.written(values[part.name])
            else:
                yield part.separator.join(map(part.item.render, values[part.name]))

    def cel(self, sources: Mapping[str, str]) -> str:
        """The template as the rule language writes it, `Order {args.order_id} not found`.

        Args:
            sources: by slot, the expression of its value; by rows, the expression of a list, and under
                `rows.slot` the expression of a slot of one `item` of it (left out: `item.slot`).

        Raises:
            KeyError: a slot or rows of the outermost template have no source.
        """
        written = []
        for part in self.parts:
            if isinstance(part, str):
                written.append(cel.template(part))
            elif isinstance(part, Slot):
                written.append(f"{{{_padded(part, sources[part.name])}}}")
            else:
                written.append(f"{{{_joined(part, sources[part.name], _within(part.name, sources))}}}")
        return "".join(written)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots outside of rows, in order."""
        return tuple(part for part in self.parts if isinstance(part, Slot))

    @property
    def rows(self) -> tuple[Rows, ...]:
        """The repeated parts, in order."""
        return tuple(part for part in self.parts if isinstance(part, Rows))

    @property
    def literal(self) -> int:
        """How many characters other than blanks are always the same; of rows, those of one item."""
        found = 0
        for part in self.parts:
            if isinstance(part, str):
                found += len("".join(part.split()))
            elif isinstance(part, Rows):
                found += part.item.literal
        return found

    def __str__(self) -> str:
        """For people: `Order {order} not found`; rows as `{name: [item] separator}`."""
        shown = []
        for part in self.parts:
            if isinstance(part, str):
                shown.append(cel.template(part))
            elif isinstance(part, Slot):
                kind = "" if part.kind == "text" else f":{part.kind}"
                shown.append(f"{{{part.name}{kind}{f':{part.width}' if part.width else ''}}}")
            else:
                shown.append(f"{{{part.name}: [{part.item}] {part.separator!r}}}")
        return "".join(shown)


def _padded(slot: Slot, source: str) -> str:
    """The expression of a value's text, as JSON or filled up with blanks."""
    if slot.style is not None:
        return f"json({source}, {slot.style})"
    if not slot.width:
        return source
    text, width = f"string({source})", abs(slot.width)
    blanks = f"{cel.text(' ' * width)}.substring(min(size({text}), {width}))"
    return f"{text} + {blanks}" if slot.width > 0 else f"{blanks} + {text}"


def _within(name: str, sources: Mapping[str, str]) -> dict[str, str]:
    start = f"{name}."
    return {key.removeprefix(start): source for key, source in sources.items() if key.startswith(start)}


def _joined(rows: Rows, source: str, sources: Mapping[str, str]) -> str:
    """The expression of the text of a list: each item written, then joined."""
    items = source if _PATH.fullmatch(source) else f"({source})"
    item = _item(rows.item, sources)
    mapped = "" if item == "item" else f".map(item, {item})"
    return f"{items}{mapped}.join({cel.text(rows.separator)})"


def _item(template: Template, sources: Mapping[str, str]) -> str:
    """The expression of the text of one `item`."""
    pieces: list[str] = []
    for part in template.parts:
        if isinstance(part, str):
            pieces.append(cel.text(part))
            continue
        source = sources.get(part.name, cel.member("item", [part.name]))
        if isinstance(part, Rows):
            pieces.append(_joined(part, source, _within(part.name, sources)))
        elif len(template.parts) == 1 and not part.width and part.style is None:
            return source
        else:
            plain = not part.width and part.style is None
            pieces.append(f"string({source})" if plain else _padded(part, source))
    return " + ".join(pieces) or "''"
