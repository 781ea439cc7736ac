"""Which recorded request an incoming one is, and why it is none of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from envace_sdk.errors import FixtureError
from envace_sdk.json import Json

from .redact import Redact, SecretRedactor

__all__ = ["Matching", "differences", "explain_miss"]

_MOST_SHOWN: Final = 3
_MOST_COMPARED: Final = 50


class Matching:
    """What of a request decides which recorded one it is.

    Protocol ids, progress tokens and `_meta` never do. Secrets do not either: a request is redacted as the recorded
    one was. `ignore` names what else does not, as paths into the params, or the arguments of a tool: `timestamp`,
    `filter.trace_id`, `items.*.nonce`; `TOOL:path` for one tool, prompt or method only.

    Raises:
        FixtureError: a path is empty.
    """

    def __init__(self, ignore: Iterable[str] = (), *, redact: Redact | None = None) -> None:
        self.ignore = tuple(ignore)
        self._redact = SecretRedactor() if redact is None else redact
        self._paths: list[tuple[str, tuple[str, ...]]] = []
        for entry in self.ignore:
            subject, _, path = entry.rpartition(":")
            if not path or any(not step for step in path.split(".")):
                raise FixtureError(f"{entry!r}: expected a path such as filter.trace_id, or TOOL:path")
            self._paths.append((subject, tuple(path.split("."))))

    def essence(self, method: str, params: Mapping[str, Json]) -> Json:
        """The params without what does not decide."""
        params = {name: value for name, value in params.items() if name != "_meta"}
        if method in ("tools/call", "prompts/get"):
            params["arguments"] = params.get("arguments") or {}
        subject = params.get("name") or params.get("uri") or ""
        for named, path in self._paths:
            if named in ("", method, subject):
                root = params.get("arguments") if "arguments" in params else params
                without = _without(root, path)
                params = {**params, "arguments": without} if "arguments" in params else without
        return self._redact(params)

    def redacted(self, value: Json) -> Json:
        """A value as it would have been recorded."""
        return self._redact(value)

    def key(self, method: str, params: Mapping[str, Json], inputs: Sequence[Json] = ()) -> str:
        """The same text for requests that count as the same.

        Args:
            method: of the request.
            params: of the request.
            inputs: what the caller answered when it was asked, in order.
        """
        told = [method, self.essence(method, params)]
        if inputs:
            told.append(self._redact(list(inputs)))
        text = json.dumps(_numbers_alike(told), sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def differences(ours: Json, recorded: Json, path: str = "") -> Iterator[str]:
    """Where two values differ, one short sentence for each place."""
    if isinstance(ours, Mapping) and isinstance(recorded, Mapping):
        for name in [*ours, *(name for name in recorded if name not in ours)]:
            here = f"{path}.{name}" if path else str(name)
            if name not in recorded:
                yield f"{here} is {_shown(ours[name])}, recorded without"
            elif name not in ours:
                yield f"{here} is not there, recorded {_shown(recorded[name])}"
            else:
                yield from differences(ours[name], recorded[name], here)
    elif isinstance(ours, list) and isinstance(recorded, list) and len(ours) == len(recorded):
        for index, (mine, theirs) in enumerate(zip(ours, recorded, strict=True)):
            yield from differences(mine, theirs, f"{path}[{index}]")
    elif _numbers_alike(ours) != _numbers_alike(recorded) or isinstance(ours, bool) != isinstance(recorded, bool):
        yield f"{path or 'it'} is {_shown(ours)}, recorded {_shown(recorded)}"


def explain_miss(what: str, ours: Json, recorded: Sequence[tuple[str, Json]]) -> str:
    """Why a request is none of the recorded ones of its kind.

    Args:
        what: a name for the kind: the tool, the prompt.
        ours: the request's essence.
        recorded: the recorded ones, each with a name to find it by.
    """
    if not recorded:
        return f"no call of {what} is recorded"
    nearest: tuple[int, str, list[str]] | None = None
    for name, theirs in recorded[:_MOST_COMPARED]:
        found = list(_few(differences(ours, theirs)))
        if nearest is None or len(found) < nearest[0]:
            nearest = (len(found), name, found)
    assert nearest is not None  # noqa: S101  for the type checker
    count, name, found = nearest
    if count == 0:
        return f"the same call is {name}, but it does not hold here: what it depends on has changed since"
    shown = "; ".join(found[:_MOST_SHOWN]) + ("; …" if count > _MOST_SHOWN else "")
    return f"not recorded; closest is {name}: {shown}"


def _few(found: Iterator[str]) -> Iterator[str]:
    for _, sentence in zip(range(20), found, strict=False):
        yield sentence


def _without(value: Json, path: Sequence[str]) -> Json:
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        if step != "*" and not step.isdecimal():
            return value
        return [
            (_without(item, rest) if rest else None) if step in ("*", str(index)) else item
            for index, item in enumerate(value)
        ]
    if not isinstance(value, Mapping):
        return value
    kept: dict[str, Json] = {}
    for name, member in value.items():
        if step not in ("*", name):
            kept[name] = member
        elif rest:
            kept[name] = _without(member, rest)
    return kept


def _numbers_alike(value: Json) -> Json:
    """2.0 as 2: transports and languages differ in how they write a whole number."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, Mapping):
        return {name: _numbers_alike(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_numbers_alike(item) for item in value]
    return value


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
