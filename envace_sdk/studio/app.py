"""The studio as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from envace_sdk.errors import EnvaceError
from envace_sdk.mcp_servers.address import Names
from envace_sdk.mcp_servers.guards import HostGuard

from . import approvals, fidelity, timeline, training, worlds
from .examined import Examined
from .forms import read_form
from .ledgers import Ledgers
from .pages import Pages
from .security import ENTRANCE, Headings, Keys, OwnPagesOnly, Sessions, set_session
from .studio import Studio
from .toolsets import Toolsets

__all__ = ["build_app"]

_STATIC = Path(__file__).with_name("static")


def build_app(
    *,
    names: Names,
    token: str | None,
    by: str,
    ledgers: Ledgers,
    toolsets: Toolsets,
    runs: tuple[Path, ...] = (),
    exam: Examined | None = None,
    frozen: bool = False,
) -> Starlette:
    """The application.

    Args:
        names: host names under which requests are taken.
        token: what visitors must know; None: whoever reaches the server may look and answer.
        by: whose answers it writes to the ledger.
        ledgers: where the ledger is to be found; closed with the application.
        toolsets: what is shown of tools and worlds; closed with it too.
        runs: folders of training runs, or of folders of them.
        exam: of a toolset, against recordings.
        frozen: whether its pages are kept in a file, where nothing can be asked for.
    """
    keys = Keys(token)
    studio = Studio(keys, Pages(keys, by=by, frozen=frozen), ledgers, toolsets, runs, exam, by)

    async def enter(request: Request) -> Response:
        if keys.is_open:
            return RedirectResponse("/", status_code=303)
        if request.method != "POST":
            return studio.pages.page(request, "enter.html", problem="")
        form = await read_form(request)
        if not keys.admits(form.get("token", "")):
            return studio.pages.page(request, "enter.html", 401, problem="That is not the token.")
        response = RedirectResponse("/", status_code=303)
        set_session(response, keys, keys.issue(), request.scope)
        return response

    async def failed(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        said = error.detail if isinstance(error, HTTPException) else str(error)
        values = {"title": HTTPStatus(status).phrase, "said": said}
        return await run_in_threadpool(studio.pages.page, request, "problem.html", status, **values)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(ledgers.close)
        await run_in_threadpool(toolsets.close)

    return Starlette(
        routes=[
            Route("/", lambda _: RedirectResponse("/approvals", status_code=303)),
            Route(ENTRANCE, enter, methods=["GET", "POST"]),
            Mount("/static", StaticFiles(directory=_STATIC)),
            *approvals.routes(studio),
            *timeline.routes(studio),
            *worlds.routes(studio),
            *training.routes(studio),
            *fidelity.routes(studio),
        ],
        middleware=[
            Middleware(Headings),
            Middleware(HostGuard, names=names),
            Middleware(OwnPagesOnly),
            Middleware(Sessions, keys=keys),
        ],
        exception_handlers={HTTPException: failed, EnvaceError: failed},
        lifespan=lifespan,
    )
