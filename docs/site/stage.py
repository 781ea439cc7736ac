"""The pages of the site, laid out: the repository's Markdown with its links changed to where the pages go."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import yaml

__all__ = ["ROOT", "place", "stage"]

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\(<?)([^)\s>]+)(>?\))")
_FOREIGN = ("http://", "https://", "mailto:", "#")


def place(path: str) -> str:
    """Where a file of the repository goes in the site: `docs/` is its root, and the README its first page."""
    if path == "README.md":
        return "index.md"
    return path.removeprefix("docs/") if path.startswith("docs/") else f"source/{path}"


def stage(target: Path, generated: dict[str, str]) -> None:
    """Write all pages, and the files that they link to, into an empty folder.

    Args:
        target: the folder.
        generated: further pages, by their path in the site.
    """
    for path, text in generated.items():
        _write(target / path, text)
    navigation = yaml.safe_load(Path(__file__).with_name("nav.yaml").read_text(encoding="utf-8"))
    sections = {caption: [one for entry in entries for one in _pages(entry)] for caption, entries in navigation.items()}
    # Every page of docs/ is laid out: one that is not in the navigation is then a warning, and warnings fail.
    waiting = ["README.md", *(page.relative_to(ROOT).as_posix() for page in sorted((ROOT / "docs").rglob("*.md")))]
    waiting += [page for pages in sections.values() for page in pages if page not in generated]
    done: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in done or not (ROOT / path).is_file():
            continue
        done.add(path)
        if not path.endswith(".md"):
            (target / place(path)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, target / place(path))
            continue
        text, linked = _moved(path)
        waiting += linked
        _write(target / place(path), text + (_toctrees(sections, generated) if path == "README.md" else ""))


def _pages(entry: str) -> list[str]:
    if "*" not in entry:
        return [entry]
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(entry))


def _toctrees(sections: dict[str, list[str]], generated: dict[str, str]) -> str:
    text = ""
    for caption, pages in sections.items():
        entries = "\n".join((page if page in generated else place(page)).removesuffix(".md") for page in pages)
        text += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"
    return text


def _moved(path: str) -> tuple[str, list[str]]:
    """A page with links as they are in the site, and the files of the repository that it links to."""
    linked: list[str] = []
    here = Path(place(path)).parent

    def moved(found: re.Match[str]) -> str:
        link, _, anchor = found[2].partition("#")
        if found[2].startswith(_FOREIGN):
            return found[0]
        target = os.path.normpath((Path(path).parent / link).as_posix())
        if (ROOT / target).is_dir():
            target = f"{target}/README.md"
        linked.append(target)
        new = os.path.relpath(place(target), here)
        return f"{found[1]}{new}{'#' + anchor if anchor else ''}{found[3]}"

    text = (ROOT / path).read_text(encoding="utf-8")
    pieces, end = [], 0
    for fence in _FENCE.finditer(text):
        pieces += [_LINK.sub(moved, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*pieces, _LINK.sub(moved, text[end:])]), linked


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
