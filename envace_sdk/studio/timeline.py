"""The runs of a ledger, and the turns of one."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from envace_sdk.guard.journal import SCORES
from envace_sdk.ledger import Ledger, Run

from .studio import Studio
from .turns import turns

__all__ = ["PAGE", "is_own", "routes", "run_link"]

_MOST_RUNS: Final = 200
PAGE: Final = 200
"""Turns of a page."""

_OWN: Final = (SCORES, "guard/")
"""How the names of runs begin in which the guard keeps accounts of its own."""


def routes(studio: Studio) -> list[Route]:
    """The routes of this view."""
    view = _Timeline(studio)
    return [Route("/runs", view.list_), Route("/runs/view", view.show), Route("/runs/news", view.news)]


class _Timeline:
    """The endpoints. They block, so they run in threads."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    def list_(self, request: Request) -> Response:
        """The runs, the newest first."""
        ledger = self._studio.ledgers.get()
        every = [] if ledger is None else ledger.runs()
        kept = [run for run in reversed(every) if not is_own(run.name)]
        shown = [] if ledger is None else [_row(ledger, run) for run in kept[:_MOST_RUNS]]
        values = {"runs": shown, "more": max(0, len(kept) - _MOST_RUNS), "place": self._studio.ledgers.place}
        return self._studio.pages.page(request, "runs.html", **values)

    def show(self, request: Request) -> Response:
        """A page of the turns of a run."""
        ledger, run = self._studio.ledger(), _name(request)
        length = _length(ledger, run)
        after = _after(request, length)
        found = turns(ledger, islice(ledger.entries(run, after=after), PAGE))
        last = found[-1].seq if found else after
        values = {
            "run": run,
            "turns": found,
            "length": length,
            "earlier": run_link(run, max(0, after - PAGE)) if after else "",
            "later": run_link(run, last) if last < length else "",
            "news": f"/runs/news?{urlencode({'name': run, 'after': last}, errors='surrogatepass')}",
        }
        return self._studio.pages.page(request, "run.html", **values)

    def news(self, request: Request) -> Response:
        """How many turns a run has gained after the one that a page shows last."""
        run = _name(request)
        length = _length(self._studio.ledger(), run)
        after = _after(request, length)
        values = {"count": length - after, "link": run_link(run, max(0, length - PAGE)), "last": length}
        return self._studio.pages.page(request, "run_news.html", **values)


def _row(ledger: Ledger, run: Run) -> dict[str, Any]:
    last = next(ledger.entries(run.name, after=run.length - 1), None)
    return {"name": run.name, "length": run.length, "last": last, "link": run_link(run.name)}


def is_own(run: str) -> bool:
    """Whether a run is one in which the guard keeps accounts of its own."""
    return run.startswith(_OWN)


def run_link(run: str, after: int = 0) -> str:
    """The address of a run's turns after one."""
    given = {"name": run, **({"after": after} if after else {})}
    return f"/runs/view?{urlencode(given, errors='surrogatepass')}"


def _name(request: Request) -> str:
    # Not from Starlette, which loses what is no UTF-8; a run may have any name.
    given = parse_qsl(request.url.query, keep_blank_values=True, errors="surrogatepass")
    return dict(given).get("name", "")


def _length(ledger: Ledger, run: str) -> int:
    found = next((one.length for one in ledger.runs() if one.name == run), None)
    if found is None:
        raise HTTPException(404, "The ledger has no run of that name.")
    return found


def _after(request: Request, length: int) -> int:
    given = request.query_params.get("after", "0")
    return min(int(given), length) if given.isascii() and given.isdecimal() and len(given) < 16 else 0
