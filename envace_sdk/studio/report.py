"""Pages of the studio, kept in one file that loads nothing and runs nothing."""

from __future__ import annotations

import base64
import hashlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote

from markupsafe import Markup
from starlette.types import ASGIApp, Message

from .frozen import freeze, links, title_of
from .pages import templates
from .timeline import PAGE

__all__ = ["GENERATOR", "Report", "Source", "report"]

GENERATOR: Final = "envace-sdk report"
"""How the file says by what it was made."""

_STYLE: Final = Path(__file__).with_name("static") / "studio.css"
_FOLLOWED: Final = (
    "/runs/view",
    "/approvals/",
    "/fidelity/tool",
    "/fidelity/exam",
    "/training/samples",
    "/worlds/world",
    "/worlds/diff",
)
"""How addresses begin whose pages belong to a report that has a link to them."""

_MOST_PAGES: Final = 400
_OK: Final = 200

_Key = tuple[int, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class Source:
    """Something to report on: a studio that shows it and nothing else, and the addresses to begin with."""

    app: ASGIApp
    starts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A report."""

    html: str
    pages: int
    left_out: list[str]
    """Addresses of pages that there was no room for."""
    problems: list[str]
    """Titles of pages that say, in place of what was wanted, why it cannot be shown."""


@dataclass(slots=True)
class _Kept:
    id: str
    source: int
    title: str
    page: str
    html: Markup = field(default_factory=Markup)


async def report(title: str, sources: Sequence[Source], *, most: int) -> Report:
    """The pages of some sources, and what these lead to, the nearest first.

    Args:
        title: of the file.
        sources: what to show.
        most: the size of the file, in bytes, from which on pages are left out.
    """
    kept: dict[_Key, _Kept] = {}
    sections: dict[tuple[int, str], _Kept] = {}
    left_out, problems = [], []
    size, seen = _STYLE.stat().st_size, set[_Key]()
    waiting = deque((number, address) for number, source in enumerate(sources) for address in source.starts)
    while waiting:
        number, address = waiting.popleft()
        key = _key(number, address)
        if key in seen:
            continue
        seen.add(key)
        status, page = (0, "") if len(sections) >= _MOST_PAGES else await _get(sources[number].app, address)
        if same := sections.get((number, page)):  # as the first collection of a world, which is shown by default too
            kept[key] = same
            continue
        length = len(page.encode(errors="backslashreplace"))
        if not page or size + length > most:
            left_out.append(unquote(address, errors="replace"))
            continue
        size += length
        kept[key] = sections[number, page] = _Kept(f"p{len(sections) + 1}", number, title_of(page), page)
        if status != _OK:
            problems.append(unquote(address, errors="replace"))
        waiting.extend((number, found) for found in links(page) if _is_followed(found))
    for one in sections.values():
        html = freeze(one.page, f"{one.id}-", partial(_place, kept, one.source))
        one.html = Markup(html)  # noqa: S704  made of pages in which all is escaped
    return Report(_document(title, sections.values(), left_out, most), len(sections), left_out, problems)


def _document(title: str, sections: Iterable[_Kept], left_out: list[str], most: int) -> str:
    style = f"\n{_STYLE.read_text(encoding='utf-8')}"
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        templates()
        .get_template("report.html")
        .render(
            title=title,
            generator=f"{GENERATOR} {version('envace-sdk')}",
            style=Markup(style),  # noqa: S704  our own
            digest=f"sha256-{digest}",
            sections=list(sections),
            left_out=left_out,
            most=f"{most / 2**20:.3g} MiB",
        )
    )


def _key(source: int, address: str) -> _Key:
    path, _, query = address.partition("?")
    return source, path, tuple(sorted(parse_qsl(query, keep_blank_values=True, errors="surrogatepass")))


def _is_followed(address: str) -> bool:
    return address.startswith(_FOLLOWED) and _turn(address) % PAGE == 0


def _turn(address: str) -> int:
    """After which turn of a run a page begins."""
    path, _, query = address.partition("?")
    return int(dict(parse_qsl(query)).get("after", 0)) if path == "/runs/view" else 0


def _place(kept: dict[_Key, _Kept], source: int, address: str) -> str | None:
    """Where in the file an address is shown."""
    turn = _turn(address)
    if turn % PAGE:  # in the midst of a page that begins earlier
        number, path, query = _key(source, address)
        given = {**dict(query), "after": str(turn - turn % PAGE)}
        if given["after"] == "0":
            del given["after"]
        found = kept.get((number, path, tuple(sorted(given.items()))))
        return None if found is None else f"#{found.id}-turn-{turn + 1}"
    found = kept.get(_key(source, address))
    return None if found is None else f"#{found.id}"


async def _get(app: ASGIApp, address: str) -> tuple[int, str]:
    """The status and the text of a page."""
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1")],
        "client": None,
        "server": None,
    }
    status, body = 0, bytearray()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        else:
            body.extend(message.get("body", b""))

    await app(scope, receive, send)
    return status, body.decode()
