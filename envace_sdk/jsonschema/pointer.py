"""JSON pointers (RFC 6901)."""

from __future__ import annotations

from collections.abc import Iterable

from envace_sdk.json import UNSET, Json, Unset

__all__ = ["escape", "join", "lookup", "split"]


def escape(token: str | int) -> str:
    """One reference token, escaped."""
    text = str(token)
    return text.replace("~", "~0").replace("/", "~1") if "~" in text or "/" in text else text


def join(path: Iterable[str | int]) -> str:
    """The pointer of a path; "" for the root."""
    return "".join(f"/{escape(token)}" for token in path)


def split(pointer: str) -> list[str]:
    """The tokens of a pointer, which may come from a URI fragment."""
    from urllib.parse import unquote

    return [token.replace("~1", "/").replace("~0", "~") for token in unquote(pointer, errors="replace").split("/")[1:]]


def lookup(document: Json, path: Iterable[str | int]) -> Json | Unset:
    """What lies at a path, or `UNSET`."""
    for token in path:
        if isinstance(document, dict):
            if token not in document:
                return UNSET
            document = document[token]
        elif isinstance(document, list):
            index = int(token) if isinstance(token, int) or (token.isdecimal() and token.isascii()) else -1
            if not 0 <= index < len(document):
                return UNSET
            document = document[index]
        else:
            return UNSET
    return document
