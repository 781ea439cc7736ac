"""The id of a request that is not read as a message: without it, its sender would wait for an answer for ever."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Final

__all__ = ["request_id"]

# Possessive, and content with an open end: a line of quotes or of backslashes is gone through once.
_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
_MOST_TOKENS: Final = 200_000


def request_id(line: bytes) -> int | str | None:
    """The member `id` of the outermost object, if it can be one; of a line that need not be JSON.

    Found by its tokens: parsers refuse a whole line over one number with thousands of digits, a lone surrogate, or
    thousands of levels.
    """
    depth, found = 0, None
    before: tuple[bytes, ...] = ()
    for match in islice(_TOKEN.finditer(line), _MOST_TOKENS):
        token = match.group()
        if not before and token != b"{":
            return None
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and before[-2:] == (b'"id"', b":") and before[-3] in (b"{", b","):
            found = token
        before = (*before[-2:], token)
    return _identity(found)


def _identity(token: bytes | None) -> int | str | None:
    try:
        value = json.loads(token or b"null")
        str(value).encode()
    except ValueError:
        return None
    return value if type(value) in (int, str) else None
