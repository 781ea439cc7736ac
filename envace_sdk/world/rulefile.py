"""A dynamics file that people and `envace-sdk learn` write in turn.

What a person wrote stays as it stands, to the last comment: rules are replaced where they stand in the text. The file
remembers a digest of each rule as it was learned; a rule that no longer has it was edited. The digest is one of what
the rule says and of the comments inside it, so that another layout is no edit.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import yaml

from envace_sdk.errors import DynamicsError
from envace_sdk.json import Json

from .dynamics import CollectionRule, Dynamics, ToolRule
from .ruletext import entry_text, section_text

__all__ = ["RuleFile", "Section", "digest_of", "digest_of_json", "fresh_text"]

Section = Literal["collections", "tools"]
SECTIONS: Final[tuple[Section, ...]] = ("collections", "tools")

_LEARNED: Final = "# Digests of the rules as they were learned. One that has changed since is yours, and is kept.\n"
_HEADER: Final = re.compile(
    r"\A# What each tool does to the world, (?:as `envace-sdk infer`|learned by)[^\n]*\n"
    r"(?:# (?:a file changed by hand|a rule that you change|inferred sha256:)[^\n]*\n)*"
)
_LETTERS: Final = str.maketrans("0123456789", "ghijklmnop")
"""Digests are letters only: nothing takes them for numbers."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where a rule stands: its lines, from that of its name to the last that belongs to it."""

    begin: int
    end: int
    indent: int


@dataclass(frozen=True, slots=True)
class _Span:
    """Where a member of the file stands, and what is in it."""

    begin: int
    end: int
    entries: Mapping[str, _Entry]
    is_open: bool
    """Whether entries stand below the member's name, each on lines of its own."""


class RuleFile:
    """The text of a dynamics file.

    Raises:
        DynamicsError: it is none; the message names the place.
    """

    def __init__(self, text: str, source: str = "dynamics.yaml") -> None:
        self._breaks = "\r\n" if "\r\n" in text else "\n"
        self.text = text.replace("\r\n", "\n")
        self.dynamics = Dynamics.parse(self.text, source)
        self._lines = self.text.split("\n")
        if self._lines[-1] == "":
            self._lines.pop()
        self._spans = _spans(self.text, len(self._lines))

    def rule(self, section: Section, name: str) -> CollectionRule | ToolRule | None:
        """The rule of that name, if there is one."""
        rules: Mapping[str, CollectionRule | ToolRule] = getattr(self.dynamics, section)
        return rules.get(name)

    def comments(self, section: Section, name: str) -> tuple[str, ...]:
        """The comments inside a rule."""
        span = self._spans.get(section)
        entry = span.entries.get(name) if span is not None else None
        return () if entry is None else tuple(_comments("\n".join(self._lines[entry.begin : entry.end]) + "\n"))

    def is_as_learned(self, section: Section, name: str) -> bool | None:
        """Whether a rule is as it was learned; None where it never was."""
        rule, learned = self.rule(section, name), self.dynamics.learned.get(section, {}).get(name)
        if rule is None or learned is None:
            return None
        return digest_of(rule, self.comments(section, name)) == learned

    def with_rules(self, dynamics: Dynamics, header: str = "") -> str | None:
        """The text with other rules: those that are as they were stay as they stand.

        Args:
            dynamics: all rules, in their order, and the digests.
            header: the comment at the top, in place of one that was inferred or learned before.

        Returns:
            None where they cannot stay, as where they share anchors with others, or all of it is on one line.
        """
        made = self._edited(dynamics, header)
        try:
            fits = made is not None and Dynamics.parse(made) == dynamics
        except DynamicsError:
            fits = False
        return made.replace("\n", self._breaks) if made is not None and fits else None

    def _edited(self, dynamics: Dynamics, header: str) -> str | None:
        cut = self._spans.get("learned")
        pieces: dict[int, tuple[int, list[str]]] = {}
        for section in SECTIONS:
            span = self._spans.get(section)
            if span is not None and getattr(dynamics, section) != getattr(self.dynamics, section):
                if not span.is_open:
                    return None
                pieces[span.begin] = (span.end, self._section(section, span, dynamics))
        if cut is not None:
            pieces[cut.begin] = (cut.end, [])
        lines: list[str] = []
        place = 0
        while place < len(self._lines):
            end, replaced = pieces.get(place, (place + 1, [self._lines[place]]))
            if cut is not None and place == cut.begin:
                lines = _without_note(lines)
            lines += replaced
            place = end
        text = _HEADER.sub(lambda _: header, "\n".join(_trimmed(lines)) + "\n")
        missing = [section for section in SECTIONS if section not in self._spans and getattr(dynamics, section)]
        data = dynamics.model_dump(exclude_defaults=True)
        for section in missing:
            text += "\n" + section_text(section, data[section], spaced=section == "tools")
        return text + _learned(dynamics)

    def _section(self, section: Section, span: _Span, dynamics: Dynamics) -> list[str]:
        """The lines of a member of the file with its new rules."""
        rules: Mapping[str, CollectionRule | ToolRule] = getattr(dynamics, section)
        entries = sorted(span.entries.items(), key=lambda item: item[1].begin)
        if not rules or not entries:
            data = dynamics.model_dump(exclude_defaults=True).get(section, {})
            return section_text(section, data, spaced=section == "tools").split("\n")[:-1]
        indent, end = entries[0][1].indent, span.begin + 1
        lines = self._lines[span.begin : end]
        blocks: list[tuple[str, list[str], list[str]]] = []
        for name, entry in entries:
            above, own = self._lines[end : entry.begin], self._lines[entry.begin : entry.end]
            end = entry.end
            if name in rules:
                same = rules[name] == self.rule(section, name)
                blocks.append((name, above, own if same else _entry_lines(section, name, rules[name], indent)))
            elif any(line.strip() for line in above):
                blocks.append(("", above, []))
        gap = [""] if section == "tools" and (len(blocks) < 2 or any("" in above for _, above, _ in blocks)) else []
        for before, name in zip(["", *rules], rules, strict=False):
            if name not in span.entries:
                place = next((n + 1 for n, block in enumerate(blocks) if block[0] == before and before), 0)
                blocks.insert(place, (name, [], _entry_lines(section, name, rules[name], indent)))
        for number, (_, above, own) in enumerate(blocks):
            lines += [*(gap if number and not above else above if number else _trimmed(above, first=True)), *own]
        return lines + self._lines[end : span.end]


