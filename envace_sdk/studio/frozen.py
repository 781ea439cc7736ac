"""A page of the studio as a section of a file: its links lead within the file or nowhere, its ids are its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape
from html.parser import HTMLParser
from typing import Final

__all__ = ["freeze", "links", "title_of"]

_TITLE: Final = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_BRAND: Final = " · envace studio"
_HEADINGS: Final = {f"h{level}": f"h{level + 1}" for level in range(1, 6)}
"""A page's first heading is under that of the file."""

_OWN: Final = frozenset({"id", "for", "aria-labelledby", "aria-describedby"})
"""Attributes that hold ids."""

_Attributes = list[tuple[str, str | None]]


def title_of(page: str) -> str:
    """The title of a page, as text."""
    found = _TITLE.search(page)
    return unescape(found[1]).removesuffix(_BRAND).strip() if found else ""


def links(page: str) -> list[str]:
    """Where the main part of a page leads to, in order, each address once."""
    reader = _Main("", lambda address: address)
    reader.feed(page)
    return list(dict.fromkeys(reader.links))


def freeze(page: str, prefix: str, to: Callable[[str], str | None]) -> str:
    """The main part of a page.

    Args:
        page: HTML that the studio's own templates made.
        prefix: put before the ids in it.
        to: says for an address where in the file it is to be found, or None; a link that leads nowhere is none.
    """
    reader = _Main(prefix, to)
    reader.feed(page)
    reader.close()
    return "".join(reader.parts)


class _Main(HTMLParser):
    """Writes out what it reads within `<main>`; text stays as it is, references included."""

    def __init__(self, prefix: str, to: Callable[[str], str | None]) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self.links: list[str] = []
        self._prefix = prefix
        self._to = to
        self._inside = False

    def handle_starttag(self, tag: str, attrs: _Attributes) -> None:
        """The beginning of an element."""
        if self._inside:
            self.parts.append(f"<{self._opened(tag, attrs)}>")
        self._inside = self._inside or tag == "main"

    def handle_startendtag(self, tag: str, attrs: _Attributes) -> None:
        """An element without content, as in SVG."""
        if self._inside:
            self.parts.append(f"<{self._opened(tag, attrs)}/>")

    def handle_endtag(self, tag: str) -> None:
        """The end of an element."""
        self._inside = self._inside and tag != "main"
        if self._inside:
            self.parts.append(f"</{_HEADINGS.get(tag, tag)}>")

    def handle_data(self, data: str) -> None:
        """Text between references."""
        if self._inside:
            self.parts.append(escape(data, quote=False))

    def handle_entityref(self, name: str) -> None:
        """`&amp;` and its like."""
        if self._inside:
            self.parts.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        """`&#34;` and its like."""
        if self._inside:
            self.parts.append(f"&#{name};")

    def _opened(self, tag: str, attrs: _Attributes) -> str:
        made = [_HEADINGS.get(tag, tag)]
        for name, value in attrs:
            text = value or ""
            if name == "href":
                self.links.append(text)
                found = self._to(text)
                if found is None:
                    continue
                text = found
            elif name in _OWN:
                text = " ".join(self._prefix + one for one in text.split())
            made.append(name if value is None else f'{name}="{escape(text)}"')
        return " ".join(made)
