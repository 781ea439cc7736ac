"""What is wrong with a value: where, by which rule, what was expected, and what was there instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from envace_sdk.json import UNSET, Json, Unset

from .describe import describe_schema, describe_value, listed, literal
from .pointer import join, lookup

__all__ = ["Failure", "Violation", "explain", "explained"]

_MOST: Final = 20
_TAGS: Final = frozenset({"const", "enum"})


@dataclass(frozen=True, slots=True)
class Violation:
    """One reason why a value is not valid."""

    pointer: str
    """JSON pointer into the value; "" is the value itself."""
    rule: str
    """The keyword that forbids it ("required", "type", …); "false" for a schema that allows nothing."""
    expected: str
    got: str
    schema_pointer: str
    """JSON pointer into the schema; relative to the embedded schema where that has an `$id` of its own."""

    def __str__(self) -> str:
        return f"{self.pointer or '(root)'}: expected {self.expected}, got {self.got} ({self.rule})"


def explain(violations: Iterable[Violation], *, limit: int = 5) -> str:
    """All of them in one line of text, the first `limit` in full."""
    found = list(violations)
    text = "; ".join(map(str, found[:limit]))
    return f"{text}; and {len(found) - limit} more" if len(found) > limit else text


@dataclass(frozen=True, slots=True)
class Failure:
    """A violation as an engine tells it."""

    rule: str
    path: Sequence[str | int]
    schema_path: Sequence[str | int]
    parent: Json
    """The schema whose keyword failed, or None where it is not known."""
    about: Mapping[str, Json] = field(default_factory=dict)
    """Particulars: `property` that is missing, `unexpected` names, `limit`, `options`, `types`, `name`, …"""
    branches: Sequence[Sequence[Failure]] = ()
    """Why each alternative of an anyOf or oneOf failed; empty for those that did not."""


def explained(failures: Iterable[Failure], value: Json, limit: int = _MOST) -> list[Violation]:
    """Violations, at most `limit`: an alternative that was clearly meant answers for its anyOf or oneOf."""
    found: list[Violation] = []
    for failure in failures:
        for cause in _meant(failure, value):
            for violation in _violations(cause, value):
                if violation not in found:
                    found.append(violation)
                if len(found) >= limit:
                    return found
    return found


def _meant(failure: Failure, value: Json, depth: int = 0) -> list[Failure]:
    """The failures of the one alternative whose kind the value has, else the failure itself."""
    if tagged := _tagged(failure):
        return [tagged]
    fitting = [branch for branch in failure.branches if branch and not _other_kind(branch, failure.path)]
    if depth > 8 or not failure.branches or len(fitting) != 1 or not all(failure.branches):
        return [failure]
    return [cause for inner in fitting[0] for cause in _meant(inner, value, depth + 1)]


def _tagged(failure: Failure) -> Failure | None:
    """If every alternative fails by the same property's constant, that property, and all the constants it may have."""
    tags = [
        next((inner for inner in branch if inner.rule in _TAGS and len(inner.path) == len(failure.path) + 1), None)
        for branch in failure.branches
    ]
    found = [tag for tag in tags if tag is not None]
    if not found or len(found) < len(tags) or any(tag.path != found[0].path for tag in found):
        return None
    options = [option for tag in found for option in tag.about.get("options", ())]
    return Failure(failure.rule, found[0].path, failure.schema_path, None, {"options": options})


def _other_kind(branch: Sequence[Failure], path: Sequence[str | int]) -> bool:
    """Whether the value is of another kind than the alternative: by its own type, or by a tag among its properties."""
    return any(
        (failure.rule in {"type", "false", *_TAGS} and len(failure.path) == len(path))
        or (failure.rule in _TAGS and len(failure.path) == len(path) + 1)
        for failure in branch
    )


def _violations(failure: Failure, value: Json) -> list[Violation]:
    instance = lookup(value, failure.path)
    if failure.rule == "required" and isinstance(instance, dict) and failure.about.get("property") in instance:
        return []  # jsonschema-rs says so of a property that is required and forbidden
    got = _got(failure, instance)
    path, schema_path = join(failure.path), join(failure.schema_path)
    return [Violation(path, failure.rule, expected, got, schema_path) for expected in _expected(failure)]


