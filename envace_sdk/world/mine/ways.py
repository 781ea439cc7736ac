"""Answers that an argument chooses the way of: a format, a unit, a mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from envace_sdk.json import UNSET
from envace_sdk.world.infer.cel import literal, member
from envace_sdk.world.keys import get_path

from .moments import Moment
from .positions import walk

__all__ = ["Way", "ways"]

_MOST_VALUES: Final = 5
_LEAST: Final = 2
"""Calls in each way."""
_MOST_ARGUMENTS: Final = 6
_LONGEST: Final = 40

Way = tuple[str, list[Moment]]
"""A condition on the arguments, and the calls for which it holds."""


def ways(moments: Sequence[Moment]) -> Iterator[list[Way]]:
    """The calls by the value of one argument, for each that has but a few; the most usual value last."""
    paths = dict.fromkeys(
        path
        for moment in moments
        for path, value in walk(dict(moment.step.args))
        if "[]" not in path and isinstance(value, str) and len(value) <= _LONGEST
    )
    for path in list(paths)[:_MOST_ARGUMENTS]:
        groups: dict[str | None, list[Moment]] = {}
        for moment in moments:
            value = get_path(moment.step.args, path)
            if value is not UNSET and value is not None and not isinstance(value, str):
                break
            groups.setdefault(value if isinstance(value, str) else None, []).append(moment)
            if len(groups) > _MOST_VALUES:
                break
        else:
            if len(groups) > 1 and min(map(len, groups.values())) >= _LEAST:
                order = sorted(groups, key=lambda value: (len(groups[value]), value or ""))
                place = f"default({member('args', path.split('.'))}, null)"
                yield [(f"{place} == {literal(value)}", groups[value]) for value in order]
