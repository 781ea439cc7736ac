"""All recorded cases of a toolset, and the answers that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from .boards import Boards, View
from .book import Book
from .cases import Case
from .commons import Commons
from .events import Event
from .features import Features, features
from .fresh import Fresh, Maker
from .retell import Retelling, retold_result, with_text
from .scene import Scene
from .told import Kind, Told
from .trust import Trust
from .vocabulary import Vocabulary

__all__ = ["Archive"]

_ERROR = 0.4
"""From which likelihood on an error is answered: below one half, since errors are the rarer and matter as much."""
_SURE_ERROR = 0.6
"""The same for a tool that has only been seen to succeed."""
_SAME = 0.5
_LIKELY = 0.75
_THRIFT = 0.5
_GUESS = 0.8
"""How sure it is what a followed text goes back to."""
_ALIKE = 2
"""How often an episode counts as told that began as the world did."""
_MOST_PLAYED = 400
"""Calls that are tried to see how far answers can be trusted."""


class Archive:
    """What can be told from recorded cases. Learns when it is first asked, and is not changed by what it is asked.

    Args:
        cases: the cases.
        boards: what texts show line by line, and how that changes.
        scale: less than 1 to look at fewer of them.
    """

    def __init__(self, cases: Sequence[Case], boards: Boards | None = None, *, scale: float = 1.0) -> None:
        self._cases = cases
        self._boards = boards or Boards({}, {})
        self._scale = scale
        by_tool: dict[str, list[Case]] = {}
        for case in cases:
            by_tool.setdefault(case.event.tool, []).append(case)
        self._by_tool = by_tool
        self._books: dict[str, Book] = {}

    def __contains__(self, tool: object) -> bool:
        return tool in self._by_tool

    def tell(
        self, scene: Scene, seed: str = "", *, known: Features | None = None, succeeds: bool = False
    ) -> Told | None:
        """The answer to a call in its situation; None for a tool without cases.

        Args:
            scene: the call and its situation.
            seed: of what is made by chance.
            known: the features of the situation, where they were found already.
            succeeds: it is known that the call is no error.
        """
        if scene.tool not in self._by_tool:
            return None
        book = self._book(scene.tool)
        again = scene.again
        if again is not None and again.result is not None and self._repeats(scene, again, succeeds=succeeds):
            return Told(again.result, "repeated", after=tuple(scene.done))
        view = self._boards.view(scene)
        row = {
            **(features(scene) if known is None else known),
            **self._vocabulary.usual(scene),
            **view.features,
            "twin": book.twin_form(scene.key),
        }
        shares = book.shares(row)
        is_error = self._fails(book, shares, row) and not (succeeds and book.has_successes)
        name = book.likely_success(shares) if not is_error else ""
        if is_error:
            book, name = self._error(book, shares, row)
        same = None if is_error else book.same_state(scene.key, view)
        case = same or book.precedent(name, scene.key, row, _told(scene, view))
        if not is_error and (text := view.text) is not None:
            return Told(with_text(case.fixture.result, text), "followed", case, start=min(view.alike, default=""))
        retelling = Retelling(
            case,
            book.explained(name),
            book.fresh(is_error=is_error),
            scene,
            Maker(scene, seed),
            self._vocabulary,
        )
        kind: Kind = "twin" if case.event.key == scene.key else "told"
        is_likely = shares.get(name, 0.0) >= _LIKELY
        return Told(retold_result(case.fixture.result, retelling), kind, case, is_likely, after=tuple(scene.done))

    def confidence(self, tool: str, told: Told) -> float:
        """How probable it is that the answer is right."""
        if told.kind == "followed":
            return round(self._boards.boards[tool].share * _GUESS, 3)
        return self._trust.confidence(tool, told)

    def tried(self, tool: str) -> tuple[int, int]:
        """How many answers of a tool were right, of how many that were tried."""
        return self._trust.of(tool)

    @cached_property
    def _trust(self) -> Trust:
        """Measured by playing every other episode on what was learned from the rest."""
        trust = Trust()
        episodes: dict[str, list[Case]] = {}
        for case in self._cases:
            episodes.setdefault(case.episode, []).append(case)
        names = list(episodes)
        learned = names[::2]
        rest = Archive(
            [case for name in learned for case in episodes[name]], self._boards.among(learned), scale=_THRIFT
        )
        played = 0
        for name in _spread(names[1::2]):
            cases = episodes[name][:_MOST_PLAYED]
            trust.play(cases, rest.tell, rest.fresh)
            played += len(cases)
            if played >= _MOST_PLAYED:
                break
        return trust

    def fresh(self, tool: str) -> Mapping[str, Fresh]:
        """The places of a tool's successes whose values are made anew each time."""
        return self._book(tool).fresh(is_error=False) if tool in self else {}

    def _repeats(self, scene: Scene, again: Event, *, succeeds: bool) -> bool:
        """Whether the call is answered as the same one before it was; not where each success makes something new.

        What boards show, and what changes it, tells more of that than what was answered before.
        """
        if scene.tool in self._boards or scene.tool in self._boards.movers:
            return False
        if succeeds if again.is_error else bool(self.fresh(scene.tool)):
            return False
        return self._commons.repeats(scene, again) >= _SAME

    def _fails(self, book: Book, shares: Mapping[str, float], row: Features) -> bool:
        pooled = self._commons.error(row, book.tool)
        if not book.has_errors:
            return pooled > _SURE_ERROR
        own = sum(share for name, share in shares.items() if book.forms[name].is_error)
        if book.is_told_by_boards(row):
            return own > _ERROR  # the others know nothing of what boards show
        return not book.has_successes or (own + pooled) / 2 > _ERROR

    def _error(self, book: Book, shares: Mapping[str, float], row: Features) -> tuple[Book, str]:
        """The likeliest error, which may be one that only other tools were seen to answer."""
        likely = self._commons.kinds(row, book.tool)
        own = {name: share for name, share in shares.items() if book.forms[name].is_error}
        total = sum(own.values())
        for name, share in own.items():
            likely[name] = likely.get(name, 0.0) + share / total
        for name in sorted(likely, key=lambda each: (-likely[each], each)):
            if name in book.forms:
                return book, name
            for tool in self._by_tool:
                if name in self._book(tool).forms:
                    return self._book(tool), name
        raise AssertionError("an error is told where none was seen")

    def _book(self, tool: str) -> Book:
        if tool not in self._books:
            self._books[tool] = Book(tool, self._by_tool[tool], self._vocabulary, self._boards, scale=self._scale)
        return self._books[tool]

    @cached_property
    def _commons(self) -> Commons:
        return Commons(
            self._cases,
            lambda case: self._book(case.event.tool).row(case),
            lambda case: self._vocabulary.called(case.form.name),
        )

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._cases)


def _told(scene: Scene, view: View) -> dict[str, int]:
    """How often an answer in this world followed each episode; as if more often, where it began as this world did."""
    counts = dict.fromkeys(view.alike, _ALIKE)
    for event in scene.past:
        if event.told:
            counts[event.told] = counts.get(event.told, 0) + 1
    return counts


def _spread(names: Sequence[str]) -> list[str]:
    """The names in an order in which any first few are from everywhere."""
    order = sorted(range(len(names)), key=lambda at: (int(f"{at:032b}"[::-1], 2), at))
    return [names[at] for at in order]
