"""What one tool shows of the world line by line, and how other calls move what it shows.

Between two answers of the tool, the calls that were made have moved things from one place to another, made some, and
removed some. Which call moves what is learned from them. So a text can be told that was never recorded: what was shown
last, or at the beginning of a recorded session that held what is named here, and what has happened since.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import Json

from .events import Event
from .forms import likeness, structure
from .moves import Items, Moves
from .sheet import Sheet, sheet_of

__all__ = ["Board", "board_of", "text_in"]

_LEAST: Final = 5
"""Pairs of answers with changes between them, on which a board is tried."""
_RIGHT: Final = 0.6
"""The share of them that must be told as they were."""
_FOLDS: Final = 4
_PASSES: Final = 6
_TWICE: Final = 2
_MOST_PAIRS: Final = 600


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two answers of the tool that follow each other, and the successes between them."""

    before: Items
    between: tuple[Event, ...]
    after: Items


class Board:
    """Follows what one tool shows.

    Args:
        tool: its name.
        sheet: how its texts are read.
        episodes: recorded events, by episode, oldest first.
        hints: of some tools, whether they write.
    """

    def __init__(
        self, tool: str, sheet: Sheet, episodes: Mapping[str, Sequence[Event]], hints: Mapping[str, bool]
    ) -> None:
        self.tool = tool
        self.sheet = sheet
        self.share = 0.0
        """Of what was held out, the share that was told as it was."""
        self._texts: dict[str, Items | None] = {}
        pairs = [pair for events in episodes.values() for pair in self._pairs(events)][:_MOST_PAIRS]
        self.movers = _movers(pairs, hints)
        """The tools that change what is shown."""
        self._moves: dict[str, Moves] = {}
        self._learn(pairs)
        self.begun: dict[str, dict[str, Items]] = {}
        """By call and episode, what was shown first, when nothing had changed it."""
        for name, events in episodes.items():
            for event in events:
                if event.is_error:
                    continue
                if event.tool in self.movers:
                    break
                if event.tool == tool and (items := self.items_in(event)) is not None:
                    self.begun.setdefault(event.key, {}).setdefault(name, items)

    @property
    def usual(self) -> str:
        """The call that most episodes are known to begin with."""
        return min(self.begun, key=lambda key: (-len(self.begun[key]), key), default="")

    def items_in(self, event: Event) -> Items | None:
        """What an answer of the tool shows."""
        text = None if event.is_error else text_in(event.value)
        if text is None:
            return None
        if text not in self._texts:
            shown = self.sheet.read(text)
            self._texts[text] = None if shown is None else shown.items
        return self._texts[text]

    def state(self, key: str, past: Sequence[Event], named: Iterable[str] = ()) -> tuple[Items, frozenset[str]] | None:
        """What a call would show now, and the recorded episodes that began as this world seems to have.

        Args:
            key: of the call.
            past: what happened, oldest first. What the real environment answered is so; what was invented is not taken
                for more than a guess.
            named: what the present call names, if it is about what is shown.
        """
        for at in range(len(past) - 1, -1, -1):
            event = past[at]
            if event.key == key and not event.told and (items := self.items_in(event)) is not None:
                return self._moved(items, past[at + 1 :]), frozenset()
        begun = self.begun.get(key)
        if not begun:
            return None
        base = self._base(begun, past, named)
        alike = frozenset(name for name, items in begun.items() if items == base)
        return self._moved(base, past), alike

    def moves(self, items: Items, event: Event) -> Items:
        """What is shown after a call that succeeded."""
        moves = self._moves.get(event.tool)
        return items if moves is None or event.is_error else moves.after(items, event)

    def tried(self, episodes: Mapping[str, Sequence[Event]]) -> tuple[int, int]:
        """Of how many answers after changes, in these episodes, how many would be told as they were."""
        right = tried = 0
        for events in episodes.values():
            for pair in self._pairs(events):
                if any(event.tool in self.movers for event in pair.between):
                    tried += 1
                    right += dict(self._moved(pair.before, pair.between)) == dict(pair.after)
        return right, tried

    def _moved(self, items: Items, events: Iterable[Event]) -> Items:
        for event in events:
            items = self.moves(items, event)
        return items

    def _base(self, begun: Mapping[str, Items], past: Sequence[Event], named: Iterable[str]) -> Items:
        """How the world seems to have begun: as what holds most of what was named, or as was told before."""
        said = {text for event in past if not event.is_error for text in event.given_texts} | set(named)
        told = [event.told for event in reversed(past) if event.tool == self.tool and event.told in begun][:1]
        counts = {name: len(said & items.keys()) for name, items in begun.items()}
        most = max(counts.values())
        best = {name: begun[name] for name, count in counts.items() if count == most}
        if told and told[0] in best:
            return best[told[0]]
        paths = {name: structure(self.sheet.write(items) or "") for name, items in best.items()}
        typical = {name: sum(likeness(paths[name], paths[other]) for other in paths) for name in paths}
        return best[min(best, key=lambda name: (-round(typical[name], 6), name))]

    def _pairs(self, events: Sequence[Event]) -> Iterator[_Pair]:
        last: dict[str, tuple[int, Items]] = {}
        for at, event in enumerate(events):
            items = self.items_in(event) if event.tool == self.tool else None
            if items is None:
                continue
            if event.key in last:
                place, before = last[event.key]
                between = (one for one in events[place + 1 : at] if not one.is_error and one.tool != self.tool)
                yield _Pair(before, tuple(between), items)
            last[event.key] = at, items

    def _learn(self, pairs: Sequence[_Pair]) -> None:
        """First from what happened between two answers alone, then from what came after what is understood."""
        for _ in range(_PASSES):
            seen: dict[str, Moves] = {}
            for pair in pairs:
                moving = [event for event in pair.between if event.tool in self.movers]
                if moving and all(event.tool in self._moves for event in moving[:-1]):
                    before = self._moved(pair.before, moving[:-1])
                    seen.setdefault(moving[-1].tool, Moves()).note(before, moving[-1], pair.after)
            if seen == self._moves:
                break
            self._moves = seen


