"""What the answers are about: kinds of things and how they are named, and what belongs to the session itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from envace_sdk.json import UNSET, Json
from envace_sdk.world.infer.words import plural, singular, split
from envace_sdk.world.keys import get_path, key_text

from .episodes import Episode, Step
from .links import can_name, is_idlike
from .phrasing import FORM, is_generic
from .positions import Position, occurrences

__all__ = ["SESSION", "Kind", "Reference", "Site", "Structure", "records"]

SESSION: Final = "session"
"""The collection that holds the one document of what is true of the session as a whole."""

_FRESH: Final = 0.8
_ECHOED: Final = 0.9
_UNIQUE: Final = 0.98
_LINKED: Final = 0.2
_USUAL: Final = 0.5
_LEAST: Final = 2


@dataclass(frozen=True, slots=True)
class Reference:
    """An argument that names a thing of a kind. `[]` in its path: it names several."""

    tool: str
    path: str
    kind: str

    @property
    def many(self) -> bool:
        return "[]" in self.path


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a tool's answers where things are shown.

    `path` leads to the record, or with `[]` to each of several. A record is an object, or with `bare` just the key.
    The key is its field `key`, or the call's argument `argument`.
    """

    tool: str
    path: str
    kind: str
    key: str = ""
    argument: str = ""
    fresh: bool = False
    """Whether the thing shown is new."""
    bare: bool = False
    join: str = ""
    """The CEL expression of the whole key, over `args`, `session` and `item`, where what is shown is only its end."""

    @property
    def many(self) -> bool:
        return self.path.endswith("[]")


@dataclass(slots=True)
class Kind:
    """A kind of thing, or the session."""

    name: str
    noun: str
    key: str
    positions: list[Position] = field(default_factory=list)
    label: str = ""
    """The field that holds the last part of a key that is a path."""


