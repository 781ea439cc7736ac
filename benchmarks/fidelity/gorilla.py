"""Sessions on GorillaFileSystem: the calls of an entry, and between them what an agent in a shell would try."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from .bfcl import Entry, PythonClass
from .play import Answer, Call, Script

__all__ = ["GORILLA"]

STEMS = ("notes", "summary", "draft", "budget", "todo", "minutes", "results", "plan", "archive_log", "readme")
ENDINGS = ("txt", "md", "csv", "log")
FOLDERS = ("backup", "old", "reports", "temp_files", "images", "drafts", "2024")
LINES = (
    "Budget approved by the board",
    "alpha release on Monday",
    "Call the client about the contract",
    "TODO: check the figures",
    "zebra crossing survey",
    "error: connection lost",
    "beta users: 42",
    "total = 1800",
)


def script(random: Random, entry: Entry) -> Script:
    """The calls of the entry in order, with probes between and after them."""
    shell = _Shell(random)
    if random.random() < 0.7:
        yield from shell.look()
    for call in entry.calls:
        shell.hear(call, (yield call))
        if random.random() < 0.35:
            yield from shell.probe()
    while True:
        yield from shell.probe()


class _Shell:
    """What the agent knows of the current directory, and what it may try there."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.files: list[str] = []
        self.folders: list[str] = []
        self.texts: dict[str, str] = {}

    def hear(self, call: Call, answer: Answer) -> None:
        """Learn from an answer."""
        if answer.is_error:
            return
        given: dict[str, Any] = dict(call.arguments)
        if call.tool == "cd":
            self.files, self.folders, self.texts = [], [], {}
        elif call.tool == "ls":
            names = answer.value["current_directory_content"]
            self.files = [name for name in names if "." in name]
            self.folders = [name for name in names if "." not in name]
        elif call.tool == "touch":
            self.files.append(given["file_name"])
        elif call.tool == "mkdir":
            self.folders.append(given["dir_name"])
        elif call.tool == "cat":
            self.texts[given["file_name"]] = answer.value["file_content"]
        elif call.tool in ("mv", "rm", "rmdir"):
            gone = given.get("source") or given.get("file_name") or given.get("dir_name")
            self.files = [name for name in self.files if name != gone]
            self.folders = [name for name in self.folders if name != gone]

    def do(self, tool: str, **arguments: Any) -> Script:
        """One call, heard."""
        call = Call(tool, arguments)
        self.hear(call, (yield call))

    def probe(self) -> Script:
        """Something to try."""
        tries: list[tuple[Callable[[], Script], int]] = [
            (self.look, 3),
            (self.read, 5),
            (self.write, 5),
            (self.folder, 3),
            (self.move, 3),
            (self.copy, 3),
            (self.remove, 2),
            (self.compare, 1),
            (self.walk, 2),
            (self.fail, 9),
        ]
        yield from self.random.choices([one for one, _ in tries], [weight for _, weight in tries])[0]()

    def look(self) -> Script:
        yield from self.do("ls", **self.random.choice([{}, {}, {"a": True}]))
        if self.random.random() < 0.4:
            yield from self.do("pwd")
        if self.random.random() < 0.25:
            yield from self.do("du", **self.random.choice([{}, {"human_readable": True}]))
        if self.random.random() < 0.3:
            name = self.random.choice([{}, {"name": self.random.choice(STEMS)}, {"name": "txt"}, {"name": "report"}])
            yield from self.do("find", **self.random.choice([{}, {"path": "."}]), **name)

    def read(self) -> Script:
        if not self.files:
            yield from self.look()
        if not self.files:
            return
        file = self.random.choice(self.files)
        for _ in range(self.random.randint(1, 3)):
            tool = self.random.choice(["cat", "cat", "wc", "wc", "tail", "sort", "grep"])
            more: dict[str, Any] = {}
            if tool == "wc":
                more = self.random.choice([{}, {"mode": "l"}, {"mode": "w"}, {"mode": "c"}])
            elif tool == "tail":
                more = self.random.choice([{}, {"lines": 1}, {"lines": 2}, {"lines": 3}])
            elif tool == "grep":
                words = [word for word in self.texts.get(file, "").split() if len(word) > 3]
                more = {"pattern": self.random.choice([*words[:8], "the", "Budget", "error"])}
            yield from self.do(tool, file_name=file, **more)

    def write(self) -> Script:
        file = self.new_file()
        yield from self.do("touch", file_name=file)
        if self.random.random() < 0.8:
            text = "\n".join(self.random.sample(LINES, self.random.randint(1, 4)))
            yield from self.do("echo", content=text, file_name=file)
            self.texts[file] = text
        tool = self.random.choice(["cat", "cat", "wc", "sort", "ls", "tail"])
        yield from self.do(tool, **({} if tool == "ls" else {"file_name": file}))
        if self.random.random() < 0.3:
            yield from self.do("echo", content=self.random.choice(LINES), file_name=file)
            yield from self.do("cat", file_name=file)

    def folder(self) -> Script:
        name = self.random.choice(FOLDERS)
        yield from self.do("mkdir", dir_name=name)
        if self.random.random() < 0.6:
            yield from self.do("cd", folder=name)
            if self.random.random() < 0.5:
                yield from self.do("pwd")
            if self.random.random() < 0.5:
                yield from self.do("touch", file_name=self.new_file())
                yield from self.do("ls")
            yield from self.do("cd", folder="..")
        elif self.random.random() < 0.5:
            yield from self.do("rmdir", dir_name=name)
        if self.random.random() < 0.5:
            yield from self.do("ls")

    def move(self) -> Script:
        if not self.files:
            return
        source = self.random.choice(self.files)
        if self.folders and self.random.random() < 0.5:
            target = self.random.choice(self.folders)
            yield from self.do("mv", source=source, destination=target)
            if self.random.random() < 0.6:
                yield from self.do("cd", folder=target)
                yield from self.do("ls")
                yield from self.do("cat", file_name=source)
                yield from self.do("cd", folder="..")
        else:
            target = self.new_file()
            yield from self.do("mv", source=source, destination=target)
            yield from self.do("cat", file_name=self.random.choice([source, target, target]))
        if self.random.random() < 0.5:
            yield from self.do("ls")

    def copy(self) -> Script:
        if not self.files:
            return
        source = self.random.choice(self.files)
        target = self.random.choice([*self.folders, self.new_file()])
        yield from self.do("cp", source=source, destination=target)
        if target in self.folders and self.random.random() < 0.6:
            yield from self.do("cd", folder=target)
            yield from self.do("ls")
            yield from self.do("cd", folder="..")
        elif target not in self.folders:
            yield from self.do("cat", file_name=target)
        if self.random.random() < 0.4:
            yield from self.do("ls")

    def remove(self) -> Script:
        if not self.files:
            return
        name = self.random.choice(self.files)
        yield from self.do("rm", file_name=name)
        tool = self.random.choice(["ls", "cat", "rm"])
        yield from self.do(tool, **({} if tool == "ls" else {"file_name": name}))

    def compare(self) -> Script:
        if len(self.files) > 1:
            first, second = self.random.sample(self.files, 2)
            yield from self.do("diff", file_name1=first, file_name2=second)

    def walk(self) -> Script:
        yield from self.do("cd", folder=self.random.choice([*self.folders, ".."]))
        yield from self.do(self.random.choice(["pwd", "ls"]))

    def fail(self) -> Script:
        """A call that is wrong in one of the ways there are."""
        missing, here = self.new_file(), [*self.files, *self.folders]
        known = self.random.choice(here or [missing])
        tool = self.random.choice(["cat", "wc", "tail", "sort", "rm"])
        yield from self.random.choice(
            [
                lambda: self.do(tool, file_name=missing),
                lambda: self.do("cat", file_name=self.random.choice(self.folders or [missing])),
                lambda: self.do("cd", folder=self.random.choice(["nowhere", "missing", known])),
                lambda: self.do("cd", folder=f"{self.random.choice(FOLDERS)}/{self.random.choice(FOLDERS)}"),
                lambda: self.do("mkdir", dir_name=known),
                lambda: self.do("touch", file_name=known),
                lambda: self.do("touch", file_name=f"a/{missing}"),
                lambda: self.do("echo", content=self.random.choice(LINES), file_name=missing),
                lambda: self.do("echo", content=self.random.choice(LINES)),
                lambda: self.do("mv", source=missing, destination="other.txt"),
                lambda: self.do("mv", source=known, destination=f"up/{missing}"),
                lambda: self.do("cp", source=missing, destination="other.txt"),
                lambda: self.do("cp", source=known, destination=self.random.choice(self.files or [missing])),
                lambda: self.do("rmdir", dir_name=self.random.choice([*here, "nowhere"])),
                lambda: self.do("wc", file_name=known, mode=self.random.choice(["x", "lines"])),
                lambda: self.do("diff", file_name1=known, file_name2=missing),
                lambda: self.do("grep", file_name=missing, pattern="error"),
                lambda: self.do("find", path="nowhere", name="txt"),
            ]
        )()

    def new_file(self) -> str:
        return f"{self.random.choice(STEMS)}.{self.random.choice(ENDINGS)}"


READS = frozenset({"cat", "ls", "pwd", "wc", "sort", "tail", "grep", "find", "du", "diff"})
GORILLA = PythonClass("GorillaFileSystem", "gorilla_file_system", 2, READS, script)
