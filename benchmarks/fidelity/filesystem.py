"""Sessions on the filesystem server: an agent that looks around a small project, reads, writes, edits and moves."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from .play import Answer, Call, Script
from .servers import PublicServer

__all__ = ["FILESYSTEM"]

CONTENT = {
    "todo.txt": "buy milk\ncall Anna\nfix the printer\nbook flights\n",
    "notes/meeting.md": "# Meeting\n\n- budget approved\n- hire two people\n- next: 12 March\n",
    "notes/ideas.txt": "an app for plants\nfaster builds\n",
    "src/app.py": 'import util\n\n\ndef main():\n    print(util.greet("world"))\n\n\nmain()\n',
    "src/util/helpers.py": 'def greet(name):\n    return f"hello {name}"\n',
    "data/sales.csv": "month,total\n" + "".join(f"2025-{n:02},{900 + n * 37}\n" for n in range(1, 13)),
    "data/config.json": '{\n  "debug": false,\n  "retries": 3\n}\n',
    "docs/README.md": "# Project\n\nRun `python src/app.py`.\n",
}
EMPTY = "archive"
WRITTEN = 1_767_225_600
"""When the content was last written: the first second of 2026."""

STEMS = ("report", "draft", "summary", "log", "plan", "recipe", "letter", "index")
ENDINGS = ("txt", "md", "csv", "json")
FOLDERS = ("backup", "reports", "old", "images", "2026", "shared")
LINES = ("first line", "second thoughts", "total: 42", "TODO review", "done", "see notes/meeting.md", "zebra", "end")
GLOBS = ("*.txt", "**/*.md", "**/*.py", "**/*", "*", "**/*.csv", "nothing*", "**/re*")


def prepare(folder: Path, _: int) -> None:
    """The same small project each time."""
    for name, text in CONTENT.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (folder / EMPTY).mkdir()
    for path in sorted(folder.rglob("*"), reverse=True):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (WRITTEN, WRITTEN))


def script(random: Random, folder: Path) -> Script:
    """Look around, then do this and that."""
    agent = _Agent(random, str(folder))
    yield from agent.look()
    while True:
        yield from agent.step()


class _Agent:
    """What the agent holds to be there, and what it may do."""

    def __init__(self, random: Random, root: str) -> None:
        self.random = random
        self.root = root
        self.texts = {f"{root}/{name}": text for name, text in CONTENT.items()}
        folders = {str(Path(file).parent) for file in self.texts}
        self.folders = sorted(folders | {f"{root}/src", f"{root}/{EMPTY}"})

    def do(self, tool: str, **arguments: Any) -> Script:
        """One call, and what it changes."""
        answer = yield Call(tool, arguments)
        self.hear(tool, arguments, answer)

    def hear(self, tool: str, given: dict[str, Any], answer: Answer) -> None:
        if answer.is_error:
            return
        if tool == "write_file":
            self.texts[given["path"]] = given["content"]
        elif tool == "create_directory" and given["path"] not in self.folders:
            self.folders.append(given["path"])
        elif tool == "edit_file" and not given.get("dryRun"):
            for edit in given["edits"]:
                self.texts[given["path"]] = self.texts[given["path"]].replace(edit["oldText"], edit["newText"], 1)
        elif tool == "move_file":
            old, new = given["source"], given["destination"]
            self.texts = {_moved(path, old, new): text for path, text in self.texts.items()}
            self.folders = [_moved(path, old, new) for path in self.folders]

    def step(self) -> Script:
        tries: list[tuple[Callable[[], Script], int]] = [
            (self.look, 4),
            (self.read, 4),
            (self.write, 5),
            (self.edit, 3),
            (self.make, 3),
            (self.move, 3),
            (self.search, 2),
            (self.fail, 5),
        ]
        yield from self.random.choices([one for one, _ in tries], [weight for _, weight in tries])[0]()

    def look(self) -> Script:
        where = self.random.choice([self.root, self.root, *self.folders])
        yield from self.random.choice(
            [
                lambda: self.do("list_directory", path=where),
                lambda: self.do("list_directory", path=where),
                lambda: self.do("list_directory_with_sizes", path=where),
                lambda: self.do("list_directory_with_sizes", path=where, sortBy="size"),
                lambda: self.do("directory_tree", path=where),
                lambda: self.do("directory_tree", path=self.root, excludePatterns=["src"]),
                lambda: self.do("list_allowed_directories"),
            ]
        )()

    def read(self) -> Script:
        file = self.random.choice(sorted(self.texts))
        some = self.random.sample(sorted(self.texts), 2)
        yield from self.random.choice(
            [
                lambda: self.do("read_text_file", path=file),
                lambda: self.do("read_text_file", path=file),
                lambda: self.do("read_file", path=file),
                lambda: self.do("read_text_file", path=file, head=self.random.randint(1, 3)),
                lambda: self.do("read_text_file", path=file, tail=self.random.randint(1, 3)),
                lambda: self.do("read_multiple_files", paths=some),
                lambda: self.do("get_file_info", path=self.random.choice([file, *self.folders])),
            ]
        )()

    def write(self) -> Script:
        known = self.random.choice(sorted(self.texts))
        file = self.random.choice([self.new_file(), self.new_file(), known])
        yield from self.do("write_file", path=file, content=self.text())
        parent = str(Path(file).parent)
        yield from self.random.choice(
            [
                lambda: self.do("read_text_file", path=file),
                lambda: self.do("read_text_file", path=file),
                lambda: self.do("list_directory", path=parent),
                lambda: self.do("list_directory_with_sizes", path=parent),
                lambda: self.do("get_file_info", path=file),
                lambda: self.do("read_text_file", path=file, head=1),
            ]
        )()

    def edit(self) -> Script:
        files = [file for file, text in sorted(self.texts.items()) if text.strip()]
        file = self.random.choice(files)
        line = self.random.choice([line for line in self.texts[file].splitlines() if line.strip()])
        edits = [{"oldText": line, "newText": self.random.choice([*LINES, f"{line} (changed)"])}]
        dry = {"dryRun": self.random.random() < 0.5} if self.random.random() < 0.4 else {}
        yield from self.do("edit_file", path=file, edits=edits, **dry)
        if self.random.random() < 0.7:
            yield from self.do("read_text_file", path=file)

    def make(self) -> Script:
        folder = f"{self.random.choice([self.root, *self.folders])}/{self.random.choice(FOLDERS)}"
        yield from self.do("create_directory", path=folder)
        if self.random.random() < 0.5:
            file = f"{folder}/{self.random.choice(STEMS)}.{self.random.choice(ENDINGS)}"
            yield from self.do("write_file", path=file, content=self.text())
        yield from self.do("list_directory", path=self.random.choice([folder, str(Path(folder).parent)]))

    def move(self) -> Script:
        source = self.random.choice(sorted(self.texts))
        target = self.random.choice([self.new_file(), f"{self.random.choice(self.folders)}/{Path(source).name}"])
        yield from self.do("move_file", source=source, destination=target)
        yield from self.random.choice(
            [
                lambda: self.do("read_text_file", path=target),
                lambda: self.do("read_text_file", path=source),
                lambda: self.do("list_directory", path=str(Path(source).parent)),
                lambda: self.do("list_directory", path=str(Path(target).parent)),
            ]
        )()

    def search(self) -> Script:
        where = self.random.choice([self.root, self.root, *self.folders])
        more = {"excludePatterns": ["**/*.md"]} if self.random.random() < 0.2 else {}
        yield from self.do("search_files", path=where, pattern=self.random.choice(GLOBS), **more)

    def fail(self) -> Script:
        """A call that is wrong in one of the ways there are."""
        missing, nowhere = self.new_file(), f"{self.root}/nowhere"
        file, folder = self.random.choice(sorted(self.texts)), self.random.choice(self.folders)
        other = self.random.choice(sorted(self.texts))
        edits = [{"oldText": "no such text", "newText": "x"}]
        yield from self.random.choice(
            [
                lambda: self.do("read_text_file", path=missing),
                lambda: self.do("read_text_file", path="/etc/hostname"),
                lambda: self.do("read_text_file", path=folder),
                lambda: self.do("read_text_file", path=file, head=2, tail=2),
                lambda: self.do("read_multiple_files", paths=[file, missing]),
                lambda: self.do("list_directory", path=nowhere),
                lambda: self.do("list_directory", path=file),
                lambda: self.do("directory_tree", path=nowhere),
                lambda: self.do("get_file_info", path=missing),
                lambda: self.do("write_file", path=f"{nowhere}/{self.random.choice(STEMS)}.txt", content="x"),
                lambda: self.do("write_file", path=folder, content="x"),
                lambda: self.do("write_file", path="/etc/passwd", content="x"),
                lambda: self.do("edit_file", path=file, edits=edits),
                lambda: self.do("edit_file", path=missing, edits=edits),
                lambda: self.do("move_file", source=missing, destination=self.new_file()),
                lambda: self.do("move_file", source=file, destination=other),
                lambda: self.do("create_directory", path=file),
                lambda: self.do("create_directory", path=folder),
                lambda: self.do("search_files", path=nowhere, pattern="*"),
            ]
        )()

    def new_file(self) -> str:
        where = self.random.choice([self.root, *self.folders])
        return f"{where}/{self.random.choice(STEMS)}.{self.random.choice(ENDINGS)}"

    def text(self) -> str:
        lines = self.random.sample(LINES, self.random.randint(1, 4))
        return "\n".join(lines) + self.random.choice(["", "\n"])


def _moved(path: str, old: str, new: str) -> str:
    return new + path[len(old) :] if path == old or path.startswith(f"{old}/") else path


READS = frozenset(
    {
        "read_text_file",
        "read_file",
        "read_multiple_files",
        "list_directory",
        "list_directory_with_sizes",
        "directory_tree",
        "get_file_info",
        "search_files",
        "list_allowed_directories",
    }
)
FILESYSTEM = PublicServer("filesystem", "@modelcontextprotocol/server-filesystem", 60, READS, prepare, script)