@dataclass(slots=True)
class Structure:
    """Kinds, references to things and sites, by tool."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    references: dict[str, list[Reference]] = field(default_factory=dict)
    sites: dict[str, list[Site]] = field(default_factory=dict)

    hidden: set[str] = field(default_factory=set)
    """Fields of the session that are followed by what sets them."""

    def references_of(self, tool: str) -> list[Reference]:
        return self.references.get(tool, [])

    def sites_of(self, tool: str) -> list[Site]:
        return self.sites.get(tool, [])


def records(site: Site, step: Step) -> Iterator[tuple[Json, Mapping[str, Json]]]:
    """The key and the fields of each thing that a step shows at a site."""
    for record in _at(step.value, site.path):
        if site.bare:
            if can_name(record):
                yield record, {site.key: record}
        elif isinstance(record, dict):
            key = get_path(step.args, site.argument) if site.argument else record.get(site.key) if site.key else ""
            if key is not UNSET and key is not None and (site.kind == SESSION or can_name(key)):
                yield key, {name: value for name, value in record.items() if name != FORM}


def _at(value: Json, path: str) -> list[Json]:
    found = [value]
    for part in path.split(".") if path else []:
        if part == "[]":
            found = [element for item in found if isinstance(item, list) for element in item]
        else:
            found = [item[part] for item in found if isinstance(item, dict) and part in item]
    return found


def discover(episodes: Sequence[Episode], domains: Sequence[Sequence[Position]]) -> Structure:
    """The structure that the answers and the arguments show."""
    domain_of = {position: number for number, group in enumerate(domains) for position in group}
    by_tool: dict[str, list[Step]] = {}
    for episode in episodes:
        for step in episode.steps:
            by_tool.setdefault(step.tool, []).append(step)
    freshness = _freshness(episodes, domain_of)
    held = _held(episodes, domain_of)
    drafts: list[_Draft] = []
    alias = _Alias()
    for tool in sorted(by_tool):
        drafts += _sites(tool, [step for step in by_tool[tool] if step.ok], domain_of, freshness, held, alias)
    return _named(drafts, *alias.applied(drafts, domains, domain_of))


@dataclass(slots=True)
class _Draft:
    site: Site
    domain: int | None


class _Alias:
    """Domains that turn out to be one: what holds things, and what they are held in."""

    def __init__(self) -> None:
        self._same: dict[int, int] = {}

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self._home(one), self._home(other)))
        if first != second:
            self._same[second] = first

    def _home(self, domain: int) -> int:
        while domain in self._same:
            domain = self._same[domain]
        return domain

    def applied(
        self, drafts: Sequence[_Draft], domains: Sequence[Sequence[Position]], domain_of: Mapping[Position, int]
    ) -> tuple[list[list[Position]], dict[Position, int]]:
        """The domains with those joined, and which each position is of; the drafts are told."""
        for draft in drafts:
            draft.domain = None if draft.domain is None else self._home(draft.domain)
        groups: list[list[Position]] = [[] for _ in domains]
        for number, group in enumerate(domains):
            groups[self._home(number)] += group
        return groups, {position: self._home(domain) for position, domain in domain_of.items()}


def _freshness(episodes: Sequence[Episode], domain_of: Mapping[Position, int]) -> dict[Position, tuple[int, int]]:
    """By position in answers: of how many values, how many had not been seen before in their episode.

    Numbers are looked for where the same things are named: a small one is soon seen elsewhere.
    """
    found: dict[Position, list[int]] = {}
    for episode in episodes:
        seen: set[tuple[int | None, Json]] = set()
        for step in episode.steps:
            here = [
                (p, (domain_of.get(p) if isinstance(v, int) else None, v))
                for p, v in occurrences(step, {})
                if can_name(v)
            ]
            given = {v for p, v in here if p.side == "in"}
            for position, value in here:
                if position.side == "out":
                    counts = found.setdefault(position, [0, 0])
                    counts[0] += 1
                    counts[1] += value not in seen and value not in given
            seen.update(value for _, value in here)
    return {position: (total, fresh) for position, (total, fresh) in found.items()}


def _sites(
    tool: str,
    steps: Sequence[Step],
    domain_of: Mapping[Position, int],
    freshness: Mapping[Position, tuple[int, int]],
    held: Mapping[int, set[str]],
    alias: _Alias,
) -> list[_Draft]:
    if not steps:
        return []
    arguments = {
        position.path: domain
        for position, domain in domain_of.items()
        if position.tool == tool and position.side == "in" and "[]" not in position.path
    }
    found: list[_Draft] = []
    paths = _paths(steps)
    taken: set[str] = set()
    for path in sorted(paths, key=lambda p: (p.count("."), p)):
        if any(path != outer and outer and path.startswith(f"{outer}.") for outer in taken):
            continue
        kinds = paths[path]
        if kinds == {"scalar"} and path.endswith("[]"):
            position = Position(tool, "out", path)
            if position in domain_of:
                found.append(_Draft(Site(tool, path, "", bare=True), domain_of[position]))
                taken.add(path)
            continue
        if "object" not in kinds:
            continue
        draft = _joined(tool, path, steps, arguments, held, alias) if path.endswith("[]") else None
        if draft is None and path.endswith("[]"):
            draft = _many(tool, path, steps, domain_of)
        if not path.endswith("[]"):
            draft = _single(tool, path, steps, arguments, domain_of, freshness)
        if draft is not None:
            found.append(draft)
            if path:
                taken.add(path)
    if not found and "object" in paths.get("", set()):
        whole = _whole(tool, arguments, _said_at(steps))
        found += [whole] if whole is not None else []
    return found


def _paths(steps: Sequence[Step]) -> dict[str, set[str]]:
    """Where objects, and lists of scalars, stand in the answers, at most one list and two objects deep."""
    found: dict[str, set[str]] = {}

    def note(value: Json, path: str, depth: int, lists: int) -> None:
        if isinstance(value, dict):
            found.setdefault(path, set()).add("object")
            if depth < 2:
                for name, member in value.items():
                    if isinstance(member, dict | list):
                        note(member, f"{path}.{name}" if path else name, depth + 1, lists)
        elif isinstance(value, list) and not lists:
            inner = f"{path}.[]" if path else "[]"
            for element in value[:50]:
                if isinstance(element, dict):
                    note(element, inner, depth + 1, 1)
                elif not isinstance(element, list):
                    found.setdefault(inner, set()).add("scalar")

    for step in steps:
        note(step.value, "", 0, 0)
    return found


def _held(episodes: Sequence[Episode], domain_of: Mapping[Position, int]) -> dict[int, set[str]]:
    """By domain, the paths among its values."""
    found: dict[int, set[str]] = {}
    for episode in episodes:
        for step in episode.steps:
            for position, value in occurrences(step, {}):
                domain = domain_of.get(position)
                if domain is not None and isinstance(value, str) and "/" in value:
                    found.setdefault(domain, set()).add(value.rstrip("/"))
    return found


def _joined(
    tool: str,
    path: str,
    steps: Sequence[Step],
    arguments: Mapping[str, int],
    held: Mapping[int, set[str]],
    alias: _Alias,
) -> _Draft | None:
    """Things that are listed by the last part of a key that begins with what the call names."""
    for argument in arguments:
        pairs = [
            (base, record)
            for step in steps
            if isinstance(base := get_path(step.args, argument), str) and "/" in base
            for record in _at(step.value, path)
            if isinstance(record, dict)
        ]
        for name in dict.fromkeys(name for _, record in pairs for name in record):
            whole = {
                f"{base.rstrip('/')}/{record[name]}" for base, record in pairs if isinstance(record.get(name), str)
            }
            for domain, known in sorted(held.items()):
                if len(whole & known) >= max(3, _LINKED * min(len(whole), len(known))):
                    alias.join(arguments[argument], domain)
                    join = f"joinpath(args.{argument}, item.{name})"
                    return _Draft(Site(tool, path, "", key=name, join=join), domain)
    return None


def _many(tool: str, path: str, steps: Sequence[Step], domain_of: Mapping[Position, int]) -> _Draft | None:
    lists = [[r for r in _at(step.value, path) if isinstance(r, dict)] for step in steps]
    names = Counter(name for listed in lists for record in listed for name in record)
    total = sum(map(len, lists))
    best: tuple[tuple[int, int, int], str] | None = None
    for place, name in enumerate(dict.fromkeys(n for listed in lists for record in listed for n in record)):
        if names[name] < _USUAL * total:
            continue
        values = [[record[name] for record in listed if name in record] for listed in lists]
        if not all(all(map(can_name, held)) for held in values):
            continue
        unique = sum(len(set(map(key_text, held))) == len(held) for held in values)
        if unique < _UNIQUE * len(values):
            continue
        linked = Position(tool, "out", f"{path}.{name}") in domain_of
        rank = (0 if linked else 1, 0 if is_idlike(name) else 1, place)
        if not linked and not is_idlike(name):
            continue
        if best is None or rank < best[0]:
            best = (rank, name)
    if best is None or total < _LEAST:
        return None
    key = best[1]
    return _Draft(Site(tool, path, "", key=key), domain_of.get(Position(tool, "out", f"{path}.{key}")))


def _single(
    tool: str,
    path: str,
    steps: Sequence[Step],
    arguments: Mapping[str, int],
    domain_of: Mapping[Position, int],
    freshness: Mapping[Position, tuple[int, int]],
) -> _Draft | None:
    shown = [(step, record) for step in steps for record in _at(step.value, path) if isinstance(record, dict)]
    if len(shown) < _LEAST:
        return None
    names = list(dict.fromkeys(name for _, record in shown for name in record))
    echoed: list[tuple[int, str, int]] = []
    for place, name in enumerate(names):
        position = Position(tool, "out", f"{path}.{name}" if path else name)
        domain = domain_of.get(position)
        values = [(step, record[name]) for step, record in shown if name in record]
        if len(values) < _ECHOED * len(shown) or not all(can_name(value) for _, value in values):
            continue
        total, fresh = freshness.get(position, (0, 0))
        if (domain is not None or is_idlike(name)) and total >= _LEAST and fresh >= _FRESH * total:
            if len({key_text(value) for _, value in values}) > 1 or len(values) < 4:
                return _Draft(Site(tool, path, "", key=name, fresh=True), domain)
        for rank, argument in enumerate(arguments):
            if domain is not None and arguments[argument] != domain:
                continue
            same = sum(_same(get_path(step.args, argument), value) for step, value in values)
            if same >= _ECHOED * len(values):
                echoed.append((rank, name, arguments[argument]))
    if echoed:
        _, name, domain = min(echoed)
        return _Draft(Site(tool, path, "", key=name), domain)
    return None


def _said_at(steps: Sequence[Step]) -> str:
    """Where in an answer a text stands that was taken apart; "" for the whole answer."""
    for step in steps:
        if isinstance(step.value, dict) and FORM not in step.value and len(step.value) == 1:
            ((name, value),) = step.value.items()
            if isinstance(value, dict) and FORM in value:
                return name
    return ""


def _whole(tool: str, arguments: Mapping[str, int], path: str) -> _Draft | None:
    """An answer that names nothing is about what the call names, or about the session."""
    if len(arguments) == 1:
        ((argument, domain),) = arguments.items()
        return _Draft(Site(tool, path, "", argument=argument), domain)
    return None if arguments else _Draft(Site(tool, path, SESSION), None)


def _same(one: Json, other: Json) -> bool:
    return one is not UNSET and one is not None and key_text(one) == key_text(other)


def _named(
    drafts: Sequence[_Draft], domains: Sequence[Sequence[Position]], domain_of: Mapping[Position, int]
) -> Structure:
    structure = Structure()
    structure.kinds[SESSION] = Kind(SESSION, "session", "id")
    by_domain: dict[int, list[_Draft]] = {}
    loose: dict[str, list[_Draft]] = {}
    for draft in drafts:
        if draft.site.kind == SESSION:
            structure.sites.setdefault(draft.site.tool, []).append(draft.site)
        elif draft.domain is not None:
            by_domain.setdefault(draft.domain, []).append(draft)
        else:
            loose.setdefault(draft.site.key, []).append(draft)
    for number, group in enumerate(domains):
        if not _is_kind(number, group, by_domain):
            continue
        kind = _kind(group, by_domain.get(number, []), structure)
        for draft in by_domain.get(number, []):
            _place(draft.site, kind, structure)
        for position in group:
            if position.side == "in":
                structure.references.setdefault(position.tool, []).append(
                    Reference(position.tool, position.path, kind.name)
                )
    for drafted in loose.values():
        kind = _kind([Position(d.site.tool, "out", f"{d.site.path}.{d.site.key}") for d in drafted], drafted, structure)
        for draft in drafted:
            _place(draft.site, kind, structure)
    return structure


def _is_kind(number: int, group: Sequence[Position], drafts: Mapping[int, Sequence[_Draft]]) -> bool:
    """Whether a domain names things, and is no mere vocabulary."""
    if drafts.get(number):
        return True
    named = [position for position in group if position.side == "in"]
    return len({position.tool for position in named}) > 1 and any(is_idlike(position.name) for position in named)


def _place(site: Site, kind: Kind, structure: Structure) -> None:
    key = site.key
    if site.bare or (not key and not site.argument):
        key = kind.key
    placed = replace(site, kind=kind.name, key=key)
    structure.sites.setdefault(site.tool, []).append(placed)


def _kind(group: Sequence[Position], drafts: Sequence[_Draft], structure: Structure) -> Kind:
    called = Counter(position.name for position in group if position.name)
    shown = Counter(draft.site.key for draft in drafts if draft.site.key and not draft.site.join)
    shown = Counter({name: count + called[name] for name, count in shown.items()})
    shown = Counter({name: count for name, count in shown.items() if not is_generic(name)})
    given = Counter(position.name for position in group if position.name and position.side == "in")
    names = shown or given or called
    key = min(names, key=lambda n: (-names[n], n))
    noun = _noun(key, given or called)
    name = plural(noun.split()[-1]) if noun else plural(key)
    name = base = "_".join([*noun.split()[:-1], name])
    number = 2
    while name in structure.kinds:
        name, number = f"{base}_{number}", number + 1
    kind = Kind(name, noun, key, list(group))
    structure.kinds[name] = kind
    return kind


def _noun(key: str, called: Counter[str]) -> str:
    """`ticket` of `ticket_id`; the longest such name says most."""
    usual = max(called.values(), default=0)
    if 2 * called[key] > sum(called.values()) and is_idlike(key) and len(split(key)) == 1 and key not in {"id", "name"}:
        return "item"
    for name in [key, *sorted((n for n in called if 2 * called[n] >= usual), key=lambda n: (-called[n], n))]:
        if is_generic(name):
            continue
        words = list(split(name))
        while len(words) > 1 and is_idlike(words[-1]):
            words.pop()
        words = [singular(word) for word in words]
        if words and not (len(words) == 1 and is_idlike(words[0])):
            return " ".join(words)
    return singular(key) or "thing"
