"""The documents of the repository, and the fenced blocks, commands, headings and links in them."""

import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r"(?:^[ ]*<!-- (?P<note>[^\n]*?) -->\n)?"
    r"^(?P<indent> *)```(?P<language>[\w-]*)[^\n]*\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
LINK = re.compile(r"(?<!\\)\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)")
ANCHOR = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")
CODE_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, its language, its text, and the comment right before it."""

    page: str
    line: int
    language: str
    text: str
    note: str

    def __str__(self):
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Command:
    """What follows a `$ `, with its further lines, and what the page shows that it prints."""

    page: str
    line: int
    text: str
    shown: str

    def __str__(self):
        return f"{self.page}:{self.line}: {self.text}"


def pages():
    """Every Markdown file that people read, as paths from the root."""
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
    for pattern in ("docs/**/*.md", "examples/**/*.md", "schemas/*/*.md", "benchmarks/**/*.md", "deploy/**/*.md"):
        found += sorted(ROOT.glob(pattern))
    return [path.relative_to(ROOT).as_posix() for path in found if path.exists()]


@cache
def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def prose(page):
    """A page without its fenced blocks."""
    return FENCE.sub("", read(page))


def blocks(page):
    text = read(page)
    for found in FENCE.finditer(text):
        start = found.start("indent")
        body = re.sub(rf"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
        yield Block(page, text.count("\n", 0, start) + 1, found["language"], body, found["note"] or "")


def all_blocks():
    return [block for page in pages() for block in blocks(page)]


def is_whole(text):
    """Whether bash has a command to run, and is not waiting for a quote to end or a line to go on."""
    if text.endswith("\\"):
        return False
    try:
        parsed = subprocess.run(["bash", "-n"], input=text + "\n", capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return True
    return parsed.returncode == 0


def commands(block):
    """The commands of a console block, in order; in a bash block every line is one."""
    lines = block.text.splitlines()
    found, at = [], 0
    while at < len(lines):
        start, line = at, lines[at]
        at += 1
        if block.language == "console" and not line.startswith("$ "):
            assert found, f"{block}: output before any command"
            found[-1][2].append(line)
            continue
        text = line.removeprefix("$ ")
        while not is_whole(text):
            assert at < len(lines), f"{block}: the command is not finished: {text}"
            text += "\n" + lines[at]
            at += 1
        if text.strip() and not text.startswith("#"):
            found.append((start, text, []))
    return [Command(block.page, block.line + 1 + start, text, "\n".join(shown)) for start, text, shown in found]


def all_commands():
    return [one for block in all_blocks() if block.language in {"console", "bash"} for one in commands(block)]


def slug(heading):
    """The anchor that GitHub, and the site, give a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    plain = re.sub(r"[^\w\- ]", "", plain.replace("`", ""))
    return plain.replace(" ", "-")


@cache
def anchors(page):
    """What can stand behind `#` in a link to the page."""
    text, seen, found = prose(page), {}, set(ANCHOR.findall(read(page)))
    for heading in HEADING.findall(text):
        name = slug(heading)
        count = seen.get(name, 0)
        seen[name] = count + 1
        found.add(f"{name}-{count}" if count else name)
    return frozenset(found)


def links(page):
    """The targets of all links and images outside code, as they are written."""
    return LINK.findall(CODE_SPAN.sub("", prose(page)))


def code_spans(page):
    """What stands in backticks in the prose, without line breaks."""
    return [" ".join(text.split()) for _, text in CODE_SPAN.findall(prose(page))]
