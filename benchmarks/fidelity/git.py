"""Sessions on the git server: an agent that looks at a working tree with edits, stages, commits and branches."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from .play import Call, Script
from .servers import PublicServer

__all__ = ["GIT"]

COMMITS: tuple[tuple[str, dict[str, str]], ...] = (
    ("Initial commit", {"README.md": "# Shop\n\nA small shop.\n", "src/shop.py": "PRICES = {}\n"}),
    ("Add the till", {"src/till.py": "def total(items):\n    return sum(items)\n"}),
    ("Prices of fruit", {"src/shop.py": 'PRICES = {\n    "apple": 1,\n    "pear": 2,\n}\n', "notes.txt": "to sell\n"}),
)
ON_BRANCH = ("Try discounts", {"src/discount.py": "def discount(price):\n    return price * 0.9\n"})
BRANCHES = ("main", "feature/discount", "release")
EDITS: tuple[dict[str, str], ...] = (
    {"README.md": "# Shop\n\nA small shop with fruit.\n", "todo.txt": "ask for prices\n"},
    {"src/till.py": "def total(items):\n    return round(sum(items), 2)\n", "notes.txt": "to sell\nto buy\n"},
    {"src/stock.py": "STOCK = []\n", "docs/guide.md": "# Guide\n\nStart here.\n"},
    {
        "README.md": "# Shop\n",
        "src/shop.py": 'PRICES = {"apple": 3}\n',
        "src/stock.py": "STOCK = [1]\n",
        "a.log": "1\n",
    },
)
"""What is changed in the working tree before an episode; one of these each."""

MESSAGES = ("Describe the fruit", "Round the total", "Add stock", "Work in progress", "Fix typo", "Update the notes")
NEW_BRANCHES = ("hotfix", "feature/stock", "experiment", "docs-update")
AUTHOR = {
    **{f"GIT_{role}_NAME": "Ada Shop" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "ada@example.com" for role in ("AUTHOR", "COMMITTER")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def at(minutes: int) -> dict[str, str]:
    """The environment of commits made so many minutes after the first."""
    date = f"{1_767_258_000 + 60 * minutes} +0000"
    return {**AUTHOR, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}


def prepare(folder: Path, number: int) -> None:
    """The same history each time, and one of the edits on top of it."""

    def git(*words: str, minutes: int = 0) -> None:
        subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, env=os.environ | at(minutes))

    git("init", "-b", BRANCHES[0])
    for minutes, (message, files) in enumerate(COMMITS):
        _write(folder, files)
        git("add", ".")
        git("commit", "-m", message, minutes=minutes)
    git("branch", BRANCHES[2], "HEAD~1")
    git("checkout", "-b", BRANCHES[1])
    _write(folder, ON_BRANCH[1])
    git("add", ".")
    git("commit", "-m", ON_BRANCH[0], minutes=len(COMMITS))
    git("checkout", BRANCHES[0])
    _write(folder, EDITS[number % len(EDITS)])


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def server_env(number: int) -> dict[str, str]:
    """Commits of an episode bear its own time, so that their hashes are the same whenever it is recorded."""
    return at(60 * (number + 1))


def script(random: Random, folder: Path) -> Script:
    """See what is there, then work on it."""
    agent = _Agent(random, str(folder))
    yield from agent.do("git_status")
    while True:
        yield from agent.step()


class _Agent:
    def __init__(self, random: Random, repo: str) -> None:
        self.random = random
        self.repo = repo
        self.dirty: list[str] = []
        """Files that the last status named."""
        self.branches = list(BRANCHES)
        self.hashes: list[str] = []

    def do(self, tool: str, **arguments: Any) -> Script:
        """One call, and what the answer tells."""
        answer = yield Call(tool, {"repo_path": self.repo, **arguments})
        words = str(answer.value).split()
        if answer.is_error:
            return
        if tool == "git_status":
            known = {name for edits in EDITS for name in edits} | {"docs/"}
            self.dirty = [word for word in words if word in known]
        elif tool == "git_create_branch":
            self.branches.append(arguments["branch_name"])
        elif tool == "git_commit":
            self.hashes.append(words[-1])
        elif tool == "git_log":
            self.hashes += [word for word in words if len(word) == 40 and word not in self.hashes]

    def step(self) -> Script:
        tries: list[tuple[Callable[[], Script], int]] = [
            (self.look, 4),
            (self.compare, 3),
            (self.stage, 5),
            (self.commit, 4),
            (self.unstage, 1),
            (self.history, 4),
            (self.branch, 3),
            (self.switch, 3),
            (self.fail, 4),
        ]
        yield from self.random.choices([one for one, _ in tries], [weight for _, weight in tries])[0]()

    def look(self) -> Script:
        tool = self.random.choice(["git_status", "git_status", "git_diff_unstaged", "git_diff_staged"])
        more = {"context_lines": self.random.choice([0, 1])} if "diff" in tool and self.random.random() < 0.2 else {}
        yield from self.do(tool, **more)

    def compare(self) -> Script:
        target = self.random.choice([*self.branches, "HEAD", "HEAD~1", *self.hashes[-2:]])
        yield from self.do("git_diff", target=target)

    def stage(self) -> Script:
        if not self.dirty:
            yield from self.do("git_status")
        files = self.random.sample(self.dirty, self.random.randint(1, len(self.dirty))) if self.dirty else ["."]
        yield from self.do("git_add", files=self.random.choice([files, files, ["."]]))
        yield from self.do(self.random.choice(["git_status", "git_status", "git_diff_staged"]))

    def commit(self) -> Script:
        if self.random.random() < 0.75:
            files = self.random.sample(self.dirty, 1) if self.dirty and self.random.random() < 0.6 else ["."]
            yield from self.do("git_add", files=files)
        yield from self.do("git_commit", message=self.random.choice(MESSAGES))
        if self.random.random() < 0.7:
            yield from self.random.choice(
                [
                    lambda: self.do("git_log", max_count=self.random.randint(1, 3)),
                    lambda: self.do("git_log"),
                    lambda: self.do("git_status"),
                    lambda: self.do("git_show", revision=self.random.choice(["HEAD", *self.hashes[-1:]])),
                ]
            )()

    def unstage(self) -> Script:
        yield from self.do("git_reset")
        yield from self.do("git_status")

    def history(self) -> Script:
        revision = self.random.choice([*self.branches, "HEAD", "HEAD~1", *self.hashes[-3:]])
        yield from self.random.choice(
            [
                lambda: self.do("git_log"),
                lambda: self.do("git_log", max_count=self.random.randint(1, 3)),
                lambda: self.do("git_log", start_timestamp="2026-01-01T09:01:30+00:00"),
                lambda: self.do("git_log", end_timestamp="2026-01-01T09:01:30+00:00"),
                lambda: self.do("git_show", revision=revision),
                lambda: self.do("git_show", revision="HEAD:README.md"),
                lambda: self.do("git_show", revision=f"{self.random.choice(self.branches)}:src"),
            ]
        )()

    def branch(self) -> Script:
        name = self.random.choice(NEW_BRANCHES)
        base = {"base_branch": self.random.choice(self.branches)} if self.random.random() < 0.4 else {}
        yield from self.do("git_create_branch", branch_name=name, **base)
        yield from self.do("git_branch", branch_type=self.random.choice(["local", "local", "all"]))

    def switch(self) -> Script:
        yield from self.do("git_checkout", branch_name=self.random.choice(self.branches))
        yield from self.random.choice(
            [
                lambda: self.do("git_branch", branch_type="local"),
                lambda: self.do("git_status"),
                lambda: self.do("git_log", max_count=2),
            ]
        )()

    def fail(self) -> Script:
        """A call that is wrong in one of the ways there are."""
        yield from self.random.choice(
            [
                lambda: self.do("git_add", files=["missing.txt"]),
                lambda: self.do("git_add", files=["../outside.txt"]),
                lambda: self.do("git_commit", message=self.random.choice(MESSAGES)),
                lambda: self.do("git_checkout", branch_name=self.random.choice(["nowhere", "v9"])),
                lambda: self.do("git_checkout", branch_name="-f"),
                lambda: self.do("git_create_branch", branch_name=self.random.choice(self.branches)),
                lambda: self.do("git_create_branch", branch_name="other", base_branch="nowhere"),
                lambda: self.do("git_diff", target=self.random.choice(["nowhere", "v9"])),
                lambda: self.do("git_diff", target="--stat"),
                lambda: self.do("git_show", revision=self.random.choice(["nowhere", "0000000"])),
                lambda: self.do("git_show", revision="HEAD:missing.txt"),
                lambda: self.do("git_branch", branch_type="remote"),
                lambda: self.do("git_branch", branch_type="every"),
                lambda: self.do("git_status", repo_path=f"{self.repo}/elsewhere"),
                lambda: self.do("git_log", repo_path=f"{self.repo}/src"),
            ]
        )()


READS = frozenset(
    {"git_status", "git_diff_unstaged", "git_diff_staged", "git_diff", "git_log", "git_show", "git_branch"}
)
GIT = PublicServer("git", "mcp-server-git", 60, READS, prepare, script, server_env)
