"""Following an episode: what is known before each call, and what each sighting says about who changed what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.world.keys import key_text

from .belief import EXISTS, Belief, Suspect, Thing, accuse
from .effects import Effects, Existence, Name
from .episodes import Episode, Step
from .evaluating import evaluate
from .failures import Failures
from .hidden import Hidden
from .moments import Moment
from .roles import Cast, Named
from .sightings import PREDICTED, Evidence
from .structure import SESSION, Site, Structure, records

__all__ = ["Effects", "Existence", "Moment", "Tracker"]

_SESSION: Named = Named(SESSION, SESSION, "")
_NONE: frozenset[str] = frozenset()


class Tracker:
    """Follows episodes with what is known of the effects so far.

    Args:
        structure: what the answers are about.
        casts: by tool, the things that it knows by name.
        effects: what calls change.
        start: by kind and key, what there is in the beginning of every episode.
        failures: the kinds of errors.
        existence: which of them say what exists.
        points: by episode, what is true of its session in the beginning.
        hidden: what the session holds without showing it.
    """

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
        self.structure = structure
        self.casts = casts
        self.effects = effects
        self.evidence = Evidence()
        self._start = start or {}
        self._failures = failures
        self._existence = existence or Existence()
        self._points = points or {}
        self._hidden = hidden or Hidden()
        self._sets: dict[Name, list[tuple[str, str]]] = {}
        """What a tool is known to set of a thing: the fields, with their expressions."""
        self._settled: dict[Name, set[str]] = {}
        """The fields of a thing of which it is known what a tool does to them: it sets them, or leaves them."""
        for (tool, name, what), source in effects.sets.items():
            self._sets.setdefault((tool, name), []).append((what, source))
        for tool, name, what in (*effects.sets, *effects.spared):
            self._settled.setdefault((tool, name), set()).add(what)
        self._needed = {(tool, name) for (tool, _), name in self._existence.missing.items()}

    def run(self, episodes: Sequence[Episode]) -> Evidence:
        """Follow episodes for what they show alone."""
        for episode in episodes:
            for _ in self.follow(episode, whole=False):
                pass
        return self.evidence

    def forget(self) -> None:
        """Forget the evidence; what was handed out stays as it is."""
        self.evidence = Evidence()

    def follow(self, episode: Episode, *, whole: bool = True) -> Iterator[Moment]:
        """Each call of the episode, before what it shows is known here; with what is known after it, if `whole`."""
        belief = Belief(self._start, {name: kind.key for name, kind in self.structure.kinds.items() if name != SESSION})
        belief.session.fields.update(self._points.get(episode.name, {}))
        self.evidence.begin()
        for step in episode.steps:
            belief.session.fields.update(self._hidden.before(step))
            moment = self._moment(step, belief)
            self._hear(moment)
            if step.ok:
                self._take_effect(moment)
            belief.session.fields.update(self._hidden.after(step))
            if whole:
                moment.after.update(moment.cast.scope(step.args, belief)[0])
                if step.ok:
                    self._list(moment)
            yield moment
            if step.ok:
                self._observe(moment)

    def _moment(self, step: Step, belief: Belief) -> Moment:
        cast = self.casts[step.tool]
        scope, keys = cast.scope(step.args, belief)
        failure = self._failures.of(step) if self._failures is not None else None
        existed: dict[str, bool | None] = {}
        for named in cast.named:
            if named.name in keys:
                thing = belief.find(named.kind, keys[named.name])
                existed[named.name] = None if thing is None else thing.exists
        return Moment(step, cast, scope, keys, belief, existed=existed, failure=failure)

    def _list(self, moment: Moment) -> None:
        """Note what there is to be listed, and how much of it is."""
        step = moment.step
        listed = [site for site in self.structure.sites_of(step.tool) if site.many]
        for kind in {site.kind for site in listed}:
            moment.things[kind] = {
                key_text(thing.key): moment.belief.whole(thing)
                for thing in moment.belief.heard_of(kind)
                if thing.exists and not thing.assumed
            }
        if listed:
            moment.counts["total"] = sum(1 for _ in records(listed[0], step))

    def _hear(self, moment: Moment) -> None:
        """What the outcome alone says about what existed."""
        step = moment.step
        for named in moment.cast.named:
            if named.fresh or named.name not in moment.keys:
                continue
            exists = self._said(moment, named.name)
            if exists is not None:
                self._sight(moment.belief.thing(named.kind, moment.keys[named.name]), EXISTS, exists, step)

    def _said(self, moment: Moment, name: str) -> bool | None:
        step, failure, told = moment.step, moment.failure, self._existence
        if failure is None:
            return True if step.ok and (step.tool, name) in self._needed else None
        if told.missing.get((step.tool, failure.number)) == name:
            return False
        return True if told.taken.get((step.tool, failure.number)) == name else None

    def _take_effect(self, moment: Moment) -> None:
        """What the call does to the things that it names, as far as it is known."""
        for named in (*moment.cast.named, _SESSION):
            if named.fresh or (named is not _SESSION and named.name not in moment.keys):
                continue
            thing = moment.belief.thing(named.kind, moment.keys.get(named.name, ""))
            thing.assumed = False
            suspect = Suspect(moment.step, named, moment.scope)
            if (moment.step.tool, named.name) in self.effects.removes:
                thing.exists = False
                thing.forget()
            else:
                born = self._born(thing, suspect)
                self._set(thing, suspect, born=born)

    def _born(self, thing: Thing, suspect: Suspect) -> bool:
        """Whether the call makes the thing."""
        tool, name = suspect.step.tool, suspect.named.name
        if (tool, name) in self.effects.makes:
            born = not thing.exists
            if born:
                thing.forget(suspect)
                thing.born = True
            thing.exists = True
            thing.pending.pop(EXISTS, None)
            return born
        if name != SESSION and self.effects.touches(tool, name, EXISTS):
            accuse(thing, EXISTS, suspect)
        return False

    def _set(self, thing: Thing, suspect: Suspect, *, born: bool) -> None:
        """Set the fields that the call is known to set; suspect it of changing the others, unless it spares them."""
        tool, name, effects = suspect.step.tool, suspect.named.name, self.effects
        new: dict[str, Json] = {}
        for what, source in self._sets.get((tool, name), ()):
            value = evaluate(source, suspect.scope)
            if value is UNSET:
                accuse(thing, what, suspect)
            else:
                new[what] = value
        for what, value in self._copied(suspect).items():
            new.setdefault(what, value)
        if not born and (tool, name) not in effects.harmless:
            settled = self._settled.get((tool, name), _NONE)
            for what in thing.fields:
                if what not in settled:
                    accuse(thing, what, suspect)
            thing.everything.append(suspect)
        for what, value in new.items():
            thing.show(what, value, f"{PREDICTED}{tool}.{name}")

    def _copied(self, suspect: Suspect) -> Mapping[str, Json]:
        """What is known of the thing that another one becomes like, but for its name."""
        other = self.effects.likes.get((suspect.step.tool, suspect.named.name))
        known = suspect.scope.get(other) if other is not None else None
        kind = self.structure.kinds.get(suspect.named.kind)
        if not isinstance(known, dict) or kind is None:
            return {}
        return {what: value for what, value in known.items() if what not in {kind.key, kind.label}}

    def _observe(self, moment: Moment) -> None:
        """What the answer shows."""
        for site in self.structure.sites_of(moment.step.tool):
            shown: set[str] = set()
            for key, record in records(site, moment.step):
                whole = self._whole_key(site, key, moment)
                if whole is not UNSET:
                    shown.add(key_text(whole))
                    self._observe_record(site, moment.belief.thing(site.kind, whole), whole, record, moment)
            if site.many and site.join:
                self._miss(site, shown, moment)

    def _miss(self, site: Site, shown: set[str], moment: Moment) -> None:
        """What is not in the list of the place it lay in is gone, if there is a call that may have taken it away."""
        for thing in moment.belief.heard_of(site.kind):
            text = key_text(thing.key)
            if not thing.exists or text in shown or not self._suspects(thing, EXISTS, moment.step):
                continue
            here = evaluate(site.join, {**moment.scope, "item": {site.key: text.rpartition("/")[2]}})
            if here is not UNSET and key_text(here) == text:
                self._sight(thing, EXISTS, False, moment.step)

    def _observe_record(self, site: Site, thing: Thing, key: Json, record: Mapping[str, Json], moment: Moment) -> None:
        step = moment.step
        maker = next((named for named in moment.cast.named if named.fresh), None) if site.fresh else None
        if maker is not None and not thing.exists:
            thing.exists = thing.born = True
            thing.forget(Suspect(step, maker, moment.scope))
        elif self._is_shown_to_be_there(site, thing, record, step):
            self._sight(thing, EXISTS, True, step)
        key_field = self.structure.kinds[site.kind].key
        for name, value in record.items():
            if name == site.key and site.join:
                self._sight(thing, key_field, key, step)
            what = key_field if name == site.key and not site.join else name
            if (step.viewer, site.kind, what) not in self.effects.foreign:
                self._sight(thing, what, key if what == key_field else value, step)
        if not site.fresh:
            thing.looked[step.viewer] = len(thing.everything)

    def _is_shown_to_be_there(self, site: Site, thing: Thing, record: Mapping[str, Json], step: Step) -> bool:
        """Whether a call that shows a thing says that it exists: one that took it away may still name it."""
        if thing.exists and any(suspect.step is step for suspect in self._suspects(thing, EXISTS, step)):
            return False
        return site.many or len(record) > 1 or (step.tool, SESSION) in self.effects.harmless

    def _whole_key(self, site: Site, key: Json, moment: Moment) -> Json | Unset:
        """The key of a thing, of which what is shown may be a part; UNSET where it is not known."""
        if site.kind == SESSION:
            return ""
        if site.argument:
            told = (n for n in moment.cast.named if n.kind == site.kind and f"args.{site.argument}" in n.source)
            named = next(told, None)
            return UNSET if named is None else moment.keys.get(named.name, UNSET)
        return evaluate(site.join, {**moment.scope, "item": {site.key: key}}) if site.join else key

    def _sight(self, thing: Thing, what: str, value: Json, step: Step) -> None:
        """Something is shown: evidence, and what is known from now on."""
        thing.assumed = False
        suspects = self._suspects(thing, what, step)
        self.evidence.note(thing, what, value, step, suspects)
        if what != EXISTS:
            thing.show(what, value, step.viewer)
            return
        if not value:
            thing.forget()
        thing.exists = bool(value)
        thing.pending.pop(EXISTS, None)

    def _suspects(self, thing: Thing, what: str, step: Step) -> list[Suspect]:
        accused = thing.suspects(what, step.viewer)
        if not accused:
            return accused
        harmless, settled = self.effects.harmless, self._settled
        return [
            suspect
            for suspect in accused
            if suspect.named.fresh or ((pair := suspect.pair) not in harmless and what not in settled.get(pair, _NONE))
        ]
