"""What a recorded server asked in the middle of a request, as one tree, whichever era it was recorded in.

Up to 2025-11-25 a server sends a request of its own and waits; from 2026-07-28 on it answers with `inputRequests` and
the client calls again. Both are turns: questions by name, and for each set of answers what came then, which is another
turn or the final answer. The final answer itself is looked up like that of any other call, with the answers as part of
the call.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from envace_sdk.json import Json

from .format import Client, Event, Exchange
from .matching import Matching

__all__ = ["Dialogues", "Final", "Turn"]

Answers = Mapping[str, Json]
"""The client's result for each question of a turn; an error object under `error` where it refused."""


@dataclass(slots=True)
class Turn:
    """Questions that a server asked at once."""

    asks: Mapping[str, Mapping[str, Json]]
    """For each name, the method and the params of a request to the client."""
    client: Client
    path: tuple[Json, ...] = ()
    """The recorded answers that led here, from the first turn on."""
    states: list[str] = field(default_factory=list)
    """The opaque states that were given out with the questions; the first is given out again."""
    notices: tuple[Event, ...] = ()
    next: list[tuple[Answers, Turn | None]] = field(default_factory=list)
    """What came after each set of answers: another turn, or None for the final answer."""
    is_stateless: bool = False
    """Whether the recorded server gave out these questions as an answer, and no state with them."""

    @property
    def state(self) -> str | None:
        """The state to give out: the recorded one, else one made of where in the tree this is."""
        if self.states:
            return self.states[0]
        if self.is_stateless and not self.path:
            return None
        text = json.dumps([self.path, self.asks], sort_keys=True)
        return "turn-" + hashlib.blake2b(text.encode(), digest_size=12).hexdigest()

    def exactly(self, answers: Answers) -> tuple[Answers, Turn | None] | None:
        """These very answers, and what was recorded after them; members that were not asked for count only there."""
        asked = self._asked(answers)
        return next((pair for pair in self.next if pair[0] == answers or pair[0] == asked), None)

    def nearly(self, answers: Answers) -> tuple[Answers, Turn | None] | None:
        """Recorded answers in which the client did the same with each question: accepted, declined, refused, …"""
        asked = self._asked(answers)
        if asked.keys() != self.asks.keys():
            return None
        for given, then in self.next:
            if given.keys() == asked.keys() and all(_deed(given[name]) == _deed(asked[name]) for name in asked):
                return given, then
        return None

    def _asked(self, answers: Answers) -> Answers:
        return {name: answers[name] for name in self.asks if name in answers}


@dataclass(frozen=True, slots=True)
class Final:
    """A finished request: the exchange that ended it, and what was answered on the way."""

    exchange: Exchange
    inputs: tuple[Json, ...] = ()
    notices: tuple[Event, ...] = ()
    """What was sent since the last question."""


