"""OAuth for live servers: client credentials or a browser, with tokens kept in a private file and refreshed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import sys
import time
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from platformdirs import user_state_path
from pydantic import AnyUrl, BaseModel, ValidationError

from envace_sdk.errors import UpstreamError
from envace_sdk.json import Json
from envace_sdk.tools.upstream import OAuth, Target

__all__ = ["TokenFile", "authorization"]

_T = TypeVar("_T", bound=BaseModel)
_SIGN_IN_TIMEOUT: Final = 300.0
_PAGE: Final = b"<!doctype html><title>envace-sdk</title><p>Signed in. You can close this page.</p>"


class TokenFile:
    """Tokens of one server for one client, in a file that only its owner can read. An MCP `TokenStorage`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, target: Target) -> TokenFile:
        """Where the tokens of a target are kept."""
        oauth = target.oauth or OAuth()
        identity = json.dumps([target.url, oauth.issuer, oauth.client_id, oauth.scope])
        host = re.sub(r"[^A-Za-z0-9.-]", "_", urlsplit(target.url or "").hostname or "server")
        name = f"{host[:60]}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}.json"
        return cls(user_state_path("envace-sdk", appauthor=False) / "oauth" / name)

    async def get_tokens(self) -> OAuthToken | None:
        """The stored token, with the seconds it has left."""
        stored = self._read()
        token = _model(OAuthToken, stored.get("token"))
        expires = stored.get("expires_at")
        if token is not None and isinstance(expires, int | float):
            token.expires_in = int(expires - time.time())
        return token

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep a token that was just issued."""
        expires = None if tokens.expires_in is None else time.time() + tokens.expires_in
        self._update(token=tokens.model_dump(mode="json", exclude_none=True), expires_at=expires)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The registration of this client with the authorization server."""
        return _model(OAuthClientInformationFull, self._read().get("client"))

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a registration."""
        self._update(client=client_info.model_dump(mode="json", exclude_none=True))

    def metadata(self) -> OAuthMetadata | None:
        """Where the authorization server is: refreshing needs it after a restart."""
        return _model(OAuthMetadata, self._read().get("server"))

    def set_metadata(self, metadata: OAuthMetadata) -> None:
        """Keep where the authorization server is."""
        self._update(server=metadata.model_dump(mode="json", exclude_none=True))

    def _read(self) -> dict[str, Json]:
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}  # lost or damaged: sign in again
        return stored if isinstance(stored, dict) else {}

    def _update(self, **changes: Json) -> None:
        stored = {**self._read(), **changes}
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(stored, file)
        temporary.replace(self.path)


@asynccontextmanager
async def authorization(target: Target) -> AsyncIterator[OAuthClientProvider]:
    """What authorizes the requests to a target that wants OAuth.

    Raises:
        UpstreamError: client credentials come without their issuer.
    """
    oauth, store = target.oauth or OAuth(), TokenFile.of(target)
    async with _SignIn(await _callback_port(store)) as sign_in:
        provider = _provider(target, oauth, store, sign_in)
        provider.context.oauth_metadata = store.metadata()
        if (token := await store.get_tokens()) is not None:
            # The SDK takes a stored token for fresh, whatever its age.
            provider.context.update_token_expiry(token)
        try:
            yield provider
        finally:
            if provider.context.oauth_metadata is not None:
                store.set_metadata(provider.context.oauth_metadata)


def _provider(target: Target, oauth: OAuth, store: TokenFile, sign_in: _SignIn) -> OAuthClientProvider:
    url = target.url or ""
    if oauth.client_id is not None and oauth.client_secret is not None:
        if oauth.issuer is None:
            raise UpstreamError(
                f"{target}: client credentials need the URL of their issuer, so that they are sent nowhere else"
            )
        try:
            return ClientCredentialsOAuthProvider(
                url, store, oauth.client_id, oauth.client_secret, scope=oauth.scope, issuer=oauth.issuer
            )
        except ValueError as error:
            raise UpstreamError(f"{target}: {error}") from error
    metadata = OAuthClientMetadata(
        client_name="envace-sdk",
        redirect_uris=[AnyUrl(sign_in.address)],
        token_endpoint_auth_method="none",  # noqa: S106  no password: the name of a method
        scope=oauth.scope,
    )
    return OAuthClientProvider(url, metadata, store, sign_in.open_browser, sign_in.wait)


async def _callback_port(store: TokenFile) -> int:
    """The port of the registered callback, or any: a registration is for one address."""
    client = await store.get_client_info()
    for uri in (client.redirect_uris if client else None) or ():
        if uri.host == "127.0.0.1" and uri.port:
            return uri.port
    return 0


class _SignIn:
    """A person signing in: the browser, and the address on this machine that it is sent back to."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._server: asyncio.Server | None = None
        self._result: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()

    async def __aenter__(self) -> _SignIn:
        try:
            self._server = await asyncio.start_server(self._answer, "127.0.0.1", self._port)
        except OSError:
            self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        self._result.cancel()

    @property
    def address(self) -> str:
        """The redirect URI."""
        port = self._server.sockets[0].getsockname()[1] if self._server else self._port
        return f"http://127.0.0.1:{port}/callback"

    async def open_browser(self, url: str) -> None:
        """Send the person to the authorization server."""
        sys.stderr.write(f"Sign in to go on; if no browser opens, go to:\n  {url}\n")
        await asyncio.to_thread(webbrowser.open, url)

    async def wait(self) -> AuthorizationCodeResult:
        """What the browser brings back.

        Raises:
            UpstreamError: nothing, or a refusal.
        """
        try:
            return await asyncio.wait_for(asyncio.shield(self._result), _SIGN_IN_TIMEOUT)
        except TimeoutError:
            raise UpstreamError(f"nobody signed in within {_SIGN_IN_TIMEOUT:g} s") from None

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = (await asyncio.wait_for(reader.readline(), 10)).decode("ascii", "replace")
            parts = urlsplit(line.split(" ")[1] if line.count(" ") >= 2 else "")
            if parts.path != "/callback":
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            self._settle({key: values[0] for key, values in parse_qs(parts.query).items()})
            length = f"Content-Length: {len(_PAGE)}\r\n"
            writer.write(
                f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{length}Connection: close\r\n\r\n".encode() + _PAGE
            )
            await writer.drain()
        except (OSError, TimeoutError, ValueError):
            pass  # a stray visitor; the person is still awaited
        finally:
            writer.close()

    def _settle(self, query: dict[str, str]) -> None:
        if self._result.done():
            return
        if "error" in query:
            told = query.get("error_description", query["error"])
            self._result.set_exception(UpstreamError(f"the authorization server refused: {told[:200]}"))
        elif "code" in query:
            self._result.set_result(
                AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))
            )


def _model(kind: type[_T], stored: Json) -> _T | None:
    try:
        return None if stored is None else kind.model_validate(stored)
    except ValidationError:
        return None
