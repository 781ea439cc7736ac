import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from trained_apart import CASES, train

SCRIPT = Path(__file__).parents[1] / "support" / "trained_apart.py"
NAMES = [name for name in CASES if not name.startswith("sharded")]
SHARDED = [name for name in CASES if name.startswith("sharded")]


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory):
    """What two processes that talk over gloo made of all cases."""
    out = tmp_path_factory.mktemp("two")
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc_per_node=2",
        "--standalone",
        str(SCRIPT),
        str(out),
    ]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return out, json.loads((out / "told.json").read_text())


@pytest.fixture(scope="module")
def one_process(tmp_path_factory):
    """The same made here, on demand."""
    out, told = tmp_path_factory.mktemp("one"), {}

    def made(name):
        if name not in told:
            told[name], _ = train(name, out)
        return out, told[name]

    return made


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_two_processes_make_the_same_update_as_one(name, two_processes, one_process):
    (there, told), (here, alone) = two_processes, one_process(name)
    for ours, theirs in zip(told[name], alone, strict=True):
        for key in ("loss", "grad_norm", "rows", "tokens", "act/entropy", "rehearse/entropy"):
            assert ours.get(key) == pytest.approx(theirs.get(key), abs=1e-5, rel=1e-5), key
    ours, theirs = (load_file(place / f"{name}.safetensors") for place in (there, here))
    assert ours.keys() == theirs.keys()
    for key, tensor in theirs.items():
        torch.testing.assert_close(ours[key], tensor, rtol=0, atol=1e-5, msg=lambda text, key=key: f"{key}: {text}")


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARDED)
def test_a_sharded_run_goes_on_from_its_checkpoint(name, two_processes):
    _, told = two_processes
    uninterrupted, resumed = told[f"{name}, resumed"]
    assert resumed == pytest.approx(uninterrupted, rel=1e-6)


@pytest.mark.slow
def test_the_adapter_of_a_role_without_rows_rests_in_all_processes(two_processes):
    _, told = two_processes
    assert told["idle"]["rehearse"] == 0.0
    assert told["idle"]["act"] > 0.0


@pytest.mark.slow
def test_sharding_changes_nothing_but_where_weights_lie(two_processes):
    there, told = two_processes
    assert told["sharded"][0]["grad_norm"] == pytest.approx(told["full"][0]["grad_norm"], rel=1e-5)
    ours, theirs = (load_file(there / f"{name}.safetensors") for name in ("sharded", "full"))
    for key, tensor in theirs.items():
        torch.testing.assert_close(ours[key], tensor, rtol=0, atol=1e-5)