class Dialogues:
    """The turns of all requests that asked something, found by request and state."""

    def __init__(self, matching: Matching | None = None) -> None:
        self._matching = matching or Matching()
        self._roots: dict[str, list[Turn]] = {}
        self._turns: dict[str, list[Turn]] = {}
        self._refusals: dict[str, Mapping[str, Json]] = {}
        self._unasked: dict[str, list[Client]] = {}

    def __bool__(self) -> bool:
        return bool(self._roots)

    def key(self, method: str, params: Mapping[str, Json]) -> str:
        """The same text for requests that count as the same."""
        return self._matching.key(method, params)

    def answers(self, given: Answers) -> Answers:
        """Answers of a client as they would have been recorded."""
        redacted: Answers = self._matching.redacted(dict(given))
        return redacted

    def first(self, key: str, client: Client) -> Turn | None:
        """The questions that a request begins with; None where the most similar client was asked nothing."""
        turn = max(self._roots.get(key, ()), key=lambda turn: turn.client.likeness(client), default=None)
        unasked = max((one.likeness(client) for one in self._unasked.get(key, ())), default=-1)
        return turn if turn is not None and turn.client.likeness(client) >= unasked else None

    def find(self, key: str, state: str | None, answers: Answers, client: Client) -> Turn | None:
        """The turn that a client answers. None: no question of that request was given out with that state."""
        turns = self._turns.get(key, ())
        if state is not None:
            held = [turn for turn in turns if state in turn.states or state == turn.state]
        else:
            held = [turn for turn in turns if turn.state is None]
        return max(held, key=lambda turn: (_knows(turn, answers), turn.client.likeness(client)), default=None)

    def refusal(self, key: str) -> Mapping[str, Json] | None:
        """How the server refused a state that it had not given out, if that was recorded."""
        return self._refusals.get(key)

    def learn(self, exchanges: Iterable[Exchange]) -> list[Final]:
        """Take up the exchanges of one session, in order; gives the finished requests among them."""
        finals: list[Final] = []
        open_turns: dict[str, list[Turn]] = {}
        for exchange in exchanges:
            key = self.key(exchange.method, exchange.params)
            begun = open_turns.setdefault(key, [])
            if exchange.resumes is not None:
                final = self._resume(exchange, key, begun)
            elif _questions(exchange):
                final = None
                begun.append(self._add(key, self._turn(exchange, ()), self._roots.setdefault(key, [])))
            elif any(event.kind == "ask" for event in exchange.events):
                final = self._conversation(exchange, key)
            else:
                final = Final(exchange, (), exchange.events)
                self._unasked.setdefault(key, []).append(exchange.client)
            if final is not None:
                finals.append(final)
        return finals

    def _resume(self, exchange: Exchange, key: str, begun: list[Turn]) -> Final | None:
        resumes = exchange.resumes or {}
        answers, state = _object(resumes.get("responses")), resumes.get("state")
        turn = _parent(begun, state)
        if turn is None:
            if exchange.error is not None:
                self._refusals.setdefault(key, exchange.error)
                return None
            return None if _questions(exchange) else Final(exchange, (dict(answers),), exchange.events)
        path = (*turn.path, dict(answers))
        if not _questions(exchange):
            if exchange.error is None or not any(given == answers for given, _ in turn.next):
                turn.next.append((answers, None))
            return Final(exchange, path, exchange.events)
        following = self._turn(exchange, path)
        known = next((then for given, then in turn.next if given == answers and then is not None), None)
        if known is not None and known.asks == following.asks:
            known.states += [one for one in following.states if one not in known.states]
            following = known
        else:
            turn.next.append((answers, following))
            self._turns.setdefault(key, []).append(following)
        begun.append(following)
        return None

    def _conversation(self, exchange: Exchange, key: str) -> Final:
        """A request in the middle of which the server sent requests of its own."""
        path: tuple[Json, ...] = ()
        siblings: list[Turn] = self._roots.setdefault(key, [])
        link: tuple[Turn, Answers] | None = None
        notices: list[Event] = []
        number = 0
        for event in exchange.events:
            if event.kind != "ask":
                notices.append(event)
                continue
            number += 1
            asks = {f"ask-{number}": {"method": event.method, "params": dict(event.params)}}
            turn = Turn(asks, exchange.client, path, [], tuple(notices))
            notices = []
            turn = self._add(key, turn, siblings) if link is None else self._follow(key, link, turn)
            answer = event.answer if event.answer is not None else {"error": dict(event.error or {})}
            answers: Answers = {f"ask-{number}": dict(answer)}
            path = (*path, answers)
            link = (turn, answers)
        if link is not None and not any(given == link[1] and then is None for given, then in link[0].next):
            link[0].next.append((link[1], None))
        return Final(exchange, path, tuple(notices))

    def _add(self, key: str, turn: Turn, siblings: list[Turn]) -> Turn:
        for known in siblings:
            if known.asks == turn.asks and known.client.likeness(turn.client) >= 4:
                known.states += [state for state in turn.states if state not in known.states]
                return known
        siblings.append(turn)
        self._turns.setdefault(key, []).append(turn)
        return turn

    def _follow(self, key: str, link: tuple[Turn, Answers], turn: Turn) -> Turn:
        parent, answers = link
        for given, then in parent.next:
            if given == answers and then is not None and then.asks == turn.asks:
                return then
        parent.next.append((answers, turn))
        self._turns.setdefault(key, []).append(turn)
        return turn

    @staticmethod
    def _turn(exchange: Exchange, path: tuple[Json, ...]) -> Turn:
        result = exchange.result or {}
        asks = {
            str(name): {"method": str(ask.get("method", "")), "params": dict(_object(ask.get("params")))}
            for name, ask in _object(result.get("inputRequests")).items()
            if isinstance(ask, dict)
        }
        state = result.get("requestState")
        states = [state] if isinstance(state, str) else []
        return Turn(asks, exchange.client, path, states, exchange.events, is_stateless=not states)


def _knows(turn: Turn, answers: Answers) -> int:
    return 2 if turn.exactly(answers) else 1 if turn.nearly(answers) else 0


def _parent(begun: list[Turn], state: Json) -> Turn | None:
    """The latest turn that gave out this state, or that gave out none."""
    for turn in reversed(begun):
        if (state is None and not turn.states) or (isinstance(state, str) and state in turn.states):
            return turn
    return None


def _questions(exchange: Exchange) -> bool:
    return (exchange.result or {}).get("resultType") == "input_required"


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _deed(answer: Json) -> Json:
    """What the client did with a question, whatever it said."""
    if not isinstance(answer, Mapping):
        return None
    if "error" in answer and len(answer) == 1:
        return "refused"
    return answer.get("action", "answered")
