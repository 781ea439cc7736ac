"""What the guard refuses. Nothing here reaches anything: addresses are of networks reserved for documentation."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import threading

import pytest

from envace_sdk.errors import RealCallError
from envace_sdk.testing.guard import Guard

ELSEWHERE = ("192.0.2.1", 443)


def refused(call, *allow, **options):
    with Guard(allow, **options) as guard, pytest.raises(RealCallError):
        call()
    assert len(guard.calls) == 1
    return guard.report()


def test_a_connection_to_another_machine_is_refused_with_the_line_that_makes_it():
    def call():
        with socket.socket() as wire:
            wire.connect(ELSEWHERE)

    report = refused(call)
    assert "connection to 192.0.2.1:443, from " in report
    assert "test_guard.py" in report
    assert "in call" in report
    assert "nothing_real(allow=['192.0.2.1'])" in report


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_datagrams_and_both_families_are_seen(family):
    def call():
        with socket.socket(family, socket.SOCK_DGRAM) as wire:
            wire.sendto(b"x", ("192.0.2.1" if family == socket.AF_INET else "2001:db8::1", 53))

    assert "53" in refused(call)


def test_the_look_up_of_a_host_is_refused_by_its_name():
    assert "look-up of the host api.example.com" in refused(lambda: socket.create_connection(("api.example.com", 80)))
    assert "api.example.com" in refused(lambda: asyncio.run(asyncio.open_connection("api.example.com", 80)))


def test_programs_are_refused():
    assert "start of `npx -y some-server`" in refused(lambda: subprocess.run(["npx", "-y", "some-server"]))
    assert "start of `npx -y x`" in refused(lambda: subprocess.run("npx -y x", shell=True))
    assert "start of `npx x`" in refused(lambda: os.system("npx x"))

    async def call():
        await asyncio.create_subprocess_exec("npx", "x")

    assert "start of `npx x`" in refused(lambda: asyncio.run(call()))


def test_this_machine_and_our_own_servers_may_be_called():
    with Guard() as guard, socket.create_server(("127.0.0.1", 0)) as listener:
        socket.create_connection(("localhost", listener.getsockname()[1])).close()
        subprocess.run([sys.executable, "-m", "envace_sdk", "--help"], check=True, capture_output=True)
        left, right = socket.socketpair()
        left.close()
        right.close()
    guard.check()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        refused(lambda: socket.create_connection(listener.getsockname()), loopback=False)


@pytest.mark.parametrize("allowed", ["192.0.2.1", "192.0.2.1:9", "192.0.*"])
def test_what_is_allowed_is_let_through(allowed):
    with Guard([allowed]) as guard, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        wire.connect(("192.0.2.1", 9))
    assert not guard.calls
    with Guard(["echo"]):
        subprocess.run(["echo", "x"], check=True, capture_output=True)


def test_a_swallowed_refusal_is_still_on_record():
    with Guard() as guard, contextlib.suppress(Exception):
        socket.create_connection(ELSEWHERE)
    with pytest.raises(RealCallError, match=r"192\.0\.2\.1"):
        guard.check()


def test_other_threads_are_seen():
    def work():
        with contextlib.suppress(RealCallError):
            socket.create_connection(ELSEWHERE)

    with Guard() as guard:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(guard.calls) == 1


def test_a_guard_that_is_down_refuses_nothing():
    with Guard() as guard:
        pass
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        wire.connect(("192.0.2.1", 9))
    assert not guard.calls
