import socket

import pytest
from envace_sdk.mcp_servers.address import Address, Names


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8000", "127.0.0.1", 8000),
        ("localhost:0", "localhost", 0),
        ("[::1]:8000", "::1", 8000),
        ("8000", "127.0.0.1", 8000),
        ("0.0.0.0:80", "0.0.0.0", 80),
    ],
)
def test_an_address_is_read(text, host, port):
    assert Address.parse(text) == Address(host, port)


@pytest.mark.parametrize(
    "text", ["", ":", ":8000", "::1:8000", "host", "host:", "host:x", "host:70000", "host:-1", "host:８０"]
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(ValueError, match=r"expected HOST:PORT|in brackets"):
        Address.parse(text)


@pytest.mark.parametrize(
    ("host", "loopback"), [("127.0.0.1", True), ("::1", True), ("127.9.9.9", True), ("0.0.0.0", False)]
)
def test_only_loopback_is_loopback(host, loopback):
    assert Address(host, 0).is_loopback is loopback


def test_a_name_that_does_not_resolve_is_not_loopback(monkeypatch):
    def fail(*arguments, **options):
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    assert not Address("nowhere.invalid", 0).is_loopback


def test_accepted_connections_send_at_once():
    with Address("127.0.0.1", 0).listen() as listener:
        assert listener.proto == socket.IPPROTO_TCP  # asyncio looks at this before it sets TCP_NODELAY


LOCAL = Names(Address("127.0.0.1", 8000))


@pytest.mark.parametrize("header", ["127.0.0.1:8000", "localhost:8000", "localhost", "[::1]:8000", "LOCALHOST:1"])
def test_a_local_server_takes_requests_by_local_names(header):
    assert LOCAL.admit_host(header)
    assert LOCAL.admit_origin(f"http://{header}")


@pytest.mark.parametrize(
    "header",
    [
        "localhost/evil.com",
        "evil.com@127.0.0.1",
        "127.0.0.1:8000@evil.com",
        "localhost:8000/",
        "localhost?x",
        "localhost#x",
        "localhost:",
        "localhost:port",
        "localhost ",
        " localhost",
        "localhost\n",
        "[::1",
        "::1",
        "[::1]x",
        "evil.example",
        "evil.example:8000",
        "192.168.0.5:8000",
        "localhost.evil.example",
        "",
    ],
)
def test_a_local_server_takes_no_other_names(header):
    assert not LOCAL.admit_host(header)
    assert not LOCAL.admit_origin(f"https://{header}")


def test_a_request_without_host_is_not_taken_and_one_without_origin_is():
    assert not LOCAL.admit_host(None)
    assert LOCAL.admit_origin(None)


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://[",
        "file://",
        "chrome-extension://localhost",
        "//localhost",
        "localhost",
        "http://localhost/",
        "http:///localhost",
    ],
)
def test_an_origin_that_names_nobody_is_not_taken(origin):
    assert not LOCAL.admit_origin(origin)


def test_a_remote_server_takes_addresses_its_own_name_and_allowed_ones():
    names = Names(Address("0.0.0.0", 8000), also=["envace.internal"])
    for header in ("192.168.0.5:8000", "envace.internal", f"{socket.gethostname()}:8000", "localhost:8000"):
        assert names.admit_host(header)
    assert not names.admit_host("evil.example:8000")
