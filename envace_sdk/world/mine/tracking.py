"""Following an episode: what is known before each call, and what each sighting says about who changed what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.world.keys import key_text

from .belief import EXISTS, Belief, Suspect, Thing, accuse
from .episodes import Episode, Step
from .evaluating import evaluate
from .roles import Cast, Named
from .structure import SESSION, Site, Structure, records
from .values import same

if TYPE_CHECKING:
    from .failures import Failure, Failures
    from .hidden import Hidden

__all__ = ["PREDICTED", "Agreement", "Effects", "Existence", "Moment", "Sighting", "Tracker"]

PREDICTED: Final = "="
"""Before the place of an effect, where a value was not shown but predicted by it."""


@dataclass(slots=True)
class Effects:
    """What is known of what calls change. The keys of `sets` and `spared` are tool, name of the thing, field."""

    sets: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """The CEL expression of a field after the call."""
    spared: set[tuple[str, str, str]] = field(default_factory=set)
    """Fields that a tool leaves as they are."""
    harmless: set[tuple[str, str]] = field(default_factory=set)
    """Tools that change nothing of a thing."""
    judged: bool = False
    """Whether it was looked at who shows what as it is."""
    private: set[tuple[str, str]] = field(default_factory=set)
    """Kind and field: shown only by calls that change it."""
    makes: dict[tuple[str, str], str] = field(default_factory=dict)
    """By tool and name, the condition under which a call makes the thing; "" for always."""
    removes: set[tuple[str, str]] = field(default_factory=set)
    foreign: set[tuple[str, str, str]] = field(default_factory=set)
    """Tool, kind and field: what the tool shows under that name is not what the others do, or is made for the call."""

    def touches(self, tool: str, name: str, what: str) -> bool:
        """Whether a call may change a field in a way that is not known."""
        return (
            (tool, name) not in self.harmless
            and (tool, name, what) not in self.spared
            and (tool, name, what) not in self.sets
        )


@dataclass(slots=True)
class Existence:
    """What outcomes say of which things exist."""

    missing: dict[tuple[str, int], str] = field(default_factory=dict)
    """By tool and number of the failure, the name of the thing that is missing."""
    taken: dict[tuple[str, int], str] = field(default_factory=dict)
    """By tool and number of the failure, the name of the thing that is there already."""

    def needs(self, tool: str, name: str) -> bool:
        """Whether a tool is known to fail where the thing is missing."""
        return any(of == tool and who == name for (of, _), who in self.missing.items())


@dataclass(frozen=True, eq=False, slots=True)
class Moment:
    """A call, with what was known before it and after it."""

    step: Step
    cast: Cast
    scope: dict[str, Json]
    keys: dict[str, Json]
    belief: Belief
    """As it was before the call when this is handed out, and goes on to change."""
    after: dict[str, Json] = field(default_factory=dict)
    """The scope after the call, by the effects that are known and without what the answer shows."""
    existed: dict[str, bool | None] = field(default_factory=dict)
    """By name, whether the thing existed before; None: nobody has said."""
    failure: Failure | None = None
    """How the call failed."""
    things: dict[str, dict[str, dict[str, Json]]] = field(default_factory=dict)
    """By kind and key, what was known of all things of the kinds that are listed."""
    counts: dict[str, Json] = field(default_factory=dict)
    """`total`: how many things the answer lists."""


@dataclass(frozen=True, eq=False, slots=True)
class Sighting:
    """A value that was shown, with the one call that may have changed it since it was last known."""

    suspect: Suspect
    field: str
    before: Json | Unset
    after: Json
    shown_by: Step
    shown_before_by: str
    """The tool that showed the value before, if one did."""

    @property
    def place(self) -> tuple[str, str, str]:
        """The tool that may have changed it, the name it has for the thing, and the field."""
        return (self.suspect.step.tool, self.suspect.named.name, self.field)

    @property
    def own(self) -> bool:
        """Whether the suspect itself shows the value."""
        return self.suspect.step is self.shown_by

    @property
    def changed(self) -> bool:
        """Whether the value was known before, and is another one."""
        return self.before is not UNSET and not same(self.before, self.after)


@dataclass(slots=True)
class Agreement:
    """How often a shown value was the one that was known."""

    same: int = 0
    other: int = 0


class Tracker:
    """Follows episodes with what is known of the effects so far."""

    def __init__(
        self,
        structure: Structure,
        casts: Mapping[str, Cast],
        effects: Effects,
        start: Mapping[str, Mapping[str, Mapping[str, Json]]] | None = None,
        *,
        failures: Failures | None = None,
        existence: Existence | None = None,
        points: Mapping[str, Mapping[str, Json]] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        self._hidden = hidden
        self._points = points or {}
        """By episode, what is true of its session in the beginning."""
        self._failures = failures
        self._existence = existence or Existence()
        self.structure = structure
        self.casts = casts
        self.effects = effects
        self.start = start or {}
        self.sightings: list[Sighting] = []
        self.shown: dict[tuple[str, str], list[Json]] = {}
        """By kind and field, the values that were shown, of the session only."""
        self.clouded: list[tuple[tuple[Suspect, ...], str]] = []
        """Fields that are shown changed, where several calls may have changed them."""
        self.agreements: dict[tuple[str, str, str, str], Agreement] = {}
        """By kind, field, the tool that showed it before and the one that shows it now: whether it is the same."""
        self.absent: dict[str, set[str]] = {}
        """Of the last episode, by kind the keys of things that were missing before anybody may have removed them."""
        self.first: dict[str, dict[str, dict[str, Json]]] = {}
        """Of the last episode, by kind and key: what was shown of a thing before anybody may have changed it."""

    def follow(self, episode: Episode) -> Iterator[Moment]:
        """Each call of the episode, before it takes effect here."""
        belief = Belief(self.start, {name: kind.key for name, kind in self.structure.kinds.items() if name != SESSION})
        belief.session.fields.update(self._points.get(episode.name, {}))
        self.first, self.absent = {}, {}
        for step in episode.steps:
            if self._hidden is not None:
                belief.session.fields.update(self._hidden.before(step))
            cast = self.casts[step.tool]
            scope, keys = cast.scope(step.args, belief)
            failure = self._failures.of(step) if self._failures is not None else None
            moment = Moment(step, cast, scope, keys, belief, failure=failure)
            for named in cast.named:
                if named.name in keys:
                    thing = belief.find(named.kind, keys[named.name])
                    moment.existed[named.name] = None if thing is None else thing.exists
            self._hear(moment)
            if step.ok:
                self._take_effect(moment)
            if self._hidden is not None:
                belief.session.fields.update(self._hidden.after(step))
            after, _ = cast.scope(step.args, belief)
            moment.after.update(after)
            for kind in {site.kind for site in self.structure.sites_of(step.tool) if site.many} if step.ok else ():
                moment.things[kind] = {
                    key_text(thing.key): belief.whole(thing)
                    for thing in belief.things(kind)
                    if thing.exists and not thing.assumed
                }
            listed = [site for site in self.structure.sites_of(step.tool) if site.many] if step.ok else []
            if listed:
                moment.counts["total"] = sum(1 for _ in records(listed[0], step))
            yield moment
            if step.ok:
                self._observe(moment)

    def run(self, episodes: Sequence[Episode]) -> None:
        """Follow episodes for the sightings alone."""
        for episode in episodes:
            for _ in self.follow(episode):
                pass

    def _hear(self, moment: Moment) -> None:
        """What the outcome alone says about what existed."""
        step, told = moment.step, self._existence
        failure = self._failures.of(step) if self._failures is not None else None
        for named in moment.cast.named:
            if named.fresh or named.name not in moment.keys:
                continue
            exists: bool | None = None
            if failure is not None:
                if told.missing.get((step.tool, failure.number)) == named.name:
                    exists = False
                elif told.taken.get((step.tool, failure.number)) == named.name:
                    exists = True
            elif step.ok and told.needs(step.tool, named.name):
                exists = True
            if exists is not None:
                self._sight(moment.belief.thing(named.kind, moment.keys[named.name]), EXISTS, exists, step)

    def _take_effect(self, moment: Moment) -> None:
        step, effects = moment.step, self.effects
        for named in (*moment.cast.named, Named(SESSION, SESSION, "")):
            if named.fresh:
                continue
            if named.name != SESSION and named.name not in moment.keys:
                continue
            thing = moment.belief.thing(named.kind, moment.keys.get(named.name, ""))
            thing.assumed = False
            suspect = Suspect(step, named, moment.scope)
            makes, removes = self._born_or_gone(thing, suspect, moment)
            if removes:
                continue
            self._fields(thing, suspect, moment, born=makes)

    def _born_or_gone(self, thing: Thing, suspect: Suspect, moment: Moment) -> tuple[bool, bool]:
        tool, name, effects = moment.step.tool, suspect.named.name, self.effects
        if (tool, name) in effects.removes:
            thing.exists = False
            thing.forget()
            return False, True
        if (tool, name) in effects.makes:
            born = not thing.exists
            if born:
                thing.forget(suspect)
            thing.exists = True
            thing.pending.pop(EXISTS, None)
            return born, False
        if name != SESSION and effects.touches(tool, name, EXISTS):
            accuse(thing, EXISTS, suspect)
        return False, False

    def _fields(self, thing: Thing, suspect: Suspect, moment: Moment, *, born: bool) -> None:
        tool, name, effects = moment.step.tool, suspect.named.name, self.effects
        new: dict[str, Json] = {}
        for (by, of, what), source in effects.sets.items():
            if by == tool and of == name:
                value = evaluate(source, moment.scope)
                if value is UNSET:
                    accuse(thing, what, suspect)
                else:
                    new[what] = value
        for what in list(thing.fields):
            if what not in new and not born and effects.touches(tool, name, what):
                accuse(thing, what, suspect)
        if not born and (tool, name) not in effects.harmless:
            thing.everything.append(suspect)
        for what, value in new.items():
            thing.fields[what] = value
            thing.shown_by[what] = f"{PREDICTED}{tool}.{name}"
            thing.pending.pop(what, None)

    def _observe(self, moment: Moment) -> None:
        step = moment.step
        for site in self.structure.sites_of(step.tool):
            for key, record in records(site, step):
                kind, real = self._identify(site, key, moment)
                if real is UNSET:
                    continue
                thing = moment.belief.thing(kind, real)
                named = next((n for n in moment.cast.named if n.fresh), None) if site.fresh else None
                if named is not None and not thing.exists:
                    thing.exists = True
                    thing.forget(Suspect(step, named, moment.scope))
                elif site.many or len(record) > 1 or (step.tool, SESSION) in self.effects.harmless:
                    self._sight(thing, EXISTS, True, step)
                for name, value in record.items():
                    if name == site.key and site.join:
                        self._sight(thing, self.structure.kinds[kind].key, real, step)
                    what = self.structure.kinds[kind].key if name == site.key and not site.join else name
                    if (step.viewer, kind, what) not in self.effects.foreign:
                        self._sight(thing, what, real if what == self.structure.kinds[kind].key else value, step)
                if not site.fresh:
                    thing.looked[step.viewer] = len(thing.everything)
                thing.seen = True

    def _identify(self, site: Site, key: Json, moment: Moment) -> tuple[str, Json | Unset]:
        """The kind and the whole key of what is shown."""
        if site.kind == SESSION:
            return SESSION, ""
        if site.argument:
            named = next(
                (n for n in moment.cast.named if n.kind == site.kind and n.source.find(f"args.{site.argument}") >= 0),
                None,
            )
            return site.kind, UNSET if named is None else moment.keys.get(named.name, UNSET)
        if site.join:
            scope = {**moment.scope, "item": {site.key: key}}
            return site.kind, evaluate(site.join, scope)
        return site.kind, key

    def _sight(self, thing: Thing, what: str, value: Json, step: Step) -> None:
        thing.assumed = False
        if thing.kind == SESSION:
            self.shown.setdefault((SESSION, what), []).append(value)
        suspects = [
            s for s in thing.suspects(what, step.viewer) if self.effects.touches(s.step.tool, s.named.name, what) or s.named.fresh
        ]
        held: Json | Unset = (
            (UNSET if thing.exists is None else thing.exists) if what == EXISTS else thing.fields.get(what, UNSET)
        )
        if not suspects:
            if held is not UNSET:
                pair = (thing.kind, what, thing.shown_by.get(what, ""), step.viewer)
                agreement = self.agreements.setdefault(pair, Agreement())
                if same(held, value):
                    agreement.same += 1
                else:
                    agreement.other += 1
            elif what == EXISTS:
                if not value:
                    self.absent.setdefault(thing.kind, set()).add(key_text(thing.key))
                else:
                    self.first.setdefault(thing.kind, {}).setdefault(key_text(thing.key), {})
            else:
                self.first.setdefault(thing.kind, {}).setdefault(key_text(thing.key), {})[what] = value
        elif len(suspects) == 1:
            before = thing.shown_by.get(what, "")
            self.sightings.append(Sighting(suspects[0], what, held, value, step, before))
        elif what != EXISTS and (held is UNSET or not same(held, value)):
            self.clouded.append((tuple(suspects), what))
        if what == EXISTS:
            if not value:
                thing.forget()
            thing.exists = bool(value)
        else:
            thing.fields[what] = value
            thing.shown_by[what] = step.viewer
        thing.pending.pop(what, None)
