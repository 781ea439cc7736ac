"""Live servers behind OAuth: client credentials, a browser, and tokens that outlive the process."""

import json
import stat
import time
import urllib.request
import webbrowser
from urllib.parse import parse_qs, urlencode

import pytest
from mcp.server.lowlevel import Server
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Mount, Route
from web import serving

from envace_sdk.errors import UpstreamError
from envace_sdk.tools.upstream import OAuth, Target, pull_now

A = {"name": "a", "description": "A.", "inputSchema": {"type": "object", "properties": {}}}


class Authority:
    """An authorization server and an MCP server that trusts it, in one application."""

    def __init__(self):
        self.url = ""
        self.grants = []
        self.valid = set()
        self.lifetime = 3600
        self.refuse = False
        self.issued = 0
        server = Server("guarded", on_list_tools=self._unused)
        server.middleware.append(self._list)
        inner = server.streamable_http_app()
        self.app = Starlette(
            routes=[
                Route("/.well-known/oauth-protected-resource/mcp", self._resource),
                Route("/.well-known/oauth-authorization-server", self._metadata),
                Route("/register", self._register, methods=["POST"]),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Mount("/", self._guarded(inner)),
            ],
            lifespan=inner.router.lifespan_context,
        )

    async def _unused(self, _context, _params):
        raise AssertionError

    async def _list(self, context, call_next):
        if context.method == "tools/list":
            return {"tools": [A], "ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
        return await call_next(context)

    def _guarded(self, app):
        async def guarded(scope, receive, send):
            if scope["type"] == "http":
                given = dict(scope["headers"]).get(b"authorization", b"").decode()
                if given.removeprefix("Bearer ") not in self.valid:
                    await JSONResponse({}, 401, {"www-authenticate": "Bearer"})(scope, receive, send)
                    return
            await app(scope, receive, send)

        return guarded

    async def _resource(self, _request):
        return JSONResponse({"resource": f"{self.url}/mcp", "authorization_servers": [self.url]})

    async def _metadata(self, _request):
        endpoints = {
            "authorization_endpoint": "authorize",
            "token_endpoint": "token",
            "registration_endpoint": "register",
        }
        return JSONResponse(
            {
                "issuer": self.url,
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                **{key: f"{self.url}/{path}" for key, path in endpoints.items()},
            }
        )

    async def _register(self, request):
        return JSONResponse({**await request.json(), "client_id": "registered"}, 201)

    async def _authorize(self, request):
        asked = request.query_params
        given = {"error": "access_denied"} if self.refuse else {"code": "code-1"}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({**given, 'state': asked['state']})}", 302)

    async def _token(self, request):
        form = {key: values[0] for key, values in parse_qs((await request.body()).decode()).items()}
        grant = form["grant_type"]
        self.grants.append(grant)
        basic = request.headers.get("authorization", "")
        sound = {
            "client_credentials": basic == "Basic aWQ6c2VjcmV0",  # id:secret
            "authorization_code": form.get("code") == "code-1" and "code_verifier" in form,
            "refresh_token": form.get("refresh_token") == "refresh-1",
        }
        if not sound[grant]:
            return JSONResponse({"error": "invalid_client"}, 401)
        self.issued += 1
        token = f"token-{self.issued}"
        self.valid.add(token)
        given = {"access_token": token, "token_type": "bearer", "expires_in": self.lifetime}
        return JSONResponse(given if grant == "client_credentials" else {**given, "refresh_token": "refresh-1"})


@pytest.fixture
def authority():
    authority = Authority()
    with serving(authority.app) as url:
        authority.url = url
        yield authority


