"""Whether an answer says something, in whatever way people write it.

Case, spacing, emphasis marks and typographic variants do not matter, and neither do underscores and hyphens between
words: `in_transit` is said by "**In transit**". Numbers are compared as numbers: 1249.5 is said by "$1,249.50" and
not by "11249.5" or "1249.55". A comma, an apostrophe or a thin space groups thousands; the decimal mark is a dot.

A phrase must begin where a word begins ("paid" is not said by "unpaid"), but its last word may go on ("cancel" is
said by "cancelled").
"""

from __future__ import annotations

import math
import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import Final

from envace_sdk.json import Json
from envace_sdk.world.expressions.failure import FailedError
from envace_sdk.world.shown import shown

__all__ = ["says"]

_THIN: Final = re.compile("(?<=[0-9])[\u00a0\u2009\u202f'\u2019](?=[0-9]{3}(?![0-9]))")
_SIMPLER: Final = str.maketrans(
    {
        **dict.fromkeys("‘’‚′", "'"),
        **dict.fromkeys("“”„″", '"'),
        **dict.fromkeys("‐‑‒–—−", "-"),
        "*": " ",
        "`": " ",
        "_": " ",
    }
)
_JOINED: Final = re.compile(r"(?<=[^\W\d])-(?=[^\W\d])")
_TOKEN: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)*|(?<![\w.])\.[0-9]+|[^\W\d]+|[^\w\s]|[^\W]")
_GROUPED: Final = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_END: Final = "\x1f"
"""Closes a number, so that 12 is not found in 125. Unlike a space, it cannot come from the text."""


def says(answer: str, wanted: Json) -> bool:
    """Whether `answer` says `wanted`, a text or a number.

    Raises:
        FailedError: `wanted` is neither, or has nothing in it that could be said.
    """
    phrase = " ".join(_tokens(_text(wanted)))
    if not phrase:
        raise FailedError("said() needs some text to look for")
    whole = _normal(answer)
    # Scripts that do not separate words have no cases either; there a phrase may begin anywhere.
    anywhere = phrase[0].isalpha() and phrase[0].lower() == phrase[0].upper()
    at = whole.find(phrase)
    while at > 0 and not anywhere and whole[at - 1] != " ":
        at = whole.find(phrase, at + 1)
    return at >= 0


def _text(wanted: Json) -> str:
    if isinstance(wanted, str):
        return wanted
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        return f"{Decimal(wanted):f}"
    if isinstance(wanted, float) and math.isfinite(wanted):
        return f"{Decimal(repr(wanted or 0.0)):f}"
    raise FailedError(f"said() looks for a text or a number, not for {shown(wanted)}")


@lru_cache(maxsize=64)
def _normal(text: str) -> str:
    return " ".join(_tokens(text))


def _tokens(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", _THIN.sub(",", text)).translate(_SIMPLER).casefold()
    if not plain.isascii():
        plain = "".join(str(unicodedata.decimal(mark)) if mark.isdecimal() else mark for mark in plain)
    return [part for token in _TOKEN.findall(_JOINED.sub(" ", plain)) for part in _split(token)]


def _split(token: str) -> list[str]:
    if not token[-1].isdecimal():
        return [token]
    if _GROUPED.fullmatch(token):
        return [_number(token.replace(",", ""))]
    parts: list[str] = []
    for part in token.split(","):
        parts += [",", _number(part)] if parts else [_number(part)]
    return parts


def _number(digits: str) -> str:
    """Without zeros that say nothing. What has several dots is a version or a date, and stays as it is."""
    if digits.count(".") == 1:
        digits = digits.rstrip("0").rstrip(".")
        digits = f"0{digits}" if digits.startswith(".") else digits or "0"
    return digits + _END
