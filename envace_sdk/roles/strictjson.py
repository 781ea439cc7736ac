"""JSON between models and us: read without any leniency, written so that no marker of a chat template stands in it."""

from __future__ import annotations

import json
import math
import re
from typing import Final, NoReturn

from envace_sdk.json import Json

__all__ = ["MAX_DEPTH", "MAX_TEXT", "read_json", "write_json"]

MAX_TEXT: Final = 1024 * 1024
"""Characters of a model's text beyond which it is not read."""

MAX_DEPTH: Final = 100
"""Levels of nesting beyond which JSON is not read."""

_MARKERS: Final = re.compile(
    r"<(?=[|｜]|/?(?:tool_calls?|tool_response|tools|response|think|s|bos|eos|pad|unk|start_of_turn|end_of_turn)[ >])"
    r"|\[(?=/?[A-Z]+(?:_[A-Z]+)*\])"
)
"""Where special tokens, and the tags of our own prompts, begin."""


def read_json(text: str) -> Json:
    """A JSON value, by the letter of the standard.

    Raises:
        ValueError: it is none, has a key twice, a number that no float or integer holds, half of a surrogate pair, or
            is nested too deeply. The message is a sentence for the model.
    """
    try:
        value = json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep") from None
    if "\\u" in text or not text.isascii():
        _no_half_pairs(json.dumps(value, ensure_ascii=False))
    return value


def write_json(value: Json) -> str:
    """The value as compact JSON that reads back equal.

    Where a text in it would begin a special token or tag, such as `<|im_end|>` or `</tool_call>`, its first character
    is escaped: data cannot end a turn or a call.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _MARKERS.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _distinct(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    out = dict(pairs)
    if len(out) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {json.dumps(twice)} stands twice in one object")
    return out


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"not JSON: there is no {constant}")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:40]} is too large")
    return number


def _no_half_pairs(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is no character") from None
