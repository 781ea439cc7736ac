"""Mining: what recorded calls say of things, of what calls do to them, and of what they answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import Json
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import CollectionRule, Dynamics, ToolRule

from .changing import learn_effects
from .computed import computed_views, still_shown
from .declined import note_declined
from .discovering import discover
from .effects import Effects, Existence
from .episodes import Episode
from .existing import beginnings_of, learn_existence, learn_removals
from .failures import Failures
from .hidden import Hidden, find_hidden
from .learned import Learned, learn_tool
from .links import domains
from .minting import mint_of
from .moments import Moment
from .phrasing import take_apart
from .preparing import links_of, note_viewers, trees_of, verbs_of
from .roles import Cast, cast_of
from .rules import rule_of
from .sampling import telling
from .scoping import known_places, scope_names, starting_points
from .sources import quotes, speaks_of
from .starting import Beginnings, Documents
from .structure import SESSION
from .tracking import Tracker

__all__ = ["STAGES", "Mined", "Miner"]

STAGES: Final = (
    "taking answers apart",
    "finding things",
    "following changes",
    "following changes from place to place",
    "explaining answers and errors",
)
"""What a miner does, in order."""
_ROUNDS: Final = 3
_JOIN: Final = "joinpath(session."
"""What is named relative to a place that the session holds is told by this."""
_MOST: Final = 600
"""Calls of one tool that are looked at."""
_FEW: Final = 20_000
"""All of so many calls are followed, and what was known at each is kept."""
_CALLS: Final = 150
"""Of more, so many successes of each tool."""
_FAILURES: Final = 20
"""And so many of each of its errors."""


@dataclass(frozen=True, slots=True)
class Mined:
    """The rules, the world they start from, and what is behind each."""

    dynamics: Dynamics
    start: dict[str, list[dict[str, Json]]]
    learned: dict[str, Learned]


class Miner:
    """Mines the rules of a toolset.

    Args:
        toolset: the tools.
        episodes: what was recorded; answers that are texts of some form are taken apart in it.
        told: called with the name of each stage as it begins.
    """

    def __init__(self, toolset: Toolset, episodes: Sequence[Episode], *, told: Callable[[str], None]) -> None:
        self._stages = iter(STAGES)
        self._names = [tool.name for tool in toolset]
        self._episodes = episodes
        self._tell = told
        self._stage()
        note_declined(episodes)
        self._phrases = take_apart(episodes)
        self._verbs = verbs_of(toolset)
        note_viewers(episodes, toolset, self._verbs.readers)
        self._stage()
        self._structure = discover(episodes, domains(episodes, {}, {}))
        self._links = links_of(self._structure)
        self._trees = trees_of(self._structure, episodes)
        self._failures = Failures(episodes)
        self._followed = telling(episodes, few=_FEW, calls=_CALLS, failures=_FAILURES)
        self._casts = self._cast({})
        self._effects = Effects()
        self._existence = Existence()
        self._hidden = Hidden()
        self._beginnings = Beginnings(())
        self._start: Documents = {}
        self._points: dict[str, dict[str, Json]] = {}
        """By episode, where the session is when it begins."""

    def mined(self) -> Mined:
        """The rules that the episodes bear out, and the world they start from."""
        self._stage()
        self._effects = self._learn_effects()
        self._understand()
        self._stage()
        bases = scope_names(self._structure, self._effects)
        if bases:
            self._place(bases)
            self._understand()
        self._stage()
        _, moments = self._track()
        closed = {kind: not self._beginnings.exist(kind) for kind in self._structure.kinds}
        learned = {
            tool: learn_tool(
                self._casts[tool],
                held,
                self._failures.of_tool.get(tool, ()),
                structure=self._structure,
                effects=self._effects,
                existence=self._existence,
                closed=closed,
            )
            for tool, held in _by_tool(moments).items()
        }
        rules = {name: self._rule(learned[name]) for name in self._names if name in learned}
        self._complete()
        return Mined(self._dynamics(rules, closed), self._documents(), learned)

    def _stage(self) -> None:
        self._tell(next(self._stages))

    def _place(self, bases: Mapping[str, str]) -> None:
        """Things of some kinds are named relative to where the session is: follow that, and learn all anew."""
        self._points = starting_points(bases.values(), self._structure, self._casts, self._effects, self._episodes)
        known = known_places(bases.values(), self._casts, self._effects)
        self._casts = self._cast(bases)
        self._existence = Existence()
        self._effects = self._learn_effects(effects=known, points=self._points)

    def _understand(self) -> None:
        """What calls change, what there is in the beginning, and what errors say: each tells more of the others."""
        self._hide()
        for _ in range(_ROUNDS):
            self._beginnings = beginnings_of(
                self._structure,
                self._casts,
                self._episodes,
                self._effects,
                self._failures,
                self._existence,
                self._points,
                self._hidden,
            )
            self._start = self._beginnings.documents()
            _, moments = self._track(whole=False)
            self._existence = learn_existence(moments, self._failures)
            # What errors say of existence makes more of every call: it is followed again.
            tracker, moments = self._track(whole=False)
            changed = learn_removals(tracker, moments, self._existence, self._effects, self._verbs)
            size = self._size()
            self._effects = self._learn_effects(
                start=self._start, effects=self._effects, points=self._points, hidden=self._hidden
            )
            if not changed and size == self._size():
                break
        self._forget_computed()

    def _size(self) -> tuple[int, ...]:
        return len(self._effects.sets), len(self._effects.spared), len(self._effects.harmless)

    def _learn_effects(
        self,
        *,
        start: Documents | None = None,
        effects: Effects | None = None,
        points: Mapping[str, Mapping[str, Json]] | None = None,
        hidden: Hidden | None = None,
    ) -> Effects:
        return learn_effects(
            self._structure,
            self._casts,
            self._episodes,
            readers=self._verbs.readers,
            start=start,
            effects=effects,
            points=points,
            hidden=hidden,
        )

    def _forget_computed(self) -> None:
        """What answers make of the rest is no field that calls set."""
        _, moments = self._track()
        for viewer, kind, what in computed_views(moments, self._structure, self._effects):
            self._effects.foreign.add((viewer, kind, what))
            shown = {(of, name) for _, of, name in still_shown(moments, self._structure, self._effects)}
            for place in [place for place in self._effects.sets if place[2] == what and self._kind_of(place) == kind]:
                if (kind, what) not in shown or place[0] == viewer.split("(")[0]:
                    del self._effects.sets[place]

    def _kind_of(self, place: tuple[str, str, str]) -> str:
        """The kind of the thing that an effect is on."""
        tool, name, _ = place
        return next((named.kind for named in self._casts[tool].named if named.name == name), SESSION)

    def _cast(self, bases: Mapping[str, str]) -> dict[str, Cast]:
        return {name: cast_of(name, self._structure, bases, self._links, self._trees) for name in self._names}

    def _hide(self) -> None:
        """Find what the session holds unseen. A place that names are relative to is followed as what is shown is."""
        sets = self._effects.sets
        self._hidden = find_hidden(self._episodes, self._failures, self._shown_places())
        for change in self._hidden.changes:
            if _JOIN in change.value and not change.condition:
                sets[change.tool, SESSION, change.field] = change.value
        self._hidden.forget(self._places())
        held = {change.field for change in self._hidden.changes}
        for place in [place for place in sets if place[1] == SESSION and place[2] in held]:
            del sets[place]
        self._effects.spared |= {(tool, SESSION, name) for tool in self._names for name in held}
        self._structure.hidden = held

    def _places(self) -> set[str]:
        """The fields of the session that hold a place, and are changed relative to it."""
        sets = self._effects.sets.items()
        return {what for (_, name, what), source in sets if name == SESSION and _JOIN in source}

    def _shown_places(self) -> dict[tuple[str, str], str]:
        """By tool and path in its answer, such fields."""
        sites = [site for sites in self._structure.sites.values() for site in sites if site.kind == SESSION]
        return {
            (site.tool, f"{site.path}.{what}".lstrip(".")): what for site in sites for what in sorted(self._places())
        }

    def _track(self, *, whole: bool = True) -> tuple[Tracker, list[Moment]]:
        """Every call that is followed, with what is known before it, and after it if `whole`."""
        tracker = Tracker(
            self._structure,
            self._casts,
            self._effects,
            self._start,
            failures=self._failures,
            existence=self._existence,
            points=self._points,
            hidden=self._hidden,
        )
        return tracker, [moment for episode in self._followed for moment in tracker.follow(episode, whole=whole)]

    def _rule(self, learned: Learned) -> ToolRule:
        return rule_of(learned, self._structure, self._effects, self._existence, self._hidden, self._phrases)

    def _dynamics(self, rules: Mapping[str, ToolRule], closed: Mapping[str, bool]) -> Dynamics:
        """The rules, with the collections that they speak of."""
        collections: dict[str, CollectionRule] = {}
        for name, kind in self._structure.kinds.items():
            if not any(_mentions(rule, name) for rule in rules.values()):
                continue
            mint, first = mint_of(name, self._structure, self._episodes)
            collections[name] = CollectionRule(
                key=kind.key,
                noun=kind.noun,
                mint=mint,
                start_at=first,
                counts_apart=bool(mint),
                open=not closed.get(name, True),
            )
        return Dynamics(collections=collections, tools=dict(rules))

    def _complete(self) -> None:
        """Give the session what most episodes begin with."""
        session = self._start.setdefault(SESSION, {}).setdefault("", {})
        session.update(self._hidden.start)
        for name in {name for point in self._points.values() for name in point}:
            usual = Counter(str(point[name]) for point in self._points.values() if name in point)
            session[name] = min(usual, key=lambda value: (-usual[value], value))

    def _documents(self) -> dict[str, list[dict[str, Json]]]:
        """The things of the start, each with its key in it."""
        found: dict[str, list[dict[str, Json]]] = {}
        for name, documents in self._start.items():
            key = self._structure.kinds[name].key
            for text, document in documents.items():
                whole = {**document, "id": SESSION} if name == SESSION else document
                found.setdefault(name, []).append(whole if key in whole else {key: text, **whole})
        return found


def _by_tool(moments: Sequence[Moment]) -> dict[str, list[Moment]]:
    """The calls of each tool, or some that are evenly spread among them."""
    found: dict[str, list[Moment]] = {}
    for moment in moments:
        found.setdefault(moment.step.tool, []).append(moment)
    return {tool: every[:: max(1, len(every) // _MOST)] for tool, every in sorted(found.items())}


def _mentions(rule: ToolRule, name: str) -> bool:
    """Whether a rule changes, shows or speaks of things of a kind."""
    if name == rule.collection or any(name == change.collection for change in rule.also):
        return True
    written = rule.model_dump(exclude_defaults=True)
    return speaks_of(SESSION, written) if name == SESSION else quotes(name, written)
