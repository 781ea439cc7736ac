"""What was learned of a tool, written as its rule."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from envace_sdk.json import UNSET, Json
from envace_sdk.world.dynamics import ToolRule
from envace_sdk.world.infer.cel import literal, member
from envace_sdk.world.keys import get_path

from .answering import Answer, Part, sources
from .conditions import DecisionList
from .failures import Failure
from .hidden import Hidden
from .phrasing import FORM, Phrases
from .roles import ENTITY, Cast, Named
from .searching import Listing
from .structure import SESSION, Structure
from .texts import Slot, Template
from .tracking import Effects, Existence, Moment
from .wording import error_template, status_of

__all__ = ["Learned", "rule_of", "silenced"]

_SURE: Final = 0.75
_LARGE: Final = 400


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


def rule_of(
    learned: Learned,
    structure: Structure,
    effects: Effects,
    existence: Existence,
    hidden: Hidden,
    phrases: Phrases,
) -> ToolRule:
    """The rule of a tool."""
    return _Writer(learned, structure, effects, existence, hidden, phrases).rule()


def silenced(rule: ToolRule) -> ToolRule:
    """A rule that says no more than what a call requires, and that it changes nothing."""
    data = rule.model_dump(exclude_defaults=True)
    found: dict[str, Any] = {"effect": "compute", "let": dict(data.get("let", {})), "requires": data.get("requires", [])}
    if rule.effect == "read":
        found = _renamed(found)
        found["let"] = {"it": f"get({rule.collection!r}, {rule.key})", **found["let"]}
        found["let"] = {name: re.sub(r"\bentity\b", "it", source) for name, source in found["let"].items()}
    if not found["requires"]:
        found.pop("let")
    return ToolRule(**found)


class _Writer:
    def __init__(
        self,
        learned: Learned,
        structure: Structure,
        effects: Effects,
        existence: Existence,
        hidden: Hidden,
        phrases: Phrases,
    ) -> None:
        self._phrases = phrases
        self._hidden = hidden
        self._learned = learned
        self._cast = learned.cast
        self._structure = structure
        self._effects = effects
        self._existence = existence
        self._tool = learned.tool
        self._used: set[str] = set()

    def rule(self) -> ToolRule:
        data: dict[str, Any] = {}
        primary = self._cast.primary
        kind = self._effect(primary)
        data["effect"] = kind
        if kind == "search" and self._learned.listing is not None:
            data["collection"] = self._learned.listing.kind
            data |= self._learned.listing.fields()
        elif primary is not None and kind != "compute":
            data["collection"] = primary.kind
            if primary.source:
                data["key"] = primary.source
        if primary is not None and (self._tool, ENTITY) in self._existence_upserts():
            data["upsert"] = True
        data["requires"] = self._requirements(kind)
        sets = {
            what: source
            for (tool, name, what), source in sorted(self._effects.sets.items())
            if (tool, name) == (self._tool, ENTITY)
        }
        if kind == "create" and primary is not None:
            sets |= self._unexplained(primary, sets)
        if kind in {"create", "update"}:
            key = self._structure.kinds[primary.kind].key if primary is not None else ""
            data["take"] = {
                what: found.group(1)
                for what, source in sets.items()
                if what != key
                and (found := re.fullmatch(rf"default\(args\.([\w.]+), entity\.{re.escape(what)}\)", source))
            }
            data["set"] = {
                what: source
                for what, source in sets.items()
                if what != key and what not in data["take"] and (kind == "create" or source != f"entity.{what}")
            }
        data["also"] = self._also(kind)
        returns = self._returns(kind)
        if returns:
            data["returns"] = returns
        elif kind == "compute" and not data["also"] and not data["requires"] and not self._is_reader():
            data["effect"] = "opaque"
        text = repr(data)
        lets = {}
        for named in self._cast.named:
            if named.name != ENTITY and named.source and re.search(rf"\b{named.name}\b", text):
                lets[named.name] = f"get('{named.kind}', {named.source})"
                if self._is_optional(named):
                    told = re.findall(r"args\.[\w.]+", named.source)
                    lets[named.name] = f"{' && '.join(f'has({path})' for path in told)} ? {lets[named.name]} : null"
        for name in list(lets):
            source = next(n.source for n in self._cast.named if n.name == name)
            owner = source.split(".")[0]
            if owner not in {"args", "joinpath(session"} and not owner.startswith("joinpath"):
                lets[name] = (
                    f"{owner} == null ? null : {lets[name]}"
                    if owner != ENTITY or kind == "compute" or True
                    else lets[name]
                )
                if owner != ENTITY and owner not in lets:
                    outer = next((n for n in self._cast.named if n.name == owner), None)
                    if outer is not None and outer.source:
                        lets = {owner: f"get('{outer.kind}', {outer.source})", **lets}
        if kind == "search" and primary is not None and re.search(r"\bentity\b", repr(data["requires"])):
            data["requires"] = _renamed({"requires": data["requires"]})["requires"]
            lets = {"it": f"get('{primary.kind}', {primary.source})", **lets}
        if kind == "compute" and primary is not None and re.search(r"\bentity\b", text + repr(lets)):
            source = f"get('{primary.kind}', {primary.source})"
            if self._is_optional(primary):
                told = re.findall(r"args\.[\w.]+", primary.source)
                source = f"{' && '.join(f'has({path})' for path in told)} ? {source} : null"
            data["let"] = {"it": source} if primary.source else {}
            data = _renamed(data)
            lets = {name: re.sub(r"\bentity\b", "it", source) for name, source in lets.items()}
            lets = {**data.get("let", {}), **lets}
        data["let"] = lets
        filled = {name: value for name, value in data.items() if value not in ({}, [], None)}
        return ToolRule(**filled)

    def _existence_upserts(self) -> set[tuple[str, str]]:
        return {pair for pair, how in self._effects.makes.items() if how == "upsert"}

    def _is_reader(self) -> bool:
        names = {(self._tool, named.name) for named in self._cast.named} | {(self._tool, SESSION)}
        return names <= self._effects.harmless

    def _effect(self, primary: Named | None) -> str:
        if self._learned.listing is not None:
            return "search"
        if primary is None or self._is_optional(primary):
            return "compute"
        pair = (self._tool, ENTITY)
        if primary.fresh or self._effects.makes.get(pair) == "":
            return "create"
        if pair in self._effects.removes:
            return "delete"
        if self._effects.makes.get(pair) == "upsert":
            return "update"
        if any(place[:2] == pair for place in self._effects.sets):
            return "update"
        told = [
            source
            for _, part in (self._learned.answer.cases if self._learned.answer else ())
            for source in sources(part)
        ]
        if self._existence.needs(self._tool, ENTITY) or any(re.search(rf"\b{ENTITY}\.", source) for source in told):
            return "read"
        return "compute"

    def _is_optional(self, primary: Named) -> bool:
        """Whether calls need not name the thing."""
        if primary.fresh:
            return False
        return any(m.step.ok and not self._names(m, primary) for m in self._learned.moments)

    @staticmethod
    def _names(moment: Moment, named: Named) -> bool:
        told = re.findall(r"args\.([\w.]+)", named.source)
        return all(get_path(moment.step.args, path) not in (UNSET, None) for path in told)

    def _requirements(self, kind: str) -> list[dict[str, Any]]:
        found: list[tuple[str, dict[str, Any]]] = []
        passed: list[str] = []
        for rule in self._learned.decisions.rules if self._learned.decisions is not None else ():
            if rule.label == "ok":
                passed.append(rule.source)
                continue
            failure = self._learned.failures.get(rule.label)
            if failure is None or rule.confidence < _SURE:
                continue
            found.append((rule.label, self._requirement(_negated(rule.source, passed), failure)))
        return [requirement for _, requirement in self._with_things(found, kind)]

    def _requirement(self, that: str, failure: Failure) -> dict[str, Any]:
        moments = [m for m in self._learned.moments if m.failure is failure]
        return {"that": that, "error": error_template(failure, moments), "status": status_of(failure.text)}

    def _with_things(self, found: list[tuple[str, dict[str, Any]]], kind: str) -> list[tuple[str, dict[str, Any]]]:
        """With what is required of things: to be there, or not to be. It is asked before what was never said of a
        call where it does not hold."""
        for book, there in ((self._existence.missing, True), (self._existence.taken, False)):
            for (tool, number), name in sorted(book.items()):
                failure = next((f for f in self._learned.failures.values() if f.number == number), None)
                if tool != self._tool or failure is None:
                    continue
                that = f"{name} {'!=' if there else '=='} null"
                named = next(n for n in self._cast.named if n.name == name)
                if there and self._is_optional(named):
                    told = re.findall(r"args\.[\w.]+", named.source)
                    that = " || ".join([*(f"!has({path})" for path in told), that])
                if any(requirement["that"] == that for _, requirement in found):
                    continue
                earlier = {
                    m.failure.label
                    for m in self._learned.moments
                    if m.failure is not None and m.failure is not failure and (m.existed.get(name) is True) is not there
                }
                place = max((n + 1 for n, (label, _) in enumerate(found) if label in earlier), default=0)
                if there:
                    uses = (n for n, (_, asked) in enumerate(found) if re.search(rf"\b{name}\.", asked["that"]))
                    place = min(place, next(uses, place))
                found.insert(place, (failure.label, self._requirement(that, failure)))
        return found

    def _unexplained(self, primary: Named, sets: Mapping[str, str]) -> dict[str, str]:
        """Of a new thing, the fields that nothing explains: made up in the form they have."""
        shown: dict[str, list[Json]] = {}
        key = self._structure.kinds[primary.kind].key
        for site in self._structure.sites_of(self._tool):
            if site.fresh:
                from .structure import records

                for moment in self._learned.moments:
                    if moment.step.ok:
                        for _, record in records(site, moment.step):
                            for name, value in record.items():
                                what = key if name == site.key else name
                                if (
                                    what != key
                                    and what not in sets
                                    and (self._tool, primary.kind, what) not in self._effects.foreign
                                ):
                                    shown.setdefault(what, []).append(value)
        return {what: free_source(values) for what, values in shown.items()}

    def _also(self, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        by_name: dict[str, dict[str, str]] = {}
        for (tool, name, what), source in sorted(self._effects.sets.items()):
            if tool == self._tool and (name != ENTITY or kind == "compute"):
                by_name.setdefault(name, {})[what] = source
        held = self._session_sets()
        if held:
            by_name.setdefault(SESSION, {}).update(held)
        for name, sets in by_name.items():
            if name == SESSION:
                found.append(
                    {"effect": "update", "collection": SESSION, "key": "'session'", "upsert": True, "set": sets}
                )
                continue
            named = next(n for n in self._cast.named if n.name == name)
            key = self._structure.kinds[named.kind].key
            sets = {what: source for what, source in sets.items() if what != key and source != f"{name}.{what}"}
            if sets:
                made = self._effects.makes.get((self._tool, name))
                change = {"effect": "update", "collection": named.kind, "key": named.source, "set": sets}
                if made is None:
                    change["when"] = f"{name} != null"
                else:
                    change["upsert"] = True
                found.append(change)
        for tool, name in sorted(self._effects.removes):
            if tool == self._tool and name != ENTITY:
                named = next(n for n in self._cast.named if n.name == name)
                found.append(
                    {"effect": "delete", "collection": named.kind, "key": named.source, "when": f"{name} != null"}
                )
        return found

    def _session_sets(self) -> dict[str, str]:
        """What a call makes of the flags and registers of the session."""
        found: dict[str, str] = {}
        changes = [change for change in self._hidden.changes if change.tool == self._tool]
        for what in dict.fromkeys(change.field for change in changes):
            kept = f"default(session.{what}, {literal(self._hidden.start.get(what))})"
            text = kept
            for change in reversed([change for change in changes if change.field == what]):
                value, condition = self._answered(change.value), self._answered(change.condition)
                if value is None or condition is None:
                    continue
                text = f"{condition} ? {value} : {text}" if condition else value
            if text != kept:
                found[what] = text
        return found

    def _answered(self, source: str) -> str | None:
        """The source with what the answer says put in its place; None where that is not known."""
        failed = False

        def told(match: re.Match[str]) -> str:
            nonlocal failed
            parts = [part for _, part in (self._learned.answer.cases if self._learned.answer else [])]
            for part in parts:
                inner: Part | None = part
                for name in match.group(1).split(".")[1:]:
                    inner = inner.members.get(name) if inner is not None else None
                if inner is not None and inner.source:
                    return f"({inner.source})" if " " in inner.source else inner.source
            failed = True
            return ""

        text = re.sub(r"\b(answer(?:\.\w+)*)", told, source)
        return None if failed else text

    def _returns(self, kind: str) -> dict[str, Any]:
        answer = self._learned.answer
        if answer is None:
            return {}
        if self._learned.listing is not None and len(answer.cases) == 1 and not _has_form(answer.cases[0][1]):
            return self._learned.listing.returns(answer.cases[0][1])
        if len(answer.cases) == 1 and kind in {"read", "create", "update"}:
            fields = _projection(answer.cases[0][1])
            if fields is not None:
                return fields
        parts = [part for _, part in answer.cases]
        if not any(self._tells(part) for part in parts):
            return {}
        texts = all(m.step.is_text for m in self._learned.moments if m.step.ok)
        whole = self._whole(answer)
        if texts:
            return {"text": "{" + whole + "}"}
        if len(answer.cases) == 1 and parts[0].is_object and parts[0].members:
            return {"object": {name: self._source(inner) for name, inner in parts[0].members.items()}}
        return {"value": whole}

    def _whole(self, answer: Answer) -> str:
        *choices, (_, last) = answer.cases
        text = self._source(last)
        for condition, part in reversed(choices):
            text = f"{condition} ? {self._source(part)} : {text}"
        return text

    def _source(self, part: Part) -> str:
        if part.listing is not None and self._learned.listing is not None:
            return self._learned.listing.listed()
        if FORM in part.members:
            return self._text(part)
        if part.is_object:
            return (
                "{" + ", ".join(f"{literal(name)}: {self._source(inner)}" for name, inner in part.members.items()) + "}"
            )
        return part.source or free_source(part.samples)

    def _text(self, part: Part) -> str:
        """A text that was taken apart, put together again."""
        number = part.members[FORM].samples[0] if part.members[FORM].samples else int(part.members[FORM].source or 0)
        return _written(self._phrases[self._tool, int(number)], lambda name: self._source(part.members[name]))

    @staticmethod
    def _tells(part: Part) -> bool:
        if part.listing is not None:
            return True
        if part.is_object:
            leaves = [inner for name, inner in part.members.items() if name != FORM]
            return not leaves or sum(_Writer._tells(inner) for inner in leaves) * 2 >= len(leaves)
        return bool(part.source)


def _has_form(part: Part) -> bool:
    return FORM in part.members or any(map(_has_form, part.members.values()))


def _written(template: Template, source: Callable[[str], str]) -> str:
    """A text of some form as an expression, from those of what it holds."""
    parts: list[str] = []
    for part in template.parts:
        if isinstance(part, str):
            parts.append(literal(part))
        elif isinstance(part, Slot):
            parts.append(_padded(f"string({source(part.name)})", part.width))
        else:
            item = _written(part.item, lambda name: member("row", (name,)))
            parts.append(f"{source(part.name)}.map(row, {item}).join({literal(part.separator)})")
    return " + ".join(parts) or "''"


def _padded(source: str, width: int) -> str:
    return source if not width else f"({source} + {literal(' ' * width)}).substring(0, {width})"


def _negated(condition: str, passed: Sequence[str]) -> str:
    """That a condition does not hold, or one of those that let the call pass first."""
    simple = re.fullmatch(r"([\w.]+) (==|!=|<=|>=|<|>) ([\w.'\"-]+)", condition)
    if simple:
        flipped = {"==": "!=", "!=": "==", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}[simple.group(2)]
        text = f"{simple.group(1)} {flipped} {simple.group(3)}"
    elif re.fullmatch(r"![\w.]+(\([^()]*\))?", condition):
        text = condition[1:]
    else:
        text = f"!({condition})"
    if re.fullmatch(r"session\.\w+", text):
        text = f"default({text}, false)"
    return " || ".join([*(f"({source})" for source in passed), text])


def _projection(part: Part) -> dict[str, Any] | None:
    """The answer as the thing itself, or some of its fields."""
    inner, wrap = part, None
    if part.is_object and len(part.members) == 1:
        ((name, only),) = part.members.items()
        if only.is_object:
            inner, wrap = only, name
    if not inner.is_object or not inner.members:
        return None
    fields: list[str] = []
    for name, held in inner.members.items():
        if held.source != member(ENTITY, (name,)):
            return None
        fields.append(name)
    found: dict[str, Any] = {"fields": fields}
    if wrap is not None:
        found["wrap"] = wrap
    return found


def free_source(samples: Sequence[Json]) -> str:
    """An expression that makes values like the samples."""
    if not samples:
        return "null"
    texts = [literal(sample) for sample in samples]
    usual, count = min(Counter(texts).items(), key=lambda item: (-item[1], texts.index(item[0])))
    if all(isinstance(sample, str) for sample in samples) and count * 2 < len(samples):
        shape = _pattern([str(sample) for sample in samples])
        if shape is not None:
            return f"pattern({literal(shape)})"
    return (
        usual
        if len(usual) <= _LARGE
        else "{}"
        if isinstance(samples[0], dict)
        else "[]"
        if isinstance(samples[0], list)
        else "''"
    )


def _pattern(samples: Sequence[str]) -> str | None:
    """A regular expression for texts of one form, such as `[A-Z]{2}-[0-9]{4}`."""
    forms = Counter(
        "".join(
            "[0-9]" if c.isdigit() else "[A-Z]" if c.isupper() else "[a-z]" if c.islower() else re.escape(c)
            for c in sample
        )
        for sample in samples
        if 0 < len(sample) <= 60 and sample.isascii()
    )
    if not forms:
        return None
    form, count = min(forms.items(), key=lambda item: (-item[1], item[0]))
    if count * 2 < len(samples):
        return None
    return re.sub(r"((?:\[[^\]]+\]))\1+", lambda m: f"{m.group(1)}{{{len(m.group(0)) // len(m.group(1))}}}", form)


def _renamed(data: dict[str, Any]) -> dict[str, Any]:
    """With `it` for `entity`, in a rule that has none."""

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            return re.sub(r"\bentity\b", "it", value)
        if isinstance(value, dict):
            return {name: renamed(inner) for name, inner in value.items()}
        return [renamed(inner) for inner in value] if isinstance(value, list) else value

    return {name: value if name in {"effect", "let"} else renamed(value) for name, value in data.items()}
