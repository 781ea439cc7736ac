"""The private folder where running servers can be found: one Unix socket each."""

from __future__ import annotations

import os
import stat
import sys
import warnings
from pathlib import Path
from typing import Final

import platformdirs

from envace_sdk.errors import WorldError

__all__ = ["VARIABLE", "runtime_folder"]

VARIABLE: Final = "ENVACE_RUNTIME_DIR"
"""Environment variable that names another folder."""


def runtime_folder() -> Path:
    """The folder, made when missing; only its owner may look into it.

    Raises:
        WorldError: it is not this user's, or cannot be made private, or the system has no Unix sockets.
    """
    if sys.platform == "win32":
        raise WorldError("this system has no Unix sockets; a server over HTTP can be reached by --url")
    named = os.environ.get(VARIABLE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a fallback; whether the folder is private is looked at below
        folder = Path(named) if named else platformdirs.user_runtime_path("envace-sdk")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise WorldError(f"{folder}: not a folder of this user; point {VARIABLE} to one that is")
        if folder.parent.lstat().st_uid not in (os.getuid(), 0):
            raise WorldError(f"{folder.parent}: belongs to another user; point {VARIABLE} elsewhere")
        if found.st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise WorldError(f"{folder}: cannot be used for control sockets: {error}") from error
    return folder