def _got(failure: Failure, instance: Json | Unset) -> str:
    matching = sum(not branch for branch in failure.branches)
    match failure.rule:
        case "depth":
            return "a value too deep to judge"
        case "json":
            return str(failure.about.get("reason", "something else"))
        case "propertyNames" if "name" in failure.about:
            return f"property {literal(failure.about['name'])}"
        case "oneOf" if matching > 1:
            return f"{describe_value(instance)}, which matches {matching}"
        case "minLength" | "maxLength" if isinstance(instance, str):
            return f"{describe_value(instance)} (of {len(instance)})"
    return "nothing" if instance is UNSET else describe_value(instance)


def _expected(failure: Failure) -> list[str]:
    found = _TEXTS.get(failure.rule, _by_schema)(failure)
    return [found] if isinstance(found, str) else found[:_MOST]


def _by_schema(failure: Failure) -> str:
    if isinstance(failure.parent, dict | bool):
        return describe_schema(failure.parent)
    if "types" in failure.about:
        return listed(failure.about["types"])
    if "options" in failure.about:
        return "one of " + listed(map(literal, failure.about["options"]))
    if "limit" in failure.about:
        return f"{failure.rule} {literal(failure.about['limit'])}"
    return f"what {failure.rule!r} asks for"


def _parent(failure: Failure) -> Mapping[str, Json]:
    return failure.parent if isinstance(failure.parent, dict) else {}


def _required(failure: Failure) -> str:
    return f"property {literal(failure.about.get('property'))}"


def _unexpected(failure: Failure) -> str | list[str]:
    from difflib import get_close_matches

    known = _parent(failure).get("properties")
    texts = []
    for name in failure.about.get("unexpected", ()):
        close = get_close_matches(name, known, n=1) if isinstance(known, dict) else []
        hint = f" (did you mean {literal(close[0])}?)" if close else ""
        texts.append(f"no property {literal(name)}{hint}")
    return texts or "no further properties"


def _unexpected_items(failure: Failure) -> str:
    limit = failure.about.get("limit")
    return "no further items" if limit is None else f"at most {limit} items"


def _contains(failure: Failure) -> str:
    parent = _parent(failure)
    what = describe_schema(parent.get("contains"))
    if failure.rule == "maxContains":
        return f"at most {parent.get('maxContains')} items that are {what}"
    return f"at least {parent.get('minContains', 1)} items that are {what}"


def _alternatives(failure: Failure) -> str:
    if not all(failure.branches):
        return "a match of exactly one alternative"
    if "options" in failure.about:
        return _by_schema(Failure(failure.rule, (), (), None, failure.about))
    if failure.branches and all(len(branch) == 1 and branch[0].path == failure.path for branch in failure.branches):
        return listed(dict.fromkeys(listed(_expected(inner)) for (inner,) in failure.branches))
    return describe_schema({failure.rule: _parent(failure).get(failure.rule)})


_TEXTS: Final[Mapping[str, Callable[[Failure], str | list[str]]]] = {
    "additionalItems": _unexpected_items,
    "additionalProperties": _unexpected,
    "anyOf": _alternatives,
    "contains": _contains,
    "dependentRequired": _required,
    "dependencies": _required,
    "depth": lambda _: "fewer levels of nesting",
    "false": lambda _: "no value here",
    "json": lambda _: "a JSON value",
    "maxContains": _contains,
    "minContains": _contains,
    "not": lambda failure: f"anything but {describe_schema(_parent(failure).get('not'))}",
    "oneOf": _alternatives,
    "propertyNames": lambda failure: (
        f"property names that are {describe_schema(_parent(failure).get('propertyNames'))}"
    ),
    "required": _required,
    "unevaluatedItems": _unexpected_items,
    "unevaluatedProperties": _unexpected,
    "uniqueItems": lambda _: "items that all differ",
}
