"""What of a situation may decide how a call is answered: a few words for each, that situations can share.

They know no domain: whether an argument is given, what it looks like, whether its value was met before and where, what
happened to the same call and to the same tool before, and which tools have succeeded so far.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from envace_sdk.json import Json
from envace_sdk.world.state import State

from .events import Event
from .scene import Scene

__all__ = ["Features", "features", "is_under"]

Features = dict[str, str]

_MOST_PLACES = 16
_MOST_TOOLS = 12
_MOST_COLLECTIONS = 20
_SHORT = 40
_SAID = 20
_MOST_SAID = 8
_RUN = re.compile(r"([a-z]+|[A-Z]+|[0-9]+)")


def features(scene: Scene, twin: str = "") -> Features:
    """The features of a call in its situation.

    Args:
        scene: the situation.
        twin: how the very same call was answered elsewhere, if it was.
    """
    found: Features = {"twin": twin}
    places: dict[str, list[tuple[str, Json]]] = {}
    for place, text, value in scene.given:
        places.setdefault(place, []).append((text, value))
    for name, value in scene.arguments.items():
        if isinstance(value, list):
            found[f"size:/{name}"] = str(min(len(value), 3))
    for place, values in list(places.items())[:_MOST_PLACES]:
        found[f"has:{place}"] = "yes"
        if len(values) == 1:
            _of_value(found, place, *values[0])
        texts = [text for text, value in values if value is not None and not isinstance(value, bool) and text]
        if texts:
            _of_known(found, place, texts, scene)
    _of_pairs(found, places)
    _of_past(found, scene)
    return found


def _of_value(found: Features, place: str, text: str, value: Json) -> None:
    found[f"is:{place}"] = json.dumps(value, ensure_ascii=False)[:_SHORT] if len(text) <= _SHORT else _digest(text)
    if isinstance(value, str):
        found[f"like:{place}"] = _looks(text)
        head = text.split("/")
        if len(head) > 1:
            found[f"head:{place}"] = "/".join(head[:3])[:_SHORT]
        elif " " in text:
            found[f"head:{place}"] = text.split(" ", 1)[0][:_SHORT]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found[f"sign:{place}"] = "+" if value > 0 else "-" if value < 0 else "0"
        found[f"like:{place}"] = "integer" if float(value).is_integer() else "number"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _looks(text: str) -> str:
    """The shape of a text: runs of letters and digits by one sign each."""
    if not text:
        return "empty"
    signs = {"l": "a", "u": "A", "d": "0"}
    shape = _RUN.sub(lambda m: signs["d" if m[0][0].isdigit() else "u" if m[0][0].isupper() else "l"], text[:200])
    return re.sub(r"(?:[a0A]+[ _-]?)+", "w", shape)[:16]


def _of_known(found: Features, place: str, texts: Sequence[str], scene: Scene) -> None:
    """Whether the values of one argument were met before, and where they were met last."""
    levels = {_level(text, scene.past) for text in texts[:8]}
    found[f"ever:{place}"] = "no" if levels & {"new", "refused"} else "yes"
    found[f"known:{place}"] = "+".join(sorted(levels))
    if len(texts) == 1:
        text = texts[0]
        met = next((event for event in reversed(scene.past) if text in event.given_texts), None)
        if met is not None:
            found[f"met:{place}"] = f"{met.tool} {'error' if met.is_error else 'ok'}"
        did = next((event for event in reversed(scene.past) if not event.is_error and text in event.given_texts), None)
        if did is not None:
            found[f"did:{place}"] = did.tool
        shown = next((e for e in reversed(scene.past) if not e.is_error and text in e.shown_texts), None)
        if shown is not None:
            found[f"shown:{place}"] = shown.tool
        if "/" in text:
            for event in scene.past:
                if (
                    not event.is_error
                    and event.tool != scene.tool
                    and any(is_under(t, text) for t in event.given_texts)
                ):
                    found[f"near:{place}:{event.tool}"] = "yes"
        if scene.state is not None:
            found[f"key:{place}"] = ",".join(_keys(text, scene.state))


def is_under(one: str, other: str) -> bool:
    """Whether one path leads to the other, or is the same."""
    if "/" not in one:
        return False
    one, other = one.rstrip("/") + "/", other.rstrip("/") + "/"
    return one.startswith(other) or other.startswith(one)


def _level(text: str, past: Sequence[Event]) -> str:
    base = text.rstrip("/").rpartition("/")[2] if "/" in text else ""
    level = "new"
    for event in reversed(past):
        if event.is_error:
            if level == "new" and text in event.given_texts:
                level = "refused"
        elif text in event.shown_texts:
            return "shown"
        elif text in event.given_texts:
            level = "given"
        elif base and level in ("new", "refused") and (base in event.shown_texts or base in event.given_texts):
            level = "part"
    return level


def _keys(text: str, state: State) -> Iterator[str]:
    for name in sorted(state.collections)[:_MOST_COLLECTIONS]:
        collection = state.collections[name]
        if text in collection:
            yield name
        elif collection.was_removed(text):
            yield f"-{name}"


def _of_pairs(found: Features, places: dict[str, list[tuple[str, Json]]]) -> None:
    single = [(place, values[0][0]) for place, values in places.items() if len(values) == 1 and values[0][0]][:6]
    for (one, first), (other, second) in combinations(single, 2):
        found[f"same:{one}={other}"] = "yes" if first == second else "no"


def _of_past(found: Features, scene: Scene) -> None:
    again = scene.again
    if again is not None:
        found["again"] = "error" if again.is_error else "ok"
    own = next((event for event in reversed(scene.past) if event.tool == scene.tool), None)
    if own is not None:
        found["own"] = "error" if own.is_error else "ok"
    done = list(scene.done)  # the latest first
    for tool in done:
        found[f"after:{tool}"] = "yes"
    for tool in done[:_MOST_TOOLS]:
        for place, text, _ in scene.done[tool][0].shown[:_MOST_SAID]:
            found[f"said:{tool}{place}"] = text if len(text) <= _SAID else "…"