def fresh_text(dynamics: Dynamics, header: str = "") -> str:
    """The text of a new file."""
    return header + dynamics.model_copy(update={"learned": {}}).dump() + _learned(dynamics)


def digest_of(rule: CollectionRule | ToolRule, comments: tuple[str, ...] = ()) -> str:
    """A short digest of what a rule says."""
    return digest_of_json(rule.model_dump(exclude_defaults=True), comments)


def digest_of_json(value: Json, comments: tuple[str, ...] = ()) -> str:
    """A short digest of a value, whatever the order of members."""
    whole = "\n".join([json.dumps(value, sort_keys=True), *comments]).encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole).hexdigest()[:8].translate(_LETTERS)


def _learned(dynamics: Dynamics) -> str:
    return "\n" + _LEARNED + section_text("learned", dynamics.learned) if dynamics.learned else ""


def _entry_lines(section: Section, name: str, rule: CollectionRule | ToolRule, indent: int) -> list[str]:
    return entry_text(section, name, rule.model_dump(exclude_defaults=True), indent).split("\n")[:-1]


def _trimmed(lines: list[str], *, first: bool = False) -> list[str]:
    """The lines without empty ones at the end, or at the beginning."""
    at = 0 if first else -1
    while lines and not lines[at].strip():
        lines = lines[1:] if first else lines[:-1]
    return lines


def _without_note(lines: list[str]) -> list[str]:
    lines = _trimmed(lines)
    if lines and f"{lines[-1]}\n" == _LEARNED:
        lines = lines[:-1]
    return lines


def _spans(text: str, count: int) -> dict[str, _Span]:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        return {section: _Span(0, count, {}, False) for section in SECTIONS}
    lines = text.split("\n")
    spans: dict[str, _Span] = {}
    members = [(key, value) for key, value in root.value if isinstance(key, yaml.ScalarNode)]
    begins = [*(key.start_mark.line for key, _ in members), count]
    for number, (key, value) in enumerate(members):
        begin, end = begins[number], _content_end(lines, begins[number], begins[number + 1], key.start_mark.column)
        spans[key.value] = _span(lines, begin, end, value)
    return spans


def _span(lines: list[str], begin: int, end: int, node: yaml.Node) -> _Span:
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        return _Span(begin, end, {}, False)
    keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
    begins = [key.start_mark.line for key in keys]
    apart = all(not lines[key.start_mark.line][: key.start_mark.column].strip() for key in keys)
    is_open = (
        apart and len(keys) == len(node.value) and len({key.value for key in keys}) == len(set(begins)) == len(keys)
    )
    entries = {
        key.value: _Entry(first, _content_end(lines, first, following, key.start_mark.column), key.start_mark.column)
        for key, first, following in zip(keys, begins, [*begins[1:], end], strict=True)
    }
    return _Span(begin, end, entries, is_open and all(first > begin for first in begins))


def _content_end(lines: list[str], begin: int, end: int, indent: int) -> int:
    """Where something ends before the empty lines and comments that stand above what follows."""
    while end > begin + 1:
        line = lines[end - 1]
        bare = line.lstrip(" ")
        if bare and not (bare.startswith("#") and len(line) - len(bare) <= indent):
            break
        end -= 1
    return end


def _comments(text: str) -> Iterator[str]:
    """What stands between the tokens of a text and begins with `#`."""
    place = 0
    try:
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            begin, end = token.start_mark.index, token.end_mark.index
            if begin > place:
                yield from (found.strip() for found in re.findall(r"#[^\n]*", text[place:begin]))
            place = max(place, end)
    except yaml.YAMLError:
        yield text
        return
    yield from (found.strip() for found in re.findall(r"#[^\n]*", text[place:]))