@pytest.fixture(autouse=True)
def tokens(tmp_path, monkeypatch):
    """Where tokens are kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "envace-sdk" / "oauth"


@pytest.fixture
def browser(monkeypatch):
    """A person who signs in at once; gives the addresses that were opened."""
    opened = []

    def sign_in(url):
        opened.append(url)
        urllib.request.urlopen(url, timeout=10).close()
        return True

    monkeypatch.setattr(webbrowser, "open", sign_in)
    return opened


@pytest.fixture
def credentials(authority):
    return Target(url=f"{authority.url}/mcp", oauth=OAuth(issuer=authority.url, client_id="id", client_secret="secret"))


def only_file(folder):
    [file] = folder.iterdir()
    return file


def expire(folder, authority):
    file = only_file(folder)
    stored = json.loads(file.read_text())
    stored["expires_at"] = 1
    file.write_text(json.dumps(stored))
    authority.valid.clear()


def test_client_credentials_get_a_token_that_is_kept_in_a_private_file(authority, credentials, tokens):
    assert pull_now(credentials).definitions == (A,)
    assert pull_now(credentials).definitions == (A,)
    assert authority.grants == ["client_credentials"]
    assert stat.S_IMODE(only_file(tokens).stat().st_mode) == 0o600
    assert stat.S_IMODE(tokens.stat().st_mode) == 0o700
    assert "secret" not in only_file(tokens).read_text()


def test_an_expired_token_is_replaced(authority, credentials, tokens):
    pull_now(credentials)
    expire(tokens, authority)
    assert pull_now(credentials).definitions == (A,)
    assert authority.grants == ["client_credentials"] * 2


def test_a_token_that_was_taken_back_is_replaced(authority, credentials):
    pull_now(credentials)
    authority.valid.clear()
    assert pull_now(credentials).definitions == (A,)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"token": 5}', '{"token": {"access_token": 1}, "expires_at": "x"}'])
def test_a_damaged_token_file_means_to_sign_in_again(credentials, tokens, damage):
    pull_now(credentials)
    only_file(tokens).write_text(damage)
    assert pull_now(credentials).definitions == (A,)


def test_a_wrong_secret_is_refused_and_not_repeated(authority):
    oauth = OAuth(issuer=authority.url, client_id="id", client_secret="wrong-secret")
    with pytest.raises(UpstreamError, match="OAuth failed") as refused:
        pull_now(Target(url=f"{authority.url}/mcp", oauth=oauth))
    assert "wrong-secret" not in str(refused.value)


def test_a_secret_is_sent_to_no_other_than_its_issuer(authority):
    oauth = OAuth(issuer="https://login.example", client_id="id", client_secret="secret")
    with pytest.raises(UpstreamError, match="OAuth failed"):
        pull_now(Target(url=f"{authority.url}/mcp", oauth=oauth))
    assert authority.grants == []


@pytest.mark.parametrize("issuer", [None, "login.example"])
def test_client_credentials_need_the_url_of_their_issuer(authority, issuer):
    oauth = OAuth(issuer=issuer, client_id="id", client_secret="secret")
    with pytest.raises(UpstreamError, match="issuer"):
        pull_now(Target(url=f"{authority.url}/mcp", oauth=oauth))


def test_a_person_signs_in_once_and_the_token_is_refreshed_from_then_on(authority, browser, tokens, capsys):
    target = Target(url=f"{authority.url}/mcp", oauth=OAuth(scope="read"))
    assert pull_now(target).definitions == (A,)
    assert pull_now(target).definitions == (A,)
    expire(tokens, authority)
    assert pull_now(target).definitions == (A,)
    assert authority.grants == ["authorization_code", "refresh_token"]
    assert len(browser) == 1
    assert f"{authority.url}/authorize?" in capsys.readouterr().err


def test_a_person_who_refuses_is_told_to_have_refused(authority, browser):
    authority.refuse = True
    with pytest.raises(UpstreamError, match="the authorization server refused: access_denied"):
        pull_now(Target(url=f"{authority.url}/mcp", oauth=OAuth()))


def test_signing_in_may_take_longer_than_a_server_is_given_to_answer(authority, monkeypatch):
    def sign_in_slowly(url):
        time.sleep(0.9)
        urllib.request.urlopen(url, timeout=10).close()

    monkeypatch.setattr(webbrowser, "open", sign_in_slowly)
    target = Target(url=f"{authority.url}/mcp", oauth=OAuth(), timeout=0.6, handshake="legacy")
    assert pull_now(target).definitions == (A,)


def test_tokens_of_two_clients_are_kept_apart(authority, credentials, browser, tokens):
    pull_now(credentials)
    pull_now(Target(url=f"{authority.url}/mcp", oauth=OAuth()))
    assert len(list(tokens.iterdir())) == 2
