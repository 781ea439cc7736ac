"""A page's commands, run one after the other in one shell's state, and what they print held against what is shown."""

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path

WAIT = 60


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Walk:
    """A folder, an environment and a working directory that carry over from command to command."""

    def __init__(self, folder: Path, **environment: str):
        home = folder / "home"
        self.place = folder / "work"
        for made in (home, self.place, home / "run"):
            made.mkdir(parents=True)
        (home / "run").chmod(0o700)
        self.state = folder / "state.sh"
        self.state.write_text(f"cd {shlex.quote(str(self.place))}\n")
        self.ports: dict[str, int] = {}
        self.servers: list[subprocess.Popen[bytes]] = []
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("ENVACE_", "COV_"))},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(home / "run"),
            "XDG_DATA_HOME": str(home / "data"),
            "USER": "ann",
            "LOGNAME": "ann",
            "COLUMNS": "120",
            "PYTHONWARNINGS": "default",
            **environment,
        }

    def close(self):
        for server in self.servers:
            server.terminate()
        for server in self.servers:
            server.wait(20)

    def _ported(self, text):
        """With ports of our own in place of those of the page, which somebody may have taken."""

        def port(found):
            return f"{found[1]}{self.ports.setdefault(found[2], free_port())}"

        return re.sub(r"((?:127\.0\.0\.1|localhost):)(\d{4})\b", port, text)

    def run(self, text, said=""):
        """Run a command of the page; returns its exit code and all that it printed."""
        plain = self._ported(text)
        if is_server(text):
            self._serve(plain)
            return 0, ""
        program = (
            f". {shlex.quote(str(self.state))}\n{plain}\n__rc=$?\n"
            f'{{ export -p; printf "cd %q\\n" "$PWD"; declare -p ID 2>/dev/null; }} > {shlex.quote(str(self.state))}\n'
            "exit $__rc"
        )
        ran = subprocess.run(
            ["bash", "-c", program],
            input=said,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment,
            timeout=300,
            check=False,
        )
        output = ran.stdout.replace(str(self.place), "/home/ann")
        for shown, own in self.ports.items():
            output = output.replace(f":{own}", f":{shown}")
        if said:  # a terminal shows what is typed
            output = output.replace("[y/N] ", f"[y/N] {said}")
        return ran.returncode, output

    def _serve(self, text):
        known = set(self.ports.values())
        program = f". {shlex.quote(str(self.state))}\nexec {text}"
        log = self.place.parent / f"server-{len(self.servers)}.log"
        with log.open("wb") as written:
            server = subprocess.Popen(
                ["bash", "-c", program], stdin=subprocess.DEVNULL, stdout=written, stderr=written, env=self.environment
            )
        self.servers.append(server)
        [port, *_] = [int(one) for one in re.findall(r"127\.0\.0\.1:(\d+)", text) if int(one) in known]
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            if server.poll() is not None:
                break
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError(f"{text}: nothing listens at {port}: {log.read_text(encoding='utf-8')}")


def is_server(text):
    return bool(re.match(r"envace-sdk (serve|studio|gateway) .*127\.0\.0\.1:\d", text))


def differs(shown, printed):
    """What is shown and was not printed: the first such line. `…` stands for anything, a line of it for any lines.

    How wide a gap is does not count: columns are as wide as what stands in them.
    """
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    at, jump = 0, False
    for line in shown.splitlines():
        if line.strip() == "…":
            jump = True
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in " ".join(line.split()).split("…")) + "$")
        found = next((n for n in range(at, len(lines)) if pattern.match(lines[n])), None)
        if found is None or (found != at and not jump):
            return line
        at, jump = found + 1, False
    return None
