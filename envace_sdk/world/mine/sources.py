"""Writing CEL: the expressions and texts of which a learned rule is made."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from envace_sdk.errors import ExpressionError
from envace_sdk.json import Json
from envace_sdk.world.expressions import compile_expression
from envace_sdk.world.infer.cel import literal, member

from .roles import ENTITY, Named
from .texts import Slot, Template

__all__ = [
    "THING",
    "arguments_in",
    "entity_as_thing",
    "entity_as_thing_in_template",
    "fetched",
    "free_source",
    "negated",
    "object_source",
    "quotes",
    "speaks_of",
    "template_source",
    "when_given",
]

THING: Final = "it"
"""What a rule that has no `entity` of its own calls the thing that it is about."""
_LARGE: Final = 400
_LONGEST: Final = 60
_ENTITY: Final = re.compile(rf"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b{ENTITY}\b""")
"""The name; or a literal, of which it is no name."""
_FLIPPED: Final = {"==": "!=", "!=": "==", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}


def arguments_in(source: str) -> list[str]:
    """The arguments that an expression reads, such as `args.order_id`."""
    return re.findall(r"args\.[\w.]+", source)


def when_given(source: str, value: str) -> str:
    """The value where a call gives all arguments that the source reads; null elsewhere."""
    paths = arguments_in(source)
    return f"{' && '.join(f'has({path})' for path in paths)} ? {value} : null" if paths else value


def fetched(named: Named, *, optional: bool) -> str:
    """The thing itself, by its key; null where there is none, or an optional one is not named."""
    value = f"get('{named.kind}', {named.source})"
    return when_given(named.source, value) if optional else value


def speaks_of(name: str, written: Any) -> bool:
    """Whether a name is a word anywhere in what is written of a rule."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    return any(word.search(text) for text in _texts(written))


def quotes(name: str, written: Any) -> bool:
    """Whether a name is written in a rule by itself or in quotes, as a collection's is."""
    return any(text == name or f"'{name}'" in text for text in _texts(written))


def _texts(written: Any) -> Iterator[str]:
    if isinstance(written, str):
        yield written
    elif isinstance(written, Mapping):
        for name, value in written.items():
            yield name
            yield from _texts(value)
    elif isinstance(written, list | tuple):
        for value in written:
            yield from _texts(value)


def entity_as_thing(written: Any) -> Any:
    """The same expressions with `it` for `entity`, for a rule in which that name is free or means another thing."""
    if isinstance(written, str):
        return _ENTITY.sub(lambda match: THING if match.group() == ENTITY else match.group(), written)
    if isinstance(written, Mapping):
        return {name: entity_as_thing(value) for name, value in written.items()}
    return [entity_as_thing(value) for value in written] if isinstance(written, list) else written


def entity_as_thing_in_template(text: str) -> str:
    """The same with `it` for `entity` in the expressions of a text."""
    return re.sub(r"\{\{|\}\}|\{[^{}]*\}", lambda match: str(entity_as_thing(match.group())), text)


def negated(condition: str) -> str:
    """That a condition does not hold, as a person would write it."""
    simple = re.fullmatch(r"([\w.]+) (==|!=|<=|>=|<|>) ([\w.'\"-]+)", condition)
    if simple:
        text = f"{simple.group(1)} {_FLIPPED[simple.group(2)]} {simple.group(3)}"
    elif re.fullmatch(r"![\w.]+(\([^()]*\))?", condition):
        text = condition[1:]
    else:
        text = f"!({condition})"
    # A flag is first there when something sets it.
    return f"default({text}, false)" if re.fullmatch(r"session\.\w+", text) else text


def object_source(members: Mapping[str, str]) -> str:
    """An object of expressions."""
    return "{" + ", ".join(f"{literal(name)}: {source}" for name, source in members.items()) + "}"


def template_source(template: Template, source: Callable[[str], str]) -> str:
    """A text of some form, put together from the expressions of what it holds."""
    parts: list[str] = []
    for part in template.parts:
        if isinstance(part, str):
            parts.append(literal(part))
        elif isinstance(part, Slot):
            parts.append(_padded(f"string({source(part.name)})", part.width))
        else:
            item = template_source(part.item, lambda name: member("row", (name,)))
            parts.append(f"{source(part.name)}.map(row, {item}).join({literal(part.separator)})")
    return " + ".join(parts) or "''"


def _padded(source: str, width: int) -> str:
    return f"({source} + {literal(' ' * width)}).substring(0, {width})" if width else source


def free_source(samples: Sequence[Json]) -> str:
    """An expression for what nothing explains: a text of the same form, or the most usual value."""
    # A number may be larger, or an object deeper, than an expression can say.
    texts = [text for text in map(literal, samples) if _is_expression(text)]
    if not texts:
        return "null"
    usual, count = min(Counter(texts).items(), key=lambda item: (-item[1], texts.index(item[0])))
    strings = [sample for sample in samples if isinstance(sample, str)]
    if len(strings) == len(samples) and count * 2 < len(samples):
        shape = _pattern(strings)
        if shape is not None:
            return f"pattern({literal(shape)})"
    if len(usual) <= _LARGE:
        return usual
    return "{}" if isinstance(samples[0], dict) else "[]" if isinstance(samples[0], list) else "''"


def _is_expression(text: str) -> bool:
    if len(text) > _LARGE:
        return True
    try:
        compile_expression(text)
    except ExpressionError:
        return False
    return True


def _pattern(samples: Sequence[str]) -> str | None:
    """A regular expression for texts of one form, such as `[A-Z]{2}-[0-9]{4}`."""
    forms = Counter(
        "".join(map(_class, sample)) for sample in samples if 0 < len(sample) <= _LONGEST and sample.isascii()
    )
    if not forms:
        return None
    form, count = min(forms.items(), key=lambda item: (-item[1], item[0]))
    if count * 2 < len(samples):
        return None
    return re.sub(r"((?:\[[^\]]+\]))\1+", lambda m: f"{m.group(1)}{{{len(m.group(0)) // len(m.group(1))}}}", form)


def _class(character: str) -> str:
    if character.isdigit():
        return "[0-9]"
    if character.isupper():
        return "[A-Z]"
    return "[a-z]" if character.islower() else re.escape(character)
