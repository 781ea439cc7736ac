"""Files that are there as a whole, or as they were; and paths that hold from anywhere."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["absolute", "write_whole"]


def absolute(place: str) -> str:
    """A path of something that is there, from the root; anything else, such as a name or a URL, as it is.

    The path may have a name after it, as in `mcp.json#shop`, or a kind before it, as in `transformers:./model`.
    """
    if not place:
        return place
    if Path(place).exists():
        return str(Path(place).absolute())
    path, mark, name = place.rpartition("#")
    if path and (file := Path(os.path.expanduser(path))).exists():  # noqa: PTH111  Path's raises for unknown users
        return f"{file.absolute()}{mark}{name}"
    kind, mark, path = place.partition(":")
    if path and not path.startswith("//") and Path(path).exists():
        return f"{kind}{mark}{Path(path).absolute()}"
    return place


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file at one stroke: whoever reads it meanwhile sees what was there before.

    Args:
        path: of the file; its folder is there.
        content: text is written as UTF-8, what that cannot spell as escapes.

    Raises:
        OSError: it cannot be written; what was there is left as it was.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
