"""The part a search argument plays: page, order, free text, or a limit to one field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import cel
from .arguments import Argument
from .scene import Scene
from .terms import CURSORS, DIRECTIONS, LIMITS, OFFSETS, PAGES, SORTS
from .words import spell

__all__ = ["Paging", "paging_of", "sort_of"]

_DEFAULT_PAGE = 20


@dataclass
class Paging:
    """How a search is cut into pages."""

    used: set[int]
    """By identity, the arguments that do it."""
    limit: str | None = None
    offset: str | None = None
    cursor: str | None = None
    following: str | None = None
    """How the answer calls the cursor of the next page."""


def _joined(argument: Argument) -> str:
    return "_".join(argument.words)


def _whole(argument: Argument) -> bool:
    return not argument.enum and (not argument.types or bool(argument.types & {"integer", "number"}))


def paging_of(arguments: Sequence[Argument], scene: Scene) -> Paging:
    """The paging arguments among these."""
    paging = Paging(set())
    limit = _first(arguments, LIMITS, scene)
    size = _DEFAULT_PAGE
    if limit is not None:
        paging.used.add(id(limit))
        default = limit.default if isinstance(limit.default, int) and not isinstance(limit.default, bool) else None
        paging.limit = f"default({cel.argument(limit)}, {default if default is not None else 'null'})"
        size = default or _DEFAULT_PAGE
    page = _first(arguments, PAGES, scene)
    offset = _first(arguments, OFFSETS, scene) or _from_place(arguments, limit, scene)
    cursor = next(
        (a for a in arguments if _joined(a) in CURSORS and a.is_text and not scene.fields.find(a.words)), None
    )
    if page is not None and limit is None:
        paging.limit = str(size)
    if page is not None:
        paging.used.add(id(page))
        start = 0 if page.default == 0 or page.schema.get("minimum") == 0 else 1
        length = f"default({cel.argument(limit)}, {size})" if limit is not None else str(size)
        paging.offset = f"(default({cel.argument(page)}, {start}) - {start}) * {length}"
        if limit is not None:
            paging.limit = length
    elif offset is not None:
        paging.used.add(id(offset))
        paging.offset = f"default({cel.argument(offset)}, 0)"
    elif cursor is not None:
        paging.used.add(id(cursor))
        paging.cursor = cel.or_null(cel.argument(cursor))
        token = cursor.words[-1] == "token"
        paging.following = spell(("next", "page", "token") if token else ("next", "cursor"), scene.style)
        if limit is None:
            paging.limit = str(size)
    return paging


def _from_place(arguments: Sequence[Argument], limit: Argument | None, scene: Scene) -> Argument | None:
    """`from` beside `size` is where a page begins; beside `to` it is a bound."""
    if limit is None or any("to" in argument.words for argument in arguments):
        return None
    found = _first(arguments, frozenset(["from"]), scene)
    return found if found is not None and found.is_number else None


def _first(arguments: Sequence[Argument], names: frozenset[str], scene: Scene) -> Argument | None:
    for argument in arguments:
        if _joined(argument) in names and _whole(argument):
            known = scene.fields.find(argument.words, exact=True)
            if known is None or not known.writable:
                return argument
    return None


def sort_of(arguments: Sequence[Argument], scene: Scene) -> tuple[str | None, set[int]]:
    """The expression of the order a caller wishes, and the arguments it uses."""
    direction = next((a for a in arguments if _joined(a) in DIRECTIONS and _directs(a, arguments)), None)
    by = next(
        (a for a in arguments if _joined(a) in SORTS and a is not direction and a.is_scalar and not a.is_flag), None
    )
    used = {id(argument) for argument in (direction, by) if argument is not None}
    used |= {id(a) for a in arguments if a.words[:1] == ("sort",) and a.is_object}
    if by is None and direction is None:
        return None, used
    field = cel.text(_newest(scene)) if by is None else _field_expression(by, scene)
    if direction is not None:
        field = f"({_descends(direction)} ? '-' : '') + {field}"
    condition = None if by is None or by.required else cel.given(by)
    return (f"{condition} ? {field} : null" if condition else field), used


def _directs(argument: Argument, siblings: Sequence[Argument]) -> bool:
    """Whether it says up or down, rather than by what."""
    if argument.is_flag:
        return True
    if _joined(argument) == "order" and argument.is_text:
        return "asc" in argument.description.lower() or any(
            other is not argument and _joined(other) in SORTS and other.is_scalar and not other.is_flag
            for other in siblings
        )
    if argument.enum:
        return {str(value).lower()[:3] for value in argument.enum} <= {"asc", "des", "dsc", "new", "old"}
    return (
        _joined(argument) not in {"order", "asc", "desc", "descending", "reverse"}
        or "asc" in argument.description.lower()
    )


def _descends(direction: Argument) -> str:
    given = cel.argument(direction)
    if direction.is_flag:
        rising = set(direction.words) & {"ascending", "asc"}
        return f"!default({given}, true)" if rising else f"default({given}, false)"
    fallback = direction.default if isinstance(direction.default, str) else "asc"
    return f"lowerAscii(string(default({given}, {cel.text(fallback)}))).startsWith('d')"


def _newest(scene: Scene) -> str:
    for words in (("created", "at"), ("created",), ("date",)):
        found = scene.fields.find(words)
        if found is not None:
            return found.name
    return scene.key.own.field


def _field_expression(by: Argument, scene: Scene) -> str:
    """The field a caller names, where its values are spelled otherwise than the fields."""
    renamed: list[tuple[str, str]] = []
    for value in by.enum:
        if not isinstance(value, str):
            continue
        sign = "-" if value.startswith("-") else ""
        from .words import split

        words = split(value.lstrip("+-"))
        falling = words[-1:] in {("desc",), ("descending",)}
        rising = words[-1:] in {("asc",), ("ascending",)}
        stem = words[:-1] if falling or rising else words
        found = scene.fields.find(stem) if stem else None
        target = ("-" if falling else sign) + (found.name if found else spell(stem, scene.style))
        if found is not None and target != value:
            renamed.append((value, target))
    given = cel.argument(by)
    if not renamed:
        return given
    table = "{" + ", ".join(f"{cel.text(value)}: {cel.text(target)}" for value, target in renamed[:20]) + "}"
    return f"default({table}[{given}], {given})"
