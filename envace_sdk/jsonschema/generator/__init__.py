"""Valid, realistic instances of any schema: choose, make, judge, and go back where nothing fits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from random import Random
from types import MappingProxyType
from typing import Final

from envace_sdk.errors import UnsatisfiableError
from envace_sdk.json import UNSET, Json, Unset

from ..validator import Schema, compile_schema
from ..values.scene import Fakes, Scene
from .dead_ends import DeadEndError, OutOfBoundsError, TooLargeError
from .plan import Plan, plan_of
from .search import Search
from .spot import Spot

__all__ = ["complete", "generate"]

_ROUNDS: Final = 6
_NO_HINTS: Final[Mapping[str, Json]] = MappingProxyType({})


def generate(
    schema: Schema | Json,
    *,
    random: Random,
    clock: datetime,
    known: Json | Unset = UNSET,
    hints: Mapping[str, Json] = _NO_HINTS,
    name: str = "",
) -> Json:
    """A valid instance of a schema: realistic, small, and the same for the same arguments and random state.

    Formats are honoured, though validation takes them for annotations. Dates are relative to `clock`.

    Args:
        schema: any JSON Schema.
        random: the only source of chance.
        clock: the present; naive means UTC.
        known: a partial instance. What the schema allows of it stays, what it forbids is mended or replaced, or
            dropped where it may not be there; to its objects only what is required is added. The result may share
            parts with it.
        hints: values preferred for scalar fields of the same name, whatever its case and separators.
        name: what the instance is called, if anything: as the name of a field, it says what fits.

    Raises:
        SchemaError: it is not a schema.
        UnsatisfiableError: no instance exists, or none was found within the bounds of the search.
    """
    validator = compile_schema(schema)
    if known is not UNSET and validator.is_valid(known):
        return known
    plan = plan_of(validator)
    if clock.tzinfo is None:
        clock = clock.replace(tzinfo=UTC)
    try:
        with plan.lock:
            return _searched(plan, Fakes(random, clock), known, hints, name)
    except DeadEndError as dead:
        place = f" at {dead.pointer:.80}" if dead.pointer else ""
        raise UnsatisfiableError(f"no instance of the schema was found{place}: {dead.reason}") from None
    except RecursionError:
        raise UnsatisfiableError("no instance of the schema was found: it would be nested too deeply") from None


def complete(
    schema: Schema | Json,
    known: Json,
    *,
    random: Random,
    clock: datetime,
    hints: Mapping[str, Json] = _NO_HINTS,
    name: str = "",
) -> Json:
    """`generate` for a partial instance, which comes back as it is if it is valid already.

    Raises:
        SchemaError: it is not a schema.
        UnsatisfiableError: no instance exists, or none was found within the bounds of the search.
    """
    return generate(schema, random=random, clock=clock, known=known, hints=hints, name=name)


def _searched(plan: Plan, fakes: Fakes, known: Json | Unset, hints: Mapping[str, Json], name: str) -> Json:
    """Search, judge the whole, and mend it by searching on from there."""
    if plan.loops is not None and math.isinf(plan.loops.height(plan.graph.root)):
        raise DeadEndError("it refers to itself without end")
    ways = [(False, known), (True, known)] + ([] if known is UNSET else [(True, UNSET)])
    for turn, (lean, given) in enumerate(ways):
        try:
            return _found(Search(plan, fakes, hints, lean=lean), given, name)
        except TooLargeError:
            raise
        except OutOfBoundsError:
            if turn == len(ways) - 1:
                raise
    raise AssertionError("the last way returns or raises")


def _found(search: Search, known: Json | Unset, name: str) -> Json:
    root, fakes = (search.graph.root,), search.fakes
    for turn in range(_ROUNDS):
        since = search.budget.tally
        value = search.build(root, Spot(name, Scene(fakes, name=name)), known)
        if search.accepts(root, value):
            return value
        search.budget.waste(since)
        known = value if turn % 2 == 0 else UNSET
    raise DeadEndError("what was made to its parts does not fit the whole")
