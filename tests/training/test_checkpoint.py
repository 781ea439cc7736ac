import errno
import json
import random
import shutil
from pathlib import Path

import pytest
import torch
from envace_sdk.training import checkpoint
from full_disk import full_disk
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import TrainingError

CPU = torch.device("cpu")


def written(folder, **values):
    with checkpoint.writing(folder) as partial:
        checkpoint.write_tensors(partial / "a.safetensors", {"x": torch.arange(3)})
        checkpoint.write_state(partial, values)
    return folder


def test_a_checkpoint_is_read_as_written(tmp_path):
    folder = written(checkpoint.folder_for(tmp_path, 3), step=3, extra={"x": [1, None]})
    assert checkpoint.read_state(folder)["extra"] == {"x": [1, None]}
    assert checkpoint.read_tensors(folder / "a.safetensors")["x"].tolist() == [0, 1, 2]


def test_a_run_killed_while_writing_leaves_the_last_checkpoint(tmp_path):
    kept = written(checkpoint.folder_for(tmp_path, 1), step=1)

    def interrupted():
        with checkpoint.writing(checkpoint.folder_for(tmp_path, 2)) as partial:
            checkpoint.write_tensors(partial / "a.safetensors", {"x": torch.arange(3)})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert checkpoint.latest(tmp_path) == kept
    checkpoint.prune(tmp_path, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-000001"]


def test_an_older_checkpoint_of_the_same_step_is_replaced(tmp_path):
    folder = checkpoint.folder_for(tmp_path, 1)
    written(folder, step=1, extra="old")
    written(folder, step=1, extra="new")
    assert checkpoint.read_state(folder)["extra"] == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-000001"]


class Killed(BaseException):
    """At this moment."""


def killed_at(moment, monkeypatch, work):
    """Do the work until it is about to rename or to delete a folder for the so manieth time; whether it came there."""
    came = iter(range(moment + 1))

    def until(function):
        def called(*arguments, **options):
            if next(came) == moment:
                raise Killed
            return function(*arguments, **options)

        return called

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", until(Path.rename))
        patch.setattr(shutil, "rmtree", until(shutil.rmtree))
        try:
            work()
        except Killed:
            return True
    return False


def test_a_full_disk_leaves_what_was_there_and_nothing_half_written(tmp_path):
    kept = written(checkpoint.folder_for(tmp_path, 1), step=1)

    def saved():
        with checkpoint.writing(checkpoint.folder_for(tmp_path, 2)) as partial:
            checkpoint.write_tensors(partial / "a.safetensors", {"x": torch.zeros(4096)})

    with full_disk(), pytest.raises(OSError, match="File too large"):
        saved()
    assert list(tmp_path.iterdir()) == [kept]


def test_a_disk_that_says_only_at_the_end_that_it_is_full_keeps_nothing_either(tmp_path, monkeypatch):
    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(checkpoint, "_sync", full)
    with pytest.raises(OSError, match="No space left"):
        written(checkpoint.folder_for(tmp_path, 1), step=1)
    assert not list(tmp_path.iterdir())


def test_a_run_killed_at_any_moment_while_a_checkpoint_is_replaced_leaves_one(tmp_path, monkeypatch):
    moments = 0
    while True:
        directory = tmp_path / str(moments)
        folder = written(checkpoint.folder_for(directory, 1), step=1, extra="old")

        def replaced(folder=folder):
            written(folder, step=1, extra="new")
            checkpoint.prune(folder.parent, 1)

        if not killed_at(moments, monkeypatch, replaced):
            break
        moments += 1
        found = checkpoint.latest(directory)
        assert found is not None
        assert checkpoint.step_of(found) == 1
        extra = checkpoint.read_state(found)["extra"]
        assert extra in {"old", "new"}
        checkpoint.prune(directory, 1)
        assert [path.name for path in directory.iterdir()] == ["checkpoint-000001"]
        assert checkpoint.read_state(folder)["extra"] == extra
    assert moments >= 4


def test_a_run_killed_while_a_checkpoint_is_replaced_replaces_it_when_it_goes_on(tmp_path, monkeypatch):
    folder = written(checkpoint.folder_for(tmp_path, 1), step=1, extra="old")
    moment = 0
    while folder.exists():
        assert killed_at(moment, monkeypatch, lambda: written(folder, step=1, extra="new"))
        moment += 1
    assert [checkpoint.read_state(path)["extra"] for path in checkpoint.checkpoints(tmp_path)] == ["old"]
    written(folder, step=1, extra="newer")
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-000001"]
    assert checkpoint.read_state(folder)["extra"] == "newer"


def test_only_the_newest_are_kept(tmp_path):
    for step in (1, 2, 10, 1_000_000):
        written(checkpoint.folder_for(tmp_path, step), step=step)
    checkpoint.prune(tmp_path, 2)
    assert [path.name for path in checkpoint.checkpoints(tmp_path)] == ["checkpoint-000010", "checkpoint-1000000"]


def test_there_is_no_latest_of_nothing(tmp_path):
    assert checkpoint.latest(tmp_path / "none") is None


def test_a_damaged_file_is_named(tmp_path):
    folder = written(tmp_path / "checkpoint-000001", step=1)
    path = folder / "a.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(TrainingError, match=r"a\.safetensors: is damaged"):
        checkpoint.read_state(folder)
    path.unlink()
    with pytest.raises(TrainingError, match=r"a\.safetensors: is missing"):
        checkpoint.read_state(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99, "sha256": {}}', "[" * 100_000])
def test_a_state_that_is_none_is_refused(tmp_path, text):
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(TrainingError, match=r"state\.json"):
        checkpoint.read_state(tmp_path)


def test_a_state_cannot_name_files_outside_its_folder(tmp_path):
    (tmp_path / "secret.safetensors").write_bytes(b"")
    folder = tmp_path / "checkpoint-000001"
    folder.mkdir()
    (folder / "state.json").write_text(json.dumps({"format": 1, "sha256": {"../secret.safetensors": "0"}}))
    with pytest.raises(TrainingError, match="is missing from the checkpoint"):
        checkpoint.read_state(folder)


def test_tensors_that_are_none_are_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(b"\x80\x04pickle")
    with pytest.raises(TrainingError, match=r"x\.safetensors: cannot be read"):
        checkpoint.read_tensors(path)


@given(st.integers(0, 2**32), st.integers(0, 3))
def test_random_generators_go_on_where_they_were(seed, draws):
    random.seed(seed)
    torch.manual_seed(seed)
    for _ in range(draws):
        random.gauss()
        torch.rand(1)
    states = checkpoint.random_states(CPU)
    expected = [random.random(), random.gauss(), float(torch.rand(1))]
    random.seed(0)
    torch.manual_seed(0)
    checkpoint.set_random_states(states, CPU)
    assert [random.random(), random.gauss(), float(torch.rand(1))] == expected


def test_random_states_survive_the_file(tmp_path):
    random.gauss()
    path = tmp_path / "random.safetensors"
    checkpoint.write_tensors(path, checkpoint.random_states(CPU))
    expected = random.getstate()
    random.seed(1)
    checkpoint.set_random_states(checkpoint.read_tensors(path), CPU)
    assert random.getstate() == expected


def test_a_checkpoint_can_be_moved(tmp_path):
    written(tmp_path / "checkpoint-000001", step=1)
    shutil.move(tmp_path / "checkpoint-000001", tmp_path / "best")
    assert checkpoint.read_state(tmp_path / "best")["step"] == 1
