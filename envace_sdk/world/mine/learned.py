"""What was learned of one tool, before it is written as a rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from envace_sdk.json import UNSET, Json
from envace_sdk.world.keys import get_path

from .answering import Answer, learn_answer
from .conditions import DecisionList, decide
from .effects import Effects, Existence
from .failures import Failure
from .moments import Moment
from .roles import Cast, Named
from .searching import Listing, learn_listing
from .sources import arguments_in
from .structure import SESSION, Structure

__all__ = ["Learned", "learn_tool"]


@dataclass(slots=True)
class Learned:
    """Everything that was learned of one tool."""

    tool: str
    cast: Cast
    moments: list[Moment]
    failures: dict[str, Failure] = field(default_factory=dict)
    """By label."""
    decisions: DecisionList | None = None
    answer: Answer | None = None
    listing: Listing | None = None

    def named(self, name: str) -> Named:
        """The thing that goes by a name in the tool's rule."""
        return next(named for named in self.cast.named if named.name == name)

    def is_optional(self, named: Named) -> bool:
        """Whether calls need not name a thing."""
        return not named.fresh and any(m.step.ok and not _names(m, named) for m in self.moments)


def learn_tool(
    cast: Cast,
    moments: Sequence[Moment],
    failures: Sequence[Failure],
    *,
    structure: Structure,
    effects: Effects,
    existence: Existence,
    closed: Mapping[str, bool],
) -> Learned:
    """Find what explains the answers and the errors of a tool.

    Args:
        cast: the things that it knows by name.
        moments: its calls.
        failures: its kinds of errors.
        structure: the kinds of things.
        effects: what calls change.
        existence: which errors say that things are missing, or there already: these need no other explanation.
        closed: by kind, whether what was never seen of it is not there.
    """
    learned = Learned(cast.tool, cast, list(moments), {failure.label: failure for failure in failures})
    if failures:
        learned.decisions = decide(list(_outcomes(moments, existence, closed)), default="ok")
    done = [moment for moment in moments if moment.step.ok]
    learned.answer = learn_answer(done, structure, effects.foreign)
    sites = structure.sites_of(cast.tool)
    lists = [site for site in sites if site.many and site.kind != SESSION]
    if lists and done and not any(site.fresh for site in sites):
        learned.listing = learn_listing(done, lists[0], structure)
    return learned


def _outcomes(
    moments: Sequence[Moment], existence: Existence, closed: Mapping[str, bool]
) -> Iterator[tuple[Mapping[str, Json], str]]:
    """What was known before each call, with how it ended."""
    for moment in moments:
        failure = moment.failure
        if not _is_clear(moment, closed):
            continue
        if moment.step.ok:
            yield moment.scope, "ok"
        elif failure is not None:
            place = (moment.step.tool, failure.number)
            if place not in existence.missing and place not in existence.taken:
                yield moment.scope, failure.label


def _is_clear(moment: Moment, closed: Mapping[str, bool]) -> bool:
    """Whether it is known of all things that the call names whether they are there."""
    return all(
        closed.get(named.kind, True) or moment.existed.get(named.name, True) is not None for named in moment.cast.named
    )


def _names(moment: Moment, named: Named) -> bool:
    paths = [path.removeprefix("args.") for path in arguments_in(named.source)]
    return all(get_path(moment.step.args, path) not in (UNSET, None) for path in paths)
