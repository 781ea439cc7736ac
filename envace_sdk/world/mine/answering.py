"""What successful calls answer, as expressions over what is known after them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import Final

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.world.infer.cel import member

from .conditions import decide
from .evaluating import evaluate
from .explain import Example
from .moments import Moment
from .reasons import reason_where_known
from .roles import ENTITY, Cast
from .structure import SESSION, Site, Structure
from .values import same
from .ways import ways

__all__ = ["Answer", "Part", "Shown", "informed", "learn_answer", "sources_in", "value_at", "visible"]

_MOST: Final = 150
_ENOUGH: Final = 2
_AGREED: Final = 0.9
_SHAPES: Final = 4
_RARE: Final = 0.02
_SAMPLES: Final = 40
_MORE: Final = 0.25
"""By so much more of an answer must be explained for it to be told apart by an argument."""

Shown = tuple[Json, Moment]
"""A value, and the call whose answer shows it."""


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


@dataclass(slots=True)
class Answer:
    """What a tool answers: by condition, the first that holds; the last has none."""

    cases: list[tuple[str, Part]]
    moments: int = 0


def learn_answer(moments: Sequence[Moment], structure: Structure, foreign: set[tuple[str, str, str]]) -> Answer | None:
    """What a tool answers, from the calls that succeeded; None where none did.

    Args:
        moments: those calls.
        structure: the kinds of things, and where answers show them.
        foreign: by viewer, kind and field, what is shown under a field's name but is not that field.
    """
    if not moments:
        return None
    tool = moments[0].step.tool
    groups: dict[str, list[Moment]] = {}
    for moment, shape in zip(moments, _shapes(moments, structure.sites_of(tool), foreign), strict=True):
        groups.setdefault(shape, []).append(moment)
    order = sorted(groups, key=lambda shape: (-len(groups[shape]), shape))
    main = [s for s in order[:_SHAPES] if len(groups[s]) >= max(_ENOUGH, _RARE * len(moments))] or order[:1]
    parts: dict[str, Part] = {}
    for shape in main:
        cases = groups[shape]
        builder = _Builder(tool, structure, foreign, cases[0].step.viewer)
        parts[shape] = builder.part([moment.step.value for moment in cases], cases, "")
    if len(main) == 1:
        builder = _Builder(tool, structure, foreign, moments[0].step.viewer)
        return _by_argument(groups[main[0]], parts[main[0]], builder) or Answer([("", parts[main[0]])], len(moments))
    scopes = [(moment.scope, shape) for shape in main for moment in groups[shape]]
    decisions = decide(scopes[: 4 * _MOST], default=main[0])
    listed = [(rule.source, parts[rule.label]) for rule in decisions.rules if rule.right >= _ENOUGH]
    return Answer([*listed, ("", parts[main[0]])], len(moments))


def _by_argument(moments: Sequence[Moment], whole: Part, builder: _Builder) -> Answer | None:
    """The answer told apart by an argument that chooses its way, where that explains more of it."""
    best, least = None, _explained_share(whole)
    if least == 1.0 or any(site for site in _listings(whole)):
        return None
    for groups in ways(moments):
        parts = [builder.part([m.step.value for m in found], found, "") for _, found in groups]
        for part, (_, found) in zip(parts, groups, strict=True):
            _lend(part, parts, found)
        sizes = [len(found) for _, found in groups]
        share = sum(map(mul, map(_explained_share, parts), sizes)) / sum(sizes)
        if share > least + _MORE:
            cases = [(condition, part) for (condition, _), part in zip(groups, parts, strict=True)]
            best, least = Answer([*cases[:-1], ("", cases[-1][1])], len(moments)), share
    return best


def _lend(part: Part, others: Sequence[Part], moments: Sequence[Moment]) -> None:
    """Explain members that nothing explains as they are explained in other ways, where that is not wrong."""
    for name, inner in part.members.items():
        if inner.source or inner.members or inner.is_object:
            continue
        shown = [(m.step.value[name], m) for m in moments if isinstance(m.step.value, dict) and name in m.step.value]
        for source in dict.fromkeys(other.members[name].source for other in others if name in other.members):
            known = [(evaluate(source, visible(moment)), value) for value, moment in shown] if source else []
            told = [same(found, value) for found, value in known if found is not UNSET]
            if told and all(told):
                inner.source, inner.right, inner.total = source, len(told), len(told)
                break


def _listings(part: Part) -> Iterator[Site]:
    if part.listing is not None:
        yield part.listing
    for inner in part.members.values():
        yield from _listings(inner)


def _explained_share(part: Part) -> float:
    """How much of a part is explained, from 0 to 1."""
    if part.members:
        return sum(map(_explained_share, part.members.values())) / len(part.members)
    return 1.0 if part.source or part.listing is not None or part.is_object else 0.0


def _shapes(moments: Sequence[Moment], sites: Sequence[Site], foreign: set[tuple[str, str, str]]) -> Iterator[str]:
    """What each answer looks like. Those of one shape are explained together."""
    viewers = dict.fromkeys(moment.step.viewer for moment in moments)
    strange = {viewer: {(kind, name) for by, kind, name in foreign if by == viewer} for viewer in viewers}
    # Where optional arguments change what is shown, the answers are different ones even if they look alike.
    apart = len({frozenset(places) for places in strange.values()}) > 1
    for moment in moments:
        viewer = moment.step.viewer
        kept = {
            f"{site.path}.{name}".lstrip(".")
            for site in sites
            if not site.many and isinstance(record := value_at(moment.step.value, site.path), dict)
            for name in record
            if (site.kind, name) not in strange[viewer]
        }
        yield _shape(moment.step.value, kept) + (f"|{viewer}" if apart else "")


def value_at(value: Json, path: str) -> Json | Unset:
    """What stands at a path of an answer."""
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
        return self._explained(shown) or Part(samples=[value for value, _ in shown[:_SAMPLES]], total=len(shown))

    def _object(self, values: Sequence[dict[str, Json]], moments: Sequence[Moment], path: str) -> Part:
        site = self._sites.get(path)
        whole = self._explained(list(zip(values, moments, strict=True))) if site is None and path else None
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

    @staticmethod
    def _explained(shown: Sequence[Shown]) -> Part | None:
        if not shown:
            return None
        examples = [Example(visible(moment), value) for value, moment in informed(shown)[:_MOST]]
        found = reason_where_known(examples, least=min(_ENOUGH, len(shown)))
        return None if found is None else Part(found.source, right=found.hits, total=found.hits + found.misses)


def informed(shown: Sequence[Shown]) -> list[Shown]:
    """The cases in which all that the call names is known; all of them, where there are none."""
    known = [(value, m) for value, m in shown if all(m.after.get(name) is not None for name in m.keys)]
    return known or list(shown)


def visible(moment: Moment) -> dict[str, Json]:
    """What an answer can be made of: what is so after the call, and what it removed as it was."""
    scope = dict(moment.after)
    for named in moment.cast.named:
        if scope.get(named.name) is None and moment.scope.get(named.name) is not None:
            scope[named.name] = moment.scope[named.name]
    return scope | moment.counts


def sources_in(part: Part) -> Iterable[str]:
    """All expressions in a part."""
    if part.source:
        yield part.source
    for inner in part.members.values():
        yield from sources_in(inner)
