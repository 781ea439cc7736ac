"""One byte string, and one digest, for a JSON value: RFC 8785 (JCS), extended to what it refuses.

Whatever JCS accepts has exactly the text that JCS gives it, so that any other implementation arrives at the same
digest. JSON as met in the wild holds more than that; such parts are first replaced by objects with one marked member:

=====================================  ==============================================================
integer that no IEEE double equals     `{"$jcs:int": "-0x1f"}`, hexadecimal
NaN, Infinity, -Infinity               `{"$jcs:float": "NaN"}`
text with unpaired surrogates          `{"$jcs:utf16": "d800"}`, UTF-16 big endian, hexadecimal
object with a key of one of those      `{"$jcs:object": [[key, value], …]}`, sorted by key as UTF-16,
forms, or a key that starts `$jcs:`    keys and values replaced likewise
=====================================  ==============================================================

An object of one of these forms is itself written in the last form, hence different values never share a text. Equal
numbers do: 2 and 2.0, 0 and -0.0, 10**20 and 1e20. Large integers that a double equals are written as JCS writes that
double.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Final

import rfc8785

from envace_sdk.errors import EvidenceError
from envace_sdk.json import Json

__all__ = ["canonical", "digest", "normalise", "read_canonical"]

MARK: Final = "$jcs:"
_SAFE: Final = 2**53 - 1


def canonical(value: Json) -> bytes:
    """The canonical UTF-8 text of a JSON value; tuples count as lists.

    Raises:
        EvidenceError: the value is not JSON (another type, or a key that is not text), or is nested too deeply.
    """
    try:
        try:
            text = rfc8785.dumps(value)
        except ValueError:
            return rfc8785.dumps(normalise(value))
        # The mark may stand in a key (to be escaped) or in a text (left alone): only a walk can tell.
        return rfc8785.dumps(normalise(value)) if f'"{MARK}'.encode() in text else text
    except RecursionError:
        raise EvidenceError("a value is nested too deeply to be hashed") from None


def digest(value: Json) -> str:
    """SHA-256 of the canonical text, as 64 hexadecimal digits. Raises: EvidenceError as `canonical`."""
    return hashlib.sha256(canonical(value)).hexdigest()


def normalise(value: Json) -> Json:
    """The value with everything that RFC 8785 refuses replaced, as the table above says.

    Raises:
        EvidenceError: the value is not JSON.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return _integer(int(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else {f"{MARK}float": _name(value)}
    if isinstance(value, list | tuple):
        return [normalise(item) for item in value]
    if isinstance(value, Mapping):
        return _object(value)
    raise EvidenceError(f"{type(value).__name__} is not a JSON type")


def read_canonical(text: str | bytes) -> Json:
    """A value whose canonical text is this one.

    Raises:
        EvidenceError: it is no canonical text.
    """
    try:
        return _restored(json.loads(text, parse_int=_number))
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"this is no canonical text: {error}") from None


def _number(text: str) -> int | float:
    # Beyond the safe integers, the digits are those of the shortest text for a double, not of an integer.
    number = float(text)
    return int(text) if -_SAFE <= number <= _SAFE else number


def _restored(value: Json) -> Json:
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((name, inner),) = value.items()
        if name.startswith(MARK):
            return _unmarked(name.removeprefix(MARK), inner)
    return {name: _restored(item) for name, item in value.items()}


def _unmarked(form: str, inner: Json) -> Json:
    try:
        match form:
            case "int":
                return int(inner, 16)
            case "float":
                return float(inner)
            case "utf16":
                return bytes.fromhex(inner).decode("utf-16-be", "surrogatepass")
            case "object":
                return {_restored(key): _restored(item) for key, item in inner}
    except (TypeError, ValueError) as error:
        raise EvidenceError(f"a canonical text holds a bad {MARK}{form}: {error}") from None
    raise EvidenceError(f"a canonical text holds the unknown form {MARK}{form}")


def _text(value: str) -> Json:
    try:
        # Two surrogate code points that form a pair mean the same character as the one code point.
        return value.encode("utf-16-be", "surrogatepass").decode("utf-16-be")
    except UnicodeDecodeError:
        return {f"{MARK}utf16": value.encode("utf-16-be", "surrogatepass").hex()}


def _integer(value: int) -> Json:
    if -_SAFE <= value <= _SAFE:
        return value
    try:
        double = float(value)
    except OverflowError:
        double = math.inf
    return double if double == value else {f"{MARK}int": hex(value)}


def _name(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _object(value: Mapping[str, Json]) -> Json:
    members: dict[str, Json] = {}
    plain = True
    for key, item in value.items():
        if not isinstance(key, str):
            raise EvidenceError(f"an object key must be text, not {type(key).__name__}")
        text = _text(key)
        plain = plain and isinstance(text, str) and not text.startswith(MARK)
        if isinstance(text, str):
            members[text] = normalise(item)
    if plain and len(members) == len(value):
        return members
    # The key itself breaks the tie between a surrogate pair and the character it stands for.
    pairs = sorted(value.items(), key=lambda pair: (pair[0].encode("utf-16-be", "surrogatepass"), pair[0]))
    return {f"{MARK}object": [[_text(key), normalise(item)] for key, item in pairs]}
