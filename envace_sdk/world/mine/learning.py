"""From recordings to dynamics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import CollectionRule, Dynamics, ToolRule
from envace_sdk.world.infer import infer

from .answering import computed_views, learn_answer, still_shown
from .changing import learn_effects
from .conditions import decide
from .episodes import Episode, episodes_of
from .existing import Verbs, beginnings_of, learn_existence, learn_removals
from .failures import Failures
from .hidden import Hidden, find_hidden
from .judging import Judgement, choose, judge, with_answers
from .links import domains
from .minting import mint_of
from .phrasing import take_apart
from .roles import ENTITY, Cast, cast_of
from .rules import Learned, rule_of, silenced
from .scoping import known_places, scope_names, starting_points
from .searching import learn_listing
from .starting import Beginnings, Documents
from .structure import SESSION, Structure, discover
from .tracking import Effects, Existence, Moment, Tracker

__all__ = ["Result", "learn"]

_ROUNDS: Final = 3
_HELD_OUT: Final = 4
"""Episodes that suffice to hold half of them out."""
_JOIN: Final = "joinpath(session."
_MOST: Final = 600
"""Calls of one tool that are looked at."""

Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class Result:
    """What was learned from recordings."""

    dynamics: Dynamics
    start: dict[str, list[dict[str, Json]]]
    """The initial world, by collection."""
    learned: dict[str, Learned] = field(default_factory=dict)
    inferred: set[str] = field(default_factory=set)
    """The tools whose rules the definitions alone suggest: recordings bear them out better than mined ones."""


def learn(
    toolset: Toolset,
    fixtures: Sequence[Fixture],
    *,
    previous: Dynamics | None = None,
    progress: Progress | None = None,
) -> Result:
    """Mine the dynamics of a toolset from recorded calls.

    Args:
        toolset: the tools; calls of others are left out.
        fixtures: what was recorded.
        previous: rules that are kept as they are.
        progress: told what is being done, and how far it is.
    """
    names = [tool.name for tool in toolset]
    result = _mined(toolset, names, fixtures, lambda place: True)
    held_out = episodes_of(fixtures, names)[1::2]
    half = _mined(toolset, names, fixtures, lambda place: place % 2 == 0) if len(held_out) >= _HELD_OUT else result
    plain = held_out or episodes_of(fixtures, names)
    judged = judge(half.dynamics, half.start, plain, toolset)
    if result.inferred:
        judged |= {n: j for n, j in judge(result.dynamics, result.start, plain, toolset).items() if n in result.inferred}
    result.dynamics = _with_confidence(result.dynamics, judged)
    return result


def _mined(toolset: Toolset, names: Sequence[str], fixtures: Sequence[Fixture], wanted: Callable[[int], bool]) -> Result:
    """The better of what is mined and what the definitions alone suggest."""
    episodes = [episode for place, episode in enumerate(episodes_of(fixtures, names)) if wanted(place)]
    miner = _Miner(toolset, names, episodes)
    result = miner.result()
    inferred = infer(toolset)
    start = {name: docs for name, docs in result.start.items() if _fits(name, docs, result.dynamics, inferred)}
    plain = episodes_of(fixtures, names)
    played = [episode for place, episode in enumerate(plain) if wanted(place)]
    mined = (_with_confidence(result.dynamics, {}), result.start)
    dynamics, begun, taken = choose(mined, [(inferred, start), (inferred, {})], played, toolset)
    dynamics = with_answers(dynamics, mined[0], taken, begun, played, toolset)
    return Result(dynamics, {name: list(docs) for name, docs in begun.items()}, result.learned, taken)


def _fits(name: str, documents: Sequence[dict[str, Json]], mined: Dynamics, inferred: Dynamics) -> bool:
    """Whether things of the start can be things of an inferred collection of the same name."""
    rule = inferred.collections.get(name)
    return rule is not None and all(field in document for document in documents for field in rule.key_fields)


def _with_confidence(dynamics: Dynamics, judged: Mapping[str, Judgement]) -> Dynamics:
    """With the share of held-out answers that were right as the confidence of each rule."""
    tools: dict[str, ToolRule] = {}
    for name, rule in dynamics.tools.items():
        judgement = judged.get(name, Judgement())
        kept = silenced(rule) if judgement.is_poor and rule.effect in {"read", "search"} else rule
        tools[name] = kept.model_copy(update={"confidence": judgement.confidence})
    return Dynamics(collections=dynamics.collections, tools=tools)


class _Miner:
    def __init__(self, toolset: Toolset, names: Sequence[str], episodes: Sequence[Episode]) -> None:
        self._names = names
        self._episodes = episodes
        self._phrases = take_apart(episodes)
        self._inferred = infer(toolset)
        self._verbs = _verbs(self._inferred, toolset)
        _note_viewers(episodes, toolset, self._verbs.readers)
        groups = domains(episodes, {}, {})
        self._structure = discover(episodes, groups)
        self._links = _links(self._structure)
        self._failures = Failures(episodes)
        self._points: dict[str, dict[str, Json]] = {}
        self._existence = Existence()
        self._hidden = Hidden()

    def result(self) -> Result:
        """The dynamics, and the world they start from."""
        self._casts = self._cast({})
        effects = learn_effects(self._structure, self._casts, self._episodes, readers=self._verbs.readers)
        effects, start, beginnings = self._understand(effects)
        bases = scope_names(self._structure, effects)
        if bases:
            self._points = starting_points(bases.values(), self._structure, self._casts, effects, self._episodes)
            known = known_places(bases.values(), self._casts, effects)
            self._casts = self._cast(bases)
            self._existence = Existence()
            effects = learn_effects(
                self._structure,
                self._casts,
                self._episodes,
                readers=self._verbs.readers,
                effects=known,
                points=self._points,
            )
            effects, start, beginnings = self._understand(effects)
        tracker, moments = self._track(effects, start)
        closed = {kind: not beginnings.exist(kind) for kind in self._structure.kinds}
        learned = self._learn(moments, effects, closed)
        rules = {
            name: rule_of(learned[name], self._structure, effects, self._existence, self._hidden, self._phrases)
            for name in self._names
            if name in learned
        }
        self._complete(start)
        return Result(self._dynamics(rules, closed), self._start(start), learned)

    def _understand(self, effects: Effects) -> tuple[Effects, Documents, Beginnings]:
        """What calls change, what there is in the beginning, and what errors say of it: each tells more of the others."""
        self._hide(effects)
        start: Documents = {}
        beginnings = Beginnings(())
        for _ in range(_ROUNDS):
            beginnings = beginnings_of(
                self._structure,
                self._casts,
                self._episodes,
                effects,
                self._failures,
                self._existence,
                self._points,
                self._hidden,
            )
            start = beginnings.documents()
            _, moments = self._track(effects, start)
            self._existence = learn_existence(moments, self._failures)
            tracker, moments = self._track(effects, start)
            changed = learn_removals(tracker, moments, self._existence, effects, self._verbs)
            size = (len(effects.sets), len(effects.spared), len(effects.harmless))
            effects = learn_effects(
                self._structure,
                self._casts,
                self._episodes,
                readers=self._verbs.readers,
                start=start,
                effects=effects,
                points=self._points,
                hidden=self._hidden,
            )
            if not changed and size == (len(effects.sets), len(effects.spared), len(effects.harmless)):
                break
        _, moments = self._track(effects, start)
        for tool, kind, what in computed_views(moments, self._structure, effects):
            effects.foreign.add((tool, kind, what))
            shown = any(of == kind and name == what for _, of, name in still_shown(moments, self._structure, effects))
            for place in [place for place in effects.sets if place[2] == what and self._kind_of(place) == kind]:
                if not shown or place[0] == tool.split("(")[0]:
                    del effects.sets[place]
        return effects, start, beginnings

    def _kind_of(self, place: tuple[str, str, str]) -> str:
        """The kind of the thing that an effect is on."""
        tool, name, _ = place
        return next((named.kind for named in self._casts[tool].named if named.name == name), SESSION)

    def _cast(self, bases: Mapping[str, str]) -> dict[str, Cast]:
        return {name: cast_of(name, self._structure, bases, self._links) for name in self._names}

    def _hide(self, effects: Effects) -> None:
        """Find what the session holds, as far as it is not known yet."""
        taken = {
            (site.tool, f"{site.path}.{what}".lstrip(".")): what
            for sites in self._structure.sites.values()
            for site in sites
            if site.kind == SESSION
            for (_, name, what), source in effects.sets.items()
            if name == SESSION and _JOIN in source
        }
        self._hidden = find_hidden(self._episodes, self._failures, taken)
        for change in self._hidden.changes:
            if _JOIN in change.value and not change.condition:
                effects.sets[change.tool, SESSION, change.field] = change.value
        self._hidden.forget(
            {what for (_, name, what), source in effects.sets.items() if name == SESSION and _JOIN in source}
        )
        held = {change.field for change in self._hidden.changes}
        for place in [place for place in effects.sets if place[1] == SESSION and place[2] in held]:
            del effects.sets[place]
        effects.spared |= {(tool, SESSION, name) for tool in self._names for name in held}
        self._structure.hidden = held

    def _track(self, effects: Effects, start: Documents) -> tuple[Tracker, list[Moment]]:
        tracker = Tracker(
            self._structure,
            self._casts,
            effects,
            start,
            failures=self._failures,
            existence=self._existence,
            points=self._points,
            hidden=self._hidden,
        )
        return tracker, [moment for episode in self._episodes for moment in tracker.follow(episode)]

    def _learn(self, moments: Sequence[Moment], effects: Effects, closed: Mapping[str, bool]) -> dict[str, Learned]:
        by_tool: dict[str, list[Moment]] = {}
        for moment in moments:
            by_tool.setdefault(moment.step.tool, []).append(moment)
        found: dict[str, Learned] = {}
        for tool, every in sorted(by_tool.items()):
            held = every[:: max(1, len(every) // _MOST)]
            learned = found[tool] = Learned(tool, self._casts[tool], held)
            learned.failures = {f.label: f for f in self._failures.of_tool.get(tool, ())}
            done = [moment for moment in held if moment.step.ok]
            if learned.failures:
                told = {f.label for f in learned.failures.values() if (tool, f.number) in self._told()}
                cases = [
                    (moment.scope, "ok" if moment.step.ok else moment.failure.label)
                    for moment in held
                    if (moment.step.ok or (moment.failure is not None and moment.failure.label not in told))
                    and self._is_clear(moment, closed)
                ]
                learned.decisions = decide(cases, default="ok")
            learned.answer = learn_answer(done, self._structure, effects.foreign)
            sites = [site for site in self._structure.sites_of(tool) if site.many and site.kind != SESSION]
            if sites and done and not any(s.fresh for s in self._structure.sites_of(tool)):
                learned.listing = learn_listing(done, sites[0], self._structure)
        return found

    def _told(self) -> set[tuple[str, int]]:
        """The failures that say that a thing is missing or there."""
        return {*self._existence.missing, *self._existence.taken}

    def _is_clear(self, moment: Moment, closed: Mapping[str, bool]) -> bool:
        """Whether it is known of all things that the call names whether they are there."""
        return all(
            exists is not None or closed.get(named.kind, True)
            for named in moment.cast.named
            if (exists := moment.existed.get(named.name, True)) is None or exists is not None
        )

    def _dynamics(self, rules: Mapping[str, ToolRule], closed: Mapping[str, bool]) -> Dynamics:
        used = {
            name
            for rule in rules.values()
            for name in (
                rule.collection,
                *(change.collection for change in rule.also),
                *_mentioned(rule, self._structure),
            )
            if name is not None
        }
        collections: dict[str, CollectionRule] = {}
        for name, kind in self._structure.kinds.items():
            if name in used:
                mint, first = mint_of(name, self._structure, self._episodes)
                collections[name] = CollectionRule(
                    key=kind.key, noun=kind.noun, mint=mint, start_at=first, counts_apart=bool(mint), open=not closed.get(name, True)
                )
        return Dynamics(collections=collections, tools=dict(rules))

    def _complete(self, start: Documents) -> None:
        """Give the session what most episodes begin with."""
        session = start.setdefault(SESSION, {}).setdefault("", {})
        session.update(self._hidden.start)
        for name in {name for point in self._points.values() for name in point}:
            usual = Counter(str(point[name]) for point in self._points.values() if name in point)
            session[name] = min(usual, key=lambda value: (-usual[value], value))

    def _start(self, start: Documents) -> dict[str, list[dict[str, Json]]]:
        found: dict[str, list[dict[str, Json]]] = {}
        for kind, documents in start.items():
            key = self._structure.kinds[kind].key
            for text, document in documents.items():
                if kind == SESSION:
                    found[kind] = [{**document, "id": SESSION}]
                else:
                    found.setdefault(kind, []).append(
                        {key: text, **document} if key not in document else dict(document)
                    )
        return found


def _mentioned(rule: ToolRule, structure: Structure) -> Iterable[str]:
    text = repr(rule)
    return [name for name in structure.kinds if f"'{name}'" in text or (name == SESSION and "session" in text)]


def _note_viewers(episodes: Sequence[Episode], toolset: Toolset, readers: frozenset[str]) -> None:
    """Tell readers apart by the optional arguments with which they are called."""
    required = {tool.name: set(tool.input_schema.get("required") or ()) for tool in toolset}
    for episode in episodes:
        for step in episode.steps:
            if step.tool in readers:
                more = sorted(name for name in step.args if name not in required[step.tool])
                step.viewer = f"{step.tool}({','.join(more)})" if more else step.tool


def _verbs(inferred: Dynamics, toolset: Toolset) -> Verbs:
    effects = {name: rule.effect for name, rule in inferred.tools.items()}
    read_only = {tool.name for tool in toolset if tool.annotations.get("readOnlyHint") is True}
    return Verbs(
        makers=frozenset(name for name, effect in effects.items() if effect == "create"),
        removers=frozenset(name for name, effect in effects.items() if effect == "delete"),
        readers=frozenset(
            name
            for name, rule in inferred.tools.items()
            if rule.effect in {"read", "search", "compute"} and not rule.also
        )
        | read_only,
    )


def _links(structure: Structure) -> dict[str, dict[str, str]]:
    """By kind, its fields that name things of other kinds."""
    kind_of = {position: kind.name for kind in structure.kinds.values() for position in kind.positions}
    found: dict[str, dict[str, str]] = {}
    for tool, sites in structure.sites.items():
        for site in sites:
            if site.bare:
                continue
            for position, kind in kind_of.items():
                if position.tool != tool or position.side != "out" or not position.path.startswith(site.path):
                    continue
                name = position.path[len(site.path) :].lstrip(".")
                if name and "." not in name and name != site.key:
                    found.setdefault(site.kind, {})[name] = kind
    return found


_ = ENTITY
