"""Changes: forms of limited size, taken only with the form token of the browser's own session."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any, Final, cast
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from envace_sdk.json import Json

from .security import Keys

__all__ = ["FIELD", "Form", "change", "json_object", "read_form"]

FIELD: Final = "form_token"
"""The field of every form that changes something."""

Form = Mapping[str, str]

_MOST_BYTES: Final = 256 * 1024
_MOST_FIELDS: Final = 200
_DEEPEST: Final = 64


def change(path: str, endpoint: Callable[[Request, Form], Response | Awaitable[Response]], keys: Keys) -> Route:
    """A route that changes something: POST alone, and refused without the form token.

    Args:
        path: of the route.
        endpoint: where it is not async it runs in a thread, so it may block.
        keys: that the token is checked by.
    """

    async def checked(request: Request) -> Response:
        form = await read_form(request)
        if not keys.is_form_token(request.state.session, form.get(FIELD, "")):
            raise HTTPException(403, "This form was not made for your browser's session. Load the page again.")
        if iscoroutinefunction(endpoint):
            return cast("Response", await endpoint(request, form))
        return cast("Response", await run_in_threadpool(endpoint, request, form))

    return Route(path, checked, methods=["POST"])


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form; of one that is given twice, the last.

    Raises:
        HTTPException: it is too large, or no such form.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise HTTPException(413, f"A form may be {_MOST_BYTES // 1024} KiB at most.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "Forms are sent as application/x-www-form-urlencoded.")
    try:
        pairs = parse_qsl(bytes(body).decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise HTTPException(400, f"The form cannot be read: {error}") from None
    return dict(pairs)


def json_object(text: str) -> dict[str, Json]:
    """The object that somebody typed.

    Raises:
        ValueError: it is none, nested too deeply, or holds a number that JSON does not have.
    """
    try:
        found: Any = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(found, dict):
        raise ValueError('it is not a JSON object, {"name": value}')
    if _depth(found) > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
    return found


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not a number of JSON")


def _depth(value: Any) -> int:
    level, found = [value], 0
    while level:
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        found += 1
    return found
