"""Functions on slash-separated paths: of files, of resources, of URLs' tails."""

from __future__ import annotations

import posixpath
from typing import Any

from .registry import Library, a_text, register
from .scope import Scope
from .texts import checked_length

__all__ = ["PATHS", "base_name", "dir_name", "extension", "join_path"]

PATHS: Library = {}


def dir_name(path: str) -> str:
    """As the shell's `dirname`: what holds the last part; "." for a bare name; slashes at the end do not count."""
    bare = path.rstrip("/")
    if not bare:
        return "/" if path else "."
    head = bare.rpartition("/")[0]
    return head.rstrip("/") or ("/" if "/" in bare else ".")


def base_name(path: str) -> str:
    """As the shell's `basename`: the last part; slashes at the end do not count."""
    bare = path.rstrip("/")
    return bare.rpartition("/")[2] if bare else path[:1]


def extension(path: str) -> str:
    """From the last dot of the last part on: ".txt"; empty where there is none, or nothing before it."""
    return posixpath.splitext(base_name(path))[1]


def join_path(*parts: str) -> str:
    """Each part relative to those before it, "." and ".." resolved; one that begins with "/" starts anew."""
    joined = posixpath.normpath(posixpath.join(*parts))
    return "/" + joined.lstrip("/") if joined.startswith("//") else joined


@register(PATHS, "dirname", 1)
def _dirname(scope: Scope, path: Any) -> str:
    whole = a_text(path, "dirname")
    scope.spend_text(len(whole))
    return dir_name(whole)


@register(PATHS, "basename", 1)
def _basename(scope: Scope, path: Any) -> str:
    whole = a_text(path, "basename")
    scope.spend_text(len(whole))
    return base_name(whole)


@register(PATHS, "extname", 1)
def _extname(scope: Scope, path: Any) -> str:
    whole = a_text(path, "extname")
    scope.spend_text(len(whole))
    return extension(whole)


@register(PATHS, "joinpath", 1, None)
def _joinpath(scope: Scope, *parts: Any) -> str:
    texts = [a_text(part, "joinpath") for part in parts]
    length = sum(map(len, texts)) + len(texts)
    checked_length(length)
    scope.spend_text(8 * length)
    return join_path(*texts)
