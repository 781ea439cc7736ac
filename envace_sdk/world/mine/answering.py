"""What successful calls answer, as expressions over what is known after them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.world.infer.cel import literal, member

from .conditions import decide
from .evaluating import evaluate
from .explain import Example
from .reasons import reason_where_known
from .roles import ENTITY, Cast
from .structure import SESSION, Site, Structure, records
from .tracking import Effects, Moment
from .values import same

__all__ = ["Answer", "Part", "learn_answer"]

_MOST: Final = 150
_ENOUGH: Final = 2
_AGREED: Final = 0.9
_SHAPES: Final = 4
_RARE: Final = 0.02


@dataclass(slots=True)
class Part:
    """One part of an answer: an expression, an object of parts, or what nothing explains."""

    source: str = ""
    members: dict[str, Part] = field(default_factory=dict)
    is_object: bool = False
    samples: list[Json] = field(default_factory=list)
    """Of what nothing explains, some values."""
    right: int = 0
    total: int = 0
    listing: Site | None = None
    """The things that are listed here."""

    @property
    def is_free(self) -> bool:
        return not self.source and not self.is_object and self.listing is None


@dataclass(slots=True)
class Answer:
    """What a tool answers: by condition, the first that holds; the last has none."""

    cases: list[tuple[str, Part]]
    moments: int = 0


def learn_answer(moments: Sequence[Moment], structure: Structure, foreign: set[tuple[str, str, str]]) -> Answer | None:
    """What a tool answers, from the calls that succeeded."""
    if not moments:
        return None
    tool = moments[0].step.tool
    groups: dict[str, list[Moment]] = {}
    sites = structure.sites_of(tool)
    viewers = dict.fromkeys(moment.step.viewer for moment in moments)
    strange = {viewer: {(kind, name) for by, kind, name in foreign if by == viewer} for viewer in viewers}
    apart = len({frozenset(places) for places in strange.values()}) > 1
    for moment in moments:
        kept = {
            f"{site.path}.{name}".lstrip(".")
            for site in sites
            if not site.many
            for name in _members([moment], site.path)
            if (site.kind, name) not in strange[moment.step.viewer]
        }
        shape = _shape(moment.step.value, kept) + (f"|{moment.step.viewer}" if apart else "")
        groups.setdefault(shape, []).append(moment)
    order = sorted(groups, key=lambda shape: (-len(groups[shape]), shape))
    main = [s for s in order[:_SHAPES] if len(groups[s]) >= max(_ENOUGH, _RARE * len(moments))] or order[:1]
    builders = {shape: _Builder(tool, structure, foreign, groups[shape][0].step.viewer) for shape in main}
    parts = {shape: builders[shape].part([m.step.value for m in groups[shape]], groups[shape], "") for shape in main}
    if len(main) == 1:
        return Answer([("", parts[main[0]])], len(moments))
    cases = [(moment.scope, shape) for shape in main for moment in groups[shape]]
    decisions = decide(cases[: 4 * _MOST], default=main[0])
    listed = [(rule.source, parts[rule.label]) for rule in decisions.rules if rule.right >= _ENOUGH]
    return Answer([*listed, ("", parts[main[0]])], len(moments))


def _members(moments: Sequence[Moment], path: str) -> Iterable[str]:
    found: dict[str, None] = {}
    for moment in moments:
        value = _get(moment.step.value, path)
        if isinstance(value, dict):
            found.update(dict.fromkeys(value))
    return found


def _get(value: Json, path: str) -> Json | Unset:
    for part in path.split(".") if path else []:
        if not isinstance(value, dict) or part not in value:
            return UNSET
        value = value[part]
    return value


def _shape(value: Json, kept: set[str], path: str = "", depth: int = 0) -> str:
    """What kind of value it is; of an object, its members less those that things keep, and may lack."""
    if isinstance(value, dict):
        if depth > 2:
            return "{}"
        names = sorted(name for name in value if f"{path}.{name}".lstrip(".") not in kept)
        marks = [f"{name}={value[name]}" if name == "#" else name for name in names]
        return "{" + ",".join(marks) + ("" if kept or names else "-") + "}"
    if isinstance(value, list):
        return "[]"
    if value is None:
        return "null"
    return "text" if isinstance(value, str) else "bool" if isinstance(value, bool) else "number"


class _Builder:
    """Explains answers part by part."""

    def __init__(self, tool: str, structure: Structure, foreign: set[tuple[str, str, str]], viewer: str) -> None:
        self._tool = tool
        self._viewer = viewer
        self._structure = structure
        self._foreign = foreign
        self._sites = {site.path: site for site in structure.sites_of(tool)}

    def part(self, values: Sequence[Json | Unset], moments: Sequence[Moment], path: str) -> Part:
        """What explains values that stand at a path."""
        shown = [(v, m) for v, m in zip(values, moments, strict=True) if v is not UNSET]
        lists = f"{path}.[]" if path else "[]"
        if lists in self._sites and all(isinstance(v, list) for v, _ in shown):
            return Part(listing=self._sites[lists], total=len(shown), samples=[v for v, _ in shown[:5]])
        if shown and all(isinstance(v, dict) for v, _ in shown):
            return self._object([v for v, _ in shown], [m for _, m in shown], path)
        return self._leaf(shown, path)

    def _object(self, values: Sequence[dict[str, Json]], moments: Sequence[Moment], path: str) -> Part:
        site = self._sites.get(path)
        whole = (
            self._explained([(v, m) for v, m in zip(values, moments, strict=True)]) if site is None and path else None
        )
        if whole is not None:
            return whole
        part = Part(is_object=True, total=len(values))
        names = dict.fromkeys(name for value in values for name in value)
        for name in names:
            inner = f"{path}.{name}" if path else name
            stored = self._stored(site, name, values, moments)
            part.members[name] = stored or self.part([value.get(name, UNSET) for value in values], moments, inner)
        return part

    def _stored(
        self, site: Site | None, name: str, values: Sequence[dict[str, Json]], moments: Sequence[Moment]
    ) -> Part | None:
        """The field of a thing, where that is what stands here."""
        if site is None or (self._viewer, site.kind, name) in self._foreign or (site.key == name and site.join):
            return None
        who = self._owner(site, moments[0].cast)
        if who is None:
            return None
        what = self._structure.kinds[site.kind].key if name == site.key else name
        source = member(who, (what,))
        right = total = 0
        for value, moment in zip(values, moments, strict=True):
            held = evaluate(source, moment.after) if name in value else UNSET
            if held is not UNSET:
                total += 1
                right += same(held, value[name])
        if total < _ENOUGH:
            right, total = (1, 1) if not right or right == total else (right, total)
        if right < _AGREED * total:
            return None
        samples = [value[name] for value in values if name in value][:20]
        return Part(source, right=right, total=total, samples=samples)

    def _owner(self, site: Site, cast: Cast) -> str | None:
        """The name of the thing that is shown at a site."""
        if site.kind == SESSION:
            return SESSION
        if site.fresh:
            return ENTITY
        if site.argument:
            return next(
                (n.name for n in cast.named if n.kind == site.kind and f"args.{site.argument}" in n.source), None
            )
        return next((n.name for n in cast.named if n.kind == site.kind), None)

    def _leaf(self, shown: Sequence[tuple[Json, Moment]], path: str) -> Part:
        found = self._explained(shown)
        if found is not None:
            return found
        return Part(samples=[value for value, _ in shown[:40]], total=len(shown))

    def _explained(self, shown: Sequence[tuple[Json, Moment]]) -> Part | None:
        if not shown:
            return None
        informed = [(v, m) for v, m in shown if self._is_informed(m)] or list(shown)
        examples = [Example(_visible(m), v) for v, m in informed[:_MOST]]
        found = reason_where_known(examples, least=min(_ENOUGH, len(shown)))
        return None if found is None else Part(found.source, right=found.hits, total=found.hits + found.misses)

    def _is_informed(self, moment: Moment) -> bool:
        """Whether everything the call names is known."""
        return all(moment.after.get(name) is not None for name in moment.keys)


def _visible(moment: Moment) -> dict[str, Json]:
    """What an answer can be made of: what is so after the call, and what it removed as it was."""
    scope = dict(moment.after)
    for named in moment.cast.named:
        if scope.get(named.name) is None and moment.scope.get(named.name) is not None:
            scope[named.name] = moment.scope[named.name]
    return scope | moment.counts


def computed_views(moments: Sequence[Moment], structure: Structure, effects: Effects) -> list[tuple[str, str, str]]:
    """Fields that one tool alone shows and no other sets, and that follow from the rest: they are not kept, but made."""
    shown: dict[tuple[str, str], dict[str, list[tuple[Json, Moment]]]] = {}
    for moment in moments:
        for site in structure.sites_of(moment.step.tool) if moment.step.ok else ():
            if site.many or site.bare or site.fresh:
                continue
            record = _get(moment.step.value, site.path)
            for name, value in record.items() if isinstance(record, dict) else ():
                if name != site.key and (moment.step.viewer, site.kind, name) not in effects.foreign:
                    shown.setdefault((site.kind, name), {}).setdefault(moment.step.viewer, []).append((value, moment))
    found: list[tuple[str, str, str]] = []
    for (kind, name), by_tool in sorted(shown.items()):
        looks = [tool for tool in by_tool if (tool.split("(")[0], SESSION) in effects.harmless]
        if name in structure.hidden or (len(by_tool) > 1 and looks):
            continue
        for tool, cases in sorted(by_tool.items()):
            if any(place[0] != tool and place[2] == name for place in effects.sets) and len(by_tool) == 1:
                continue
            informed = [(v, m) for v, m in cases if all(m.after.get(who) is not None for who in m.keys)] or cases
            examples = [Example(_without(_visible(m), name), v) for v, m in informed[:_MOST]]
            reason = reason_where_known(examples)
            if reason is not None and len({repr(v) for v, _ in informed}) > 1:
                found.append((tool, kind, name))
    return found


def still_shown(
    moments: Sequence[Moment], structure: Structure, effects: Effects
) -> set[tuple[str, str, str]]:
    """The viewers, kinds and fields of what is shown as it is kept."""
    return {
        (moment.step.viewer, site.kind, name)
        for moment in moments
        if moment.step.ok
        for site in structure.sites_of(moment.step.tool)
        for _, record in records(site, moment.step)
        for name in record
    } - effects.foreign


def _without(scope: Mapping[str, Json], name: str) -> dict[str, Json]:
    return {
        who: {what: value for what, value in held.items() if what != name}
        if who != "args" and isinstance(held, dict)
        else held
        for who, held in scope.items()
    }


def sources(part: Part) -> Iterable[str]:
    """All expressions in a part."""
    if part.source:
        yield part.source
    for inner in part.members.values():
        yield from sources(inner)


def text_of(part: Part, free: Callable[[Part], str]) -> str:
    """The part as one expression."""
    if part.is_object:
        return "{" + ", ".join(f"{literal(name)}: {text_of(inner, free)}" for name, inner in part.members.items()) + "}"
    return part.source or free(part)


def coverage(answer: Answer) -> tuple[int, int]:
    """How many leaves are explained, of how many."""
    counts = Counter[bool]()

    def count(part: Part) -> None:
        if part.is_object:
            for inner in part.members.values():
                count(inner)
        else:
            counts[not part.is_free] += 1

    for _, part in answer.cases:
        count(part)
    return counts[True], counts[True] + counts[False]


_ = Mapping