def board_of(tool: str, episodes: Mapping[str, Sequence[Event]], hints: Mapping[str, bool]) -> Board | None:
    """The board of a tool; None where its texts are none, or where how they change is not understood."""
    texts = [
        text
        for events in episodes.values()
        for event in events
        if event.tool == tool and not event.is_error and (text := text_in(event.value)) is not None
    ]
    if len(texts) < 2 * _LEAST or 2 * sum("\n" in text.strip() for text in texts) < len(texts):
        return None
    sheet = sheet_of(texts)
    if sheet is None:
        return None
    names = list(episodes)
    right = tried = 0
    for fold in range(_FOLDS):
        rest = {name: episodes[name] for at, name in enumerate(names) if at % _FOLDS != fold}
        held = {name: episodes[name] for name in names[fold::_FOLDS]}
        fold_right, fold_tried = Board(tool, sheet, rest, hints).tried(held)
        right, tried = right + fold_right, tried + fold_tried
    if tried < _LEAST or right < _RIGHT * tried:
        return None
    board = Board(tool, sheet, episodes, hints)
    if not board.begun:
        return None
    board.share = right / tried
    return board


def text_in(value: Json) -> str | None:
    """The text that an answer is, or that is all it has."""
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    return value if isinstance(value, str) and value else None


def _movers(pairs: Sequence[_Pair], hints: Mapping[str, bool]) -> frozenset[str]:
    """The tools that say of themselves that they write, and the fewest others that account for all changes."""
    sets = [({event.tool for event in pair.between}, dict(pair.before) != dict(pair.after)) for pair in pairs]
    found = {tool for tools, _ in sets for tool in tools if hints.get(tool)}
    quiet = Counter(tool for tools, changed in sets if not changed for tool in tools)
    while True:
        loud = Counter(
            tool for tools, changed in sets if changed and not tools & found for tool in tools if hints.get(tool, True)
        )
        if not loud:
            return frozenset(found)
        tool = min(loud, key=lambda one: (-loud[one] / (loud[one] + quiet[one] + 1), one))
        if loud[tool] < _TWICE:
            return frozenset(found)
        found.add(tool)
