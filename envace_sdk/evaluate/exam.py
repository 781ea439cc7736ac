"""What is asked and what counts as right: drawn from the recordings once, for every player alike."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.toolset import Toolset

from .common import Common
from .episodes import Episode, episodes_of
from .forms import answer_value, form_of, text_of, texts_in
from .knowledge import Facts, Given, Judge, Kind, call_key, lengths
from .outline import Leaf, key_paths, leaves_of
from .roles import Roles
from .texts import Wording, words_of
from .transforms import contents_of

__all__ = ["Exam", "Question", "Sheet"]

_CONSTANT: Final = 3
"""Recorded answers that must agree for a value to be a constant of the tool."""


@dataclass(slots=True)
class _Seen:
    """What one key path held in the recorded answers of a tool."""

    text: str
    answers: int = 1
    varies: bool = False


class Sheet:
    """A recorded call taken apart."""

    __slots__ = ("form", "leaves", "paths", "told", "value")

    def __init__(self, fixture: Fixture, wording: Wording) -> None:
        self.told = leaves_of(dict(fixture.call.arguments))
        """The leaves of the arguments."""
        self.value = answer_value(fixture.result)
        self.form = form_of(self.value, fixture.call.name, fixture.result.is_error, wording)
        self.leaves = leaves_of(self.form)
        """The leaves of the answer."""
        self.paths = key_paths(self.form)


class Question:
    """One recorded call of an episode, at its place: what was known by then, and what the answer must be."""

    def __init__(self, exam: Exam, fixture: Fixture, judge: Judge) -> None:
        self._exam = exam
        self._judge = judge
        self.fixture = fixture
        sheet = exam.sheet(fixture)
        self.given = Given(fixture.call, sheet.told, exam.common)
        self.value, self.form, self.leaves, self.paths = sheet.value, sheet.form, sheet.leaves, sheet.paths
        self.kinds = self.kinds_of(self.form, self.leaves)
        """By exact path, of what kind each leaf of the recorded answer is."""

    def kinds_of(self, form: Json, leaves: Sequence[Leaf]) -> dict[str, Kind]:
        """The same of another form of the recorded answer."""
        kinds = {leaf.path: self._kind(leaf) for leaf in leaves}
        sizes = lengths(form)
        if sizes and sum(kind == "free" for kind in kinds.values()) * 2 <= len(kinds):
            for leaf in leaves:
                if kinds[leaf.path] == "free" and _is_count(leaf.value) and leaf.value in sizes:
                    kinds[leaf.path] = "entailed"
        return kinds

    def _kind(self, leaf: Leaf) -> Kind:
        name, is_error = self.fixture.call.name, self.fixture.result.is_error
        if self._exam.is_constant(name, is_error, leaf):
            return "constant"
        fixed = self._exam.wording.words((name, is_error, leaf.place))
        return "entailed" if self._judge.is_entailed(self.given, leaf, fixed) else "free"

    def in_form(self, value: Json) -> Json:
        """The form of another answer of the same status."""
        return self._exam.form(self.fixture, value)

    def kind_of_extra(self, value: Json) -> Kind:
        """Of what kind a played leaf is that stands where the recorded answer has nothing."""
        leaves = leaves_of({"": value})
        return "entailed" if leaves and self._judge.is_entailed(self.given, leaves[0], frozenset()) else "free"


class Exam:
    """The held-out episodes, with all that recordings tell of them.

    Args:
        toolset: the tools that are called.
        episodes: the held-out episodes.
        fixtures: what the players were given.
    """

    def __init__(self, toolset: Toolset, episodes: Sequence[Episode], fixtures: Sequence[Fixture] = ()) -> None:
        self.toolset = toolset
        self.episodes = tuple(episodes)
        self.known = tuple(episodes_of(fixtures))
        everything = (*self.known, *self.episodes)
        known = {_content(episode) for episode in self.known}
        self.overlap = sum(_content(episode) in known for episode in self.episodes)
        """How many of the episodes are among the fixtures, call by call: those are not held out."""
        self.wording = Wording()
        self.common = Common(tool.definition for tool in toolset)
        self._constants: dict[tuple[str, bool, str], _Seen] = {}
        for episode in everything:
            for fixture in episode.calls:
                self._learn_wording(fixture)
        self._sheets: dict[int, Sheet] = {}
        for episode in everything:
            for fixture in episode.calls:
                sheet = self.sheet(fixture)
                self.common.learn([*sheet.told, *sheet.leaves])
                self._learn_constants(fixture, sheet.leaves)
        self.roles = Roles(toolset, everything)
        self._referring = self._find_referring(everything)
        self.initial = self._initial(everything)
        self.background = Facts(self.common)
        for episode in self.known:
            for fixture in episode.calls:
                sheet = self.sheet(fixture)
                self.background.learn(Given(fixture.call, sheet.told, self.common), sheet.value, sheet.leaves)

    def sheet(self, fixture: Fixture) -> Sheet:
        """A call of an episode or a fixture, taken apart."""
        found = self._sheets.get(id(fixture))
        if found is None:
            found = self._sheets[id(fixture)] = Sheet(fixture, self.wording)
        return found

    def form(self, fixture: Fixture, value: Json) -> Json:
        """The form of an answer to a recorded call that has the recorded status."""
        return form_of(value, fixture.call.name, fixture.result.is_error, self.wording)

    def questions(self, episode: Episode) -> Iterator[Question]:
        """The calls of an episode in order. An answer has to be marked before the next question is drawn."""
        judge = Judge(self.common, self.background)
        for fixture in episode.calls:
            question = Question(self, fixture, judge)
            yield question
            judge.learn(question.given, question.value, question.leaves)

    def is_constant(self, tool: str, is_error: bool, leaf: Leaf) -> bool:
        """Whether every recorded answer of the tool with this status holds this value at this key path."""
        seen = self._constants.get((tool, is_error, leaf.key_path))
        return seen is not None and not seen.varies and seen.answers >= _CONSTANT

    def refers(self, tool: str, name: str) -> bool:
        """Whether the tool's argument of this plain name says which thing is meant: its errors repeat it."""
        return (tool, name) in self._referring

    def _find_referring(self, episodes: Sequence[Episode]) -> frozenset[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        for episode in episodes:
            for fixture in episode.calls:
                if fixture.result.is_error:
                    sheet = self.sheet(fixture)
                    said = json.dumps(sheet.value, ensure_ascii=False).casefold()
                    found.update((fixture.call.name, leaf.name) for leaf in sheet.told if _says(said, leaf.text))
        return frozenset(found)

    def _initial(self, episodes: Sequence[Episode]) -> frozenset[str]:
        """The telling values that some episode showed to be there before any write named or answered them."""
        found: set[str] = set()
        for episode in episodes:
            seen: set[str] = set()
            for fixture in episode.calls:
                shown = [leaf.text for leaf in self.sheet(fixture).leaves]
                told = [leaf.text for leaf in self.sheet(fixture).told]
                if not fixture.result.is_error and not self.roles.writes(fixture.call.name):
                    found.update(text for text in (*told, *shown) if text not in seen)
                seen.update(told, shown, *map(contents_of, told))
        return frozenset(filter(self.common.telling, found))

    def _learn_wording(self, fixture: Fixture) -> None:
        told = [leaf.value for leaf in leaves_of(dict(fixture.call.arguments))]
        self.wording.learn_said(told)
        said = words_of(told)
        for path, text in texts_in(answer_value(fixture.result)):
            self.wording.learn((fixture.call.name, fixture.result.is_error, path), text, said)

    def _learn_constants(self, fixture: Fixture, leaves: Sequence[Leaf]) -> None:
        found: dict[str, set[str]] = {}
        for leaf in leaves:
            found.setdefault(leaf.key_path, set()).add(leaf.text)
        for key_path, texts in found.items():
            place = (fixture.call.name, fixture.result.is_error, key_path)
            text = next(iter(texts))
            seen = self._constants.get(place)
            if seen is None:
                self._constants[place] = _Seen(text, varies=len(texts) > 1)
            else:
                seen.answers += 1
                seen.varies = seen.varies or len(texts) > 1 or seen.text != text


def _content(episode: Episode) -> str:
    return text_of([[call_key(f.call), answer_value(f.result)] for f in episode.calls])


def _says(said: str, text: str) -> bool:
    if not text or text not in said:
        return False
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said) is not None


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
