"""Making episodes of spans: which calls belong together, in which order, and what each source adds to them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from envace_sdk.json import UNSET

from ..findings import Findings
from .seen import Seen, Span, canonical

__all__ = ["episodes"]

_MOST_ANCESTORS: Final = 50
_MOST_CANDIDATES: Final = 1000


@dataclass(slots=True)
class _Told:
    """A call that messages tell of, and when its answer was first told."""

    call: Seen
    at: int
    is_taken: bool = False


def episodes(spans: Sequence[Span], findings: Findings) -> dict[str, list[Seen]]:
    """The calls of each episode in the order they were made; episodes in the order they began."""
    spans = _once(spans, findings)
    _tell_untimed(spans, findings)
    grouped: dict[str, list[Span]] = {}
    for name, span in zip(_names(spans), spans, strict=True):
        grouped.setdefault(name, []).append(span)
    for group in grouped.values():
        group.sort(key=_begin)
    ordered = sorted(grouped.items(), key=lambda item: _begin(item[1][0]))
    return {name: calls for name, group in ordered if (calls := _merged(_without_inner(group)))}


def _once(spans: Sequence[Span], findings: Findings) -> list[Span]:
    """Without the spans that are there twice, as exporters that try again write them."""
    known: dict[tuple[str, str], Span] = {}
    kept: list[Span] = []
    repeated = 0
    for span in spans:
        first = known.setdefault((span.trace, span.id), span) if span.id else span
        if first is span:
            kept.append(span)
        elif _says(first) == _says(span):
            repeated += 1
        else:
            findings.error(span.place.line, span.place.field, f"span {span.id} is there already, and says otherwise")
    if repeated:
        findings.warning(0, "", f"{repeated} spans are there more than once, and taken once")
    return kept


def _says(span: Span) -> tuple[object, ...]:
    call = span.call
    return (span.at, None if call is None else (call.tool, call.arguments, call.result, call.is_error))


def _tell_untimed(spans: Iterable[Span], findings: Findings) -> None:
    untimed = next((span for span in spans if span.at is None and (span.call or span.history)), None)
    if untimed is not None:
        place = untimed.place
        findings.warning(place.line, place.field, "no start time: the order of the file is taken for that of the calls")


def _names(spans: Sequence[Span]) -> list[str]:
    """The episode of each span: its conversation, else that of its trace, else the trace.

    Calls that are the whole of their traces are what a server traces whose clients do not; their server is their
    episode.
    """
    sizes = Counter(span.trace for span in spans)
    of_trace: dict[str, set[str]] = {}
    for span in spans:
        if span.conversation:
            of_trace.setdefault(span.trace, set()).add(span.conversation)

    def is_alone(span: Span) -> bool:
        return span.call is not None and sizes[span.trace] == 1 and not span.parent and not span.conversation

    are_many = sum(map(is_alone, spans)) > 1

    def name(span: Span) -> str:
        if span.conversation:
            return span.conversation
        conversations = of_trace.get(span.trace, set())
        if len(conversations) == 1:
            return next(iter(conversations))
        if are_many and is_alone(span):
            return span.origin or "default"
        return span.trace or "default"

    return [name(span) for span in spans]


def _begin(span: Span) -> int:
    return span.at or 0


def _without_inner(spans: Sequence[Span]) -> list[Span]:
    """One span for each call: those of a framework, a client and a server for one call lie within one another."""
    by_id = {span.id: span for span in spans if span.id}
    inner: set[int] = set()
    for span in spans:
        if span.call is None:
            continue
        above, steps = by_id.get(span.parent), 0
        while above is not None and steps < _MOST_ANCESTORS:
            is_other = above is not span and id(above) not in inner
            if above.call is not None and is_other and above.call.may_be(span.call):
                above.call = above.call.completed(span.call)
                inner.add(id(span))
                break
            above, steps = by_id.get(above.parent), steps + 1
    return [span for span in spans if id(span) not in inner]


def _merged(spans: Sequence[Span]) -> list[Seen]:
    """The calls of one episode: those that were traced, and those that only messages tell of."""
    told = _told(spans)
    by_id: dict[str, deque[_Told]] = {}
    by_tool: dict[str, deque[_Told]] = {}
    for one in told:
        if one.call.call_id:
            by_id.setdefault(one.call.call_id, deque()).append(one)
        by_tool.setdefault(one.call.tool, deque()).append(one)
    traced = [(span, span.call) for span in spans if span.call is not None]
    others: dict[int, _Told] = {}
    for has_id in (True, False):  # Ids are certain; what is left over after them is told apart by its order.
        for n, (_, call) in enumerate(traced):
            if bool(call.call_id) is has_id:
                other = _match(call, by_id.get(call.call_id) if has_id else by_tool.get(call.tool))
                if other is not None:
                    others[n] = other
    found = [
        (_begin(span), 0, call.completed(others[n].call) if n in others else call)
        for n, (span, call) in enumerate(traced)
    ]
    if all(call.call_id for _, call in traced):  # Else a call that seems untold may be one of those without an id.
        # It was over when its answer was told, and had begun after whatever was traced before that.
        found += [(one.at, -1, one.call) for one in told if not one.is_taken]
    found.sort(key=lambda item: item[:2])
    return [call for _, _, call in found]


def _match(call: Seen, candidates: deque[_Told] | None) -> _Told | None:
    """The first of the calls told of that may be this one, and is no other's yet."""
    while candidates and candidates[0].is_taken:
        candidates.popleft()
    for one in islice(candidates or (), _MOST_CANDIDATES):
        if not one.is_taken and one.call.may_be(call):
            one.is_taken = True
            return one
    return None


def _told(spans: Sequence[Span]) -> list[_Told]:
    """The calls in all messages. Each history repeats those before it: the nth equal call of both is one call."""
    known: dict[tuple[str, str, str, int], _Told] = {}
    for span in spans:
        seen: Counter[tuple[str, str, str]] = Counter()
        for call in span.history:
            identity = (call.call_id, call.tool, canonical(call.arguments))
            key = (*identity, seen[identity])
            seen[identity] += 1
            before = known.get(key)
            if before is None:
                known[key] = _Told(call, _begin(span))
                continue
            if before.call.result is UNSET and call.result is not UNSET:
                before.at = _begin(span)
            before.call = before.call.completed(call)
    return list(known.values())
