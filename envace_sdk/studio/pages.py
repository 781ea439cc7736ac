"""Pages from templates: everything is escaped, and what strangers wrote cannot pose as something else."""

from __future__ import annotations

from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from envace_sdk.json import Unset

from . import shown
from .forms import FIELD
from .security import Keys

__all__ = ["VIEWS", "Pages", "templates"]

VIEWS: Final = (
    ("Approvals", "/approvals"),
    ("Timeline", "/runs"),
    ("Worlds", "/worlds"),
    ("Training", "/training"),
    ("Fidelity", "/fidelity"),
)
"""Name and path of each view, in the order of the navigation."""


class Pages:
    """Renders the studio's templates.

    Args:
        keys: that make form tokens.
        by: whose answers the pages give.
        frozen: whether the pages are kept in a file, where nothing can be asked for.
    """

    def __init__(self, keys: Keys, *, by: str, frozen: bool = False) -> None:
        self._keys = keys
        self._templates = templates()
        self._templates.globals.update(views=VIEWS, by=by, form_field=FIELD, is_open=keys.is_open, frozen=frozen)

    def page(self, request: Request, name: str, status: int = 200, /, **values: Any) -> Response:
        """A template as a page, or as a part of one that asks for it again and again.

        Args:
            request: whose path says which view is marked in the navigation.
            name: of the template.
            status: of the answer.
            values: what the template shows.
        """
        session = getattr(request.state, "session", "")
        made = {"path": request.url.path, "token": self._keys.form_token(session) if session else "", **values}
        text = self._templates.get_template(name).render(made)
        return HTMLResponse(text.encode(errors="backslashreplace"), status)


def templates() -> Environment:
    """The templates, with all that shows values."""
    found = Environment(
        loader=PackageLoader("envace_sdk.studio"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(shown.FILTERS)
    found.tests["unset"] = lambda value: isinstance(value, Unset)
    return found
