"""All boards of a toolset: what they make of a situation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from .board import Board, board_of
from .events import Event
from .features import Features
from .moves import Items
from .scene import Scene
from .sheet import Place

__all__ = ["Boards", "View", "is_of_boards"]

_MOST_EPISODES: Final = 200
_MOST_BOARDS: Final = 4
_SHORT: Final = 60
_LONG: Final = 400
_HOLDS, _SHOWS, _STANDS, _MOVES = "holds", "shows", "stands", "moves"
_MARKS: Final = (_HOLDS, _SHOWS, _STANDS, _MOVES)


class Boards:
    """The boards of the tools that have one, learned when they are first asked for.

    Args:
        episodes: recorded events of all tools, by episode, oldest first.
        hints: of some tools, whether they write.
    """

    def __init__(self, episodes: Mapping[str, Sequence[Event]], hints: Mapping[str, bool]) -> None:
        names = list(episodes)[:: max(1, -(-len(episodes) // _MOST_EPISODES))]
        self._episodes = {name: episodes[name] for name in names}
        self._hints = hints

    def __contains__(self, tool: object) -> bool:
        return tool in self.boards

    @cached_property
    def boards(self) -> dict[str, Board]:
        """By tool, its board."""
        tools = sorted({event.tool for events in self._episodes.values() for event in events})
        readers = (tool for tool in tools if not self._hints.get(tool))
        found = {tool: board for tool in readers if (board := board_of(tool, self._episodes, self._hints)) is not None}
        return dict(list(found.items())[:_MOST_BOARDS])

    @cached_property
    def movers(self) -> frozenset[str]:
        """The tools that change what boards show."""
        return frozenset(tool for board in self.boards.values() for tool in board.movers)

    def among(self, episodes: Sequence[str]) -> Boards:
        """What these episodes alone tell."""
        return Boards({name: self._episodes[name] for name in episodes if name in self._episodes}, self._hints)

    def view(self, scene: Scene) -> View:
        """What the boards make of a situation."""
        return View(self.boards, scene)


class View:
    """What boards make of one situation.

    Args:
        boards: by tool.
        scene: the situation.
    """

    def __init__(self, boards: Mapping[str, Board], scene: Scene) -> None:
        self._boards = boards
        self._scene = scene

    @property
    def text(self) -> str | None:
        """What the call is answered, if it is one of a board."""
        board = self._boards.get(self._scene.tool)
        state = None if board is None else board.state(self._scene.key, self._scene.past, self._named)
        return None if board is None or state is None else board.sheet.write(state[0])

    @cached_property
    def alike(self) -> frozenset[str]:
        """The recorded episodes that began as this world seems to have."""
        return frozenset(name for _, (_, alike) in self._states for name in alike)

    @cached_property
    def things(self) -> frozenset[tuple[str, str, Place]]:
        """All that other boards show: by tool, what stands where."""
        return frozenset(
            (board.tool, name, place)
            for board, (items, _) in self._states
            if board.tool != self._scene.tool
            for name, place in items.items()
        )

    @cached_property
    def features(self) -> Features:
        """What may decide how the call is answered: which sections hold something, and what the call would move."""
        found: Features = {}
        event = Event(self._scene.tool, self._scene.arguments, None, is_error=False, key=self._scene.key)
        for board, (items, _) in self._states:
            if board.tool == self._scene.tool:
                continue
            for section, names in _by_section(items).items():
                found[f"{_HOLDS}:{board.tool}:{section[:_SHORT]}"] = "yes"
                found[f"{_SHOWS}:{board.tool}:{section[:_SHORT]}"] = " ".join(sorted(names))[:_LONG]
            named = {items[name].section[:_SHORT] for name in self._named if name in items}
            found[f"{_STANDS}:{board.tool}"] = "+".join(sorted(named))
            if self._scene.tool in board.movers:
                found[f"{_MOVES}:{board.tool}"] = "yes" if dict(board.moves(items, event)) != dict(items) else "no"
        return found

    @cached_property
    def _states(self) -> list[tuple[Board, tuple[Items, frozenset[str]]]]:
        return [
            (board, state)
            for board in self._boards.values()
            if (state := board.state(board.usual, self._scene.past, self._named)) is not None
        ]

    @cached_property
    def _named(self) -> frozenset[str]:
        return frozenset(text for _, text, _ in self._scene.given)


def is_of_boards(feature: str) -> bool:
    """Whether a feature says what boards show."""
    return feature.partition(":")[0] in _MARKS


def _by_section(items: Items) -> dict[str, list[str]]:
    """The things in each section."""
    found: dict[str, list[str]] = {}
    for name, place in items.items():
        found.setdefault(place.section, []).append(name)
    return found
