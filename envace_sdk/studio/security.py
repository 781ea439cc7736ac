"""Who may look, and who may change something: sessions, the token, forged requests, and what a page may load."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["ENTRANCE", "Headings", "Keys", "OwnPagesOnly", "Sessions", "set_session"]

ENTRANCE: Final = "/enter"
"""Where the token is asked for."""

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADINGS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": browsers would then send the origin "null" with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_SAFE: Final = frozenset({"GET", "HEAD"})


class Keys:
    """Makes and checks what a browser holds: a session that only this process can have issued, and its form token.

    Args:
        token: what a visitor must know; None: whoever reaches the server may look.
    """

    def __init__(self, token: str | None) -> None:
        self._token = None if token is None else token.encode()
        self._secret = secrets.token_bytes(32)
        # Cookies know no ports: two studios on one machine must not take each other's.
        self.cookie = f"envace_studio_{secrets.token_hex(4)}"

    @property
    def is_open(self) -> bool:
        """Whether no token is needed."""
        return self._token is None

    def admits(self, token: str) -> bool:
        """Whether this is the token; compared in constant time."""
        return self._token is not None and hmac.compare_digest(token.strip().encode(), self._token)

    def issue(self) -> str:
        """A new session."""
        name = secrets.token_urlsafe(24)
        return f"{name}.{self._sign('session', name)}"

    def is_valid(self, session: str) -> bool:
        """Whether this process has issued the session."""
        name, _, signature = session.partition(".")
        return hmac.compare_digest(signature.encode(), self._sign("session", name).encode())

    def form_token(self, session: str) -> str:
        """What a form of this session must carry to change anything."""
        return self._sign("form", session)

    def is_form_token(self, session: str, given: str) -> bool:
        """Whether a form was made for this session."""
        return hmac.compare_digest(given.encode(), self.form_token(session).encode())

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()


class Sessions:
    """Gives each browser a session, and lets nobody in without the token, where there is one.

    A program may send the token as `Authorization: Bearer …` to look at pages; it has no session and changes nothing.
    """

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request pass, with `state["session"]`; or send to the entrance, or answer 401."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        session = self._session(headers)
        if session is None and not self._keys.is_open and not self._may_pass(scope, headers):
            await _entrance(scope, headers)(scope, receive, send)
            return
        issued = session is None and self._keys.is_open
        if issued:
            session = self._keys.issue()
        scope.setdefault("state", {})["session"] = session or ""

        async def sending(message: Message) -> None:
            if issued and message["type"] == "http.response.start":
                response = Response()
                set_session(response, self._keys, session or "", scope)
                MutableHeaders(scope=message).append("set-cookie", response.headers["set-cookie"])
            await send(message)

        await self._app(scope, receive, sending)

    def _session(self, headers: Headers) -> str | None:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._keys.cookie)
        except CookieError:
            return None
        return found.value if found is not None and self._keys.is_valid(found.value) else None

    def _may_pass(self, scope: Scope, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._keys.admits(token):
            return True
        path: str = scope["path"]
        return path == ENTRANCE or path.startswith("/static/")


def set_session(response: Response, keys: Keys, session: str, scope: Scope) -> None:
    """Hand a session to the browser, for this site's own pages alone."""
    secure = scope.get("scheme") == "https"
    response.set_cookie(keys.cookie, session, httponly=True, samesite="strict", secure=secure, path="/")


class OwnPagesOnly:
    """Refuses changes that a page of another origin asks for, by what the browser says of where they come from."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403, or let the request pass."""
        if scope["type"] == "http" and scope["method"] not in _SAFE:
            headers = Headers(scope=scope)
            origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
            own = {f"http://{headers.get('host')}", f"https://{headers.get('host')}"}
            if site not in {"same-origin", "none"} or (origin is not None and origin not in own):
                refused = PlainTextResponse("changes are taken from the studio's own pages only\n", status_code=403)
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)


class Headings:
    """Puts on every answer what a browser may do with it: load our own files, and nothing else from anywhere."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request pass, and add to its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADINGS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, sending)


def _entrance(scope: Scope, headers: Headers) -> Response:
    if "hx-request" in headers:  # else the entrance would appear where a part of a page was asked for
        return Response(status_code=401, headers={"HX-Redirect": ENTRANCE})
    if scope["method"] in _SAFE and "text/html" in headers.get("accept", ""):
        return RedirectResponse(ENTRANCE, status_code=303)
    response = PlainTextResponse("the studio's token is required\n", status_code=401)
    response.headers["WWW-Authenticate"] = 'Bearer realm="envace-sdk studio"'
    return response
