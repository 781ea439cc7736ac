"""The pictures in docs/studio.md: small enough for a page, and made anew by their script."""

import importlib.util
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from chromium import chromium

IMAGES = Path(__file__).parents[2] / "docs" / "images"
NAMES = ["studio-dark.png", "studio-timeline.png", "studio.png"]
LARGEST = 200 * 1024


def size(file):
    data = file.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_small(name):
    assert (IMAGES / name).stat().st_size <= LARGEST
    assert size(IMAGES / name) == (1200, 900)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("langchain") is None, reason="the extra `langchain` is not installed")
def test_the_script_makes_the_pictures_anew(tmp_path):
    with chromium():  # skips where there is none
        pass
    environment = {**os.environ, "HOME": str(tmp_path / "home")}
    words = [sys.executable, str(IMAGES / "studio.py"), "--into", str(tmp_path)]
    subprocess.run(words, check=True, timeout=240, env=environment)
    assert sorted(file.name for file in tmp_path.glob("*.png")) == NAMES
    for name in NAMES:
        assert size(tmp_path / name) == (1200, 900)
        assert (tmp_path / name).stat().st_size <= LARGEST
