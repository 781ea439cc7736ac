"""ASGI applications on a free port of this machine, for as long as a test needs them."""

import contextlib
import socket
import threading

import uvicorn


@contextlib.contextmanager
def serving(app):
    """Runs the application in a thread; gives its base URL."""
    started = threading.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets=None):
            await super().startup(sockets)
            started.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="on", timeout_graceful_shutdown=1)
        server = Server(config)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        assert started.wait(20)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
