"""The recorded cases of one tool, and what was learned from them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from envace_sdk.json import Json

from .boards import Boards, View, is_of_boards
from .cases import Case
from .explained import Explained, explain, nodes
from .features import Features
from .forms import Form, likeness
from .fresh import Fresh, find_fresh
from .likeness import Likeness
from .scene import Scene
from .sheet import Place
from .tree import Tree, grow
from .vocabulary import Vocabulary

__all__ = ["Book"]

_MOST_ERRORS = 150
_MOST_SUCCESSES = 300
_MOST_EXPLAINED = 60
_LEAST_EXPLAINED = 3
_MOST_TWINS = 16
_TWIN = 4.0
"""What it says for a precedent that it answers the very same call."""
_TOLD = 0.7
"""What it says for a precedent that its episode was answered after before, each time up to four."""
_MOST_TOLD = 4
_MOST_FORMS = 12
_MOST_NEAR = 8
_LEAST_SHARED = 3
_SHARED = 0.15


class Book:
    """Cases of one tool; everything is learned when it is first needed."""

    def __init__(
        self, tool: str, cases: Sequence[Case], vocabulary: Vocabulary, boards: Boards, *, scale: float = 1.0
    ) -> None:
        self.tool = tool
        self.has_errors = any(case.event.is_error for case in cases)
        self.has_successes = any(not case.event.is_error for case in cases)
        self.cases = _sample(cases, scale)
        self._most_explained = int(_MOST_EXPLAINED * scale)
        self._vocabulary = vocabulary
        self._boards = boards
        self._explained: dict[str, Explained] = {}
        self._twins: dict[str, list[Case]] = {}
        for case in cases:
            self._twins.setdefault(case.event.key, []).append(case)

    def twins(self, key: str, episode: str | None) -> list[Case]:
        """The cases of the very same call, in other episodes than this one."""
        return [case for case in self._twins.get(key, ()) if case.episode != episode][:_MOST_TWINS]

    def twin_form(self, key: str, episode: str | None = None) -> str:
        """How the very same call was mostly answered in other episodes; "" when it was not made there."""
        counts: dict[str, int] = {}
        for case in self.twins(key, episode):
            name = self.form_of(case).name
            counts[name] = counts.get(name, 0) + 1
        return max(counts, key=lambda name: counts[name]) if counts else ""

    def form_of(self, case: Case) -> Form:
        """The form of a case's answer: of a text, with the lines that it has in common with others."""
        form = case.form
        if form.is_error:
            called = self._vocabulary.called(form.name)
            return form if called == form.name else replace(form, name=called)
        shared = sorted(path for path in form.paths if path in self._shared)
        return replace(form, name=f"{form.name}|{'|'.join(shared)}") if shared else form

    @cached_property
    def _shared(self) -> frozenset[str]:
        """The lines that occur in several answers, and not in all."""
        paths = Counter(
            path for case in self.cases if not case.event.is_error for path in case.form.paths if "¶" in path
        )
        least = max(_LEAST_SHARED, _SHARED * len(self.cases))
        return frozenset(path for path, count in paths.items() if count >= least)

    @cached_property
    def rows(self) -> list[Features]:
        """The situations of the cases."""
        return [self.row(case) for case in self.cases]

    def row(self, case: Case) -> Features:
        """The situation of a case, as it would be seen if its episode had not been recorded."""
        usual = self._vocabulary.usual(case.scene, case.episode)
        seen = self._boards.view(case.scene).features
        return {**case.features, **usual, **seen, "twin": self.twin_form(case.event.key, case.episode)}

    @cached_property
    def forms(self) -> dict[str, Form]:
        """The forms of answers, by name."""
        return {(form := self.form_of(case)).name: form for case in self.cases}

    def shares(self, row: Features) -> dict[str, float]:
        """How likely each form of answer is in this situation."""
        return self._tree.shares(row)

    def is_told_by_boards(self, row: Features) -> bool:
        """Whether the form of the answer hangs on what boards show."""
        return any(is_of_boards(feature) for feature, _, _ in self._tree.tests(row))

    @cached_property
    def _tree(self) -> Tree:
        return grow(self.rows, [self.form_of(case).name for case in self.cases])

    @cached_property
    def likeness(self) -> Mapping[bool, Likeness]:
        """How alike situations are, for errors and for successes."""
        found = {}
        for is_error in (False, True):
            chosen = [at for at, case in enumerate(self.cases) if case.event.is_error is is_error]
            found[is_error] = Likeness(
                [self.rows[at] for at in chosen],
                [_residue(case, self.explained(self.form_of(case).name)) for case in (self.cases[at] for at in chosen)],
                [self.cases[at].episode for at in chosen],
            )
        return found

    def explained(self, name: str) -> Explained:
        """What of the answers of a form is no news. All successes are taken together, and so are rare errors."""
        is_error = self.forms[name].is_error
        group = name if is_error and len(self._of_form[name]) >= _LEAST_EXPLAINED else ("error" if is_error else "")
        if group not in self._explained:
            alike = [case for case in self.cases if case.event.is_error is is_error]
            chosen = [case for case, _ in self._of_form[name]] if group == name else alike
            self._explained[group] = explain(self._some(chosen))
        return self._explained[group]

    def fresh(self, *, is_error: bool) -> Mapping[str, Fresh]:
        """What is new with every success."""
        return {} if is_error else self._fresh

    @cached_property
    def _fresh(self) -> dict[str, Fresh]:
        successes = [case for case in self.cases if not case.event.is_error]
        if not successes:
            return {}
        whole = self.explained(self.form_of(successes[0]).name).wholes
        return {place: fresh for place, fresh in find_fresh(self._some(successes)).items() if place not in whole}

    def _some(self, cases: Sequence[Case]) -> list[tuple[Scene, Json]]:
        step = max(1, -(-len(cases) // self._most_explained))
        return [(case.scene, case.event.value) for case in cases[::step]]

    def likely_success(self, shares: Mapping[str, float]) -> str:
        """Of the forms of a success, the one that is most like all that are likely."""
        chosen = {name: share for name, share in shares.items() if not self.forms[name].is_error}
        likely = sorted(chosen, key=lambda name: (-chosen[name], name))[:_MOST_FORMS]
        return max(
            likely,
            key=lambda name: sum(
                chosen[other] * likeness(self.forms[name].paths, self.forms[other].paths) for other in likely
            ),
        )

    def same_state(self, key: str, view: View) -> Case | None:
        """A success of the very same call where boards showed the same."""
        if not view.things:
            return None
        cases = self._in_state.get((key, view.things), ())
        return next((case for case in cases if case.episode in view.alike), cases[0] if cases else None)

    @cached_property
    def _in_state(self) -> dict[tuple[str, frozenset[tuple[str, str, Place]]], list[Case]]:
        found: dict[tuple[str, frozenset[tuple[str, str, Place]]], list[Case]] = {}
        for case in self.cases:
            if not case.event.is_error and (things := self._boards.view(case.scene).things):
                found.setdefault((case.event.key, things), []).append(case)
        return found

    def precedent(self, name: str, key: str, row: Features, told: Mapping[str, int]) -> Case:
        """The case whose answer is of that form and whose situation is most like this one."""
        likeness_of = self.likeness[self.forms[name].is_error]
        scored = []
        for case, features in self._of_form[name]:
            score = likeness_of.score(row, features)
            if case.event.key == key:
                score += _TWIN
            scored.append((score + _TOLD * min(told.get(case.episode, 0), _MOST_TOLD), case))
        scored.sort(key=lambda pair: -pair[0])
        near = scored[:_MOST_NEAR]
        if len(near) == 1 or near[0][0] - near[1][0] > 3:
            return near[0][1]
        weights = [math.exp(score - near[0][0]) for score, _ in near]
        typical = [
            sum(w * likeness(case.form.paths, other.form.paths) for w, (_, other) in zip(weights, near, strict=True))
            for _, case in near
        ]
        best = max(typical)
        return next(case for total, (_, case) in zip(typical, near, strict=True) if total >= best - 1e-9)

    @cached_property
    def _of_form(self) -> dict[str, list[tuple[Case, Features]]]:
        found: dict[str, list[tuple[Case, Features]]] = {}
        for case, row in zip(self.cases, self.rows, strict=True):
            found.setdefault(self.form_of(case).name, []).append((case, row))
        return found


def _sample(cases: Sequence[Case], scale: float) -> list[Case]:
    errors = [at for at, case in enumerate(cases) if case.event.is_error]
    successes = [at for at, case in enumerate(cases) if not case.event.is_error]
    chosen = _thinned(errors, int(_MOST_ERRORS * scale)) + _thinned(successes, int(_MOST_SUCCESSES * scale))
    return [cases[at] for at in sorted(chosen)]


def _thinned(places: Sequence[int], most: int) -> list[int]:
    size = len(places)
    return list(places) if size <= most else [places[n * size // most] for n in range(most)]


def _residue(case: Case, explained: Explained) -> str:
    """The answer without what is explained by its situation."""
    left = []
    for count, (place, value) in enumerate(nodes(case.event.value)):
        if count > 200:
            break
        if isinstance(value, dict | list):
            continue
        if not explained.has_whole(place, value, case.scene):
            left.append(f"{place}={value!r}"[:300])
    return "\n".join(left)
